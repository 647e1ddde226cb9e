//! Claims about the checks of scenes and the derivatives of surface points.

use etendue_physics::surface::{Dielectric, Lobe, Material};
use etendue_physics::{Dual, DualParts, Scalar, Spectrum};
use etendue_scene::primitive::{cuboid, rectangle};
use etendue_scene::{
    CastScratch, MaterialId, Mesh, MeshError, MeshId, NamedMaterial, Object, Ray, Scene,
    SceneBuilder, SceneError,
};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

fn named(name: &str, lobe: Lobe<Spectrum>) -> NamedMaterial {
    NamedMaterial {
        name: name.into(),
        material: Material { lobes: vec![lobe] },
    }
}

fn builder(mesh: Mesh, material: MaterialId, pose: Isometry3<f64>) -> SceneBuilder {
    let glass = Dielectric {
        index: 1.5.into(),
        group_index: 1.5.into(),
        absorption: 0.0.into(),
    };
    SceneBuilder {
        materials: vec![
            named("wall", Lobe::lambert(0.8.into())),
            named("glass", Lobe::Dielectric(glass)),
        ],
        meshes: vec![mesh.into()],
        objects: vec![Object {
            name: "thing".into(),
            mesh: MeshId(0),
            world_from_object: pose,
            material,
            mask: u32::MAX,
        }],
        ..SceneBuilder::default()
    }
}

fn build(mesh: Mesh, material: u32) -> Result<Scene, SceneError> {
    builder(mesh, MaterialId(material), Isometry3::identity()).build()
}

#[test]
fn refracting_solids_that_are_inside_out_are_refused_and_rooms_are_not() {
    let solid = || cuboid([1.0; 3]).unwrap();
    assert!(build(solid(), 1).is_ok());
    assert!(build(solid().inside_out(), 0).is_ok());
    let error = build(solid().inside_out(), 1).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("\"thing\" is clear (\"glass\") and inside out at triangle 0")
    );
    let mut torn = solid();
    torn.triangles[4].swap(0, 1);
    assert!(matches!(
        build(torn, 1),
        Err(SceneError::ClearInsideOut { .. })
    ));
    // Still water: open, but its normal says where the air is.
    assert!(build(rectangle([9.0, 9.0]).unwrap(), 1).is_ok());
}

#[test]
fn materials_have_to_exist_and_to_be_named_for_every_triangle() {
    assert!(matches!(
        build(cuboid([1.0; 3]).unwrap(), 2),
        Err(SceneError::MaterialOutOfRange {
            material: 2,
            materials: 2,
            ..
        })
    ));
    let mut mesh = cuboid([1.0; 3]).unwrap();
    mesh.materials = vec![MaterialId(0); 11];
    let count = MeshError::MaterialCount {
        materials: 11,
        triangles: 12,
    };
    assert!(
        matches!(build(mesh.clone(), 0), Err(SceneError::Mesh { source, .. }) if source == count)
    );
    mesh.materials = [vec![MaterialId(0); 11], vec![MaterialId(9)]].concat();
    assert!(matches!(
        build(mesh, 0),
        Err(SceneError::MaterialOutOfRange { material: 9, .. })
    ));
}

#[test]
fn the_bounds_of_a_scene_are_those_of_its_objects_in_the_world() {
    let pose = Isometry3::translation(10.0, 0.0, 0.0);
    let scene = builder(cuboid([2.0; 3]).unwrap(), MaterialId(0), pose)
        .build()
        .unwrap();
    assert_eq!(scene.triangle_count(), 12);
    let [least, greatest] = scene.bounds();
    assert_eq!(least, Point3::new(9.0, -1.0, -1.0));
    assert_eq!(greatest, Point3::new(11.0, 1.0, 1.0));
}

/// A pose from six numbers: three turns about x, y, z one after the other, and a place.
fn pose<S: Scalar>(p: &[S; 6]) -> Isometry3<S> {
    let turn = UnitQuaternion::from_euler_angles(p[0], p[1], p[2]);
    Isometry3::from_parts(Translation3::new(p[3], p[4], p[5]), turn)
}

/// Measured: 3e-10 against central differences with a step of 1e-6.
#[test]
fn a_surface_point_carries_the_derivatives_by_pose_and_ray() {
    let mut scratch = CastScratch::new();
    let at = [0.2, -0.3, 0.7, 3.0, 0.4, -0.2];
    let scene = builder(cuboid([1.0; 3]).unwrap(), MaterialId(0), pose(&at))
        .build()
        .unwrap();
    let ray = Ray::new(
        Point3::new(0.1, 0.2, 0.0),
        Vector3::new(1.0, 0.05, -0.04).normalize(),
    );
    let hit = scene.closest_hit(&ray, &mut scratch).unwrap();

    let dual: [Dual<6>; 6] = std::array::from_fn(|i| Dual::variable(at[i], i));
    let [origin, direction] = [ray.origin.coords, ray.direction].map(|v| v.map(Dual::<6>::from));
    let surface = scene.surface_hit(&hit, &origin.into(), &direction, &pose(&dual));
    assert!((surface.distance.value() - hit.distance).abs() < 1e-12);
    assert!(surface.distance.gradient().iter().any(|d| d.abs() > 0.1));
    assert!((surface.normal.map(Scalar::value) - hit.normal).norm() < 1e-15);
    let seen = scene.plane_hit(&hit, &ray.origin, &ray.direction);
    assert!((seen.distance - hit.distance).abs() < 1e-12);
    assert_eq!(seen.normal, hit.normal);
    for i in 0..6 {
        let moved = |step: f64| {
            let mut p = at;
            p[i] += step;
            scene.surface_hit(&hit, &ray.origin, &ray.direction, &pose(&p))
        };
        let [less, more] = [moved(-1e-6), moved(1e-6)];
        let slope = (more.distance - less.distance) / 2e-6;
        assert!((surface.distance.gradient()[i] - slope).abs() < 1e-8);
        for axis in 0..3 {
            let slope = (more.normal[axis] - less.normal[axis]) / 2e-6;
            assert!((surface.normal[axis].gradient()[i] - slope).abs() < 1e-8);
            let slope = (more.point[axis] - less.point[axis]) / 2e-6;
            assert!((surface.point[axis].gradient()[i] - slope).abs() < 1e-8);
        }
    }
}

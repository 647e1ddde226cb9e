//! Small scenes from primitives.

use etendue_physics::Spectrum;
use etendue_physics::surface::{Dielectric, Lobe, Material, ThinDielectric};
use etendue_scene::primitive::{cuboid, rectangle};
use etendue_scene::{
    CastScratch, MaterialId, Mesh, MeshId, NamedMaterial, Object, Scene, SceneBuilder,
};
use etendue_sensors::transport::{
    LightRay, LightReturn, TreeAudit, TreeSettings, World, trace_tree,
};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

/// A scene in the making: object, mesh and material share their number.
#[derive(Clone, Default)]
pub struct Stage(SceneBuilder);

impl Stage {
    pub fn with(mut self, mesh: Mesh, pose: Isometry3<f64>, lobes: Vec<Lobe<Spectrum>>) -> Self {
        let number = u32::try_from(self.0.objects.len()).expect("few objects");
        self.0.materials.push(NamedMaterial {
            name: format!("material {number}"),
            material: Material { lobes },
        });
        self.0.meshes.push(mesh.into());
        self.0.objects.push(Object {
            name: format!("object {number}"),
            mesh: MeshId(number),
            world_from_object: pose,
            material: MaterialId(number),
            mask: u32::MAX,
        });
        self
    }

    /// An upright rectangle `size` (along, up) at `place`, its normal at azimuth `facing_deg`.
    pub fn wall(
        self,
        size: [f64; 2],
        place: [f64; 3],
        facing_deg: f64,
        lobes: Vec<Lobe<Spectrum>>,
    ) -> Self {
        let mesh = rectangle(size).expect("a wall has a size");
        self.with(mesh, upright(place, facing_deg), lobes)
    }

    /// An upright slab of solid, its faces at `x` and `x + thickness`.
    pub fn slab(self, x: f64, thickness: f64, lobes: Vec<Lobe<Spectrum>>) -> Self {
        let mesh = cuboid([thickness, 20.0, 20.0]).expect("a slab has a size");
        let pose = Isometry3::translation(x + 0.5 * thickness, 0.0, 0.0);
        self.with(mesh, pose, lobes)
    }

    /// Everything moved by a pose.
    pub fn moved(mut self, by: &Isometry3<f64>) -> Self {
        for object in &mut self.0.objects {
            object.world_from_object = by * object.world_from_object;
        }
        self
    }

    /// Everything `factor` times as large.
    pub fn scaled(mut self, factor: f64) -> Self {
        for object in &mut self.0.objects {
            object.world_from_object.translation.vector *= factor;
        }
        for mesh in &mut self.0.meshes {
            *mesh = Mesh::clone(mesh).scaled(factor).into();
        }
        self
    }

    pub fn build(self) -> Scene {
        self.0.build().expect("the stage is sound")
    }
}

/// Turns a panel (normal +z, y up on the panel) upright, its normal to azimuth `facing_deg`.
pub fn upright(place: [f64; 3], facing_deg: f64) -> Isometry3<f64> {
    let up = UnitQuaternion::from_euler_angles(90_f64.to_radians(), 0.0, 90_f64.to_radians());
    let facing = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), facing_deg.to_radians());
    Isometry3::from_parts(Translation3::from(place), facing * up)
}

pub fn paint(reflectance: f64) -> Vec<Lobe<Spectrum>> {
    vec![Lobe::lambert(reflectance.into())]
}

pub fn mirror(reflectance: f64) -> Vec<Lobe<Spectrum>> {
    vec![Lobe::mirror(reflectance.into())]
}

pub fn medium(index: f64, absorption: f64) -> Dielectric<Spectrum> {
    Dielectric {
        index: index.into(),
        group_index: index.into(),
        absorption: absorption.into(),
    }
}

pub fn glass(index: f64, absorption: f64) -> Vec<Lobe<Spectrum>> {
    vec![Lobe::Dielectric(medium(index, absorption))]
}

pub fn pane(index: f64, absorption: f64, thickness: f64) -> Vec<Lobe<Spectrum>> {
    vec![Lobe::ThinDielectric(ThinDielectric {
        medium: medium(index, absorption),
        thickness: thickness.into(),
    })]
}

/// A room 1.85 x 0.92 x 2 m about the origin.
pub fn room() -> Stage {
    let walls = cuboid([1.85, 0.92, 2.0]).expect("a room has a size");
    Stage::default().with(walls.inside_out(), Isometry3::identity(), paint(0.8))
}

/// Horizontal unit vector at an azimuth.
pub fn towards(azimuth_deg: f64) -> Vector3<f64> {
    let (sin, cos) = azimuth_deg.to_radians().sin_cos();
    Vector3::new(cos, sin, 0.0)
}

/// As deep as asked, nothing below a threshold.
pub fn depth(max_depth: u32) -> TreeSettings {
    TreeSettings {
        max_depth,
        throughput_threshold: 0.0,
    }
}

/// All returns of a ray from the origin, nearest first.
pub fn returns_of(
    scene: &Scene,
    direction: Vector3<f64>,
    settings: &TreeSettings,
) -> (Vec<LightReturn<f64>>, TreeAudit) {
    returns_from(scene, Point3::origin(), direction, settings)
}

/// All returns of a ray, nearest first.
pub fn returns_from(
    scene: &Scene,
    origin: Point3<f64>,
    direction: Vector3<f64>,
    settings: &TreeSettings,
) -> (Vec<LightReturn<f64>>, TreeAudit) {
    let mut scratch = CastScratch::new();
    let world = World::at_wavelength(scene, 785e-9).expect("constant materials");
    let ray = LightRay::new(origin, direction);
    let mut returns = Vec::new();
    let audit = trace_tree(&world, &ray, settings, &mut scratch, |r| returns.push(r));
    returns.sort_by(|a, b| a.range.total_cmp(&b.range));
    (returns, audit)
}

/// The only return.
pub fn only(returns: &[LightReturn<f64>]) -> LightReturn<f64> {
    assert_eq!(returns.len(), 1);
    returns[0]
}

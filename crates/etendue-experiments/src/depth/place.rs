//! Corridor scene and its stops.

use etendue_physics::surface::{Lobe, Material};
use etendue_scene::primitive::{PrimitiveError, cuboid};
use etendue_scene::{MaterialId, MeshId, NamedMaterial, Object, Scene, SceneBuilder, SceneError};
use nalgebra::{Isometry3, Translation3, UnitQuaternion};

/// Length, width and height, m.
const SIZE: [f64; 3] = [70.0, 2.4, 2.8];
/// Height of the lidar above the floor, m.
const HEIGHT: f64 = 0.7;

/// Closed corridor of 70 x 2.4 x 2.8 m along x from 0 with the floor at z = 0 and painted walls of
/// reflectance 0.6. It has a pilaster every 5 m, alternating between the walls, and lamps and cabinets
/// between them: in a bare corridor the position along it is not observable.
///
/// # Errors
/// None: all sizes are above zero.
pub fn corridor_scene() -> Result<Scene, SceneError> {
    // Walls, floor and ceiling
    let mut parts = SceneBuilder {
        materials: vec![NamedMaterial {
            name: "paint".into(),
            material: Material {
                lobes: vec![Lobe::lambert(0.6.into())],
            },
        }],
        ..SceneBuilder::default()
    };
    let [length, width, height] = SIZE;
    let middle = [length / 2.0, 0.0, height / 2.0];
    add(&mut parts, "corridor", SIZE, middle, true);

    // Pilasters, lamps and cabinets
    for number in 0..14_u32 {
        let side = if number % 2 == 0 { 1.0 } else { -1.0 };
        let x = 2.5 + 5.0 * f64::from(number);
        let pilaster = [0.35, 0.25, height];
        let at = [x, side * (width / 2.0 - 0.125), height / 2.0];
        add(&mut parts, "pilaster", pilaster, at, false);
        let lamp = [x + 1.2, 0.0, height - 0.05];
        add(&mut parts, "lamp", [1.2, 0.25, 0.1], lamp, false);
        if number % 3 == 1 {
            let at = [x + 2.4, -side * (width / 2.0 - 0.2), 0.55];
            add(&mut parts, "cabinet", [0.8, 0.4, 1.1], at, false);
        }
    }
    parts.build()
}

fn add(parts: &mut SceneBuilder, name: &str, size: [f64; 3], at: [f64; 3], inside_out: bool) {
    let mesh = boxed(size, inside_out).expect("all sizes are above zero");
    let number = u32::try_from(parts.meshes.len()).expect("a few dozen objects");
    parts.meshes.push(mesh.into());
    parts.objects.push(Object {
        name: format!("{name} {number}"),
        mesh: MeshId(number),
        world_from_object: Isometry3::translation(at[0], at[1], at[2]),
        material: MaterialId(0),
        mask: u32::MAX,
    });
}

fn boxed(size: [f64; 3], inside_out: bool) -> Result<etendue_scene::Mesh, PrimitiveError> {
    let mesh = cuboid(size)?;
    Ok(if inside_out { mesh.inside_out() } else { mesh })
}

/// Poses of stops on a slightly winding path of 64 m, at most 1 m apart.
pub fn stops(count: usize) -> Vec<Isometry3<f64>> {
    let step = 64.0 / count.max(1) as f64;
    let stop = |i: usize| {
        let s = step.min(1.0) * i as f64;
        let position = Translation3::new(
            3.0 + s,
            0.25 * (0.35 * s).sin(),
            HEIGHT + 0.02 * (0.9 * s).sin(),
        );
        let rotation = UnitQuaternion::from_euler_angles(
            0.02 * (1.3 * s).sin(),
            0.03 * (1.1 * s).cos(),
            0.15 * (0.35 * s).cos(),
        );
        Isometry3::from_parts(position, rotation)
    };
    (0..count).map(stop).collect()
}

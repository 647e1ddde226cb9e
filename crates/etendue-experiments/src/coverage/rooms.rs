//! Scenes of the coverage experiments.

use crate::arena::{Furniture, arena};
use etendue_physics::Spectrum;
use etendue_physics::surface::{Lobe, Material};
use etendue_scene::{MaterialId, Mesh, MeshId, NamedMaterial, Object, SceneBuilder, primitive};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

/// Scene, the pose of the sensor in it, and the freedom of its position from scan to scan (m).
#[derive(Clone, Debug)]
pub(super) struct Room {
    pub parts: SceneBuilder,
    pub pose: Isometry3<f64>,
    pub spread: f64,
}

/// The arena of Heiden et al. without furniture, seen from off its centre.
pub(super) fn plain() -> Room {
    in_arena(&[])
}

/// The arena with one mirror.
pub(super) fn mirror() -> Room {
    in_arena(&[Furniture::Mirror {
        name: "mirror",
        pose: [0.5, 0.05, 160_f64.to_radians()],
        width: 0.3,
    }])
}

/// The arena with a mirror, a pane and a box.
pub(super) fn glass() -> Room {
    in_arena(&[
        Furniture::Mirror {
            name: "mirror",
            pose: [0.5, 0.35, -2.2],
            width: 0.3,
        },
        Furniture::Pane {
            name: "pane",
            pose: [0.55, -0.2, 0.3],
            width: 0.3,
        },
        Furniture::Carton {
            name: "box",
            pose: [-0.55, 0.25, 0.4],
            side: 0.12,
        },
    ])
}

/// The arena with poles and boxes: many edges.
pub(super) fn edges() -> Room {
    let carton = |name, x, y, yaw, side| Furniture::Carton {
        name,
        pose: [x, y, yaw],
        side,
    };
    in_arena(&[
        carton("pole 1", 0.35, 0.2, 0.2, 0.03),
        carton("pole 2", 0.5, -0.25, 0.9, 0.03),
        carton("pole 3", -0.4, 0.22, 0.5, 0.03),
        carton("pole 4", -0.35, -0.25, 0.1, 0.03),
        carton("box", 0.65, 0.05, 0.4, 0.12),
    ])
}

/// The plain arena with another reflectance of its walls.
pub(super) fn darker(reflectance: f64) -> Room {
    let mut room = plain();
    room.parts.materials[0].material = Material {
        lobes: vec![Lobe::lambert(Spectrum::from(reflectance))],
    };
    room
}

/// The plain arena with a wall of half its height before one of its walls.
pub(super) fn displaced() -> Room {
    in_arena(&[Furniture::Carton {
        name: "unknown box",
        pose: [0.82, 0.0, 0.0],
        side: 0.3,
    }])
}

fn in_arena(furniture: &[Furniture]) -> Room {
    Room {
        parts: arena(furniture),
        pose: Isometry3::new(Vector3::new(0.08, 0.05, 0.0), Vector3::z() * 0.17),
        spread: 0.04,
    }
}

/// Room of 8 x 6 m with six round posts of 6 cm: edges metres before the walls.
pub(super) fn posts() -> Room {
    const PLACES: [[f64; 2]; 6] = [
        [2.4, 1.0],
        [1.6, -1.5],
        [-1.8, 1.65],
        [-2.2, -1.2],
        [0.6, 2.1],
        [3.0, -0.4],
    ];
    let material = NamedMaterial {
        name: "paint".to_owned(),
        material: Material {
            lobes: vec![Lobe::lambert(Spectrum::from(0.6))],
        },
    };
    let walls = primitive::cuboid([8.0, 6.0, 1.0]).expect("a size");
    let post = primitive::cylinder(0.03, 1.0, 1e-3).expect("a size");
    let object = |name: String, mesh: u32, [x, y]: [f64; 2]| Object {
        name,
        mesh: MeshId(mesh),
        world_from_object: Isometry3::translation(x, y, 0.0),
        material: MaterialId(0),
        mask: u32::MAX,
    };
    let mut objects = vec![object("walls".to_owned(), 0, [0.0; 2])];
    objects.extend(
        (1..)
            .zip(PLACES)
            .map(|(number, at)| object(format!("post {number}"), 1, at)),
    );
    Room {
        parts: SceneBuilder {
            materials: vec![material],
            meshes: vec![walls.inside_out().into(), post.into()],
            objects,
            ..SceneBuilder::default()
        },
        pose: Isometry3::identity(),
        spread: 0.3,
    }
}

/// Hall of 12 x 8 x 3.4 m with a crate and a screen, each of a different material.
pub(super) fn hall() -> Room {
    let mut parts = SceneBuilder::default();
    let mut add = |name: &str, mesh: Mesh, at: [f64; 3], yaw: f64, reflectance: f64| {
        let number = u32::try_from(parts.meshes.len()).expect("few objects");
        parts.materials.push(NamedMaterial {
            name: name.to_owned(),
            material: Material {
                lobes: vec![Lobe::lambert(Spectrum::from(reflectance))],
            },
        });
        parts.meshes.push(mesh.into());
        parts.objects.push(Object {
            name: name.to_owned(),
            mesh: MeshId(number),
            world_from_object: Isometry3::from_parts(
                Translation3::from(Vector3::from(at)),
                UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw),
            ),
            material: MaterialId(number),
            mask: u32::MAX,
        });
    };
    let cuboid = |size| primitive::cuboid(size).expect("a size");
    let walls = cuboid([12.0, 8.0, 3.4]).inside_out();
    add("hall", walls, [0.0, 0.0, 1.7], 0.0, 0.6);
    add("crate", cuboid([1.0, 0.8, 1.6]), [2.5, 1.6, 0.8], 0.4, 0.3);
    add(
        "screen",
        cuboid([0.1, 3.0, 2.4]),
        [-3.5, -0.5, 1.2],
        0.2,
        0.45,
    );
    Room {
        parts,
        pose: Isometry3::from_parts(
            Translation3::new(0.3, -0.4, 1.3),
            UnitQuaternion::from_euler_angles(0.02, -0.03, 0.5),
        ),
        spread: 0.3,
    }
}

//! Small scenes.

use etendue_physics::surface::{Lobe, Material};
use etendue_scene::{
    MaterialId, Mesh, MeshId, NamedMaterial, Object, ObjectId, Scene, SceneBuilder, Trajectory,
};
use nalgebra::{Isometry3, Point3, Vector3};

/// One diffuse wall: a rectangle about `centre`, spanned by two half edges.
#[derive(Clone, Copy)]
pub struct Wall {
    pub centre: [f64; 3],
    pub edges: [[f64; 3]; 2],
    pub reflectance: f64,
}

impl Wall {
    /// An upright wall between two points of the floor plan, 2 m high.
    pub fn between(from: [f64; 2], to: [f64; 2], reflectance: f64) -> Self {
        let middle = [0, 1].map(|k| f64::midpoint(from[k], to[k]));
        let half = [0, 1].map(|k| (to[k] - from[k]) / 2.0);
        Self {
            centre: [middle[0], middle[1], 0.0],
            edges: [[half[0], half[1], 0.0], [0.0, 0.0, 1.0]],
            reflectance,
        }
    }

    fn mesh(&self) -> Mesh {
        let [a, b] = self.edges.map(Vector3::from);
        let centre = Point3::from(self.centre);
        Mesh {
            vertices: vec![
                centre - a - b,
                centre + a - b,
                centre + a + b,
                centre - a + b,
            ],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            materials: vec![],
        }
    }
}

/// A scene of walls, one object and one material each, all moved by a pose.
pub fn scene_at(walls: &[Wall], world_from_walls: Isometry3<f64>) -> Scene {
    moving_scene(walls, world_from_walls, vec![])
}

/// As [`scene_at`], with walls that move.
pub fn moving_scene(
    walls: &[Wall],
    world_from_walls: Isometry3<f64>,
    motions: Vec<(ObjectId, Trajectory)>,
) -> Scene {
    let mut parts = SceneBuilder::default();
    for (number, wall) in (0..).zip(walls) {
        let reflectance = wall.reflectance.into();
        parts.materials.push(NamedMaterial {
            name: format!("paint {number}"),
            material: Material {
                lobes: vec![Lobe::lambert(reflectance)],
            },
        });
        parts.meshes.push(wall.mesh().into());
        parts.objects.push(Object {
            name: format!("wall {number}"),
            mesh: MeshId(number),
            world_from_object: world_from_walls,
            material: MaterialId(number),
            mask: u32::MAX,
        });
    }
    let motions = motions.into_iter();
    parts.motions = motions
        .map(|(object, motion)| (object, motion.into()))
        .collect();
    parts.build().expect("the walls are fine")
}

pub fn scene(walls: &[Wall]) -> Scene {
    scene_at(walls, Isometry3::identity())
}

/// The reference's box: 1.85 x 0.92 m about the origin; walls numbered y-, x+, y+, x-.
pub fn cuboid() -> Vec<Wall> {
    let (x, y) = (0.925, 0.46);
    vec![
        Wall::between([-x, -y], [x, -y], 0.8),
        Wall::between([x, -y], [x, y], 0.8),
        Wall::between([x, y], [-x, y], 0.8),
        Wall::between([-x, y], [-x, -y], 0.8),
    ]
}

/// The pose of a planar lidar.
pub fn planar(x: f64, y: f64, yaw: f64) -> Isometry3<f64> {
    Isometry3::new(Vector3::new(x, y, 0.0), Vector3::z() * yaw)
}

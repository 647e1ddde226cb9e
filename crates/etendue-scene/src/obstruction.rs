//! Places where no sensor can be: inside objects, at their surfaces, outside the rooms.

use crate::audit::MeshAudit;
use crate::object::Object;
use crate::scene::Scene;
use etendue_raycast::{CastScratch, Mesh, ObjectId, Ray};
use nalgebra::{Point3, Vector3};
use std::f64::consts::PI;

/// Distance from a surface within which a sensor touches it, m.
const CONTACT: f64 = 0.01;
/// Directions of the segments that search for surfaces. A plane at 0.98 [`CONTACT`] is crossed by at least one of
/// them.
const SEGMENTS: u32 = 128;

/// Why no sensor can be at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstruction {
    /// The point is inside a solid object.
    Inside(ObjectId),
    /// The point is outside all rooms of the scene.
    OutsideRooms,
    /// The point is within 10 mm of the surface of an object.
    Touching(ObjectId),
}

/// Search for obstructions in a scene.
///
/// An object is solid at points with a generalised winding number near one (Jacobson et al. 2013,
/// doi 10.1145/2461912.2461916), so that gaps between the triangles of a model do not matter. A room is an object whose
/// mesh is closed and has its normals inwards. Deformed meshes are evaluated as they are at time zero.
///
/// ```
/// # use etendue_scene::{*, primitive::cuboid};
/// # use nalgebra::{Isometry3, Point3};
/// let room = Object {
///     name: "room".into(),
///     mesh: MeshId(0),
///     world_from_object: Isometry3::identity(),
///     material: MaterialId(0),
///     mask: u32::MAX,
/// };
/// # let paint = etendue_physics::surface::Material { lobes: vec![] };
/// # let paint = NamedMaterial { name: "paint".into(), material: paint };
/// let scene = SceneBuilder {
///     meshes: vec![cuboid([4.0, 4.0, 3.0])?.inside_out().into()],
///     objects: vec![room],
///     materials: vec![paint],
///     ..SceneBuilder::default()
/// }
/// .build()?;
/// let search = ObstructionSearch::new(&scene);
/// assert_eq!(search.at(&Point3::origin(), 0.0), None);
/// let far = search.at(&Point3::new(5.0, 0.0, 0.0), 0.0);
/// assert_eq!(far, Some(Obstruction::OutsideRooms));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ObstructionSearch<'a> {
    scene: &'a Scene,
    /// Whether each object is a room.
    is_room: Vec<bool>,
}

impl<'a> ObstructionSearch<'a> {
    /// Finds the rooms of a scene.
    pub fn new(scene: &'a Scene) -> Self {
        let is_room = |object: &Object| is_room(scene.mesh(object.mesh));
        Self {
            scene,
            is_room: scene.objects().iter().map(is_room).collect(),
        }
    }

    /// The rooms of the scene.
    pub fn rooms(&self) -> impl Iterator<Item = ObjectId> {
        let rooms = (0..).zip(&self.is_room).filter(|(_, is_room)| **is_room);
        rooms.map(|(number, _)| ObjectId(number))
    }

    /// Why no sensor can be at a point (m, in the world) at a time (s); `None` where it can.
    pub fn at(&self, point: &Point3<f64>, time: f64) -> Option<Obstruction> {
        // Inside a solid object
        let mut is_outside = self.is_room.contains(&true);
        for (number, is_room) in (0..).zip(&self.is_room) {
            let object = ObjectId(number);
            let turns = self.winding_number(object, point, time);
            if turns > 0.5 {
                return Some(Obstruction::Inside(object));
            }
            is_outside &= !(*is_room && turns < -0.5);
        }
        // Outside the rooms, or at a surface
        if is_outside {
            return Some(Obstruction::OutsideRooms);
        }
        self.touched(point, time).map(Obstruction::Touching)
    }

    /// The winding number of an object about a point; zero outside its bounds.
    fn winding_number(&self, object: ObjectId, point: &Point3<f64>, time: f64) -> f64 {
        let mesh = self
            .scene
            .mesh(self.scene.objects()[object.0 as usize].mesh);
        let world_from_object = self.scene.world_from_object(object, time);
        let point = world_from_object.inverse_transform_point(point);
        let is_within = mesh.bounds().is_some_and(|[low, high]| {
            (0..3).all(|axis| (low[axis]..=high[axis]).contains(&point[axis]))
        });
        if is_within {
            winding_number(mesh, &point)
        } else {
            0.0
        }
    }

    /// An object that a segment through the point crosses.
    fn touched(&self, point: &Point3<f64>, time: f64) -> Option<ObjectId> {
        let mut scratch = CastScratch::new();
        (0..SEGMENTS).find_map(|number| {
            let direction = half_sphere(number);
            let segment = Ray {
                far: 2.0 * CONTACT,
                time,
                ..Ray::new(point - CONTACT * direction, direction)
            };
            let hit = self.scene.closest_hit(&segment, &mut scratch);
            hit.map(|hit| hit.object)
        })
    }
}

/// Whether a mesh is closed with its normals inwards.
fn is_room(mesh: &Mesh) -> bool {
    let about = mesh.vertices.first().copied().unwrap_or_default();
    let volumes = triangles(mesh).map(|corners| {
        let [a, b, c] = corners.map(|corner| corner - about);
        a.cross(&b).dot(&c)
    });
    volumes.sum::<f64>() < 0.0 && MeshAudit::of(mesh).is_ok_and(|audit| audit.is_closed())
}

/// The corners of each triangle.
fn triangles(mesh: &Mesh) -> impl Iterator<Item = [Point3<f64>; 3]> {
    let corner = |&vertex: &u32| mesh.vertices[vertex as usize];
    mesh.triangles
        .iter()
        .map(move |[a, b, c]| [a, b, c].map(corner))
}

/// The sum of the solid angles of the triangles over 4 pi; one inside a closed mesh with outward normals. The solid angle
/// of a triangle is that of van Oosterom and Strackee 1983, eq. 8, doi 10.1109/TBME.1983.325207.
fn winding_number(mesh: &Mesh, point: &Point3<f64>) -> f64 {
    let solid_angle = |corners: [Point3<f64>; 3]| {
        let [a, b, c] = corners.map(|corner| corner - point);
        let [la, lb, lc] = [a.norm(), b.norm(), c.norm()];
        let height = a.dot(&b.cross(&c));
        let base = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
        2.0 * height.atan2(base)
    };
    triangles(mesh).map(solid_angle).sum::<f64>() / (4.0 * PI)
}

/// A direction of a Fibonacci lattice on the upper half sphere.
fn half_sphere(number: u32) -> Vector3<f64> {
    let golden_angle = PI * (3.0 - 5.0_f64.sqrt());
    let z = (f64::from(number) + 0.5) / f64::from(SEGMENTS);
    let azimuth = golden_angle * f64::from(number);
    let radius = (1.0 - z * z).sqrt();
    Vector3::new(radius * azimuth.cos(), radius * azimuth.sin(), z)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::primitive::{cuboid, rectangle, sphere};
    use crate::{MaterialId, MeshId, NamedMaterial, SceneBuilder, Trajectory, Twist};
    use etendue_physics::surface::Material;
    use nalgebra::Isometry3;

    /// A room of 4 m by 4 m by 3 m with a box of 1 m at x = 1 m, which moves by 1 m/s, and a sheet at x = -1 m.
    fn scene() -> Scene {
        let object = |name: &str, mesh, x| Object {
            name: name.into(),
            mesh: MeshId(mesh),
            world_from_object: Isometry3::translation(x, 0.0, 0.0),
            material: MaterialId(0),
            mask: u32::MAX,
        };
        let upright = Isometry3::rotation(Vector3::y() * (PI / 2.0));
        let mut sheet = object("sheet", 2, -1.0);
        sheet.world_from_object *= upright;
        let motion = Trajectory::Twist(Twist {
            start: Isometry3::translation(1.0, 0.0, 0.0),
            velocity: Vector3::y(),
            angular_velocity: Vector3::zeros(),
        });
        SceneBuilder {
            materials: vec![NamedMaterial {
                name: "paint".into(),
                material: Material { lobes: vec![] },
            }],
            meshes: vec![
                cuboid([4.0, 4.0, 3.0]).unwrap().inside_out().into(),
                cuboid([1.0; 3]).unwrap().into(),
                rectangle([1.0; 2]).unwrap().into(),
            ],
            objects: vec![object("room", 0, 0.0), object("box", 1, 1.0), sheet],
            motions: vec![(ObjectId(1), motion.into())],
            ..SceneBuilder::default()
        }
        .build()
        .unwrap()
    }

    #[test]
    fn solids_surfaces_and_the_outside_of_a_room_are_obstructions() {
        let scene = scene();
        let search = ObstructionSearch::new(&scene);
        let at = |x: f64, y: f64, time| search.at(&Point3::new(x, y, 0.1), time);
        assert_eq!(at(0.0, 0.0, 0.0), None);
        assert_eq!(at(1.0, 0.0, 0.0), Some(Obstruction::Inside(ObjectId(1))));
        assert_eq!(at(3.0, 0.0, 0.0), Some(Obstruction::OutsideRooms));
        // Both sides of a sheet and the sheet itself, and beyond the contact
        for x in [-1.0, -1.009, -0.991] {
            assert_eq!(at(x, 0.1, 0.0), Some(Obstruction::Touching(ObjectId(2))));
        }
        assert_eq!(at(-1.02, 0.1, 0.0), None);
        assert_eq!(at(-1.99, 1.5, 0.0), None);
        assert_eq!(
            at(-1.995, 1.5, 0.0),
            Some(Obstruction::Touching(ObjectId(0)))
        );
    }

    #[test]
    fn a_moving_object_obstructs_where_it_is_at_the_time() {
        let scene = scene();
        let search = ObstructionSearch::new(&scene);
        let at = |y: f64, time| search.at(&Point3::new(1.0, y, 0.1), time);
        assert_eq!(at(1.4, 0.0), None);
        assert_eq!(at(1.4, 1.2), Some(Obstruction::Inside(ObjectId(1))));
        assert_eq!(at(0.0, 1.2), None);
    }

    #[test]
    fn the_winding_number_of_a_sphere_is_one_inside_and_zero_outside() {
        let ball = sphere(1.0, 0.001).unwrap();
        let at = |x: f64| winding_number(&ball, &Point3::new(x, 0.02, 0.01));
        assert!((at(0.9) - 1.0).abs() < 1e-12 && at(1.1).abs() < 1e-12);
    }
}

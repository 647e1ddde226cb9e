//! Mirror images of edges in planar mirrors.

use etendue_physics::Scalar;
use etendue_physics::surface::Side;
use etendue_scene::ObjectId;
use etendue_sensors::transport::World;
use nalgebra::{Point3, Vector3};

/// Minimum specular reflectance of a mirror at normal incidence.
const MIN_REFLECTANCE: f64 = 0.05;

/// Maximum number of triangles of the mesh of a mirror.
const MAX_FACETS: usize = 16;

/// Maximum distance of a point from the plane that contains it, m.
const PLANE_TOLERANCE: f64 = 1e-9;

/// Plane of a mirror in the world frame.
pub(super) struct Mirror<S: Scalar> {
    point: Point3<S>,
    normal: Vector3<S>,
}

impl<S: Scalar> Mirror<S> {
    /// Signed distance of a point, m.
    fn distance(&self, point: &Point3<S>) -> S {
        (point - self.point).dot(&self.normal)
    }

    /// Whether an edge is in the plane of the mirror.
    pub(super) fn contains(&self, ends: &[Point3<S>; 2]) -> bool {
        ends.iter()
            .all(|end| self.distance(end).value().abs() < PLANE_TOLERANCE)
    }

    /// Mirror image of an edge.
    pub(super) fn image(&self, ends: &[Point3<S>; 2]) -> [Point3<S>; 2] {
        ends.map(|end| end - self.normal * (self.distance(&end) * 2.0))
    }

    /// Whether two mirrors have the same plane.
    fn is_same(&self, other: &Self) -> bool {
        let aligned = self.normal.dot(&other.normal).value().abs();
        1.0 - aligned < 1e-12 && other.distance(&self.point).value().abs() < PLANE_TOLERANCE
    }
}

/// Distinct planes of the specular triangles of the objects at rest in a world.
pub(super) fn mirrors_of<S: Scalar>(world: &World<'_, S>) -> Vec<Mirror<S>> {
    let scene = world.scene();
    let mut mirrors: Vec<Mirror<S>> = Vec::new();
    let objects = (0..).map(ObjectId).zip(scene.objects());
    for ((id, object), pose) in objects.zip(world.poses()) {
        let mesh = scene.mesh(object.mesh);
        if scene.motion(id).is_some() || mesh.triangles.len() > MAX_FACETS {
            continue;
        }
        for (number, triangle) in mesh.triangles.iter().enumerate() {
            // Skip triangles that are not specular.
            let material = mesh
                .materials
                .get(number)
                .copied()
                .unwrap_or(object.material);
            let specular = world.material(material).specular(S::one(), Side::Front);
            if specular.reflected.value() < MIN_REFLECTANCE {
                continue;
            }
            // Add the plane of the triangle, unless it is known.
            let [a, b, c] = triangle.map(|v| pose * mesh.vertices[v as usize].map(S::from));
            let normal = (b - a).cross(&(c - a)).normalize();
            let mirror = Mirror { point: a, normal };
            if !mirrors.iter().any(|known| known.is_same(&mirror)) {
                mirrors.push(mirror);
            }
        }
    }
    mirrors
}

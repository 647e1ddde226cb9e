//! Points on surfaces, with derivatives.

use crate::scene::Scene;
use etendue_physics::Scalar;
use etendue_raycast::{Hit, MaterialId, rotate};
use nalgebra::{Isometry3, Point3, Vector3};

/// A point where a ray of scalar type `S` hits a surface.
#[derive(Clone, Copy, Debug)]
pub struct SurfacePoint<S: Scalar> {
    /// Distance along the ray, m.
    pub distance: S,
    /// Position in the world, m.
    pub point: Point3<S>,
    /// Unit normal in the world, outward by the right-handed winding, whatever side the ray is on.
    pub normal: Vector3<S>,
    /// The material.
    pub material: MaterialId,
}

impl Scene {
    /// Intersects the triangle of `hit` in the scalar `S`, for an object whose pose
    /// `world_from_object` at the ray's time carries derivatives. The triangle was chosen in plain
    /// numbers.
    ///
    /// The triangle's plane $n \cdot x = h$ in the object's frame has no derivatives. With the object's
    /// position $p$ and the normal $n$ rotated into the world,
    /// $t = \frac{h - n\cdot(o - p)}{n\cdot d}$.
    pub fn surface_hit<S: Scalar>(
        &self,
        hit: &Hit,
        origin: &Point3<S>,
        direction: &Vector3<S>,
        world_from_object: &Isometry3<S>,
    ) -> SurfacePoint<S> {
        let mesh = self.mesh(self.objects()[hit.object.0 as usize].mesh);
        let local_normal = mesh.normal(hit.triangle);
        let [corner, ..] = mesh.corners(hit.triangle);
        let height = local_normal.dot(&corner.coords);
        let normal = rotate(&world_from_object.rotation, &local_normal);
        let start = origin.coords - world_from_object.translation.vector;
        let distance = (-normal.dot(&start) + height) / normal.dot(direction);
        SurfacePoint {
            distance,
            point: origin + direction * distance,
            normal,
            material: self.material_of(hit),
        }
    }

    /// [`Scene::surface_hit`] with the corners of the triangle moved along its normal by `heights` (m), which
    /// carry derivatives.
    ///
    /// Motion of a corner within the plane of the triangle does not change the plane, so that the derivative by
    /// the height $h_k$ of corner $k$ times the normal is the derivative by its position.
    pub fn bent_surface_hit<S: Scalar>(
        &self,
        hit: &Hit,
        origin: &Point3<S>,
        direction: &Vector3<S>,
        world_from_object: &Isometry3<S>,
        heights: &[S; 3],
    ) -> SurfacePoint<S> {
        // Move the corners, in the object's frame.
        let mesh = self.mesh(self.objects()[hit.object.0 as usize].mesh);
        let flat_normal = mesh.normal(hit.triangle).map(S::from);
        let corners = mesh.corners(hit.triangle);
        let [a, b, c] = [0, 1, 2].map(|k: usize| {
            let corner: Vector3<S> = corners[k].coords.map(S::from);
            corner + flat_normal * heights[k]
        });
        let normal = (b - a).cross(&(c - a)).normalize();

        // Intersect their plane.
        let height = normal.dot(&a);
        let normal = world_from_object.rotation * normal;
        let start = origin.coords - world_from_object.translation.vector;
        let distance = (-normal.dot(&start) + height) / normal.dot(direction);
        SurfacePoint {
            distance,
            point: origin + direction * distance,
            normal,
            material: self.material_of(hit),
        }
    }

    /// Intersects the plane of the surface at `hit` in the scalar `S`, for an object whose pose carries
    /// no derivatives. With the plain ray $o_0 + t_0 d_0$ to the hit,
    /// $t = \frac{n\cdot(t_0 d_0 - (o - o_0))}{n\cdot d}$.
    #[inline]
    pub fn plane_hit<S: Scalar>(
        &self,
        hit: &Hit,
        origin: &Point3<S>,
        direction: &Vector3<S>,
    ) -> SurfacePoint<S> {
        let normal = &hit.normal;
        let along = |v: &Vector3<S>| v.x * normal.x + v.y * normal.y + v.z * normal.z;
        let moved = origin - origin.map(|part| S::from(part.value()));
        let height = normal.dot(&direction.map(Scalar::value)) * hit.distance;
        let distance = (-along(&moved) + height) / along(direction);
        SurfacePoint {
            distance,
            point: origin + direction * distance,
            normal: normal.map(S::from),
            material: self.material_of(hit),
        }
    }
}

//! Sixteen rays in the frame of an object, in full precision.

use super::packet::PacketRays;
use crate::instance::{PlacedMesh, Placement};
use crate::intersect::local_ray::{LocalRay, PreciseRays};
use crate::intersect::triangle_tile::{IntersectionTile, TriangleTile};
use crate::ray_tile::{HitTile, RayTile};
use crate::rotation::rotate_lanes;
use nalgebra::{Point3, Vector3};

/// Sixteen [`LocalRay`]s, by axis and lane.
#[repr(C, align(64))]
pub(crate) struct LocalRayTile {
    origin: [[f64; 16]; 3],
    direction: [[f64; 16]; 3],
    near: [f64; 16],
    far: [f64; 16],
    far_included: [bool; 16],
}

impl LocalRayTile {
    /// Placeholder rays.
    pub const EMPTY: Self = Self {
        origin: [[0.0; 16]; 3],
        direction: [[0.0; 16]; 3],
        near: [0.0; 16],
        far: [0.0; 16],
        far_included: [false; 16],
    };

    /// Sets the rays of a tile in the frame of object `number`, each up to its hit.
    #[inline(always)]
    pub fn set_up_to(
        &mut self,
        tile: &RayTile,
        object: &PlacedMesh,
        number: usize,
        hits: &HitTile,
    ) {
        self.set(tile, object);
        for lane in 0..16 {
            let is_hit = hits.is_hit(lane);
            if is_hit {
                self.far[lane] = hits.distance[lane];
            }
            self.far_included[lane] = !is_hit || number < hits.object[lane] as usize;
        }
    }

    /// Sets the rays of a tile in the frame of an object.
    #[inline(always)]
    pub fn set(&mut self, tile: &RayTile, object: &PlacedMesh) {
        // Transform into the frame of the object.
        match &object.placement {
            Placement::Static {
                translation_only: true,
                object_from_world,
                ..
            } => {
                self.origin = tile.origin;
                self.direction = tile.direction;
                self.translate(&object_from_world.translation.vector);
            }
            Placement::Static {
                object_from_world, ..
            } => {
                self.origin = rotate_lanes(&object_from_world.rotation, &tile.origin);
                self.direction = rotate_lanes(&object_from_world.rotation, &tile.direction);
                self.translate(&object_from_world.translation.vector);
            }
            Placement::Moving(_) => {
                for lane in 0..tile.used {
                    self.put(lane, &object.local_ray(&tile.ray(lane)));
                }
            }
        }

        // Copy the limits.
        self.near = tile.near;
        self.far = tile.far;
        self.far_included = [true; 16];

        // Fill unused lanes with the first ray.
        for lane in tile.used..16 {
            for axis in 0..3 {
                self.origin[axis][lane] = self.origin[axis][0];
                self.direction[axis][lane] = self.direction[axis][0];
            }
        }
    }

    #[inline(always)]
    fn translate(&mut self, by: &Vector3<f64>) {
        for axis in 0..3 {
            for lane in 0..16 {
                self.origin[axis][lane] += by[axis];
            }
        }
    }

    #[inline(always)]
    fn put(&mut self, lane: usize, ray: &LocalRay) {
        for axis in 0..3 {
            self.origin[axis][lane] = ray.origin[axis];
            self.direction[axis][lane] = ray.direction[axis];
        }
    }

    /// Intersects each ray with its own triangle; `share_major_axis` where all rays are known to have
    /// the same axes.
    #[inline(always)]
    pub fn intersect(&self, corners: &TriangleTile, share_major_axis: bool) -> IntersectionTile {
        corners.intersect(&self.origin, &self.direction, share_major_axis)
    }

    /// Whether a distance is within the ray's limits.
    #[inline(always)]
    pub fn is_within_limits(&self, lane: usize, distance: f64) -> bool {
        let far = self.far[lane];
        let before = (distance < far) | ((distance == far) & self.far_included[lane]);
        (distance >= self.near[lane]) & before
    }

    /// Depth along a packet's major axis of the point of a ray at a distance: [`LocalRay::depth`].
    #[inline(always)]
    pub fn depth(&self, lane: usize, distance: f64, axis: usize, sign: f32, start: f64) -> f64 {
        self.ray(lane).depth(distance, axis, sign, start)
    }

    /// The origin of the first ray.
    #[inline(always)]
    pub fn first_origin(&self) -> [f64; 3] {
        [0, 1, 2].map(|axis| self.origin[axis][0])
    }

    /// Writes the rays in `f32`, relative to the point `from` of the object's frame, and returns that
    /// point relative to `middle`. Lanes that are not `open` can hit nothing.
    #[inline(always)]
    pub fn to_packet_rays(
        &self,
        from: &[f64; 3],
        middle: &Point3<f64>,
        open: u32,
        rays: &mut PacketRays,
    ) -> [f32; 3] {
        let centre = [0, 1, 2].map(|axis| (from[axis] - middle[axis]) as f32);

        // Do all rays start at the point?
        let mut difference = 0;
        for axis in 0..3 {
            for lane in 0..16 {
                difference |= self.origin[axis][lane].to_bits() ^ from[axis].to_bits();
            }
        }
        rays.share_origin = difference == 0;

        // Round origins and directions.
        rays.origin = [[0.0; 16]; 3];
        for axis in 0..3 {
            for lane in 0..16 {
                rays.direction[axis][lane] = self.direction[axis][lane] as f32;
            }
            if rays.share_origin {
                continue;
            }
            let reference = f64::from(centre[axis]);
            for lane in 0..16 {
                let origin = self.origin[axis][lane] - middle[axis] - reference;
                rays.origin[axis][lane] = origin as f32;
            }
        }

        // Round the limits.
        for lane in 0..16 {
            rays.near[lane] = self.near[lane] as f32;
            let far = self.far[lane] as f32;
            rays.far[lane] = if open >> lane & 1 == 1 { far } else { -1e30 };
        }
        centre
    }
}

impl PreciseRays for LocalRayTile {
    fn ray(&self, lane: usize) -> LocalRay {
        LocalRay {
            origin: Point3::from([0, 1, 2].map(|axis| self.origin[axis][lane])),
            direction: Vector3::from([0, 1, 2].map(|axis| self.direction[axis][lane])),
            near: self.near[lane],
            far: self.far[lane],
            far_included: self.far_included[lane],
        }
    }
}

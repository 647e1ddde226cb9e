//! Tiles of sixteen rays and their hits, in full precision.

use crate::ids::ObjectId;
use crate::ray::{Hit, Ray};
use crate::rotation::rotate_lanes;
use nalgebra::{Isometry3, Point3, Vector3};

/// The object number of no hit.
const NO_OBJECT: u32 = u32::MAX;

/// Up to sixteen [`Ray`]s in the world frame, by axis and lane. Queries are fastest where they are
/// neighbours.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct RayTile {
    /// Origins, m.
    pub origin: [[f64; 16]; 3],
    /// Unit directions.
    pub direction: [[f64; 16]; 3],
    /// Hits nearer than this are ignored, m.
    pub near: [f64; 16],
    /// Hits farther than this are ignored, m.
    pub far: [f64; 16],
    /// Times at which moving objects are intersected, s.
    pub time: [f64; 16],
    /// Visibility masks.
    pub mask: [u32; 16],
    /// Number of rays, in the first lanes; the others are ignored.
    pub used: usize,
}

/// The hits of a tile, by lane: the fields of a [`Hit`].
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct HitTile {
    /// Distance along the ray, m; infinite without a hit.
    pub distance: [f64; 16],
    /// Index of the object, `u32::MAX` without a hit.
    pub object: [u32; 16],
    /// Index of the triangle in the object's mesh.
    pub triangle: [u32; 16],
    /// Barycentric weights of the second and third vertex.
    pub barycentric: [[f64; 16]; 2],
    /// Outward unit normals in the world, by axis.
    pub normal: [[f64; 16]; 3],
}

impl RayTile {
    /// No rays. Limits are infinite, times zero and masks full.
    pub const EMPTY: Self = Self {
        origin: [[0.0; 16]; 3],
        direction: [[1.0; 16], [0.0; 16], [0.0; 16]],
        near: [0.0; 16],
        far: [f64::INFINITY; 16],
        time: [0.0; 16],
        mask: [u32::MAX; 16],
        used: 0,
    };

    /// Tile of up to sixteen rays, in their order.
    ///
    /// ```
    /// # use etendue_raycast::{Ray, RayTile};
    /// # use nalgebra::{Point3, Vector3};
    /// let rays = [Vector3::x(), Vector3::z()].map(|along| Ray::new(Point3::origin(), along));
    /// let tile = RayTile::of(&rays);
    /// assert_eq!((tile.used, tile.ray(1)), (2, rays[1]));
    /// ```
    ///
    /// # Panics
    /// Where there are more than sixteen rays.
    pub fn of(rays: &[Ray]) -> Self {
        let mut tile = Self::EMPTY;
        for (lane, ray) in rays.iter().enumerate() {
            tile.put(lane, ray);
        }
        tile.used = rays.len();
        tile
    }

    /// Writes a ray to a lane.
    ///
    /// ```
    /// # use etendue_raycast::{Ray, RayTile};
    /// # use nalgebra::{Isometry3, Point3, Vector3};
    /// let mut tile = RayTile::EMPTY;
    /// let ray = Ray::new(Point3::new(1.0, 2.0, 3.0), Vector3::z());
    /// tile.put(5, &ray);
    /// assert_eq!(tile.ray(5), ray);
    /// ```
    #[inline(always)]
    pub fn put(&mut self, lane: usize, ray: &Ray) {
        for axis in 0..3 {
            self.origin[axis][lane] = ray.origin[axis];
            self.direction[axis][lane] = ray.direction[axis];
        }
        self.near[lane] = ray.near;
        self.far[lane] = ray.far;
        self.time[lane] = ray.time;
        self.mask[lane] = ray.mask;
    }

    /// The ray of a lane.
    #[inline(always)]
    pub fn ray(&self, lane: usize) -> Ray {
        Ray {
            origin: Point3::from(self.origin.map(|axis| axis[lane])),
            direction: Vector3::from(self.direction.map(|axis| axis[lane])),
            near: self.near[lane],
            far: self.far[lane],
            time: self.time[lane],
            mask: self.mask[lane],
        }
    }

    /// Transforms the rays from a frame into the world.
    ///
    /// ```
    /// # use etendue_raycast::{Ray, RayTile};
    /// # use nalgebra::{Isometry3, Point3, Vector3};
    /// let pose = Isometry3::new(Vector3::new(1.0, 2.0, 3.0), Vector3::new(0.1, 0.2, 0.3));
    /// let ray = Ray::new(Point3::new(0.5, 0.0, 0.0), Vector3::x());
    /// let mut tile = RayTile::EMPTY;
    /// tile.put(3, &ray);
    /// tile.transform(&pose);
    /// assert_eq!(tile.ray(3), Ray::new(pose * ray.origin, pose * ray.direction));
    /// ```
    #[inline(always)]
    pub fn transform(&mut self, world_from_frame: &Isometry3<f64>) {
        self.origin = rotate_lanes(&world_from_frame.rotation, &self.origin);
        self.direction = rotate_lanes(&world_from_frame.rotation, &self.direction);
        for axis in 0..3 {
            for lane in 0..16 {
                self.origin[axis][lane] += world_from_frame.translation.vector[axis];
            }
        }
    }
}

impl HitTile {
    /// No hits.
    pub const NONE: Self = Self {
        distance: [f64::INFINITY; 16],
        object: [NO_OBJECT; 16],
        triangle: [NO_OBJECT; 16],
        barycentric: [[0.0; 16]; 2],
        normal: [[0.0; 16]; 3],
    };

    /// Removes all hits.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.object = Self::NONE.object;
        self.distance = Self::NONE.distance;
    }

    /// The hit of a lane.
    #[inline(always)]
    pub fn hit(&self, lane: usize) -> Option<Hit> {
        (self.object[lane] != NO_OBJECT).then(|| Hit {
            distance: self.distance[lane],
            object: ObjectId(self.object[lane]),
            triangle: self.triangle[lane],
            barycentric: self.barycentric.map(|weights| weights[lane]),
            normal: Vector3::from(self.normal.map(|axis| axis[lane])),
        })
    }

    /// Whether a lane has a hit.
    #[inline(always)]
    pub fn is_hit(&self, lane: usize) -> bool {
        self.object[lane] != NO_OBJECT
    }
}

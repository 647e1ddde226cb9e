//! Sixteen rays in, sixteen hits out, in full precision.

use super::face::turned_lanes;
use super::top::Bundle;
use crate::{Hit, ObjectId, Ray};
use nalgebra::{Isometry3, Point3, Vector3};

/// Number of the object where there is none.
const NOTHING: u32 = u32::MAX;

/// Up to sixteen rays in the world frame, by axis and lane, as [`Ray`]s are. Best where they are
/// neighbours.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct RayTile {
    /// Where each starts, m.
    pub origin: [[f64; 16]; 3],
    /// Unit directions.
    pub direction: [[f64; 16]; 3],
    /// Hits nearer than this are ignored, m.
    pub near: [f64; 16],
    /// Hits farther than this are ignored, m.
    pub far: [f64; 16],
    /// When each is fired, s.
    pub time: [f64; 16],
    /// Objects whose own mask shares no bit with this are not seen.
    pub mask: [u32; 16],
    /// How many lanes are rays; the others are ignored.
    pub used: usize,
}

/// What the rays of a tile met, by lane: the numbers of a [`Hit`].
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct HitTile {
    /// Along the ray, m; infinite where nothing was met.
    pub distance: [f64; 16],
    /// The object met, `u32::MAX` where there is none.
    pub object: [u32; 16],
    /// The triangle of that object's mesh.
    pub triangle: [u32; 16],
    /// Weights of the second and third vertex.
    pub barycentric: [[f64; 16]; 2],
    /// Outward unit normals of the triangles in the world, by axis.
    pub normal: [[f64; 16]; 3],
}

impl RayTile {
    /// No rays: without limits and at time zero, seeing everything, once they are put in.
    pub const EMPTY: Self = Self {
        origin: [[0.0; 16]; 3],
        direction: [[1.0; 16], [0.0; 16], [0.0; 16]],
        near: [0.0; 16],
        far: [f64::INFINITY; 16],
        time: [0.0; 16],
        mask: [u32::MAX; 16],
        used: 0,
    };

    /// Puts a ray in a lane.
    ///
    /// ```
    /// # use etendue_scene::{Ray, RayTile};
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

    /// Takes rays given in a frame into the world.
    ///
    /// ```
    /// # use etendue_scene::{Ray, RayTile};
    /// # use nalgebra::{Isometry3, Point3, Vector3};
    /// let pose = Isometry3::new(Vector3::new(1.0, 2.0, 3.0), Vector3::new(0.1, 0.2, 0.3));
    /// let ray = Ray::new(Point3::new(0.5, 0.0, 0.0), Vector3::x());
    /// let mut tile = RayTile::EMPTY;
    /// tile.put(3, &ray);
    /// tile.place(&pose);
    /// assert_eq!(tile.ray(3), Ray::new(pose * ray.origin, pose * ray.direction));
    /// ```
    #[inline(always)]
    pub fn place(&mut self, world_from_frame: &Isometry3<f64>) {
        self.origin = turned_lanes(&world_from_frame.rotation, &self.origin);
        self.direction = turned_lanes(&world_from_frame.rotation, &self.direction);
        for axis in 0..3 {
            for lane in 0..16 {
                self.origin[axis][lane] += world_from_frame.translation.vector[axis];
            }
        }
    }

    /// The rays as a whole.
    #[inline(always)]
    pub(super) fn bundle(&self) -> Bundle {
        let mut bundle = Bundle::one(&self.ray(0));
        for lane in 1..self.used {
            bundle.with(&self.ray(lane));
        }
        bundle
    }

    /// The times that the rays of some tiles are fired between.
    pub(super) fn span(tiles: &[Self]) -> [f64; 2] {
        let times = || tiles.iter().flat_map(|tile| &tile.time[..tile.used]);
        [
            times().copied().fold(f64::INFINITY, f64::min),
            times().copied().fold(f64::NEG_INFINITY, f64::max),
        ]
    }
}

impl HitTile {
    /// Nothing met.
    pub const NONE: Self = Self {
        distance: [f64::INFINITY; 16],
        object: [NOTHING; 16],
        triangle: [NOTHING; 16],
        barycentric: [[0.0; 16]; 2],
        normal: [[0.0; 16]; 3],
    };

    /// What the ray of a lane met.
    #[inline(always)]
    pub fn hit(&self, lane: usize) -> Option<Hit> {
        (self.object[lane] != NOTHING).then(|| Hit {
            distance: self.distance[lane],
            object: ObjectId(self.object[lane]),
            triangle: self.triangle[lane],
            barycentric: self.barycentric.map(|weights| weights[lane]),
            normal: Vector3::from(self.normal.map(|axis| axis[lane])),
        })
    }

    /// Whether something was met.
    #[inline(always)]
    pub fn is_met(&self, lane: usize) -> bool {
        self.object[lane] != NOTHING
    }
}

//! Sixteen rays in an instance's frame, in full precision.

use super::best::{Exact, LocalRay};
use super::face::Met;
use super::packet::Beams;
use nalgebra::{Point3, Vector3};

/// Sixteen [`LocalRay`]s, by axis and lane.
#[repr(C, align(64))]
pub(crate) struct LocalRays {
    origin: [[f64; 16]; 3],
    direction: [[f64; 16]; 3],
    near: [f64; 16],
    far: [f64; 16],
    far_included: [bool; 16],
}

impl LocalRays {
    pub const NONE: Self = Self {
        origin: [[0.0; 16]; 3],
        direction: [[0.0; 16]; 3],
        near: [0.0; 16],
        far: [0.0; 16],
        far_included: [false; 16],
    };

    #[inline(always)]
    pub fn put(&mut self, lane: usize, ray: &LocalRay) {
        for axis in 0..3 {
            self.origin[axis][lane] = ray.origin[axis];
            self.direction[axis][lane] = ray.direction[axis];
        }
        self.near[lane] = ray.near;
        self.far[lane] = ray.far;
        self.far_included[lane] = ray.far_included;
    }

    /// As [`LocalRay::end_at`].
    #[inline(always)]
    pub fn end_at(&mut self, lane: usize, met: &Met, number: usize) {
        self.far[lane] = met.distance;
        self.far_included[lane] = number < met.object.0 as usize;
    }

    /// Fills a lane that is not in use.
    #[inline(always)]
    pub fn repeat_first(&mut self, lane: usize) {
        for axis in 0..3 {
            self.origin[axis][lane] = self.origin[axis][0];
            self.direction[axis][lane] = self.direction[axis][0];
        }
    }

    /// Origin and direction.
    #[inline(always)]
    pub fn line(&self, lane: usize) -> [[f64; 3]; 2] {
        let [o, d] = [&self.origin, &self.direction];
        [
            [o[0][lane], o[1][lane], o[2][lane]],
            [d[0][lane], d[1][lane], d[2][lane]],
        ]
    }

    /// Whether a surface at this distance is within the ray's limits.
    #[inline(always)]
    pub fn counts(&self, lane: usize, distance: f64) -> bool {
        let far = self.far[lane];
        distance >= self.near[lane]
            && (distance < far || (distance == far && self.far_included[lane]))
    }

    /// The rays in `f32` relative to the first origin, which is given relative to `middle`. Lanes
    /// that are not open meet nothing.
    #[inline(always)]
    pub fn beams(&self, middle: &Point3<f64>, open: u32, beams: &mut Beams) -> [f32; 3] {
        let mut centre = [0.0; 3];
        let mut apart = 0;
        for axis in 0..3 {
            let first = self.origin[axis][0];
            centre[axis] = (first - middle[axis]) as f32;
            let reference = f64::from(centre[axis]);
            for lane in 0..16 {
                let origin = self.origin[axis][lane];
                apart |= u32::from(origin != first);
                beams.origin[axis][lane] = (origin - middle[axis] - reference) as f32;
                beams.direction[axis][lane] = self.direction[axis][lane] as f32;
            }
        }
        beams.together = apart == 0;
        if beams.together {
            beams.origin = [[0.0; 16]; 3];
        }
        for lane in 0..16 {
            beams.near[lane] = self.near[lane] as f32;
            let far = self.far[lane] as f32;
            beams.far[lane] = if open >> lane & 1 == 1 { far } else { -1e30 };
        }
        centre
    }
}

impl Exact for LocalRays {
    fn ray(&self, lane: usize) -> LocalRay {
        let [origin, direction] = self.line(lane);
        LocalRay {
            origin: Point3::from(origin),
            direction: Vector3::from(direction),
            near: self.near[lane],
            far: self.far[lane],
            far_included: self.far_included[lane],
        }
    }
}

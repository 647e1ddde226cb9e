//! Sixteen rays in an instance's frame, in full precision.

use super::best::{Exact, LocalRay};
use super::face::turned_lanes;
use super::instance::{Instance, Pose};
use super::packet::Beams;
use super::tile::{HitTile, RayTile};
use super::triangle::{Corners, Meetings};
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

    /// Takes up the rays of a tile in an instance's frame, up to what they have met.
    #[inline(always)]
    pub fn take(&mut self, tile: &RayTile, instance: &Instance, number: usize, met: &HitTile) {
        self.start(tile, instance);
        for lane in 0..16 {
            let is_met = met.is_met(lane);
            if is_met {
                self.far[lane] = met.distance[lane];
            }
            self.far_included[lane] = !is_met || number < met.object[lane] as usize;
        }
    }

    /// Takes up the rays of a tile in an instance's frame.
    #[inline(always)]
    pub fn start(&mut self, tile: &RayTile, instance: &Instance) {
        match &instance.pose {
            Pose::Still {
                shifted: true,
                object_from_world,
                ..
            } => {
                self.origin = tile.origin;
                self.direction = tile.direction;
                self.shift(&object_from_world.translation.vector);
            }
            Pose::Still {
                object_from_world, ..
            } => {
                self.origin = turned_lanes(&object_from_world.rotation, &tile.origin);
                self.direction = turned_lanes(&object_from_world.rotation, &tile.direction);
                self.shift(&object_from_world.translation.vector);
            }
            Pose::Moving(_) => {
                for lane in 0..tile.used {
                    self.put(lane, &instance.localise(&tile.ray(lane)));
                }
            }
        }
        self.near = tile.near;
        self.far = tile.far;
        self.far_included = [true; 16];
        for lane in tile.used..16 {
            for axis in 0..3 {
                self.origin[axis][lane] = self.origin[axis][0];
                self.direction[axis][lane] = self.direction[axis][0];
            }
        }
    }

    #[inline(always)]
    fn shift(&mut self, by: &Vector3<f64>) {
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

    /// Origin and direction.
    #[inline(always)]
    pub fn line(&self, lane: usize) -> [[f64; 3]; 2] {
        let [o, d] = [&self.origin, &self.direction];
        [
            [o[0][lane], o[1][lane], o[2][lane]],
            [d[0][lane], d[1][lane], d[2][lane]],
        ]
    }

    /// Each ray with its own triangle; `alike` where all rays are known to have the same axes.
    #[inline(always)]
    pub fn meet(&self, corners: &Corners, alike: bool) -> Meetings {
        corners.meet(&self.origin, &self.direction, alike)
    }

    /// Whether a surface at this distance is within the ray's limits.
    #[inline(always)]
    pub fn counts(&self, lane: usize, distance: f64) -> bool {
        let far = self.far[lane];
        let before = (distance < far) | ((distance == far) & self.far_included[lane]);
        (distance >= self.near[lane]) & before
    }

    /// Where the first ray starts.
    #[inline(always)]
    pub fn first_start(&self) -> [f64; 3] {
        self.line(0)[0]
    }

    /// The rays in `f32` relative to a place they start about, which is given relative to
    /// `middle`. Lanes that are not open meet nothing.
    #[inline(always)]
    pub fn beams(
        &self,
        from: &[f64; 3],
        middle: &Point3<f64>,
        open: u32,
        beams: &mut Beams,
    ) -> [f32; 3] {
        let centre = [0, 1, 2].map(|axis| (from[axis] - middle[axis]) as f32);
        let mut apart = 0;
        for axis in 0..3 {
            for lane in 0..16 {
                apart |= self.origin[axis][lane].to_bits() ^ from[axis].to_bits();
            }
        }
        beams.together = apart == 0;
        beams.origin = [[0.0; 16]; 3];
        for axis in 0..3 {
            for lane in 0..16 {
                beams.direction[axis][lane] = self.direction[axis][lane] as f32;
            }
            if beams.together {
                continue;
            }
            let reference = f64::from(centre[axis]);
            for lane in 0..16 {
                let origin = self.origin[axis][lane] - middle[axis] - reference;
                beams.origin[axis][lane] = origin as f32;
            }
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
    const WEIGHTS: bool = false;

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

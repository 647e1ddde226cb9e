//! The nearest hit so far, as `f32` bounds on its depth.

use crate::bvh::leaf_block::NO_TRIANGLE;

/// The nearest hit of a ray, with bounds on its depth along the ray's major axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearestHit {
    pub low: f32,
    pub high: f32,
    /// The triangle, [`NO_TRIANGLE`] where none of this mesh was hit.
    pub triangle: u32,
}

impl NearestHit {
    /// No hit up to a depth.
    pub fn none(far_depth: f64) -> Self {
        Self::exact(NO_TRIANGLE, far_depth)
    }

    /// A triangle at a depth computed in `f64`.
    pub fn exact(triangle: u32, depth: f64) -> Self {
        Self {
            low: (depth as f32).next_down(),
            high: (depth as f32).next_up(),
            triangle,
        }
    }
}

/// The [`NearestHit`]s of sixteen rays.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct NearestHits {
    pub low: [f32; 16],
    pub high: [f32; 16],
    /// Bits of the triangles' numbers, stored as floats so that one vector type serves all fields.
    pub triangle: [f32; 16],
}

impl NearestHits {
    /// Rays that can hit nothing.
    pub const CLOSED: Self = Self {
        low: [f32::NEG_INFINITY; 16],
        high: [f32::NEG_INFINITY; 16],
        triangle: [f32::from_bits(NO_TRIANGLE); 16],
    };

    /// The triangle of a lane.
    pub fn triangle(&self, lane: usize) -> u32 {
        self.triangle[lane].to_bits()
    }

    /// The triangles of all lanes.
    #[inline(always)]
    pub fn triangles(&self) -> [u32; 16] {
        let mut triangles = [NO_TRIANGLE; 16];
        for lane in 0..16 {
            triangles[lane] = self.triangle(lane);
        }
        triangles
    }

    /// The hit of a lane.
    pub fn get(&self, lane: usize) -> NearestHit {
        NearestHit {
            low: self.low[lane],
            high: self.high[lane],
            triangle: self.triangle(lane),
        }
    }

    /// Replaces the hit of a lane.
    pub fn set(&mut self, lane: usize, nearest: &NearestHit) {
        self.low[lane] = nearest.low;
        self.high[lane] = nearest.high;
        self.triangle[lane] = f32::from_bits(nearest.triangle);
    }

    /// Closes lanes that have hit something.
    pub fn close_hits(&mut self) {
        for lane in 0..16 {
            if self.triangle(lane) != NO_TRIANGLE {
                self.low[lane] = f32::NEG_INFINITY;
                self.high[lane] = f32::NEG_INFINITY;
            }
        }
    }
}

//! Sixteen shots of single-ray beams: their direct returns, draws from noise profiles, and detections.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use crate::calibrated::DrawnBeams;
use crate::lidar::output::Outcome;
use crate::lidar::sweep::shot_number;
use crate::transport::DirectReturnLanes;
use etendue_physics::pulse::EchoLanes;
use etendue_scene::{HitTile, MaterialId, MeshId};

/// Direct returns of sixteen consecutive shots.
#[derive(Clone)]
#[repr(C, align(64))]
pub(in crate::lidar::fast) struct ReturnBlock {
    /// Half the optical path, m.
    pub(in crate::lidar::fast) range: [f64; 16],
    /// Power at the receiver, 1/(m² sr); 0 without a direct return.
    pub(in crate::lidar::fast) power: [f64; 16],
    pub(in crate::lidar::fast) cos_incidence: [f64; 16],
    /// Indices of objects.
    pub(in crate::lidar::fast) object: [u32; 16],
    pub(in crate::lidar::fast) material: [MaterialId; 16],
    /// One plus the number of a shot that is reported apart, because it needs a ray tree or has several echoes; 0 for the
    /// others.
    pub(in crate::lidar::fast) apart: [u32; 16],
}

impl ReturnBlock {
    pub(in crate::lidar::fast) const NOTHING: Self = Self {
        range: [0.0; 16],
        power: [0.0; 16],
        cos_incidence: [0.0; 16],
        object: [0; 16],
        material: [MaterialId(0); 16],
        apart: [0; 16],
    };

    /// The direct returns along the rays of a tile, none of them apart.
    #[inline]
    pub(in crate::lidar::fast) fn of(
        direct: &DirectReturnLanes,
        hits: &HitTile,
        weight: f64,
    ) -> Self {
        let mut tile = Self::NOTHING;
        for i in 0..16 {
            let power = direct.power[i] * weight;
            tile.power[i] = if hits.is_hit(i) { power } else { 0.0 };
        }
        tile.range = direct.range;
        tile.cos_incidence = direct.cos_incidence;
        tile.object = hits.object;
        tile.material = direct.material;
        tile
    }

    /// Copies `N` lanes of another block, starting with its lane `lane`, to the lanes starting with `place`;
    /// `apart` says whether to copy the numbers of shots that are reported apart.
    #[inline(always)]
    pub(in crate::lidar::fast) fn copy_lanes<const N: usize>(
        &mut self,
        place: usize,
        from: &Self,
        lane: usize,
        apart: bool,
    ) {
        let to = place..place + N;
        let of = lane..lane + N;
        self.range[to.clone()].copy_from_slice(&from.range[of.clone()]);
        self.power[to.clone()].copy_from_slice(&from.power[of.clone()]);
        self.cos_incidence[to.clone()].copy_from_slice(&from.cos_incidence[of.clone()]);
        self.object[to.clone()].copy_from_slice(&from.object[of.clone()]);
        self.material[to.clone()].copy_from_slice(&from.material[of.clone()]);
        if apart {
            self.apart[to].copy_from_slice(&from.apart[of]);
        }
    }
}

/// Detections of sixteen shots, ready to be reported.
pub(in crate::lidar::fast) struct BlockDetections {
    pub(in crate::lidar::fast) echoes: EchoLanes,
    /// Reported range, rounded to the device's steps, m.
    pub(in crate::lidar::fast) range: [f64; 16],
    /// Range offset of the channel, m.
    pub(in crate::lidar::fast) offset: [f64; 16],
    /// Position in the sensor's frame, by axis, m; only for [`BatchShots::Rotor`].
    pub(in crate::lidar::fast) point: [[f64; 16]; 3],
    /// Reported intensity.
    pub(in crate::lidar::fast) intensity: [f64; 16],
    /// Whether the echo is within the pulse length of the surface's return, and so originates from it.
    pub(in crate::lidar::fast) sourced: [bool; 16],
    /// Mesh of the object that was hit.
    pub(in crate::lidar::fast) mesh: [MeshId; 16],
    /// Whether an echo was found within the range limits.
    pub(in crate::lidar::fast) within: [bool; 16],
    /// Whether an echo was found below the nearest range.
    pub(in crate::lidar::fast) too_near: [bool; 16],
}

/// Draws from noise profiles for 64 shots.
#[repr(align(64))]
pub(in crate::lidar::fast) struct ProfileDraws {
    /// Whether each shot is drawn from a profile.
    pub(in crate::lidar::fast) calibrated: [bool; 64],
    pub(in crate::lidar::fast) drawn: DrawnBeams<64>,
}

/// Draws from noise profiles for sixteen shots.
pub(in crate::lidar::fast) struct BlockDraws<'a> {
    /// Whether each shot is drawn from a profile.
    pub(in crate::lidar::fast) calibrated: &'a [bool; 16],
    /// Whether each drawn shot returned.
    pub(in crate::lidar::fast) returned: &'a [bool; 16],
    /// Drawn range, m.
    pub(in crate::lidar::fast) range: &'a [f64; 16],
    /// Drawn intensity; NaN where the profile has none.
    pub(in crate::lidar::fast) intensity: &'a [f64; 16],
}

impl<'a> BlockDraws<'a> {
    /// The draws of one of the four blocks of sixteen.
    #[inline(always)]
    pub(in crate::lidar::fast) fn of(all: &'a ProfileDraws, number: usize) -> Self {
        Self {
            calibrated: &all.calibrated.as_chunks().0[number],
            returned: &all.drawn.returned.as_chunks().0[number],
            range: &all.drawn.range.as_chunks().0[number],
            intensity: &all.drawn.intensity.as_chunks().0[number],
        }
    }
}

impl BlockDetections {
    /// The outcome of a shot; its return, if any, has the index `number`.
    #[inline(always)]
    pub(in crate::lidar::fast) fn outcome(&self, lane: usize, number: usize) -> Outcome {
        if self.within[lane] {
            return Outcome::Points {
                first: shot_number(number),
                count: 1,
            };
        }
        if self.too_near[lane] {
            Outcome::TooNear
        } else {
            Outcome::NoReturn
        }
    }
}

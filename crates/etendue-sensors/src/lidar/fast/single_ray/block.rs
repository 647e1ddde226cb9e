//! Sixteen shots of single-ray beams: their direct returns, draws from noise profiles, and detections.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use crate::calibrated::DrawnBeams;
use crate::lidar::output::Outcome;
use crate::lidar::sweep::shot_number;
use crate::transport::DirectReturnLanes;
use etendue_physics::pulse::SingleEchoes;
use etendue_scene::{HitTile, MaterialId, MeshId};

/// Direct returns of sixteen consecutive shots.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct ReturnBlock {
    /// Half the optical path, m.
    pub(super) range: [f64; 16],
    /// Power at the receiver, 1/(m² sr); 0 without a direct return.
    pub(super) power: [f64; 16],
    pub(super) cos_incidence: [f64; 16],
    /// Indices of objects.
    pub(super) object: [u32; 16],
    pub(super) material: [MaterialId; 16],
    /// One plus the index of the shot's ray-tree light; 0 for shots without ray trees.
    pub(super) tree: [u32; 16],
}

impl ReturnBlock {
    pub(super) const NOTHING: Self = Self {
        range: [0.0; 16],
        power: [0.0; 16],
        cos_incidence: [0.0; 16],
        object: [0; 16],
        material: [MaterialId(0); 16],
        tree: [0; 16],
    };

    /// The direct returns along the rays of a tile, without the indices of ray trees.
    #[inline]
    pub(super) fn of(direct: &DirectReturnLanes, hits: &HitTile, weight: f64) -> Self {
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
    /// `trees` says whether to copy the indices of ray trees.
    #[inline(always)]
    pub(super) fn copy_lanes<const N: usize>(
        &mut self,
        place: usize,
        from: &Self,
        lane: usize,
        trees: bool,
    ) {
        let to = place..place + N;
        let of = lane..lane + N;
        self.range[to.clone()].copy_from_slice(&from.range[of.clone()]);
        self.power[to.clone()].copy_from_slice(&from.power[of.clone()]);
        self.cos_incidence[to.clone()].copy_from_slice(&from.cos_incidence[of.clone()]);
        self.object[to.clone()].copy_from_slice(&from.object[of.clone()]);
        self.material[to.clone()].copy_from_slice(&from.material[of.clone()]);
        if trees {
            self.tree[to].copy_from_slice(&from.tree[of]);
        }
    }
}

/// Detections of sixteen shots, ready to be reported.
pub(super) struct BlockDetections {
    pub(super) echoes: SingleEchoes,
    /// Reported range, rounded to the device's steps, m.
    pub(super) range: [f64; 16],
    /// Range offset of the channel, m.
    pub(super) offset: [f64; 16],
    /// Position in the sensor's frame, by axis, m; only for [`BatchShots::Rotor`].
    pub(super) point: [[f64; 16]; 3],
    /// Reported intensity.
    pub(super) intensity: [f64; 16],
    /// Whether the echo is within the pulse length of the surface's return, and so originates from it.
    pub(super) sourced: [bool; 16],
    /// Mesh of the object that was hit.
    pub(super) mesh: [MeshId; 16],
    /// Whether an echo was found within the range limits.
    pub(super) within: [bool; 16],
    /// Whether an echo was found below the nearest range.
    pub(super) too_near: [bool; 16],
}

/// Draws from noise profiles for 64 shots.
#[repr(align(64))]
pub(super) struct ProfileDraws {
    /// Whether each shot is drawn from a profile.
    pub(super) calibrated: [bool; 64],
    pub(super) drawn: DrawnBeams<64>,
}

/// Draws from noise profiles for sixteen shots.
pub(super) struct BlockDraws<'a> {
    /// Whether each shot is drawn from a profile.
    pub(super) calibrated: &'a [bool; 16],
    /// Whether each drawn shot returned.
    pub(super) returned: &'a [bool; 16],
    /// Drawn range, m.
    pub(super) range: &'a [f64; 16],
    /// Drawn intensity; NaN where the profile has none.
    pub(super) intensity: &'a [f64; 16],
}

impl<'a> BlockDraws<'a> {
    /// The draws of one of the four blocks of sixteen.
    #[inline(always)]
    pub(super) fn of(all: &'a ProfileDraws, number: usize) -> Self {
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
    pub(super) fn outcome(&self, lane: usize, number: usize) -> Outcome {
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

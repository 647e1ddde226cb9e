//! Expected returns of sixteen shots.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use crate::lidar::description::Lidar;
use crate::lidar::predict::{ExpectedReturn, expected_return};
use crate::lidar::shot::Shot;
use crate::scalar_tile::{LaneFunctions, LaneScalar, ScalarTile, compose};
use etendue_physics::Dual;

/// Expected returns of up to sixteen shots in no ambient light.
pub(super) struct ExpectedTile<S: LaneScalar> {
    /// Range, intensity and power, as of [`ExpectedReturn`].
    parts: [S::Tile; 3],
    exist: [bool; 16],
}

/// The reported parts of a return: functions of the range (m) and the power of the light in a lane.
struct Reported<'s, S, D> {
    lidar: &'s Lidar<S>,
    /// Range offset of the channel in each lane, m.
    offsets: [f64; 16],
    detect: &'s D,
}

impl<S, D: LaneFunctions<2, 2>> LaneFunctions<2, 3> for Reported<'_, S, D> {
    #[inline(always)]
    fn of(&self, lane: usize, light: [Dual<2>; 2]) -> ([Dual<2>; 3], bool) {
        let ([range, power], is_detected) = self.detect.of(lane, light);
        let (own, is_within) = expected_return(self.lidar, self.offsets[lane], range, power);
        let parts = [own.range, own.intensity, own.power];
        (parts, is_detected & is_within)
    }
}

impl<S: LaneScalar> ExpectedTile<S> {
    /// No returns.
    pub fn nothing() -> Self {
        Self {
            parts: [S::Tile::plain([0.0; 16]); 3],
            exist: [false; 16],
        }
    }

    /// Replaces the returns by those of shots whose light has one range (m) and one power per lane. `detect` is a receiver:
    /// range and power of its detection as functions of those of the light.
    #[inline(always)]
    pub fn set<'s>(
        &mut self,
        lidar: &Lidar<S>,
        shots: impl Iterator<Item = &'s Shot>,
        light: [&S::Tile; 2],
        detect: &impl LaneFunctions<2, 2>,
    ) {
        let mut offsets = [f64::NAN; 16];
        for (offset, shot) in offsets.iter_mut().zip(shots) {
            *offset = lidar.channels[usize::from(shot.channel)].range_offset;
        }
        let reported = Reported {
            lidar,
            offsets,
            detect,
        };
        self.exist = compose::<S, 2, 3>(light, &reported, &mut self.parts);
    }

    /// The return of a lane.
    #[inline(always)]
    pub fn lane(&self, lane: usize) -> Option<ExpectedReturn<S>> {
        let [range, intensity, power] = &self.parts;
        self.exist[lane].then(|| ExpectedReturn {
            range: range.lane(lane),
            intensity: intensity.lane(lane),
            power: power.lane(lane),
            ambient: 0.0,
        })
    }
}

//! Expected returns of sixteen shots.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become vector instructions"
)]

use crate::lidar::description::Lidar;
use crate::lidar::intensity::Intensity;
use crate::lidar::predict::{ExpectedReturn, expected_return};
use crate::lidar::range_limits::RangeLimits;
use crate::lidar::shot::Shot;
use crate::scalar_tile::{EvaluatedLanes, LaneFunctions, LaneScalar, ScalarTile, variables};
use crate::transport::{RigidReturnTile, Twist};
use etendue_physics::Dual;
use etendue_physics::pulse::{IntensityResponse, ReflectivityScale};

/// Expected returns of up to sixteen shots in no ambient light: range, intensity and power, as of [`ExpectedReturn`].
///
/// The derivatives are kept as sums of products (chain rule): of derivatives by the motion of the sensor with those of
/// the motion, which all lanes share, and of derivatives by other scalars with those of these.
pub struct ReturnTile<S: LaneScalar> {
    /// Range (m), intensity (counts) and power (1/(m² sr)).
    values: [[f64; 16]; 3],
    /// Lanes with a return; the others are unspecified.
    exist: [bool; 16],
    /// Whether there are derivatives by the motion.
    has_motion: bool,
    /// Translation and rotation vector of the sensor.
    motion: [S; 6],
    /// Derivatives by the motion.
    by_motion: [[[f64; 16]; 6]; 3],
    /// Number of other scalars.
    others: usize,
    /// The other scalars.
    scalars: [S::Tile; 2],
    /// Derivatives by the other scalars.
    by_scalars: [[[f64; 16]; 2]; 3],
}

impl<S: LaneScalar> ReturnTile<S> {
    /// No returns.
    pub(super) fn nothing() -> Self {
        Self {
            values: [[0.0; 16]; 3],
            exist: [false; 16],
            has_motion: false,
            motion: [S::zero(); 6],
            by_motion: [[[0.0; 16]; 6]; 3],
            others: 0,
            scalars: [S::Tile::plain([0.0; 16]); 2],
            by_scalars: [[[0.0; 16]; 2]; 3],
        }
    }

    /// Replaces the returns by reports of light whose ranges and powers are `light`.
    #[inline(always)]
    pub(super) fn set(&mut self, reported: &EvaluatedLanes<2, 3>, light: [&S::Tile; 2]) {
        self.values = reported.values;
        self.exist = reported.exist;
        self.has_motion = false;
        self.others = 2;
        for (own, other) in self.scalars.iter_mut().zip(light) {
            *own = *other;
        }
        self.by_scalars = reported.slopes;
    }

    /// Replaces the returns by reports of the light of a sensor at one pose.
    #[inline(always)]
    pub(super) fn set_rigid(
        &mut self,
        reported: &EvaluatedLanes<2, 3>,
        light: &RigidReturnTile<S>,
        twist: &Twist<S>,
    ) {
        self.values = reported.values;
        self.exist = reported.exist;
        self.has_motion = true;
        self.motion = twist.motion;
        for (own, [by_range, by_power]) in self.by_motion.iter_mut().zip(&reported.slopes) {
            for j in variables::<6>() {
                let [range_by, power_by] = [light.range_by[j], light.power_by[j]];
                let mut sum = [0.0; 16];
                for i in 0..16 {
                    sum[i] = by_range[i] * range_by[i] + by_power[i] * power_by[i];
                }
                own[j] = sum;
            }
        }
        self.others = 0;
        if light.has_scattered {
            self.others = 1;
            self.scalars[0] = light.scattered;
            for (own, [_, by_power]) in self.by_scalars.iter_mut().zip(&reported.slopes) {
                for i in 0..16 {
                    own[0][i] = by_power[i] * light.power_by_scattered[i];
                }
            }
        }
    }

    /// The return of a lane.
    #[inline]
    pub fn lane(&self, lane: usize) -> Option<ExpectedReturn<S>> {
        self.exist[lane].then(|| ExpectedReturn {
            range: self.scalar(0, lane),
            intensity: self.scalar(1, lane),
            power: self.scalar(2, lane),
            ambient: 0.0,
        })
    }

    /// The quantity of a number in a lane.
    #[inline]
    fn scalar(&self, quantity: usize, lane: usize) -> S {
        S::with_derivatives_of(self.values[quantity][lane], || {
            let mut sum = S::zero();
            if self.has_motion {
                for (motion, by) in self.motion.iter().zip(&self.by_motion[quantity]) {
                    sum += *motion * by[lane];
                }
            }
            let scalars = self.scalars[..self.others].iter();
            for (scalar, by) in scalars.zip(&self.by_scalars[quantity]) {
                sum += scalar.lane(lane) * by[lane];
            }
            sum
        })
    }
}

/// Largest number of derivatives of [`ReturnTile::range_and_intensity`].
const MOST: usize = 8;

/// Derivatives of the six components of the motion of a sensor, with zeros up to the width of a vector register.
pub struct MotionGradients([[f64; MOST]; 6]);

impl<const N: usize> ReturnTile<Dual<N>> {
    /// The derivatives of the motion of the sensor, for [`ReturnTile::range_and_intensity`].
    #[inline(always)]
    pub fn motion_gradients(&self) -> MotionGradients {
        const { assert!(N <= MOST, "derivatives of a row") };
        let mut gradients = [[0.0; MOST]; 6];
        if self.has_motion {
            for (own, motion) in gradients.iter_mut().zip(&self.motion) {
                own[..N].copy_from_slice(&motion.eps);
            }
        }
        MotionGradients(gradients)
    }

    /// Range (m) and intensity (counts) of a lane, with their gradients; `None` without a return.
    #[inline(always)]
    pub fn range_and_intensity(
        &self,
        lane: usize,
        motion: &MotionGradients,
    ) -> Option<[(f64, [f64; N]); 2]> {
        if !self.exist[lane] {
            return None;
        }
        let [range, intensity, _] = &self.values;
        Some([
            (range[lane], self.gradient(0, lane, motion)),
            (intensity[lane], self.gradient(1, lane, motion)),
        ])
    }

    /// The gradient of the quantity of a number in a lane.
    #[inline(always)]
    fn gradient(&self, quantity: usize, lane: usize, motion: &MotionGradients) -> [f64; N] {
        // A row of a constant length becomes one vector.
        let mut sum = [0.0; MOST];
        if self.has_motion {
            for (motion, by) in motion.0.iter().zip(&self.by_motion[quantity]) {
                for k in 0..MOST {
                    sum[k] += motion[k] * by[lane];
                }
            }
        }
        let mut gradient = [0.0; N];
        gradient.copy_from_slice(&sum[..N]);
        for (scalar, by) in self.scalars[..self.others]
            .iter()
            .zip(&self.by_scalars[quantity])
        {
            for k in 0..N {
                gradient[k] += scalar.eps[k][lane] * by[lane];
            }
        }
        gradient
    }
}

/// The reported range, intensity and power of a detection: functions of its range (m) and its power.
struct Reported<'s> {
    intensity: Intensity,
    limits: &'s RangeLimits,
    /// Range offset of the channel in each lane, m.
    offsets: &'s [f64; 16],
    /// Lanes with a detection.
    found: &'s [bool; 16],
}

impl LaneFunctions<2, 3> for Reported<'_> {
    #[inline(always)]
    fn of(&self, lane: usize, [range, power]: [Dual<2>; 2]) -> ([Dual<2>; 3], bool) {
        let offset = self.offsets[lane];
        let (own, is_within) = expected_return(&self.intensity, self.limits, offset, range, power);
        let parts = [own.range, own.intensity, own.power];
        (parts, self.found[lane] & is_within)
    }
}

/// Reported range, intensity and power of the detections of up to sixteen shots, with derivatives by the range (m) and
/// the power of the detections.
#[inline(always)]
pub(super) fn report<'s, S>(
    lidar: &Lidar<S>,
    shots: impl Iterator<Item = &'s Shot>,
    detected: &EvaluatedLanes<2, 2>,
) -> EvaluatedLanes<2, 3> {
    let mut offsets = [f64::NAN; 16];
    for (offset, shot) in offsets.iter_mut().zip(shots) {
        *offset = lidar.channels[usize::from(shot.channel)].range_offset;
    }
    let response = lidar.intensity.response;
    let reported = |response: IntensityResponse| Reported {
        intensity: Intensity {
            response,
            ..lidar.intensity
        },
        limits: &lidar.limits,
        offsets: &offsets,
        found: &detected.exist,
    };
    // Select the response outside of the loop, so that it is vectorised.
    let [range, power] = &detected.values;
    let light = [range, power];
    match response {
        IntensityResponse::Power { counts } => {
            EvaluatedLanes::of(light, &reported(IntensityResponse::Power { counts }))
        }
        IntensityResponse::Log { .. } => EvaluatedLanes::of(light, &reported(response)),
        IntensityResponse::Reflectivity { .. } => {
            let scale = ReflectivityScale::Percent;
            let diffuse = reported(IntensityResponse::Reflectivity { scale });
            let mut all = EvaluatedLanes::of(light, &diffuse);
            // Retro-reflectors, brighter than white surfaces, may have a scale of their own.
            for lane in 0..16 {
                if all.values[1][lane] > 100.0 {
                    all.evaluate(lane, light, &reported(response));
                }
            }
            all
        }
    }
}

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
use crate::scalar_tile::{
    DualTile, EvaluatedLanes, LaneFunctions, LaneScalar, ScalarTile, variables,
};
use crate::transport::{RigidReturnTile, Twist};
use etendue_physics::Dual;
use etendue_physics::pulse::{IntensityResponse, ReflectivityScale};

/// Expected returns of up to sixteen shots in no ambient light: range, intensity and power, as of [`ExpectedReturn`].
///
/// The derivatives are kept as the factors of the chain rule: those by range and power of the light (of a phase receiver:
/// by what it measured), and those of these two. Of a sensor at one pose, the latter are derivatives by its motion, which
/// all lanes share, and by the backscatter of the surfaces.
pub struct ReturnTile<S: LaneScalar> {
    /// Range (m), intensity (counts) and power (1/(m² sr)).
    values: [[f64; 16]; 3],
    /// Lanes with a return; the others are unspecified.
    exist: [bool; 16],
    /// Derivatives by range and power of the light.
    by_light: [[[f64; 16]; 2]; 3],
    /// Translation and rotation vector of the sensor, if it is at one pose.
    motion: Option<[S; 6]>,
    /// Its light.
    rigid: RigidReturnTile<S>,
    /// Range and power of the light of other sensors.
    light: [S::Tile; 2],
}

/// Derivatives of range (m) and intensity (counts) of sixteen returns by the motion of the sensor: translation (m) and
/// rotation vector (rad). Zero in lanes without a return.
pub type MotionSlopes = [[[f64; 16]; 6]; 2];

impl<S: LaneScalar> ReturnTile<S> {
    /// No returns.
    pub(super) fn nothing() -> Self {
        Self {
            values: [[0.0; 16]; 3],
            exist: [false; 16],
            by_light: [[[0.0; 16]; 2]; 3],
            motion: None,
            rigid: RigidReturnTile::nothing(),
            light: [S::Tile::plain([0.0; 16]); 2],
        }
    }

    /// Replaces the returns by reports of light whose ranges and powers are `light`.
    #[inline(always)]
    pub(super) fn set(&mut self, reported: &EvaluatedLanes<2, 3>, light: [&S::Tile; 2]) {
        self.set_reported(reported);
        self.motion = None;
        for (own, other) in self.light.iter_mut().zip(light) {
            *own = *other;
        }
    }

    /// The light of a sensor at one pose, of which [`ReturnTile::set_rigid`] sets the reports.
    pub(super) fn rigid_light(&mut self) -> &mut RigidReturnTile<S> {
        &mut self.rigid
    }

    /// Replaces the returns by reports of the light of a sensor at one pose.
    #[inline(always)]
    pub(super) fn set_rigid(&mut self, reported: &EvaluatedLanes<2, 3>, twist: &Twist<S>) {
        self.set_reported(reported);
        self.motion = Some(twist.motion);
    }

    #[inline(always)]
    fn set_reported(&mut self, reported: &EvaluatedLanes<2, 3>) {
        self.values = reported.values;
        self.exist = reported.exist;
        self.by_light = reported.slopes;
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
            let [by_range, by_power] = self.by_light[quantity].each_ref().map(|by| by[lane]);
            let Some(motion) = &self.motion else {
                let [range, power] = self.light.each_ref().map(|part| part.lane(lane));
                return range * by_range + power * by_power;
            };
            let light = &self.rigid;
            let mut sum = S::zero();
            for (j, motion) in motion.iter().enumerate() {
                let [range, power] = [light.range_by[j][lane], light.power_by[j][lane]];
                sum += *motion * (by_range * range + by_power * power);
            }
            if light.has_scattered {
                sum += light.scattered.lane(lane) * (by_power * light.power_by_scattered[lane]);
            }
            sum
        })
    }

    /// Range (m) and intensity (counts) of a lane without derivatives; `None` without a return.
    #[inline(always)]
    pub fn values(&self, lane: usize) -> Option<[f64; 2]> {
        let [range, intensity, _] = &self.values;
        self.exist[lane].then_some([range[lane], intensity[lane]])
    }

    /// Whether the motion of the sensor determines all derivatives.
    #[inline(always)]
    pub fn is_by_motion(&self) -> bool {
        self.motion.is_some() && !self.rigid.has_scattered
    }

    /// Computes the derivatives by the motion of the sensor; zero for sensors without one.
    #[inline(always)]
    pub fn motion_slopes(&self, slopes: &mut MotionSlopes) {
        let light = &self.rigid;
        let exist = if self.motion.is_some() { self.exist } else { [false; 16] };
        for (own, [by_range, by_power]) in slopes.iter_mut().zip(&self.by_light) {
            for j in variables::<6>() {
                let [range_by, power_by] = [light.range_by[j], light.power_by[j]];
                let mut sum = [0.0; 16];
                for i in 0..16 {
                    let slope = by_range[i] * range_by[i] + by_power[i] * power_by[i];
                    sum[i] = if exist[i] { slope } else { 0.0 };
                }
                own[j] = sum;
            }
        }
    }
}

/// Largest number of derivatives of [`ReturnTile::gradient`].
const MOST: usize = 8;

/// Derivatives of the six components of the motion of a sensor, with zeros up to the width of a vector register.
pub struct MotionGradients([[f64; MOST]; 6]);

impl<const N: usize> ReturnTile<Dual<N>> {
    /// The derivatives of the motion of the sensor; zero for sensors without one.
    #[inline(always)]
    pub fn motion_gradients(&self) -> MotionGradients {
        const { assert!(N <= MOST, "derivatives of a row") };
        let mut gradients = [[0.0; MOST]; 6];
        if let Some(motion) = &self.motion {
            for (own, motion) in gradients.iter_mut().zip(motion) {
                own[..N].copy_from_slice(&motion.eps);
            }
        }
        MotionGradients(gradients)
    }

    /// The gradient of the range (`quantity` 0) or the intensity (1) in a lane with a return, from its derivatives by the
    /// motion.
    #[inline(always)]
    pub fn gradient(
        &self,
        quantity: usize,
        lane: usize,
        slopes: &MotionSlopes,
        motion: &MotionGradients,
    ) -> [f64; N] {
        // A row of a constant length becomes one vector.
        let mut sum = [0.0; MOST];
        for (motion, by) in motion.0.iter().zip(&slopes[quantity]) {
            for k in 0..MOST {
                sum[k] += motion[k] * by[lane];
            }
        }
        let mut gradient = [0.0; N];
        gradient.copy_from_slice(&sum[..N]);
        let [by_range, by_power] = self.by_light[quantity].each_ref().map(|by| by[lane]);
        let mut add = |part: &DualTile<N>, by: f64| {
            for k in 0..N {
                gradient[k] += part.eps[k][lane] * by;
            }
        };
        if self.motion.is_none() {
            let [range, power] = &self.light;
            add(range, by_range);
            add(power, by_power);
        } else if self.rigid.has_scattered {
            let by = by_power * self.rigid.power_by_scattered[lane];
            add(&self.rigid.scattered, by);
        }
        gradient
    }
}

impl MotionGradients {
    /// The derivatives by `N` parameters, of each component.
    pub fn of<const N: usize>(&self) -> [[f64; N]; 6] {
        self.0.map(|own| std::array::from_fn(|k| own[k]))
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

/// Reported range, intensity and power of the detections of up to sixteen shots of some channels, with derivatives by the
/// range (m) and the power of the detections.
#[inline(always)]
pub(super) fn report<S>(
    lidar: &Lidar<S>,
    channels: impl Iterator<Item = u16>,
    detected: &EvaluatedLanes<2, 2>,
) -> EvaluatedLanes<2, 3> {
    let mut offsets = [f64::NAN; 16];
    for (offset, channel) in offsets.iter_mut().zip(channels) {
        *offset = lidar.channels[usize::from(channel)].range_offset;
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

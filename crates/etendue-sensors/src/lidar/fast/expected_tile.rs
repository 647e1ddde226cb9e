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
    /// Range (m), intensity (counts) and power (1/(m² sr)) of the returns, with their derivatives by range and power of the
    /// light.
    reported: EvaluatedLanes<2, 3>,
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
            reported: EvaluatedLanes::NONE,
            motion: None,
            rigid: RigidReturnTile::nothing(),
            light: [S::Tile::plain([0.0; 16]); 2],
        }
    }

    /// The memory of the reports of light.
    #[inline(always)]
    pub(super) fn reported(&mut self) -> &mut EvaluatedLanes<2, 3> {
        &mut self.reported
    }

    /// Sets range and power of the light that is reported.
    #[inline(always)]
    pub(super) fn set_light(&mut self, light: [&S::Tile; 2]) {
        self.motion = None;
        for (own, other) in self.light.iter_mut().zip(light) {
            *own = *other;
        }
    }

    /// The memory of the light of a sensor at one pose, and of its reports. `twist` is the change of the pose.
    #[inline(always)]
    pub(super) fn rigid(
        &mut self,
        twist: &Twist<S>,
    ) -> (&mut RigidReturnTile<S>, &mut EvaluatedLanes<2, 3>) {
        self.motion = Some(twist.motion);
        (&mut self.rigid, &mut self.reported)
    }

    /// The return of a lane.
    #[inline]
    pub fn lane(&self, lane: usize) -> Option<ExpectedReturn<S>> {
        self.reported.exist[lane].then(|| ExpectedReturn {
            range: self.scalar(0, lane),
            intensity: self.scalar(1, lane),
            power: self.scalar(2, lane),
            ambient: 0.0,
        })
    }

    /// The quantity of a number in a lane.
    #[inline]
    fn scalar(&self, quantity: usize, lane: usize) -> S {
        let reported = &self.reported;
        S::with_derivatives_of(reported.values[quantity][lane], || {
            let [by_range, by_power] = reported.slopes[quantity].each_ref().map(|by| by[lane]);
            let Some(motion) = &self.motion else {
                let [range, power] = self.light.each_ref().map(|part| part.lane(lane));
                return range * by_range + power * by_power;
            };
            let light = &self.rigid;
            let by_range = by_range + by_power * light.power_by_range[lane];
            let by_cos = by_power * light.power_by_cos[lane];
            let mut sum = S::zero();
            for (motion, by) in motion.iter().zip(&light.surfaces.range_by) {
                sum += *motion * (by_range * by[lane]);
            }
            for (rotation, by) in motion[3..].iter().zip(&light.surfaces.cos_by) {
                sum += *rotation * (by_cos * by[lane]);
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
        let [range, intensity, _] = &self.reported.values;
        self.reported.exist[lane].then_some([range[lane], intensity[lane]])
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
        let surfaces = &light.surfaces;
        let is_rigid = self.motion.is_some();
        for (own, [by_range, by_power]) in slopes.iter_mut().zip(&self.reported.slopes) {
            // Derivatives by the range and by the cosine of the incidence.
            let [mut by_surface, mut by_cos] = [[0.0; 16]; 2];
            for i in 0..16 {
                by_surface[i] = by_range[i] + by_power[i] * light.power_by_range[i];
                by_cos[i] = by_power[i] * light.power_by_cos[i];
            }
            for k in variables::<3>() {
                let [mut translation, mut rotation] = [[0.0; 16]; 2];
                for i in 0..16 {
                    let exists = is_rigid & self.reported.exist[i];
                    let by_translation = by_surface[i] * surfaces.range_by[k][i];
                    let by_rotation = by_surface[i] * surfaces.range_by[3 + k][i]
                        + by_cos[i] * surfaces.cos_by[k][i];
                    translation[i] = if exists { by_translation } else { 0.0 };
                    rotation[i] = if exists { by_rotation } else { 0.0 };
                }
                own[k] = translation;
                own[3 + k] = rotation;
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
        let reported = &self.reported.slopes[quantity];
        let [by_range, by_power] = reported.each_ref().map(|by| by[lane]);
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

/// The reported range, intensity and power of a detection: functions of range (m) and power of the light in a lane, of which
/// the detection is a function.
struct Reported<'s, E> {
    detections: &'s E,
    intensity: Intensity,
    limits: &'s RangeLimits,
    /// Range offset of the channel in each lane, m.
    offsets: &'s [f64; 16],
}

impl<E: LaneFunctions<2, 2>> LaneFunctions<2, 3> for Reported<'_, E> {
    #[inline(always)]
    fn of(&self, lane: usize, light: [Dual<2>; 2]) -> ([Dual<2>; 3], bool) {
        let ([range, power], found) = self.detections.of(lane, light);
        let offset = self.offsets[lane];
        let (own, is_within) = expected_return(&self.intensity, self.limits, offset, range, power);
        ([own.range, own.intensity, own.power], found & is_within)
    }
}

/// Evaluates the reported range, intensity and power of the detections of up to sixteen shots of some channels, with
/// derivatives by the range (m) and the power of the light, of which the detections are functions.
#[inline(always)]
pub(super) fn report<S>(
    lidar: &Lidar<S>,
    channels: impl Iterator<Item = u16>,
    light: [&[f64; 16]; 2],
    detections: &impl LaneFunctions<2, 2>,
    all: &mut EvaluatedLanes<2, 3>,
) {
    let mut offsets = [f64::NAN; 16];
    for (offset, channel) in offsets.iter_mut().zip(channels) {
        *offset = lidar.channels[usize::from(channel)].range_offset;
    }
    let response = lidar.intensity.response;
    let reported = |response: IntensityResponse| Reported {
        detections,
        intensity: Intensity {
            response,
            ..lidar.intensity
        },
        limits: &lidar.limits,
        offsets: &offsets,
    };
    // Select the response outside of the loop, so that it is vectorised.
    match response {
        IntensityResponse::Power { counts } => {
            all.evaluate_lanes(light, &reported(IntensityResponse::Power { counts }));
        }
        IntensityResponse::Log { .. } => all.evaluate_lanes(light, &reported(response)),
        IntensityResponse::Reflectivity { .. } => {
            let scale = ReflectivityScale::Percent;
            all.evaluate_lanes(light, &reported(IntensityResponse::Reflectivity { scale }));
            // Retro-reflectors, brighter than white surfaces, may have a scale of their own.
            if all.values[1].iter().any(|percent| *percent > 100.0) {
                evaluate_bright(all, light, &reported(response));
            }
        }
    }
}

/// Evaluates the lanes whose reflectivity exceeds 100 percent.
#[cold]
#[inline(never)]
fn evaluate_bright(
    all: &mut EvaluatedLanes<2, 3>,
    light: [&[f64; 16]; 2],
    functions: &impl LaneFunctions<2, 3>,
) {
    for lane in 0..16 {
        if all.values[1][lane] > 100.0 {
            all.evaluate(lane, light, functions);
        }
    }
}

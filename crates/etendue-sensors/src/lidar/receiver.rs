//! Receivers: convert the light of a shot to detections. The registry: the enums, and the dispatch of their
//! methods.
//!
//! To add a receiver, write its file in `receiver/` and add it to the module list, the enums and their
//! arms here.

mod detection;
mod fmcw;
mod phase;
mod pulsed;
mod triangulation;

pub(super) use detection::{Detected, Detection, Reception};
pub use fmcw::PointVelocities;
pub(super) use fmcw::{point_velocities, radial_velocity};
pub use phase::{InvalidPhaseReceiver, PhaseDetection, PhaseMethod, PhaseReceiver};
pub(super) use phase::{PreparedPhase, RangeLanes, power_of_air};
pub use pulsed::{EchoModel, PulsedReceiver, Sensitivity};
pub(super) use pulsed::{PreparedPulsed, PulsedScratch};
pub use triangulation::Triangulation;

use super::beam::Beam;
use super::domain::OutsideDomain;
use super::light::ShotLight;
use super::light_model::LightModel;
use super::range_limits::RangeLimits;
use crate::transport::World;
use etendue_physics::light::ReceiverWindow;
use etendue_physics::phase::PhaseSignal;
use etendue_physics::pulse::Fmcw;
use etendue_physics::{Purpose, SPEED_OF_LIGHT, Scalar};
use etendue_scene::CastScratch;
use nalgebra::try_convert;

/// Receiver of a lidar: the measurement principle with its parameters.
///
/// `S` is the scalar of the differentiable parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Receiver<S = f64> {
    /// Pulsed time of flight.
    Pulsed(PulsedReceiver<S>),
    /// Phase shift of light that is amplitude-modulated at two frequencies.
    Phase(PhaseReceiver<S>),
    /// Triangulation with a line of pixels at a baseline beside the laser.
    Triangulation(Triangulation),
    /// Frequency-modulated continuous wave: range and radial velocity.
    Fmcw(Fmcw),
}

impl<S> Receiver<S> {
    /// Name of the kind of receiver, as in sensor files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pulsed(_) => "pulsed",
            Self::Phase(_) => "phase",
            Self::Triangulation(_) => "triangulation",
            Self::Fmcw(_) => "fmcw",
        }
    }

    /// The same receiver in another scalar, with every differentiable parameter mapped by `f`.
    pub fn map<U>(&self, f: impl FnMut(S) -> U) -> Receiver<U>
    where
        S: Copy,
    {
        match self {
            Self::Pulsed(receiver) => Receiver::Pulsed(receiver.map(f)),
            Self::Phase(receiver) => Receiver::Phase(receiver.map(f)),
            Self::Triangulation(receiver) => Receiver::Triangulation(*receiver),
            Self::Fmcw(receiver) => Receiver::Fmcw(*receiver),
        }
    }
}

impl Receiver {
    /// The range (m) rounded to the step of the device.
    #[inline]
    pub(super) fn rounded(&self, range: f64, limits: &RangeLimits) -> f64 {
        match self {
            Self::Phase(_) => phase::rounded(range, limits.step),
            Self::Pulsed(_) | Self::Triangulation(_) | Self::Fmcw(_) => limits.stepped(range),
        }
    }

    /// Distance from an echo at a range (m) within which other light merges with it, m: half the length $c\\,T$ of a pulse of
    /// full width $T$, the resolution of an FMCW receiver, the spot of a lidar that triangulates; infinite at phase
    /// receivers.
    pub(super) fn merging_distance(&self, range: f64) -> f64 {
        match self {
            Self::Pulsed(_) => self.echo_reach(),
            Self::Phase(_) => f64::INFINITY,
            Self::Triangulation(_) => triangulation::ONE_SPOT * range,
            Self::Fmcw(receiver) => receiver.resolution(),
        }
    }

    /// Whether a rounded range (m) is reported. Phase receivers apply the limits before rounding.
    #[inline]
    pub(super) fn reports(&self, range: f64, limits: &RangeLimits) -> bool {
        match self {
            Self::Phase(_) => true,
            Self::Pulsed(_) | Self::Triangulation(_) | Self::Fmcw(_) => {
                (limits.near..=limits.far).contains(&range)
            }
        }
    }

    /// Variances of the range of one surface at a range (m), received power and ambient light
    /// (1/(m² sr)): noise of the receiver, and rounding to a step $q$ with the variance $q^2/12$.
    pub(super) fn range_variances(
        &self,
        range: f64,
        power: f64,
        ambient: f64,
        limits: &RangeLimits,
    ) -> [f64; 2] {
        let step_variance = |step: f64| step * step / 12.0;
        let reported = step_variance(limits.step);
        match self {
            Self::Pulsed(receiver) => {
                let receiver = receiver.in_light(ambient);
                [
                    receiver.analytic().finder().range_sd(power).powi(2),
                    reported,
                ]
            }
            Self::Phase(receiver) => [receiver.range_sd(power, ambient).powi(2), reported],
            Self::Triangulation(receiver) => {
                let direction = step_variance(receiver.range_step(range));
                [receiver.range_sd(range).powi(2), reported + direction]
            }
            Self::Fmcw(receiver) => [receiver.range_sd(power).powi(2), reported],
        }
    }

    /// Standard deviation of the measured power of an echo, 1/(m² sr); zero for receivers whose reported
    /// power has no noise.
    pub(super) fn power_sd(&self, power: f64, ambient: f64) -> f64 {
        match self {
            Self::Pulsed(receiver) => receiver.in_light(ambient).detector.noise(power),
            Self::Phase(_) | Self::Triangulation(_) | Self::Fmcw(_) => 0.0,
        }
    }

    /// Checks the parameters.
    pub(super) fn check(&self) -> Result<(), OutsideDomain> {
        match self {
            Self::Pulsed(receiver) => receiver.check(),
            Self::Phase(receiver) => receiver.check_overlap(),
            Self::Triangulation(receiver) => receiver.check(),
            Self::Fmcw(receiver) => fmcw::check(receiver),
        }
    }
}

impl<S: Scalar> Receiver<S> {
    /// The receiver in plain numbers; `None` if a parameter has derivatives.
    pub(super) fn plain(&self) -> Option<Receiver> {
        let mut is_plain = true;
        let plain = self.map(|parameter| {
            is_plain &= try_convert::<S, f64>(parameter).is_some();
            parameter.value()
        });
        is_plain.then_some(plain)
    }

    /// Field of view and optical filter for ambient light; `None` if the noise does not depend on it.
    pub(super) fn window(&self) -> Option<ReceiverWindow> {
        match self {
            Self::Pulsed(receiver) => receiver.window,
            Self::Phase(receiver) => receiver.window.filter(|_| receiver.noise.shot > 0.0),
            Self::Triangulation(_) | Self::Fmcw(_) => None,
        }
    }

    /// Full angle of the receiver's field of view, rad; `None` if it is unlimited.
    pub(super) fn field_of_view(&self) -> Option<f64> {
        let window = match self {
            Self::Pulsed(receiver) => receiver.window,
            Self::Phase(receiver) => receiver.window,
            Self::Triangulation(_) | Self::Fmcw(_) => None,
        };
        window.map(|window| window.field_of_view)
    }

    /// Distance from an echo within which returns may have contributed to it, m: half the length $c\\,T$ of a
    /// pulse of full width $T$; 1 m for receivers without a pulse.
    pub(super) fn echo_reach(&self) -> f64 {
        let fwhm = match self {
            Self::Pulsed(receiver) => receiver.pulse.fwhm.value(),
            _ => 2.0 / SPEED_OF_LIGHT,
        };
        0.5 * SPEED_OF_LIGHT * fwhm
    }
}

/// A receiver prepared for a sweep.
#[derive(Clone)]
pub(super) enum PreparedReceiver<S> {
    Pulsed(PreparedPulsed<S>),
    Phase(PreparedPhase<S>),
    Triangulation(Triangulation),
    Fmcw(Fmcw),
}

impl<S: Scalar> PreparedReceiver<S> {
    /// Prepares a receiver with its beam for a sweep, with or without backscatter of the air that may form
    /// echoes.
    pub fn new(
        receiver: &Receiver<S>,
        beam: &Beam<S>,
        light: &LightModel,
        noise: bool,
        with_backscatter: bool,
    ) -> Self {
        match receiver {
            Receiver::Pulsed(receiver) => {
                Self::Pulsed(PreparedPulsed::new(receiver, with_backscatter))
            }
            Receiver::Phase(receiver) => {
                let receiver = if noise {
                    *receiver
                } else {
                    receiver.without_noise()
                };
                let by_trees = matches!(light, LightModel::Tree(_));
                Self::Phase(PreparedPhase::new(receiver, beam, by_trees))
            }
            Receiver::Triangulation(receiver) => Self::Triangulation(*receiver),
            Receiver::Fmcw(receiver) => Self::Fmcw(*receiver),
        }
    }

    /// Field of view and optical filter for ambient light; `None` if the noise does not depend on it.
    pub fn window(&self) -> Option<ReceiverWindow> {
        match self {
            Self::Pulsed(pulsed) => pulsed.receiver.window,
            Self::Phase(phase) => phase.window(),
            Self::Triangulation(_) | Self::Fmcw(_) => None,
        }
    }

    /// The superposition of all light of a shot, at phase receivers, given the light of the whole cells of air
    /// before its first surface.
    pub fn superposed(
        &self,
        world: &World<S>,
        whole_cells: Option<&PhaseSignal<S>>,
        light: &ShotLight<S>,
    ) -> Option<PhaseSignal<S>> {
        match self {
            Self::Phase(phase) => Some(phase.superposed(world, whole_cells, light)),
            Self::Pulsed(_) | Self::Triangulation(_) | Self::Fmcw(_) => None,
        }
    }

    /// Power of the air's backscatter that the receiver cannot separate from the light of surfaces,
    /// 1/(m² sr).
    pub fn inseparable_air(
        &self,
        whole_cells: Option<&PhaseSignal<S>>,
        light: &ShotLight<S>,
    ) -> f64 {
        match self {
            Self::Phase(_) => power_of_air(whole_cells, light),
            Self::Pulsed(_) | Self::Triangulation(_) | Self::Fmcw(_) => 0.0,
        }
    }

    /// Whether a range (m) that was drawn from a noise profile is a detection: within the farthest range for
    /// phase receivers. For the other receivers the range limits are applied to the returns.
    pub fn is_within(&self, range: f64, limits: &RangeLimits) -> bool {
        match self {
            Self::Phase(_) => range <= limits.far,
            Self::Pulsed(_) | Self::Triangulation(_) | Self::Fmcw(_) => true,
        }
    }

    /// Whether noise may cause false alarms in shots without light.
    pub fn has_false_alarms(&self) -> bool {
        matches!(self, Self::Pulsed(pulsed) if pulsed.receiver.false_alarms)
    }

    /// Detects the light of a shot: appends detections or sets the failure.
    pub fn detect(
        &self,
        reception: &Reception<S>,
        light: &mut ShotLight<S>,
        pulsed: &mut PulsedScratch<S>,
        cast_scratch: &mut CastScratch,
        detected: &mut Detected<S>,
    ) {
        let mut stream = (reception.noise).then(|| (reception.stream)(Purpose::ReceiverNoise));
        let noise = stream.as_mut();
        let detections = &mut detected.detections;
        match self {
            Self::Pulsed(own) => own.detect(reception, light, noise, pulsed, detections),
            Self::Phase(own) => own.detect(reception, detected),
            Self::Triangulation(own) => {
                detections.extend(own.detect(reception, light, noise, cast_scratch));
            }
            Self::Fmcw(own) => fmcw::detect(own, reception, light, noise, detections),
        }
    }
}

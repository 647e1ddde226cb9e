//! Receivers: from the light of a shot to detections.

mod fmcw;
mod phase;
mod pulsed;
mod triangulation;

pub use phase::{InvalidPhaseReceiver, PhaseDetection, PhaseMethod, PhaseReceiver};
pub(in crate::lidar) use phase::{PreparedPhase, outcome, power_of_air};
pub use pulsed::{EchoModel, PulsedReceiver, Sensitivity};
pub(super) use pulsed::{PreparedPulsed, PulsedScratch};
pub use triangulation::Triangulation;

use super::air::PreparedAir;
use super::backscatter::BackscatterWaveform;
use super::check::Wrong;
use super::description::Lidar;
use super::light::ShotLight;
use super::range_limits::RangeLimits;
use super::settings::SweepSettings;
use super::shot::Shot;
use crate::transport::World;
use etendue_physics::light::ReceiverWindow;
use etendue_physics::phase::{NoDetection, PhaseSignal};
use etendue_physics::profile::Drawn;
use etendue_physics::pulse::Fmcw;
use etendue_physics::{Purpose, SPEED_OF_LIGHT, Scalar, Stream};
use nalgebra::Isometry3;

/// What measures the received light.
///
/// `S` is the scalar of the differentiable numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Receiver<S = f64> {
    /// Pulsed time of flight.
    Pulsed(PulsedReceiver<S>),
    /// Phase of light that is amplitude-modulated at two frequencies.
    Phase(PhaseReceiver<S>),
    /// Triangulation on a line of pixels beside the laser.
    Triangulation(Triangulation),
    /// Frequency-modulated continuous wave: range and radial velocity.
    Fmcw(Fmcw),
}

/// One measurement of a shot, before range offset, limits and rounding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detection<S = f64> {
    /// Range, m.
    pub range: S,
    /// Peak power, 1/(m² sr).
    pub power: S,
    /// Full width at half maximum of the echo, s; 0 where the receiver does not measure it.
    pub width: S,
    /// Radial velocity, m/s, from receivers that measure it.
    pub velocity: Option<S>,
    /// Intensity of a noise profile, counts, in place of the response to the power.
    pub intensity: Option<f64>,
}

impl<S: Scalar> Detection<S> {
    /// A detection that was drawn from a noise profile, of light of a power.
    pub fn drawn(drawn: &Drawn, power: f64) -> Self {
        Self {
            range: S::from(drawn.range),
            power: S::from(power),
            width: S::zero(),
            velocity: None,
            intensity: drawn.intensity,
        }
    }
}

/// What a receiver measures of the light of a shot.
pub(super) struct Detected<S> {
    /// Detections in the device's order.
    pub detections: Vec<Detection<S>>,
    /// The reason why there is none, from receivers that report it.
    pub failure: Option<NoDetection>,
    /// The sum of all light, at receivers that measure it as one.
    pub signal: Option<PhaseSignal<S>>,
}

impl<S> Detected<S> {
    /// No detection.
    pub fn nothing() -> Self {
        Self {
            detections: Vec::new(),
            failure: None,
            signal: None,
        }
    }

    /// Removes what was detected.
    pub fn clear(&mut self) {
        self.detections.clear();
        self.failure = None;
        self.signal = None;
    }
}

/// The shot that a receiver measures, and what it depends on besides the light.
pub(super) struct Reception<'a, S: Scalar> {
    /// The shot.
    pub shot: &'a Shot,
    /// Pose of the sensor when it was fired.
    pub pose: &'a Isometry3<S>,
    /// The scene.
    pub world: &'a World<'a, S>,
    /// Pose of the sensor at a time, s.
    pub world_from_sensor: &'a dyn Fn(f64) -> Isometry3<S>,
    /// Limits of the reported ranges.
    pub limits: &'a RangeLimits,
    /// Backscatter of the air.
    pub backscatter: Option<&'a BackscatterWaveform<S>>,
    /// The shot's random numbers for a purpose.
    pub stream: &'a dyn Fn(Purpose) -> Stream,
    /// Whether noise is drawn.
    pub noise: bool,
    /// Whether codes of the converter and pixels are rounded.
    pub rounding: bool,
}

/// A receiver prepared for a sweep.
#[derive(Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "one value a sweep, read at every shot"
)]
pub(super) enum PreparedReceiver<S> {
    Pulsed(PreparedPulsed<S>),
    Phase(PreparedPhase<S>),
    Triangulation(Triangulation),
    Fmcw(Fmcw),
}

impl Receiver {
    /// The range that the device reports for a range (m).
    #[inline]
    pub(super) fn rounded(&self, range: f64, limits: &RangeLimits) -> f64 {
        match self {
            Self::Phase(_) => phase::rounded(range, limits.step),
            Self::Pulsed(_) | Self::Triangulation(_) | Self::Fmcw(_) => limits.stepped(range),
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

    /// The same receiver in another scalar, every differentiable number replaced by `f` of it.
    pub fn map<S>(&self, f: impl FnMut(f64) -> S) -> Receiver<S> {
        match self {
            Self::Pulsed(receiver) => Receiver::Pulsed(receiver.map(f)),
            Self::Phase(receiver) => Receiver::Phase(receiver.map(f)),
            Self::Triangulation(receiver) => Receiver::Triangulation(*receiver),
            Self::Fmcw(receiver) => Receiver::Fmcw(*receiver),
        }
    }

    /// Checks its numbers.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        match self {
            Self::Pulsed(receiver) => receiver.check(),
            Self::Phase(receiver) => receiver.check_overlap(),
            Self::Triangulation(receiver) => receiver.check(),
            Self::Fmcw(receiver) => fmcw::check(receiver),
        }
    }
}

impl<S: Scalar> Receiver<S> {
    /// Full angle of the cone that the detector sees, where it is limited, rad.
    pub(super) fn field_of_view(&self) -> Option<f64> {
        let window = match self {
            Self::Pulsed(receiver) => receiver.window,
            Self::Phase(receiver) => receiver.window,
            Self::Triangulation(_) | Self::Fmcw(_) => None,
        };
        window.map(|window| window.field_of_view)
    }

    /// Distance from an echo within which light may belong to it, m: the length of the pulse; 1 m for
    /// receivers without one.
    pub(super) fn echo_reach(&self) -> f64 {
        let fwhm = match self {
            Self::Pulsed(receiver) => receiver.pulse.fwhm.value(),
            _ => 2.0 / SPEED_OF_LIGHT,
        };
        0.5 * SPEED_OF_LIGHT * fwhm
    }
}

impl<S: Scalar> PreparedReceiver<S> {
    /// The receiver of a lidar in some air.
    pub fn new(lidar: &Lidar<S>, settings: &SweepSettings, air: &PreparedAir<S>) -> Self {
        match &lidar.receiver {
            Receiver::Pulsed(receiver) => {
                let with_backscatter = air.backscatter().is_some();
                Self::Pulsed(PreparedPulsed::new(receiver, with_backscatter))
            }
            Receiver::Phase(receiver) => {
                Self::Phase(PreparedPhase::new(receiver, &lidar.beam, settings))
            }
            Receiver::Triangulation(receiver) => Self::Triangulation(*receiver),
            Receiver::Fmcw(receiver) => Self::Fmcw(*receiver),
        }
    }

    /// Field of view and filter that admit ambient light, where the noise depends on it.
    pub fn window(&self) -> Option<ReceiverWindow> {
        match self {
            Self::Pulsed(pulsed) => pulsed.receiver.window,
            Self::Phase(phase) => phase.window(),
            Self::Triangulation(_) | Self::Fmcw(_) => None,
        }
    }

    /// The sum of all light of a shot, at receivers that measure it as one.
    pub fn superposed(
        &self,
        world: &World<S>,
        air: &PreparedAir<S>,
        light: &ShotLight<S>,
    ) -> Option<PhaseSignal<S>> {
        match self {
            Self::Phase(phase) => Some(phase.superposed(world, air, light)),
            Self::Pulsed(_) | Self::Triangulation(_) | Self::Fmcw(_) => None,
        }
    }

    /// Power of the light of the air that the receiver does not separate from that of surfaces,
    /// 1/(m² sr).
    pub fn inseparable_air(&self, air: &PreparedAir<S>, light: &ShotLight<S>) -> f64 {
        match self {
            Self::Phase(_) => power_of_air(air, light),
            Self::Pulsed(_) | Self::Triangulation(_) | Self::Fmcw(_) => 0.0,
        }
    }

    /// Whether a range (m) that was drawn from a noise profile is a detection. The limits of receivers
    /// that do not apply them are applied to the returns.
    pub fn is_within(&self, range: f64, limits: &RangeLimits) -> bool {
        match self {
            Self::Phase(_) => range <= limits.far,
            Self::Pulsed(_) | Self::Triangulation(_) | Self::Fmcw(_) => true,
        }
    }

    /// Whether shots without light may have echoes of noise alone.
    pub fn has_false_alarms(&self) -> bool {
        matches!(self, Self::Pulsed(pulsed) if pulsed.receiver.false_alarms)
    }

    /// Detects the light of a shot.
    pub fn detect(
        &self,
        reception: &Reception<S>,
        light: &mut ShotLight<S>,
        scratch: &mut PulsedScratch<S>,
        detected: &mut Detected<S>,
    ) {
        let mut stream = (reception.noise).then(|| (reception.stream)(Purpose::ReceiverNoise));
        let noise = stream.as_mut();
        let detections = &mut detected.detections;
        match self {
            Self::Pulsed(own) => own.detect(reception, light, noise, scratch, detections),
            Self::Phase(own) => own.detect(reception, detected),
            Self::Triangulation(own) => detections.extend(own.detect(reception, light, noise)),
            Self::Fmcw(own) => fmcw::detect(own, reception, light, noise, detections),
        }
    }
}

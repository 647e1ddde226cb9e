//! Receivers: from the light of a shot to detections.

mod fmcw;
mod phase;
mod pulsed;
mod triangulation;

pub(in crate::lidar) use phase::reading;
pub use phase::{InvalidPhaseReceiver, PhaseDetection, PhaseMethod, PhaseReceiver};
pub use pulsed::{EchoModel, PulsedReceiver, Sensitivity};
pub(super) use pulsed::{PreparedPulsed, PulsedScratch};
pub use triangulation::Triangulation;

use super::backscatter::BackscatterWaveform;
use super::check::Wrong;
use super::light::ShotLight;
use super::{RangeLimits, Shot};
use crate::transport::World;
use etendue_physics::phase::Window;
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
    Triangulation(Triangulation),
    Fmcw(Fmcw),
}

impl Receiver {
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
    /// What admits ambient light, where the receiver's noise depends on it.
    pub(super) fn window(&self) -> Option<Window> {
        match self {
            Self::Pulsed(receiver) => receiver.window,
            Self::Phase(receiver) => receiver.window,
            Self::Triangulation(_) | Self::Fmcw(_) => None,
        }
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
    /// A receiver, in air whose backscatter may form echoes or not.
    pub fn new(receiver: &Receiver<S>, with_backscatter: bool) -> Self {
        match receiver {
            Receiver::Pulsed(receiver) => {
                Self::Pulsed(PreparedPulsed::new(receiver, with_backscatter))
            }
            Receiver::Triangulation(receiver) => Self::Triangulation(*receiver),
            Receiver::Fmcw(receiver) => Self::Fmcw(*receiver),
            Receiver::Phase(_) => unreachable!("phase receivers have a pipeline of their own"),
        }
    }

    /// Whether shots without light may have echoes of noise alone.
    pub fn has_false_alarms(&self) -> bool {
        matches!(self, Self::Pulsed(pulsed) if pulsed.receiver.false_alarms)
    }

    /// Appends the detections in the light of a shot, in the device's order.
    pub fn detect(
        &self,
        reception: &Reception<S>,
        light: &mut ShotLight<S>,
        scratch: &mut PulsedScratch<S>,
        detections: &mut Vec<Detection<S>>,
    ) {
        let mut stream = (reception.noise).then(|| (reception.stream)(Purpose::ReceiverNoise));
        let noise = stream.as_mut();
        match self {
            Self::Pulsed(own) => own.detect(reception, light, noise, scratch, detections),
            Self::Triangulation(own) => detections.extend(own.detect(reception, light, noise)),
            Self::Fmcw(own) => fmcw::detect(own, reception, light, noise, detections),
        }
    }
}

//! Receivers: from the light of a shot to detections.

mod fmcw;
mod phase;
mod pulsed;
pub(super) mod triangulation;

pub(in crate::lidar) use phase::reading;
pub use phase::{InvalidPhaseReceiver, PhaseDetection, PhaseMethod, PhaseReceiver};
pub use pulsed::{EchoModel, PulsedReceiver, Sensitivity};
pub use triangulation::Triangulation;

use super::check::Wrong;
use etendue_physics::pulse::Fmcw;

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

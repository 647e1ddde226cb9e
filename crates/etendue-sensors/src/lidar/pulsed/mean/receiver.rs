//! Receivers without their noise.

use super::MeanScanner;
use super::sampled::Sampled;
use crate::lidar::pulsed::triangulate::brightest;
use crate::lidar::{Pipeline, PulsedReceiver, Receiver, Triangulation};
use etendue_physics::Scalar;
use etendue_physics::pulse::{
    Echo, FastReceiver, Fmcw, PulseReturn, ReturnMode, Timing, merge_changed,
};

/// A receiver without its noise, with what of it may be unknown.
#[derive(Clone, Copy, Debug)]
pub enum MeanReceiver<S = f64> {
    /// Pulsed: echoes of the closed form ([`FastReceiver`]) or of the sampled waveform, by the
    /// receiver's own pipeline; where the air sends light back, of the waveform.
    Pulsed {
        /// The receiver.
        receiver: PulsedReceiver,
        /// Pulse, threshold and reference, instead of its own.
        timing: Timing<S>,
    },
    /// The brightest spot that the lens sees, not rounded to steps of the pixels.
    Triangulation(Triangulation),
    /// The nearest target that is strong enough, nothing moving.
    Fmcw(Fmcw),
}

impl<S: Scalar> MeanReceiver<S> {
    /// The receiver without its noise; none for a phase receiver, which is not simulated by echoes.
    pub fn of(receiver: &Receiver) -> Option<Self> {
        Some(match *receiver {
            Receiver::Pulsed(receiver) => {
                let own = receiver.fast().timing();
                let timing = Timing {
                    fwhm: S::from(own.fwhm),
                    threshold: S::from(own.threshold),
                    reference: S::from(own.reference),
                };
                Self::Pulsed { receiver, timing }
            }
            Receiver::Triangulation(camera) => Self::Triangulation(camera),
            Receiver::Fmcw(fmcw) => Self::Fmcw(fmcw),
            Receiver::Phase(_) => return None,
        })
    }
}

/// A receiver made ready for many shots.
pub(super) enum PreparedMean<S> {
    Fast {
        fast: FastReceiver,
        timing: Timing<S>,
        returns: ReturnMode,
    },
    Sampled {
        waveforms: Box<Sampled<S>>,
        returns: ReturnMode,
    },
    Triangulation(Triangulation),
    Fmcw(Fmcw),
}

impl<S: Scalar> PreparedMean<S> {
    pub fn new(of: &MeanScanner<S>) -> Self {
        match &of.receiver {
            MeanReceiver::Pulsed { receiver, timing } => {
                let returns = receiver.returns;
                let limits = &of.scanner.limits;
                let overlap = receiver.overlap(limits);
                let air = of.air.as_ref();
                let waveforms = Sampled::new(receiver, timing, air, overlap, limits.far);
                if receiver.pipeline == Pipeline::Fast && !waveforms.sees_air() {
                    return Self::Fast {
                        fast: receiver.fast(),
                        timing: *timing,
                        returns,
                    };
                }
                Self::Sampled {
                    waveforms: Box::new(waveforms),
                    returns,
                }
            }
            MeanReceiver::Triangulation(camera) => Self::Triangulation(*camera),
            MeanReceiver::Fmcw(fmcw) => Self::Fmcw(*fmcw),
        }
    }

    /// Whether it matters how far the air reaches before the first surface.
    pub fn sees_air(&self) -> bool {
        matches!(self, Self::Sampled { waveforms, .. } if waveforms.sees_air())
    }

    /// Range (m) and power of the first point that is made of some returns, before a surface at
    /// the distance `axis` (m).
    pub fn first(&self, returns: &mut Vec<PulseReturn<S>>, axis: Option<S>) -> Option<[S; 2]> {
        match self {
            Self::Fast {
                fast,
                timing,
                returns: mode,
            } => {
                let mut echoes = Vec::new();
                fast.mean_echoes(timing, returns, |echo| echoes.push(echo));
                reported(&echoes, *mode)
            }
            Self::Sampled {
                waveforms,
                returns: mode,
            } => reported(&waveforms.echoes(returns, axis), *mode),
            Self::Triangulation(camera) => {
                let spot = brightest(returns)?;
                (spot.power.value() >= camera.threshold).then_some([spot.range, spot.power])
            }
            Self::Fmcw(fmcw) => {
                let mut first = None;
                merge_changed(returns, fmcw.resolution(), |power, range, _| {
                    if first.is_none() && power.value() >= fmcw.threshold * fmcw.noise {
                        first = Some([range, power]);
                    }
                });
                first
            }
        }
    }
}

/// Range and power of the echo that is reported first.
fn reported<S: Scalar>(echoes: &[Echo<S>], mode: ReturnMode) -> Option<[S; 2]> {
    let echo = match echoes {
        [only] => only,
        several => &several[*mode.choose(&values(several)).first()?],
    };
    Some([echo.range, echo.power])
}

fn values<S: Scalar>(echoes: &[Echo<S>]) -> Vec<Echo> {
    let value = |echo: &Echo<S>| Echo {
        range: echo.range.value(),
        power: echo.power.value(),
        width: echo.width.value(),
    };
    echoes.iter().map(value).collect()
}

//! Receivers without their noise.

use super::MeanScanner;
use super::sampled::Sampled;
use crate::lidar::receiver::triangulation::brightest;
use crate::lidar::{EchoModel, Receiver, Triangulation};
use etendue_physics::Scalar;
use etendue_physics::pulse::{AnalyticFinder, Echo, Fmcw, PulseReturn, ReturnMode, merge_changed};

/// A receiver made ready for many shots.
pub(super) enum PreparedMean<S> {
    Fast {
        fast: AnalyticFinder<S>,
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
        match &of.scanner.receiver {
            Receiver::Pulsed(receiver) => {
                let returns = receiver.returns;
                let limits = &of.scanner.limits;
                let overlap = receiver.overlap(limits);
                let air = of.air.as_ref();
                let waveforms = Sampled::new(receiver, air, overlap, limits.far);
                if receiver.echoes == EchoModel::Analytic && !waveforms.sees_air() {
                    return Self::Fast {
                        fast: receiver.analytic().finder(),
                        returns,
                    };
                }
                Self::Sampled {
                    waveforms: Box::new(waveforms),
                    returns,
                }
            }
            Receiver::Phase(_) => panic!("a phase receiver has no echoes: see predict_phase"),
            Receiver::Triangulation(camera) => Self::Triangulation(*camera),
            Receiver::Fmcw(fmcw) => Self::Fmcw(*fmcw),
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
                returns: mode,
            } => {
                let mut echoes = Vec::new();
                fast.find(returns, None, &mut echoes);
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

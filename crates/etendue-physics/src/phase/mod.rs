//! Ranging with continuous waves: phase of amplitude-modulated light at two frequencies.
//!
//! Each return $j$, with half its optical path $R_j$ and received power $L_j$, adds
//! $L_j\sin(2\pi f t-\varphi_j)$, $\varphi_j = 4\pi f R_j/c$, to the received wave of each
//! frequency $f$. Their sum is a sine again, described by the [`Phasor`] $\sum_j L_j e^{i\varphi_j}$.
//! A phase receiver measures that phasor at both frequencies (in closed form, or by sampling the
//! wave), turns phases into ranges and [resolves](Ambiguity) the number of whole periods.
//!
//! Source: Heiden et al. 2019, "Physics-based simulation of continuous-wave lidar for
//! localization, calibration and tracking" (arXiv:1912.01652), section III-B, with its misprints
//! removed: the phase is proportional to $R$, not to $1/R$, and `atan2` replaces the arctangent of
//! a ratio.
//!
//! Not modelled: harmonics of the modulation, the shape of the avalanche diode's response, memory
//! of the automatic gain from one beam to the next, filters that compare neighbouring beams.

mod ambiguity;
mod bias;
mod modulation;
mod no_detection;
mod noise;
mod phasor;
mod sampling;
mod signal;

pub use ambiguity::{Ambiguity, Combination, Resolved, ResolvedLanes};
pub use bias::PowerDependentBias;
pub use modulation::Modulation;
pub use no_detection::NoDetection;
pub use noise::{AutomaticGain, PhaseReceiverNoise, phase_noise};
pub use phasor::Phasor;
pub use sampling::{Carrier, SAMPLES, SamplingScheme, UnusableScheme};
pub use signal::PhaseSignal;

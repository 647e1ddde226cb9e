//! Pulsed time of flight: from returns of light to echoes with a range and an intensity.
//!
//! Surfaces at half optical paths $R_j$ return a pulse of shape $p(t)$ (peak 1 at $t = 0$) with powers
//! $L_j$. The power at the receiver is
//! $$P(t) = \sum_j L_j\\, p(t - 2R_j/c) + B,$$
//! to which the receiver adds noise ([`Detector`]). It samples the sum ([`Digitiser`]) and detects echoes
//! ([`EchoFinder`], [`Discriminator`]). [`merge_returns`] gives the same echoes in closed form,
//! without a waveform, within the error stated there.
//!
//! Powers can be in any one unit. The simulator uses the received over the transmitted power per
//! square metre of aperture (1/(m² sr)); [`LinkBudget`] converts it to watts.
//!
//! Not modelled: afterpulsing and cross-talk between channels, the bandwidth of the amplifier
//! (use the pulse shape at the output of the amplifier), and speckle.

mod analytic;
mod bias;
mod closed_form;
mod detector;
mod digitiser;
mod discriminator;
mod echo;
mod echo_form;
mod fmcw;
mod intensity;
mod link;
mod merge;
mod poisson;
mod pulse_return;
mod return_mode;
mod shape;

mod waveform;

pub use analytic::{AnalyticFinder, AnalyticReceiver, EchoLanes, SingleEchoForm};
pub use bias::{InclinedPlane, centroid_bias, constant_fraction_bias, threshold_walk};
pub use detector::{AnalogueDetector, Detector, OverloadRecovery, PhotonCounter};
pub use digitiser::Digitiser;
pub use discriminator::Discriminator;
pub use echo::{Echo, EchoFinder};
pub use echo_form::{EchoForm, EchoTiming};
pub use fmcw::{Fmcw, FmcwEcho};
pub use intensity::{IntensityResponse, ReflectivityScale};
pub use link::{LinkBudget, reference_power};
pub use merge::{MergedLanes, group_returns, merge_changed, merge_returns};
pub use poisson::poisson;
pub use pulse_return::{PulseReturn, RangedPower};
pub use return_mode::{DualPair, ReturnMode};
pub(crate) use shape::GAUSSIAN_FWHM_OVER_SD;
pub use shape::{Pulse, PulseShape};
pub use waveform::{SamplingWindow, Waveform, WaveformModel};

//! Noise profiles: the measured errors of one sensor on one material.
//!
//! A [`Profile`] tabulates bias and spread of the range, drop-out probability and intensity over the
//! incidence, as measured on panels by `etendue calibrate`. [`Profile::at`] gives the expected return of a
//! beam. [`Profile::draw`] draws a random measurement: true range + bias + correlated noise, rounded to
//! the device's quantisation, or a drop-out. A [`ProfileSampler`] is the batched form, equal up to the
//! errors of its tables and of single-precision fixed-pattern noise.
//!
//! Bias, spread and intensity are statistics of the beams that returned, so that drop-outs are applied
//! once. (Kepets 2024, eqs. 4.2-4.3, also averages the zero ranges of dropped beams into the mean.)
//!
//! Values depend on the angle of incidence only, except near the normal, where a [`Glare`] may differ
//! between the two sides of the normal.
//!
//! Beyond the widest recorded incidence, the drop-out is extrapolated by a logistic function of the
//! power of a reflectance model that was fitted to the recording. Not modelled: edges of panels
//! (light of two surfaces), and drift over time (warm-up, sunlight).

mod aspect;
mod batch;
mod check;
mod correlation;
mod distribution;
mod draw;
mod glare;
mod intensity;
mod law;
mod noise_cache;
mod reflectance;
mod steps;

pub use aspect::Aspect;
pub use batch::{DrawnBatch, IncidentBatch, ProfileSampler};
pub use check::InvalidProfile;
pub use correlation::Correlation;
pub use distribution::ReturnDistribution;
pub use draw::{Address, DrawnReturn};
pub use glare::{Glare, GlareKnot};
pub use intensity::IntensityKind;
pub use law::DistanceLaw;
pub use noise_cache::NoiseCache;
pub use reflectance::{DropOutModel, Facets, ReflectanceModel};
pub use steps::{Step, Steps};

/// Measured errors of a sensor on a material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Name of the sensor.
    pub sensor: String,
    /// Name of the material.
    pub material: String,
    /// Wavelength, m, if known.
    pub wavelength: Option<f64>,
    /// Distance of the panel, m: the reference distance of the [`law`](Self::law).
    pub distance: f64,
    /// Scaling of bias, spread and drop-out with distance.
    pub law: DistanceLaw,
    /// Quantisation of the device's ranges.
    pub steps: Steps,
    /// Correlation of the errors of neighbouring beams, and of one beam in successive scans.
    pub correlation: Correlation,
    /// Kind of the device's intensity.
    pub intensity: IntensityKind,
    /// Fitted reflectance model, for gaps and extrapolation.
    pub reflectance: ReflectanceModel,
    /// Values at ascending incidences, at least two.
    pub knots: Vec<Knot>,
    /// Correction near the normal that may differ between its two sides.
    pub glare: Option<Glare>,
    /// Whether the whole profile is extrapolated from another material's recording.
    pub extrapolated: bool,
}

/// Values of a profile at one incidence, with their uncertainty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Knot {
    /// Incidence, rad, in [0, pi/2).
    pub incidence: f64,
    /// Number of recorded beams near this incidence, drop-outs included.
    pub count: f64,
    /// Mean of measured minus true range of beams that returned, m.
    pub bias: f64,
    /// Standard error of the bias, m.
    pub bias_error: f64,
    /// Standard deviation of the range of beams that returned, before rounding, m.
    pub spread: f64,
    /// Standard error of the spread, m.
    pub spread_error: f64,
    /// Probability that a beam does not return.
    pub drop_out: f64,
    /// 95 % confidence interval of the drop-out.
    pub drop_out_interval: [f64; 2],
    /// Mean intensity of beams that returned; for a two-valued intensity, the fraction of the higher value.
    pub intensity: f64,
    /// Standard deviation of that intensity; 0 for a two-valued or constant intensity.
    pub intensity_spread: f64,
    /// Whether the values are extrapolated because no beam was recorded at this incidence.
    pub extrapolated: bool,
}

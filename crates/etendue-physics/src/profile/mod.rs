//! Calibrated noise: what one sensor was seen to do with one material.
//!
//! A [`Profile`] holds, over incidence, the range's bias and spread, the probability of a
//! drop-out, and the intensity, as measured on panels by `etendue calibrate`. [`Profile::at`]
//! says what to expect of a beam, [`Profile::draw`] makes a measurement of it: true range + bias +
//! correlated noise, rounded to the device's steps, or nothing; a [`ProfileSampler`] makes many, sooner. Drop-out is counted once: bias,
//! spread and intensity are those of the beams that returned (kepets-2024, eqs. 4.2-4.3, averages
//! the zeros of dropped beams into the mean and drops again).
//!
//! Both sides of a surface's normal are one incidence, but near it: there a [`Glare`] may say what one
//! side does and the other does not.
//!
//! Beyond the widest recorded incidence the drop-out goes on as a logistic in the power of a
//! reflectance model that was fitted to the recording. Not modelled: edges of panels (light of two
//! surfaces), and anything that changes with time (warming up, sunlight).

mod aspect;
mod check;
mod correlation;
mod draw;
mod expected;
mod glare;
mod intensity;
mod law;
mod noise_cache;
mod reflectance;
mod sampler;
mod steps;

pub use aspect::Aspect;
pub use check::InvalidProfile;
pub use correlation::Correlation;
pub use draw::{Address, Drawn};
pub use expected::Expected;
pub use glare::{Glare, GlareKnot};
pub use intensity::IntensityKind;
pub use law::DistanceLaw;
pub use noise_cache::NoiseCache;
pub use reflectance::{DropOutModel, Facets, ReflectanceModel};
pub use sampler::{DrawnBatch, IncidentBatch, ProfileSampler};
pub use steps::{Step, Steps};

/// What a sensor does with a material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// The sensor, as the user calls it.
    pub sensor: String,
    /// The material, as the user calls it.
    pub material: String,
    /// Wavelength, m, where it is known.
    pub wavelength: Option<f64>,
    /// Distance of the panel, m: ranges are referred to it by the [`law`](Self::law).
    pub distance: f64,
    /// How bias, spread and drop-out change with the distance.
    pub law: DistanceLaw,
    /// The device's steps.
    pub steps: Steps,
    /// How alike the errors of neighbouring beams, and of one beam in successive scans, are.
    pub correlation: Correlation,
    /// What its intensity is.
    pub intensity: IntensityKind,
    /// The fitted reflectance, for gaps and beyond the edge.
    pub reflectance: ReflectanceModel,
    /// Values over incidence, ascending, two at least.
    pub knots: Vec<Knot>,
    /// What is unlike on both sides of the normal, near it.
    pub glare: Option<Glare>,
    /// Whether the whole profile is a guess, from another material's recording.
    pub extrapolated: bool,
}

/// A profile's values at one incidence, with what they rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Knot {
    /// Incidence, rad, in [0, pi/2).
    pub incidence: f64,
    /// Beams recorded about it; dropped ones too.
    pub count: f64,
    /// Mean of measured less true range of beams that returned, m.
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
    /// Mean intensity of beams that returned; of a two-valued channel, the share of the higher.
    pub intensity: f64,
    /// Standard deviation of that intensity; 0 of a two-valued or constant channel.
    pub intensity_spread: f64,
    /// Whether no beam was recorded there.
    pub extrapolated: bool,
}

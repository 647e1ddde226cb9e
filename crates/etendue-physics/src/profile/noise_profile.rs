//! A noise profile: measured errors by incidence.

use super::correlation::Correlation;
use super::glare::Glare;
use super::intensity::IntensityKind;
use super::law::DistanceLaw;
use super::reflectance::ReflectanceModel;
use super::steps::Steps;

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

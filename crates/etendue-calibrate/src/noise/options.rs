//! Settings of a calibration.

use super::panel::PanelSearch;

/// Ranging principle of a sensor: determines the law of distance if only one distance was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RangingPrinciple {
    /// Triangulation: a line of pixels next to the laser.
    #[default]
    Triangulating,
    /// Pulsed or continuous-wave time of flight.
    TimeOfFlight,
}

/// Settings of a calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationOptions {
    /// Name of the sensor.
    pub sensor: String,
    /// Name of the material.
    pub material: String,
    /// Ranging principle of the sensor.
    pub principle: RangingPrinciple,
    /// Wavelength, m, if known.
    pub wavelength: Option<f64>,
    /// Criteria of the panel search.
    pub search: PanelSearch,
    /// Width of the bins of incidence, rad.
    pub bin: f64,
    /// Distance between knots, rad.
    pub knot: f64,
}

impl Default for CalibrationOptions {
    fn default() -> Self {
        Self {
            sensor: "sensor".into(),
            material: "material".into(),
            principle: RangingPrinciple::default(),
            wavelength: None,
            search: PanelSearch::default(),
            bin: 1.0_f64.to_radians(),
            knot: 1.0_f64.to_radians(),
        }
    }
}

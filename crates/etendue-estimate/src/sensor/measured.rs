//! Measured or predicted quantities of one beam.

use etendue_physics::Scalar;
use etendue_sensors::RangeReading;
use etendue_sensors::lidar::ExpectedReturn;

/// Number of quantities per beam: range and intensity.
pub(crate) const QUANTITIES: usize = 2;

/// Measured or predicted range and intensity of one beam.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BeamMeasurement<S = f64> {
    /// Range, m.
    range: Option<S>,
    /// Intensity, counts.
    intensity: Option<S>,
}

impl<S: Copy> BeamMeasurement<S> {
    /// Measurement of a range (m) and an intensity (counts); `None` where unavailable.
    pub fn new(range: Option<S>, intensity: Option<S>) -> Self {
        Self { range, intensity }
    }

    /// Range, m; `None` without a return.
    pub fn range(&self) -> Option<S> {
        self.range
    }

    /// Intensity, counts; `None` where unavailable.
    pub fn intensity(&self) -> Option<S> {
        self.intensity
    }

    /// Range and intensity.
    #[inline]
    pub(crate) fn quantities(&self) -> [Option<S>; QUANTITIES] {
        [self.range, self.intensity]
    }
}

impl From<RangeReading> for BeamMeasurement {
    fn from(reading: RangeReading) -> Self {
        Self::new(reading.range(), None)
    }
}

impl<S: Scalar> From<Option<ExpectedReturn<S>>> for BeamMeasurement<S> {
    #[inline]
    fn from(shot: Option<ExpectedReturn<S>>) -> Self {
        Self::new(shot.map(|shot| shot.range), shot.map(|shot| shot.intensity))
    }
}

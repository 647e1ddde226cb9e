//! Measurement of one beam.

use etendue_physics::Scalar;
use etendue_sensors::RangeReading;
use etendue_sensors::cw::Shot as CwShot;
use etendue_sensors::lidar::MeanShot;

/// BeamMeasurement or predicted quantities of one beam.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BeamMeasurement<S = f64> {
    range: Option<S>,
    intensity: Option<S>,
}

impl<S: Copy> BeamMeasurement<S> {
    /// A range (m) and an intensity (counts), each where available.
    pub fn new(range: Option<S>, intensity: Option<S>) -> Self {
        Self { range, intensity }
    }

    /// Range, m.
    pub fn range(&self) -> Option<S> {
        self.range
    }

    /// Intensity, counts.
    pub fn intensity(&self) -> Option<S> {
        self.intensity
    }

    /// The first `kinds` of range and intensity.
    pub(crate) fn quantities(&self, kinds: usize) -> impl Iterator<Item = Option<S>> {
        [self.range, self.intensity].into_iter().take(kinds)
    }
}

impl From<RangeReading> for BeamMeasurement {
    fn from(reading: RangeReading) -> Self {
        Self::new(reading.range(), None)
    }
}

impl<S: Scalar> From<&CwShot<S>> for BeamMeasurement<S> {
    fn from(shot: &CwShot<S>) -> Self {
        Self::new(shot.range(), None)
    }
}

impl<S: Scalar> From<&Option<MeanShot<S>>> for BeamMeasurement<S> {
    fn from(shot: &Option<MeanShot<S>>) -> Self {
        let quantity = |of: fn(&MeanShot<S>) -> S| shot.as_ref().map(of);
        Self::new(quantity(|shot| shot.range), quantity(|shot| shot.intensity))
    }
}

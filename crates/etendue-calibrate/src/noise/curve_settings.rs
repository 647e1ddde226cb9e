//! Settings of the fits of curves to bins.

use super::statistics::IncidenceBin;
use etendue_physics::profile::IntensityKind;

/// Quantities that all fits of curves to bins share.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurveSettings {
    /// Kind of the intensity.
    pub intensity: IntensityKind,
    /// Correlation of the drop-outs of one direction in bins that do not determine it.
    pub drop_correlation: f64,
    /// Variance of the mean error between bins, m².
    pub between_bins: f64,
}

impl CurveSettings {
    /// Fitted intensity of a bin: the mean; of a two-valued intensity, the fraction of the higher
    /// value.
    pub fn intensity_of(&self, bin: &IncidenceBin) -> f64 {
        match self.intensity {
            IntensityKind::TwoValued { low, high } => (bin.intensity[0] - low) / (high - low),
            _ => bin.intensity[0],
        }
    }
}

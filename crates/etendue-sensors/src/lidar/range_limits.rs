//! Limits and step of the reported ranges.

use super::domain::{OutsideDomain, is_zero_or_more, value};

/// Farthest range of a lidar, m: that of a lidar in orbit. The time of a simulation grows with the range.
const MAX_RANGE: f64 = 1e6;

/// Limits and step of the reported ranges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeLimits {
    /// Nearest reported range, m.
    pub near: f64,
    /// Farthest reported range, m.
    pub far: f64,
    /// Quantisation step of the reported range, m; 0 for none.
    pub step: f64,
}

impl RangeLimits {
    /// A range (m) rounded to the step, m.
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    pub fn stepped(&self, range: f64) -> f64 {
        if self.step > 0.0 {
            // The reciprocal is computed once for many lanes.
            (range * (1.0 / self.step)).round() * self.step
        } else {
            range
        }
    }

    /// Checks the parameters.
    pub(super) fn check(&self) -> Result<(), OutsideDomain> {
        value(
            "the nearest range, m,",
            self.near,
            is_zero_or_more(self.near),
            "0 or more",
        )?;
        value(
            "the farthest range, m,",
            self.far,
            self.far > self.near && self.far <= MAX_RANGE,
            "beyond the nearest range and at most 1,000,000 m; are they exchanged?",
        )?;
        value(
            "the range step, m,",
            self.step,
            is_zero_or_more(self.step),
            "0 or more",
        )
    }
}

//! The scale of the reported intensity.

use super::domain::{OutsideDomain, positive, value, zero_or_more};
use etendue_physics::pulse::{IntensityResponse, ReflectivityScale};

/// The scale of the reported intensity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intensity {
    /// From power to counts.
    pub response: IntensityResponse,
    /// Highest count; intensities are then whole counts. None leaves the number unrounded.
    pub top: Option<f64>,
}

impl Intensity {
    /// Checks its numbers.
    pub(super) fn check(&self) -> Result<(), OutsideDomain> {
        match self.response {
            IntensityResponse::Power { counts } => {
                zero_or_more(&[("the intensity's counts per power", counts)])?;
            }
            IntensityResponse::Log { zero, per_decade } => positive(&[
                ("the power of intensity zero, 1/(m2 sr),", zero),
                ("the intensity's counts per decade", per_decade),
            ])?,
            IntensityResponse::Reflectivity { scale } => check_scale(scale)?,
        }
        let top = self.top.map(|top| ("the highest intensity", top));
        positive(top.as_slice())
    }
}

fn check_scale(scale: ReflectivityScale) -> Result<(), OutsideDomain> {
    let ReflectivityScale::DiffuseThenRetro { full_scale } = scale else {
        return Ok(());
    };
    let what = "the reflectivity that reads 255, percent,";
    let ok = full_scale > 100.0 && full_scale.is_finite();
    value(what, full_scale, ok, "above 100")
}

//! Approximate position of a panel, as arguments.

use crate::number;
use clap::Args;
use etendue::calibrate::noise::PanelHint;

/// Approximate position of a panel.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Panel")]
pub struct Hints {
    /// Approximate distance of the panel, m; the recording takes precedence
    #[arg(long, value_name = "M", value_parser = number::positive)]
    distance: Option<f64>,
    /// Width of the panel, m: distinguishes dropped beams on the panel from beams beyond its edge
    #[arg(long, value_name = "M", value_parser = number::positive)]
    width: Option<f64>,
    /// Bearing of the centre of the panel, degrees anticlockwise from x: selects one of several
    #[arg(long, value_name = "DEG", value_parser = number::angle, allow_hyphen_values = true)]
    bearing: Option<f64>,
}

impl Hints {
    /// The hints for the panel search.
    pub fn hint(self) -> PanelHint {
        PanelHint {
            distance: self.distance,
            width: self.width,
            bearing: self.bearing.map(f64::to_radians),
            sector: None,
        }
    }
}

//! What may be declared about a panel on the command line.

use clap::Args;
use etendue::calibrate::noise::PanelHint;

/// Hints about a panel.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Hints {
    /// Distance of the panel, m: a hint, the recording is believed
    #[arg(long, value_name = "M")]
    distance: Option<f64>,
    /// Width of the panel, m: tells dropped beams on it from beams past its edge
    #[arg(long, value_name = "M")]
    width: Option<f64>,
    /// Bearing of the panel's middle, degrees anticlockwise from x: says which of several
    #[arg(long, value_name = "DEG", allow_hyphen_values = true)]
    bearing: Option<f64>,
}

impl Hints {
    /// As the library takes them.
    pub fn hint(self) -> PanelHint {
        PanelHint {
            distance: self.distance,
            width: self.width,
            bearing: self.bearing.map(f64::to_radians),
            sector: None,
        }
    }
}

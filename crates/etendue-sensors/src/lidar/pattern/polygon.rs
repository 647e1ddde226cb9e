//! A turning polygon whose facets sweep the beams.

use super::{Aim, Channel, Columns};

/// A turning polygon: each facet sweeps the beams once over the field, raised by twice the
/// facet's tilt. One sweep a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    /// Turns a second, Hz.
    pub rate: f64,
    /// Tilt of each facet, rad.
    pub facet_tilts: Vec<f64>,
    /// Azimuths where a facet's line begins and ends, rad: at most twice a facet's angle apart.
    pub azimuths: [f64; 2],
    /// Firings in a line.
    pub columns_per_line: u32,
}

impl Polygon {
    /// The lines of all facets.
    pub fn columns(&self) -> Columns {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a polygon has a handful of facets"
        )]
        let facets = self.facet_tilts.len() as u32;
        Columns::PerSweep {
            columns: facets * self.columns_per_line,
            fired: None,
        }
    }

    /// The channel's direction at `time`: the rotation of the mirror counts
    /// twice, and the lines fill the time of their facet.
    pub fn aim(&self, time: f64, channel: &Channel) -> Aim {
        let facets = self.facet_tilts.len();
        let turned = (self.rate * time + 1e-12).fract() * facets as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the number of a facet"
        )]
        let facet = (turned as usize).min(facets - 1);
        let along = turned - facet as f64;
        let rotor = self.azimuths[0] + (self.azimuths[1] - self.azimuths[0]) * along;
        Aim {
            rotor,
            azimuth: rotor + channel.azimuth,
            elevation: channel.elevation + 2.0 * self.facet_tilts[facet],
        }
    }
}

//! Rotating polygon mirror.

use super::columns::Columns;
use crate::lidar::channel::Channel;
use crate::lidar::direction::Aim;

/// A rotating polygon mirror: each facet scans one line, whose elevation is raised by twice the facet's
/// tilt. One sweep is one rotation.
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    /// Rotations per second, Hz.
    pub rate: f64,
    /// Tilt of each facet, rad.
    pub facet_tilts: Vec<f64>,
    /// Azimuths of the start and the end of a line, rad: at most twice the angle of a facet apart.
    pub azimuths: [f64; 2],
    /// Number of columns per line.
    pub columns_per_line: u32,
}

impl Polygon {
    /// Schedule of the columns of all lines.
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

    /// Direction of a channel's beam at `time` (s). The azimuth is linear in time within a line, and a
    /// line takes the whole time of its facet.
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

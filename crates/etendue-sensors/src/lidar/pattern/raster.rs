//! Raster scan without rotating parts.

use super::columns::Columns;
use crate::lidar::channel::Channel;
use crate::lidar::direction::Aim;

/// A raster of directions, scanned row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Raster {
    /// Sweeps (frames) per second, Hz.
    pub rate: f64,
    /// Number of directions in a row.
    pub columns: u32,
    /// Number of rows.
    pub rows: u32,
    /// Azimuths of the first and the last direction of a row, rad.
    pub azimuths: [f64; 2],
    /// Elevations of the first and the last row, rad.
    pub elevations: [f64; 2],
    /// Whether every other row is scanned in the opposite direction.
    pub serpentine: bool,
}

impl Raster {
    /// Schedule of the columns: one per direction.
    pub fn columns(&self) -> Columns {
        Columns::PerSweep {
            columns: self.columns.saturating_mul(self.rows),
            fired: None,
        }
    }

    /// Direction of a channel's beam at `time` (s): that of the raster plus the channel's angles.
    pub fn aim(&self, time: f64, channel: &Channel) -> Aim {
        let place = (self.rate * time).fract() * f64::from(self.columns * self.rows);
        let place = (place + 1e-6).floor();
        let row = (place / f64::from(self.columns)).floor();
        let along = place - row * f64::from(self.columns);
        let backwards = self.serpentine && row % 2.0 == 1.0;
        let last = f64::from(self.columns) - 1.0;
        let column = if backwards { last - along } else { along };
        let rotor = between(self.azimuths, column, self.columns);
        Aim {
            rotor,
            azimuth: rotor + channel.azimuth,
            elevation: between(self.elevations, row, self.rows) + channel.elevation,
        }
    }
}

/// Element `i` of `count` numbers that are evenly spaced from the first to the last.
fn between([first, last]: [f64; 2], i: f64, count: u32) -> f64 {
    if count < 2 {
        return first;
    }
    first + (last - first) * i / f64::from(count - 1)
}

//! Beams steered over rows and columns without a turning part.

use super::{Aim, Channel, Columns};

/// A raster of directions: rows of columns, row after row from the top, left to right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Raster {
    /// Sweeps (frames) a second, Hz.
    pub rate: f64,
    /// Directions in a row.
    pub columns: u32,
    /// Rows.
    pub rows: u32,
    /// Azimuths of the first and the last direction of a row, rad.
    pub azimuths: [f64; 2],
    /// Elevations of the first and the last row, rad.
    pub elevations: [f64; 2],
    /// Whether every other row runs backwards.
    pub serpentine: bool,
}

impl Raster {
    /// One column of firings for every direction.
    pub fn columns(&self) -> Columns {
        Columns::PerSweep {
            columns: self.columns.saturating_mul(self.rows),
            fired: None,
        }
    }

    /// The direction that is due at `time`, plus the channel's own.
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

/// Place number `i` of `count` evenly spaced from the first to the last.
fn between([first, last]: [f64; 2], i: f64, count: u32) -> f64 {
    if count < 2 {
        return first;
    }
    first + (last - first) * i / f64::from(count - 1)
}

//! Scan patterns: the motion of the beams.

mod encoder;
mod oscillating;
mod polygon;
mod raster;
mod risley;
mod spinning;

pub use encoder::Encoder;
pub use oscillating::{Oscillating, Oscillation};
pub use polygon::Polygon;
pub use raster::Raster;
pub use risley::{Prism, Risley};
pub(crate) use spinning::Stance;
pub use spinning::{Nod, Spinning};

use super::channel::Channel;
use super::shot::Aim;

/// When columns are fired within a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Columns {
    /// Locked to the motion (an encoder): evenly spaced columns in each sweep.
    PerSweep {
        /// Columns in a whole sweep.
        columns: u32,
        /// Number of columns that fire, from the first on, where not all do.
        fired: Option<u32>,
    },
    /// By a clock that continues from sweep to sweep, so that sweeps differ by one column.
    Period {
        /// Time between columns, s.
        seconds: f64,
    },
    /// At the steps of an encoder over part of a turn.
    Steps {
        /// Columns in a sweep.
        columns: u32,
        /// Time between columns, s.
        period: f64,
    },
}

/// A column of a sweep: its number and when it begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnStart {
    /// Number in the sweep, from 0.
    pub number: u32,
    /// When it begins, s from the start of the run.
    pub time: f64,
}

/// Motion of the beams.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScanPattern {
    /// A rotor turns them; with one channel, a planar lidar.
    Spinning(Spinning),
    /// An oscillating mirror deflects them.
    Oscillating(Oscillating),
    /// Rotating wedge prisms deflect them.
    Risley(Risley),
    /// They are steered over rows and columns without a rotating part.
    Raster(Raster),
    /// The facets of a rotating polygon deflect them.
    Polygon(Polygon),
    /// An encoder fires them at evenly spaced azimuths.
    Encoder(Encoder),
}

impl ScanPattern {
    /// Duration of one sweep, s.
    pub fn sweep_duration(&self) -> f64 {
        1.0 / match self {
            Self::Spinning(one) => one.rate,
            Self::Oscillating(one) => one.rate,
            Self::Risley(one) => one.rate,
            Self::Raster(one) => one.rate,
            Self::Polygon(one) => one.rate,
            Self::Encoder(one) => one.rate,
        }
    }

    /// When columns are fired.
    pub fn columns(&self) -> Columns {
        match self {
            Self::Spinning(one) => one.columns,
            Self::Oscillating(one) => one.columns,
            Self::Risley(one) => one.columns,
            Self::Raster(one) => one.columns(),
            Self::Polygon(one) => one.columns(),
            Self::Encoder(one) => one.columns(),
        }
    }

    /// All its angles, rates and ratios: rad, Hz, 1.
    pub(super) fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Spinning(one) => {
                let nod = one.nod.map_or([0.0; 2], |nod| [nod.amplitude, nod.rate]);
                [&[one.start][..], &nod].concat()
            }
            Self::Oscillating(one) => vec![one.amplitude],
            Self::Risley(one) => {
                let prism = |p: &Prism| [p.wedge, p.index, p.rate, p.phase];
                one.prisms.iter().flat_map(prism).collect()
            }
            Self::Raster(one) => [one.azimuths, one.elevations].concat(),
            Self::Polygon(one) => [&one.facet_tilts[..], &one.azimuths].concat(),
            Self::Encoder(one) => vec![one.first, one.step],
        }
    }

    /// Where a channel aims at `time` (s from the start of the run) in `column`.
    pub fn aim(&self, time: f64, column: &ColumnStart, channel: &Channel) -> Aim {
        match self {
            Self::Spinning(one) => one.aim(time, channel),
            Self::Oscillating(one) => one.aim(time, channel),
            Self::Risley(one) => one.aim(time, channel),
            Self::Raster(one) => one.aim(column.time, channel),
            Self::Polygon(one) => one.aim(time, channel),
            Self::Encoder(one) => one.aim(column.number, channel),
        }
    }
}

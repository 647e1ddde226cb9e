//! Scan patterns: the motion of the beams. The registry: the enum, and the dispatch of its methods.
//!
//! To add a pattern, write its file in `pattern/` and add it to the module list, the enum and its arms here.

mod columns;
mod encoder;
mod oscillating;
mod polygon;
mod raster;
mod risley;
mod spinning;

pub use columns::{ColumnStart, Columns};
pub(in crate::lidar) use columns::{columns_before, whole};
pub use encoder::Encoder;
pub use oscillating::{Oscillating, Oscillation};
pub use polygon::Polygon;
pub use raster::Raster;
pub use risley::{Prism, Risley};
pub(crate) use spinning::RotorOrientation;
pub use spinning::{Nod, Spinning};

use super::channel::Channel;
use super::direction::Aim;

/// Scan pattern: motion of the beams and schedule of the columns.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScanPattern {
    /// A rotor about the z axis; with one channel, a planar lidar.
    Spinning(Spinning),
    /// An oscillating mirror.
    Oscillating(Oscillating),
    /// Rotating wedge prisms.
    Risley(Risley),
    /// Steering over rows and columns without rotating parts.
    Raster(Raster),
    /// A rotating polygon mirror.
    Polygon(Polygon),
    /// A rotor that fires at evenly spaced azimuths of an encoder.
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

    /// Schedule of the columns.
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

    /// All parameters that must be finite: angles (rad), rates (Hz) and ratios.
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

    /// Direction of a channel's beam at `time` (s since the start of the run) in `column`.
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

//! Beams at the steps of an angular encoder.

use super::{Aim, Channel, Columns};
use std::f64::consts::TAU;

/// A rotating mirror whose encoder fires one column at each of evenly spaced azimuths.
///
/// Column $i$ points exactly at $\alpha_i = \alpha_0 + i\\,\Delta\alpha$ and is fired
/// $t_i = i\\,T\\,|\Delta\alpha| / 2\pi$ after the sweep begins, with $T$ the rotation period. Columns
/// need not fill the turn: planar lidars measure over a field of view and are blind behind.
///
/// ```
/// use etendue_sensors::lidar::Encoder;
/// use std::f64::consts::TAU;
/// let step = TAU / 1024.0;
/// let urg = Encoder { rate: 10.0, columns: 682, first: -340.0 * step, step };
/// assert!((urg.offset(681) - 0.0665).abs() < 1e-4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Encoder {
    /// Rotations per second, Hz.
    pub rate: f64,
    /// Number of columns in a sweep.
    pub columns: u32,
    /// Azimuth of the first column, anticlockwise from x, rad.
    pub first: f64,
    /// Azimuth from one column to the next, rad; negative for clockwise rotation.
    pub step: f64,
}

impl Encoder {
    /// One column per encoder step.
    pub fn columns(&self) -> Columns {
        Columns::Steps {
            columns: self.columns,
            period: self.step_time(),
        }
    }

    /// Time of a column after the sweep begins, s.
    pub fn offset(&self, column: u32) -> f64 {
        self.step_time() * f64::from(column)
    }

    /// Time between columns, s.
    fn step_time(&self) -> f64 {
        (1.0 / self.rate) * self.step.abs() / TAU
    }

    /// The channel's direction in a column.
    pub fn aim(&self, column: u32, channel: &Channel) -> Aim {
        let rotor = self.first + self.step * f64::from(column);
        Aim {
            rotor,
            azimuth: rotor + channel.azimuth,
            elevation: channel.elevation,
        }
    }
}

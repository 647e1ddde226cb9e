//! Planar scan fired at the steps of an angular encoder.

use super::columns::Columns;
use crate::lidar::channel::Channel;
use crate::lidar::direction::Aim;
use std::f64::consts::TAU;

/// A rotating mirror with an encoder that fires columns at evenly spaced azimuths.
///
/// Column $i$ has exactly the azimuth $\alpha_i = \alpha_0 + i\\,\Delta\alpha$ and is fired at the time
/// $t_i = i\\,T\\,|\Delta\alpha| / 2\pi$ after the start of the sweep, with the azimuth $\alpha_0$ of the
/// first column, the step $\Delta\alpha$ and the rotation period $T$. The columns may cover part of a
/// rotation: planar lidars have a blind sector at the rear.
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
    /// Schedule of the columns: one per encoder step.
    pub fn columns(&self) -> Columns {
        Columns::Steps {
            columns: self.columns,
            period: self.step_time(),
        }
    }

    /// Time of a column after the start of the sweep, s.
    pub fn offset(&self, column: u32) -> f64 {
        self.step_time() * f64::from(column)
    }

    /// Time between columns, s.
    fn step_time(&self) -> f64 {
        (1.0 / self.rate) * self.step.abs() / TAU
    }

    /// Direction of a channel's beam in a column.
    pub fn aim(&self, column: u32, channel: &Channel) -> Aim {
        let rotor = self.first + self.step * f64::from(column);
        Aim {
            rotor,
            azimuth: rotor + channel.azimuth,
            elevation: channel.elevation,
        }
    }
}

//! Where and when each laser fires.

use super::{Channel, Columns, Scanner};
use nalgebra::{Point3, Vector3};
use rayon::prelude::*;

/// A direction in the sensor's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// Azimuth of the rotor (or the pattern's frame), which the origin turns with, rad.
    pub rotor: f64,
    /// Azimuth of the beam, rad.
    pub azimuth: f64,
    /// Elevation of the beam, rad.
    pub elevation: f64,
}

/// One firing of one laser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shot {
    /// Number of the column in its sweep.
    pub column: u32,
    /// Number of the channel in its scanner.
    pub channel: u16,
    /// When it fires, s from the start of the run.
    pub time: f64,
    /// Azimuth of the beam in the sensor's frame, rad, in (-pi, pi].
    pub azimuth: f64,
    /// Elevation of the beam, rad.
    pub elevation: f64,
    /// Where the beam leaves from, in the sensor's frame, m.
    pub origin: Point3<f64>,
}

impl Shot {
    /// Unit direction of the beam in the sensor's frame.
    pub fn direction(&self) -> Vector3<f64> {
        let (sin_azimuth, cos_azimuth) = self.azimuth.sin_cos();
        let (sin_elevation, cos_elevation) = self.elevation.sin_cos();
        Vector3::new(
            cos_elevation * cos_azimuth,
            cos_elevation * sin_azimuth,
            sin_elevation,
        )
    }

    /// The point at `distance` (m) along the beam, in the sensor's frame.
    pub fn point(&self, distance: f64) -> Point3<f64> {
        self.origin + self.direction() * distance
    }
}

impl Scanner {
    /// Duration of one sweep, s.
    pub fn sweep_duration(&self) -> f64 {
        self.pattern.sweep_duration()
    }

    /// The most columns that a sweep has.
    pub fn columns(&self) -> u32 {
        match self.pattern.columns() {
            Columns::PerSweep { columns, fired } => fired.unwrap_or(columns),
            Columns::Period { seconds } => whole((self.sweep_duration() / seconds).ceil()),
        }
    }

    /// The shots of sweep number `sweep`, column by column in the order of the channels' table.
    pub fn shots(&self, sweep: u32) -> Vec<Shot> {
        let (first, last) = self.column_numbers(sweep);
        let fired = |column: usize| {
            let start = self.column_time(sweep, column);
            let places = self.channels.iter().enumerate();
            #[expect(clippy::cast_possible_truncation, reason = "checked with the scanner")]
            places.map(move |(number, channel)| Shot {
                column: (column - first) as u32,
                channel: number as u16,
                ..self.shot(channel, start)
            })
        };
        (first..last)
            .into_par_iter()
            .with_min_len(64)
            .flat_map_iter(fired)
            .collect()
    }

    /// Numbers of the first column of a sweep and of the one after its last.
    fn column_numbers(&self, sweep: u32) -> (usize, usize) {
        match self.pattern.columns() {
            Columns::PerSweep { .. } => (0, self.columns() as usize),
            Columns::Period { seconds } => {
                let begins =
                    |sweep: f64| whole((sweep * self.sweep_duration() / seconds - 1e-9).ceil());
                (
                    begins(f64::from(sweep)) as usize,
                    begins(f64::from(sweep) + 1.0) as usize,
                )
            }
        }
    }

    /// When a column begins, s from the start of the run.
    fn column_time(&self, sweep: u32, column: usize) -> f64 {
        match self.pattern.columns() {
            Columns::PerSweep { columns, .. } => {
                (f64::from(sweep) + column as f64 / f64::from(columns)) * self.sweep_duration()
            }
            Columns::Period { seconds } => column as f64 * seconds,
        }
    }

    fn shot(&self, channel: &Channel, column_start: f64) -> Shot {
        let time = column_start + channel.time;
        let aim = self.pattern.aim(time, column_start, channel);
        let (sin, cos) = aim.rotor.sin_cos();
        Shot {
            column: 0,
            channel: 0,
            time,
            azimuth: wrapped(aim.azimuth),
            elevation: aim.elevation,
            origin: Point3::new(channel.radius * cos, channel.radius * sin, channel.height),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number, not negative, and saturating"
)]
fn whole(number: f64) -> u32 {
    number as u32
}

/// The same azimuth in (-pi, pi].
fn wrapped(azimuth: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    let wrapped = azimuth.rem_euclid(TAU);
    if wrapped > PI { wrapped - TAU } else { wrapped }
}

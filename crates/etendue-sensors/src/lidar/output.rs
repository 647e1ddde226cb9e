//! Result of a sweep: returns and outcomes of its shots.

use crate::lidar::description::Lidar;
use crate::lidar::shot::Shot;
use crate::lidar::shots::Shots;
use crate::{BeamMeasurement, BeamSweep, RangeReading, Truth};
use etendue_scene::{MaterialId, MeshId, ObjectId};
use nalgebra::{Isometry3, Point3};

/// One reported echo, with its ground truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Return {
    /// Measured point, m, in the requested frame.
    pub position: Point3<f64>,
    /// Reported range, m.
    pub range: f64,
    /// Reported intensity, in the device's counts.
    pub intensity: f64,
    /// Peak power, 1/(m² sr); 0 where the receiver does not measure it.
    pub power: f64,
    /// Full width at half maximum of the echo, s; 0 where the receiver does not measure it.
    pub width: f64,
    /// Radial velocity, m/s, positive when the range grows, from receivers that measure it.
    pub velocity: Option<f64>,
    /// Power of the ambient light at the receiver, 1/(m² sr); 0 for receivers without ambient light.
    pub ambient: f64,
    /// Index of the shot in [`Sweep::shots`].
    pub shot: u32,
    /// Index among the reported echoes of the shot, from 1.
    pub return_number: u8,
    /// Number of reported echoes of the shot.
    pub returns: u8,
    /// Surface that contributed most of the echo's light; `None` for the air and for false alarms.
    pub source: Option<Source>,
}

/// Ground truth of a return: the surface that scattered the light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    /// The object (instance) in the scene.
    pub instance: ObjectId,
    /// The mesh of the object.
    pub mesh: MeshId,
    /// The material of the surface.
    pub material: MaterialId,
    /// Cosine of the incidence, in [0, 1].
    pub cos_incidence: f64,
    /// Half the true optical path of the strongest ray plus the range offset of the channel, m.
    pub range: f64,
}

impl Source {
    /// Angle of incidence, rad, in [0, pi/2].
    pub fn incidence(&self) -> f64 {
        self.cos_incidence.acos()
    }
}

/// Outcome of one shot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// `count` points of [`Sweep::points`], starting at `first`.
    Points {
        /// Index of the first point.
        first: u32,
        /// Number of points, at least one.
        count: u8,
    },
    /// No return above the threshold (REP 117: +inf).
    NoReturn,
    /// An echo nearer than the smallest reported range (REP 117: -inf).
    TooNear,
    /// The device's own error code (REP 117: NaN).
    Error(u8),
}

/// One sweep of a lidar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// Index of the sweep in its run.
    pub index: u32,
    /// Start time since the start of the run, s.
    pub start: f64,
    /// Number of columns of the grid (a sweep may leave the last one empty).
    pub columns: u32,
    /// Number of channels (rows of the grid).
    pub channels: u16,
    /// Pose of the sensor at the start of the sweep.
    pub world_from_sensor: Isometry3<f64>,
    /// Ring of each channel.
    pub rings: Vec<u16>,
    /// Every shot, column by column.
    pub shots: Shots,
    /// Outcome of each shot.
    pub outcomes: Vec<Outcome>,
    /// All returns, shot by shot, each in the order of the device's report.
    pub points: Vec<Return>,
    /// Received power of each shot, with or without a return, 1/(m² sr); empty for other than phase receivers.
    pub powers: Vec<f64>,
    /// Number of separate surfaces that returned light to each shot, at most 8; empty for other than phase
    /// receivers.
    pub surfaces: Vec<u16>,
    /// Share of the light of each return that other surfaces sent than that of its strongest ray: those at another range by more
    /// than 1 cm plus the depth of an inclined plane within the beam. The light is that which surfaces sent from ranges
    /// that the receiver does not separate from the return: within half the length of the pulse, a resolution cell of an
    /// FMCW receiver, 2 % of the range of a lidar that triangulates. Empty unless the settings request it, for phase
    /// receivers ([`Sweep::surfaces`]) and on other processors.
    pub mixing: Vec<f32>,
    /// First surface on the axis of each shot's beam; empty unless the settings request it.
    pub axis_truths: Vec<Option<Truth>>,
}

impl Sweep {
    /// The points of a shot.
    pub fn points_of(&self, shot: usize) -> &[Return] {
        match self.outcomes[shot] {
            Outcome::Points { first, count } => {
                &self.points[first as usize..first as usize + usize::from(count)]
            }
            Outcome::NoReturn | Outcome::TooNear | Outcome::Error(_) => &[],
        }
    }

    /// The shot that a point belongs to.
    pub fn shot_of(&self, point: &Return) -> Shot {
        self.shots.at(point.shot as usize)
    }

    /// The same sweep with its positions in the sensor's frame at the time of each shot, as the device reports
    /// them.
    #[must_use]
    pub fn in_sensor_frame(&self, scanner: &Lidar) -> Self {
        let mut own = self.clone();
        for point in &mut own.points {
            let shot = self.shots.at(point.shot as usize);
            let offset = scanner.channels[usize::from(shot.channel)].range_offset;
            point.position = shot.point(point.range - offset);
        }
        own
    }

    /// The sweep as one measurement per shot: the first reported echo of each. Its truth is the first
    /// surface on the axis of its beam ([`Sweep::axis_truths`]). In sweeps without these it is the surface that
    /// contributed most of that echo's light.
    pub fn first_echoes(&self) -> BeamSweep {
        // Convert the first return, or the outcome, of each shot.
        let measurements =
            (0..)
                .zip(self.shots.iter().enumerate())
                .map(|(beam, (number, shot))| {
                    let points = self.points_of(number);
                    let first = points.first();
                    BeamMeasurement {
                        beam,
                        time: shot.time,
                        azimuth: shot.azimuth,
                        elevation: shot.elevation,
                        reading: match (first, self.outcomes[number]) {
                            (Some(point), _) => RangeReading::Range(point.range),
                            (None, Outcome::TooNear) => RangeReading::TooNear,
                            (None, Outcome::Error(code)) => RangeReading::Error(code),
                            (None, _) => RangeReading::NoReturn,
                        },
                        position: first.map(|point| point.position),
                        power: { self.powers.get(number).copied() }
                            .unwrap_or(first.map_or(0.0, |point| point.power)),
                        returns: { self.surfaces.get(number).copied() }
                            .unwrap_or(first.map_or(0, |point| u16::from(point.returns))),
                        truth: if let Some(truth) = self.axis_truths.get(number) {
                            *truth
                        } else {
                            first.and_then(|point| point.source).map(|source| Truth {
                                range: source.range,
                                object: source.instance,
                                material: source.material,
                                incidence: source.incidence(),
                            })
                        },
                    }
                });
        BeamSweep {
            index: self.index,
            start: self.start,
            world_from_sensor: self.world_from_sensor,
            measurements: measurements.collect(),
        }
    }

    /// Range image of the first reported echoes, m: one row per channel, the highest ring first, by `columns`;
    /// +inf for no return, -inf for too near (REP 117), NaN for errors and where no shot was fired.
    pub fn range_image(&self) -> Vec<f64> {
        self.image(|sweep, shot| match sweep.outcomes[shot] {
            Outcome::Points { first, .. } => sweep.points[first as usize].range,
            Outcome::NoReturn => f64::INFINITY,
            Outcome::TooNear => f64::NEG_INFINITY,
            Outcome::Error(_) => f64::NAN,
        })
    }

    /// An image in the layout of [`Sweep::range_image`] of a value per shot.
    pub fn image(&self, value: impl Fn(&Self, usize) -> f64) -> Vec<f64> {
        let mut image = vec![f64::NAN; self.columns as usize * usize::from(self.channels)];
        for (number, cell) in self.cells().enumerate() {
            image[cell] = value(self, number);
        }
        image
    }

    /// Index of each shot in an image in the layout of [`Sweep::range_image`], in firing order.
    pub fn cells(&self) -> impl Iterator<Item = usize> {
        let width = self.columns as usize;
        (0..self.shots.len()).map(move |number| {
            let [column, channel] = self.shots.place(number);
            let row = usize::from(self.channels - 1 - self.rings[channel]);
            row * width + column
        })
    }
}

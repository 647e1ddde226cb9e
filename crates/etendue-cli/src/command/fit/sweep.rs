//! Measured sweeps of scanners: points back to the shots that measured them.

use crate::device::device;
use crate::failure::Failure;
use crate::source::{chosen, numbered_in};
use etendue::config::fit::ScanTask;
use etendue::estimate::model::{Measured, ScannerSensor};
use etendue::io::points::read_points;
use etendue::io::table::PointTable;
use nalgebra::{Point3, Vector3};
use std::f64::consts::{PI, TAU};

/// A point this far from the nearest shot of its channel, in steps between shots, is none of them.
const FARTHEST: f64 = 0.75;

/// What each shot of the sensor measured, and what was odd.
pub fn read(
    task: &ScanTask,
    sensor: &ScannerSensor,
) -> Result<(Vec<Measured>, Vec<String>), Failure> {
    let points = read_points(&task.file, &device(None)?)?;
    let mut warnings = points.warnings;
    let sweeps: Vec<PointTable> = { points.sweeps.iter() }
        .flat_map(PointTable::sweeps)
        .collect();
    let number = numbered_in(&task.file, task.number, sweeps.len())?;
    let table = chosen(sweeps, number);
    let shots = Shots::new(sensor);
    let mut measured = vec![Measured::default(); sensor.shots().len()];
    let mut lost = 0_usize;
    for point in 0..table.points {
        match shots.of(&table, point) {
            // The first point of a shot is what the model predicts.
            Some((shot, _)) if measured[shot].range().is_some() => {}
            Some((shot, range)) => {
                let intensity = table.number("intensity", point).filter(|i| i.is_finite());
                measured[shot] = Measured::new(Some(range), intensity);
            }
            None => lost += 1,
        }
    }
    if lost > 0 {
        warnings.push(format!(
            "{}: {lost} of {} points lie on no shot of the sensor and are left out",
            task.file.display(),
            table.points
        ));
    }
    Ok((measured, warnings))
}

/// The shots of each channel, by azimuth.
struct Shots<'a> {
    sensor: &'a ScannerSensor,
    /// (azimuth, number of the shot), ascending, channel by channel.
    by_azimuth: Vec<Vec<(f64, usize)>>,
}

impl<'a> Shots<'a> {
    fn new(sensor: &'a ScannerSensor) -> Self {
        let mut by_azimuth = vec![Vec::new(); sensor.scanner().channels.len()];
        for (number, shot) in sensor.shots().iter().enumerate() {
            by_azimuth[usize::from(shot.channel)].push((shot.azimuth, number));
        }
        for shots in &mut by_azimuth {
            shots.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        Self { sensor, by_azimuth }
    }

    /// The shot of a point, and the range that it reports, m.
    fn of(&self, table: &PointTable, point: usize) -> Option<(usize, f64)> {
        let field = |name| table.number(name, point).filter(|x| x.is_finite());
        let place = Point3::new(field("x")?, field("y")?, field("z")?);
        if place.coords.norm() == 0.0 {
            return None;
        }
        let channel = self.channel(table, point, &place.coords)?;
        let shot = self.nearest(channel, place.y.atan2(place.x))?;
        let fired = &self.sensor.shots()[shot];
        let offset = self.sensor.scanner().channels[channel].range_offset;
        let along = (place - fired.origin).dot(&fired.direction());
        Some((shot, field("range").unwrap_or(along + offset)))
    }

    /// The channel by the point's ring, else by its elevation.
    fn channel(&self, table: &PointTable, point: usize, place: &Vector3<f64>) -> Option<usize> {
        let channels = &self.sensor.scanner().channels;
        if let Some(ring) = table.number("ring", point) {
            return channels.iter().position(|c| f64::from(c.ring) == ring);
        }
        let elevation = place.z.atan2(place.x.hypot(place.y));
        let off = |channel: usize| (channels[channel].elevation - elevation).abs();
        (0..channels.len()).min_by(|a, b| off(*a).total_cmp(&off(*b)))
    }

    /// The shot of a channel nearest to an azimuth.
    fn nearest(&self, channel: usize, azimuth: f64) -> Option<usize> {
        let shots = &self.by_azimuth[channel];
        let after = shots.partition_point(|(at, _)| *at < azimuth);
        let count = shots.len();
        let around = [after + count - 1, after].map(|i| shots[i % count]);
        let off = |at: f64| {
            let turned = (at - azimuth).rem_euclid(TAU);
            turned.min(TAU - turned)
        };
        let (at, shot) = around
            .into_iter()
            .min_by(|a, b| off(a.0).total_cmp(&off(b.0)))?;
        let step = (2.0 * PI / count as f64).max(1e-6);
        (off(at) <= FARTHEST * step).then_some(shot)
    }
}

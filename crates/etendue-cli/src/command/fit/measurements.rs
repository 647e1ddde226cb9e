//! Measurement of each beam of a scan, from a scan log or a point cloud.

use crate::device::device;
use crate::failure::Failure;
use crate::source::{self, sweep_of};
use etendue::config::fit::ScanTask;
use etendue::estimate::model::{BeamMeasurement, NoiselessLidar};
use etendue::estimate::odometry::umeyama;
use etendue::io::input::read_bytes;
use etendue::io::points::{ReadOptions, has_separate_sweeps};
use etendue::io::scan_log::is_scan_log;
use etendue::io::table::PointTable;
use etendue::physics::statistics::median;
use etendue::sensors::Scan;
use etendue::sensors::lidar::{Lidar, Shot};
use nalgebra::{Isometry3, Point3, Vector3};
use std::f64::consts::{PI, TAU};
use std::path::{Path, PathBuf};

/// Largest azimuth difference of a point from its shot, in steps between shots.
const FARTHEST: f64 = 0.75;

/// Largest difference of a point's distance from its range if the point is in the frame of the sensor, m: the
/// origins of the beams are up to this far from that of the sensor.
const FRAME_GAP: f64 = 0.25;

/// Largest angle between a point and the shot of its column, rad: the points of a moving sensor are shifted.
const FARTHEST_TURN: f64 = 3.0 * PI / 180.0;

/// Share of the points of a cloud that may belong to no shot of the sensor.
const MOST_LOST: f64 = 0.2;

/// Sweeps of a sensor of which the shots are compared with the points of a device. Their azimuths are between those of
/// each other.
const SWEEPS: u32 = 10;

/// Largest difference of an angle of one beam in a file and in the sensor, or in two sweeps, rad.
const SAME_ANGLE: f64 = 1e-6;

/// A measured scan, before its beams or points are assigned to the shots of a sensor.
pub struct MeasuredScan {
    path: PathBuf,
    content: Content,
    warnings: Vec<String>,
}

/// Content of a scan.
enum Content {
    /// One reading per beam, and the index of the scan in its file.
    Beams(Scan, usize),
    /// Points.
    Points(PointTable),
}

impl MeasuredScan {
    /// Reads a scan. The content of the file determines whether it is a scan log, with one reading per shot, or a
    /// point cloud.
    pub fn read(task: &ScanTask) -> Result<Self, Failure> {
        let is_log = !has_separate_sweeps(&task.file) && is_scan_log(&read_bytes(&task.file)?);
        let (content, warnings) = if is_log {
            let (scan, warnings) = source::scan(&task.file, task.number)?;
            (Content::Beams(scan, task.number.unwrap_or(0)), warnings)
        } else {
            let lidar = device(None)?;
            let options = ReadOptions {
                topic: task.topic.as_deref(),
                ..ReadOptions::new(&lidar)
            };
            let (sweep, warnings) = sweep_of(&task.file, task.number, options)?;
            (Content::Points(sweep.table), warnings)
        };
        Ok(Self {
            path: task.file.clone(),
            content,
            warnings,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Index of the sweep of a lidar whose shots measured the scan. For points of a device it is that of the
    /// nearest azimuths among the first [`SWEEPS`].
    fn sweep(&self, lidar: &Lidar) -> u32 {
        match &self.content {
            Content::Beams(scan, number) => {
                let sweep = u32::try_from(*number).unwrap_or(0);
                let [azimuths, elevations] = angles(&lidar.shots(sweep));
                let is_of_sweep = are_alike(&scan.azimuths, &azimuths)
                    && (scan.is_planar() || are_alike(&scan.elevations, &elevations));
                if is_of_sweep { sweep } else { 0 }
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the index of a sweep"
            )]
            Content::Points(table) if is_simulated(table) => {
                let has_points = table.points > 0;
                let sweep = has_points.then(|| table.number("sweep", 0)).flatten();
                sweep.map_or(0, |sweep| sweep.max(0.0) as u32)
            }
            Content::Points(table) => {
                let offset = |sweep: &u32| {
                    Shots::new(&NoiselessLidar::of_sweep(lidar, *sweep)).median_offset(table)
                };
                let offsets = (0..SWEEPS).map(|sweep| (offset(&sweep), sweep));
                let nearest = offsets.min_by(|a, b| a.0.total_cmp(&b.0));
                nearest.map_or(0, |(_, sweep)| sweep)
            }
        }
    }

    /// Measurement of each shot of the sensor, and warnings.
    pub fn of_shots(
        self,
        sensor: &NoiselessLidar,
    ) -> Result<(Vec<BeamMeasurement>, Vec<String>), Failure> {
        match self.content {
            Content::Beams(scan, _) => of_beams(&self.path, scan, self.warnings, sensor),
            Content::Points(table) => of_points(&self.path, &table, self.warnings, sensor),
        }
    }
}

/// Index of the sweep of a lidar that each scan is of; that of its first where nothing distinguishes sweeps: all have the
/// same directions, and no object moves from one to the next.
pub fn sweeps_of(scans: &[MeasuredScan], lidar: &Lidar, objects_move: bool) -> Vec<u32> {
    let [first, second] = [0, 1].map(|sweep| angles(&lidar.shots(sweep)));
    if !objects_move && first.iter().zip(&second).all(|(a, b)| are_alike(a, b)) {
        return vec![0; scans.len()];
    }
    scans.iter().map(|scan| scan.sweep(lidar)).collect()
}

/// Error if a scan has ranges, and all are beyond the largest range of the lidar: they are probably in another unit.
pub fn check_unit(path: &Path, beams: &[BeamMeasurement], lidar: &Lidar) -> Result<(), Failure> {
    let far = lidar.limits.far;
    let mut ranges: Vec<f64> = beams.iter().filter_map(BeamMeasurement::range).collect();
    if ranges.is_empty() || ranges.iter().any(|range| *range <= far) {
        return Ok(());
    }
    let count = ranges.len();
    let middle = median(&mut ranges).unwrap_or(f64::INFINITY);
    let message = format!(
        "{}: all {count} ranges are beyond the {far} m (far_m) of {}, with a median of {middle:.0} m: are they millimetres?",
        path.display(),
        lidar.name
    );
    Err(Failure::usage(
        message,
        "convert them to metres, or give the sensor that measured them (--sensor)",
    ))
}

/// Azimuths and elevations of shots, rad.
fn angles(shots: &[Shot]) -> [Vec<f64>; 2] {
    [
        shots.iter().map(|shot| shot.azimuth).collect(),
        shots.iter().map(|shot| shot.elevation).collect(),
    ]
}

/// Whether two lists of angles have the same length and the same angles within [`SAME_ANGLE`].
fn are_alike(one: &[f64], other: &[f64]) -> bool {
    let is_near = |(a, b): (&f64, &f64)| {
        let turned = (a - b + PI).rem_euclid(TAU) - PI;
        turned.abs() < SAME_ANGLE
    };
    one.len() == other.len() && one.iter().zip(other).all(is_near)
}

/// Measurements of a scan log, which has one reading for each shot.
fn of_beams(
    path: &Path,
    scan: Scan,
    warnings: Vec<String>,
    sensor: &NoiselessLidar,
) -> Result<(Vec<BeamMeasurement>, Vec<String>), Failure> {
    let (beams, shots) = (scan.readings.len(), sensor.shots().len());
    if beams < shots
        && let Some(warning) = warnings.first()
    {
        return Err(Failure::usage(
            format!(
                "{}: the scan has {beams} of the {shots} beams of {}: {warning}",
                path.display(),
                sensor.lidar().name
            ),
            "copy the file again, or select a whole scan: FILE#0 is the first",
        ));
    }
    let readings = scan.readings.into_iter().map(BeamMeasurement::from);
    Ok((readings.collect(), warnings))
}

/// Simulated points have the columns of the sensor; others are in its frame.
fn is_simulated(table: &PointTable) -> bool {
    table.column("true_range").is_some()
}

/// Measurements from a point cloud, whose points are assigned to shots by channel and azimuth.
fn of_points(
    path: &Path,
    table: &PointTable,
    mut warnings: Vec<String>,
    sensor: &NoiselessLidar,
) -> Result<(Vec<BeamMeasurement>, Vec<String>), Failure> {
    let is_simulated = is_simulated(table);
    if !is_simulated && !is_in_frame_of_sensor(table) {
        return Err(Failure::OtherFrame { path: path.into() });
    }
    let shots = Shots::new(sensor);
    let placed = if is_simulated {
        shots.placed(table)
    } else {
        None
    };
    let mut measured = vec![BeamMeasurement::default(); sensor.shots().len()];
    let mut lost = 0_usize;
    for point in 0..table.points {
        let shot = if is_simulated {
            let shot = shots.by_column(table, point);
            shot.filter(|(shot, _)| {
                placed
                    .as_ref()
                    .is_none_or(|placed| placed.is_along(table, point, *shot))
            })
        } else {
            shots.by_direction(table, point)
        };
        match shot {
            // The model predicts the first return of a shot
            Some((shot, _)) if measured[shot].range().is_some() => {}
            Some((shot, range)) => {
                let intensity = table.number("intensity", point).filter(|i| i.is_finite());
                measured[shot] = BeamMeasurement::new(Some(range), intensity);
            }
            None => lost += 1,
        }
    }
    if lost as f64 > MOST_LOST * table.points as f64 {
        return Err(Failure::OtherShots {
            path: path.into(),
            lost,
            points: table.points,
            sensor: sensor.lidar().name.clone(),
        });
    }
    if lost > 0 {
        warnings.push(format!(
            "{}: {lost} of {} points belong to no shot of the sensor and are ignored",
            path.display(),
            table.points
        ));
    }
    Ok((measured, warnings))
}

/// Whether most points of a table are in the frame of the sensor: at the distance of their range, if it is given.
fn is_in_frame_of_sensor(table: &PointTable) -> bool {
    let is_apart = |point: usize| {
        let field = |name| table.number(name, point).filter(|x| x.is_finite());
        let coordinates = [field("x")?, field("y")?, field("z")?];
        let distance = Vector3::from(coordinates).norm();
        Some((distance - field("range")?).abs() > FRAME_GAP)
    };
    let apart: Vec<bool> = (0..table.points).filter_map(is_apart).collect();
    2 * apart.iter().filter(|apart| **apart).count() <= apart.len()
}

/// Position of a point, if it has one.
fn position(table: &PointTable, point: usize) -> Option<Point3<f64>> {
    let field = |name| table.number(name, point).filter(|x| x.is_finite());
    Some(Point3::new(field("x")?, field("y")?, field("z")?))
}

/// The shots of a sensor at the pose from which a table of points was measured.
struct PlacedShots<'a> {
    sensor: &'a NoiselessLidar,
    sensor_from_table: Isometry3<f64>,
}

impl PlacedShots<'_> {
    /// Whether a point is in the direction of a shot: columns of another sensor have other directions.
    fn is_along(&self, table: &PointTable, point: usize, shot: usize) -> bool {
        let Some(position) = position(table, point) else {
            return true;
        };
        let fired = &self.sensor.shots()[shot];
        let from_origin = self.sensor_from_table * position - fired.origin;
        from_origin.norm() == 0.0 || from_origin.angle(&fired.direction()) < FARTHEST_TURN
    }
}

/// Shots of each channel by azimuth.
struct Shots<'a> {
    sensor: &'a NoiselessLidar,
    /// Azimuth and number of each shot of a channel, ascending.
    by_azimuth: Vec<Vec<(f64, usize)>>,
}

impl<'a> Shots<'a> {
    /// The shots of a sensor.
    fn new(sensor: &'a NoiselessLidar) -> Self {
        let mut by_azimuth = vec![Vec::new(); sensor.lidar().channels.len()];
        for (number, shot) in sensor.shots().iter().enumerate() {
            by_azimuth[usize::from(shot.channel)].push((shot.azimuth, number));
        }
        for shots in &mut by_azimuth {
            shots.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        Self { sensor, by_azimuth }
    }

    /// Shot of a point by its column and ring, and its range, m.
    fn by_column(&self, table: &PointTable, point: usize) -> Option<(usize, f64)> {
        let field = |name| table.number(name, point).filter(|x| x.is_finite());
        let range = field("range")?;
        let ring = field("ring")?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "compared with the column of the shot"
        )]
        let column = field("column")? as u32;
        let channels = &self.sensor.lidar().channels;
        let channel = channels.iter().position(|c| f64::from(c.ring) == ring)?;
        let number = column as usize * channels.len() + channel;
        let shot = self.sensor.shots().get(number)?;
        let is_same = shot.column == column && usize::from(shot.channel) == channel;
        is_same.then_some((number, range))
    }

    /// The sensor in the frame of a table of simulated points.
    fn placed(&'a self, table: &PointTable) -> Option<PlacedShots<'a>> {
        let pairs = (0..table.points).filter_map(|point| {
            let (shot, range) = self.by_column(table, point)?;
            let fired = &self.sensor.shots()[shot];
            let expected = fired.origin + fired.direction() * range;
            Some((position(table, point)?, expected))
        });
        let pairs: Vec<(Point3<f64>, Point3<f64>)> = pairs.collect();
        let at = |point: Point3<f64>| Isometry3::from(point.coords);
        let reference: Vec<Isometry3<f64>> = pairs.iter().map(|(point, _)| at(*point)).collect();
        let expected: Vec<Isometry3<f64>> = pairs.iter().map(|(_, point)| at(*point)).collect();
        let table_from_sensor = umeyama(&reference, &expected).ok()?;
        Some(PlacedShots {
            sensor: self.sensor,
            sensor_from_table: table_from_sensor.inverse(),
        })
    }

    /// Shot of a point by its direction, and its range, m.
    fn by_direction(&self, table: &PointTable, point: usize) -> Option<(usize, f64)> {
        let field = |name| table.number(name, point).filter(|x| x.is_finite());
        let position = position(table, point)?;
        if position.coords.norm() == 0.0 {
            return None;
        }
        let channel = self.channel(table, point, &position.coords)?;
        let shot = self.nearest(channel, position.y.atan2(position.x))?;
        let fired = &self.sensor.shots()[shot];
        let offset = self.sensor.lidar().channels[channel].range_offset;
        let along = (position - fired.origin).dot(&fired.direction());
        Some((shot, field("range").unwrap_or(along + offset)))
    }

    /// Channel of a point by its ring, else by its elevation.
    fn channel(&self, table: &PointTable, point: usize, position: &Vector3<f64>) -> Option<usize> {
        let channels = &self.sensor.lidar().channels;
        if let Some(ring) = table.number("ring", point) {
            return channels.iter().position(|c| f64::from(c.ring) == ring);
        }
        let elevation = position.z.atan2(position.x.hypot(position.y));
        let off = |channel: usize| (channels[channel].elevation - elevation).abs();
        (0..channels.len()).min_by(|a, b| off(*a).total_cmp(&off(*b)))
    }

    /// Shot of a channel nearest to an azimuth.
    fn nearest(&self, channel: usize, azimuth: f64) -> Option<usize> {
        let (off, shot) = self.offset(channel, azimuth)?;
        let step = (TAU / self.by_azimuth[channel].len() as f64).max(1e-6);
        (off <= FARTHEST * step).then_some(shot)
    }

    /// Distance of an azimuth from that of the nearest shot of a channel, rad, and the shot.
    fn offset(&self, channel: usize, azimuth: f64) -> Option<(f64, usize)> {
        let shots = &self.by_azimuth[channel];
        let after = shots.partition_point(|(at, _)| *at < azimuth);
        let count = shots.len();
        let off = |i: usize| {
            let (at, shot) = *shots.get(i % count)?;
            let turned = (at - azimuth).rem_euclid(TAU);
            Some((turned.min(TAU - turned), shot))
        };
        let around = (count > 0).then(|| [after + count - 1, after])?;
        let around = around.into_iter().filter_map(off);
        around.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Median distance of the azimuths of points from those of their shots, rad; infinite without any.
    fn median_offset(&self, table: &PointTable) -> f64 {
        let offset = |point: usize| {
            let position = position(table, point)?;
            let channel = self.channel(table, point, &position.coords)?;
            let (off, _) = self.offset(channel, position.y.atan2(position.x))?;
            Some(off)
        };
        let step = (table.points / 2000).max(1);
        let mut offsets: Vec<f64> = (0..table.points).step_by(step).filter_map(offset).collect();
        median(&mut offsets).unwrap_or(f64::INFINITY)
    }
}

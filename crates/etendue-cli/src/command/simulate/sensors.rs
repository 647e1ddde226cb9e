//! The sensors of a run.

use super::engine::Engine;
use super::record::{end_recording, silent};
use super::results::{PendingFiles, SensorResults};
use super::scan::ScanRun;
use super::trajectory::SensorTrajectory;
use super::{PROGRESS, Simulate};
use crate::failure::Failure;
use crate::finite;
use crate::folder::is_file_name;
use crate::interrupt;
use crate::output::{counted, print, progress, remark, warn};
use crate::pose::Pose;
use crate::source;
use etendue::config::scene::LoadedScene;
use etendue::config::sensor::Sensor;
use etendue::io::output::SourceMetadata;
use etendue::io::ros2::{LidarRecorder, LidarTopics};
use etendue::sensors::lidar::Sweep;
use etendue::sensors::transport::World;
use nalgebra::Isometry3;
use std::collections::BTreeSet;
use std::path::Path;

/// Run of one sensor.
pub struct SensorRun {
    /// Unique name among the sensors.
    name: String,
    arguments: Simulate,
    sensor: Sensor,
    source: SourceMetadata,
    trajectory: SensorTrajectory,
}

impl SensorRun {
    /// The run of the lidar.
    fn scan<'a>(&'a self, loaded: &'a LoadedScene) -> Result<ScanRun<'a>, Failure> {
        Ok(ScanRun {
            arguments: &self.arguments,
            lidar: &self.sensor.lidar,
            loaded,
            sensor_source: self.source.clone(),
            trajectory: self.trajectory.clone(),
            air: self.arguments.air.air(&loaded.air)?,
        })
    }

    /// Simulates the sensor and writes its results.
    pub fn run(
        self,
        loaded: &LoadedScene,
        pending: &mut PendingFiles,
    ) -> Result<SensorResults, Failure> {
        self.scan(loaded)?.run(pending)
    }

    /// Records the sensor into the output file.
    pub fn record(&self, loaded: &LoadedScene) -> Result<(), Failure> {
        self.scan(loaded)?.record()
    }
}

impl Simulate {
    /// Whether the output is one MCAP file.
    pub fn is_recording(&self) -> bool {
        self.output
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("mcap"))
            && is_file_name(&self.output)
    }

    /// Records several lidars into one file, sweep by sweep in the order of their starts.
    pub fn record_all(&self, loaded: &LoadedScene, runs: &[SensorRun]) -> Result<(), Failure> {
        let guard = interrupt::writing();
        // Sensors, each with the world at its wavelength
        let scans = runs.iter().map(|run| run.scan(loaded));
        let scans: Vec<ScanRun> = scans.collect::<Result<_, _>>()?;
        let worlds = scans.iter().map(ScanRun::world);
        let worlds: Vec<World<f64>> = worlds.collect::<Result<_, _>>()?;

        // One group of topics per sensor
        let names = runs.iter().map(|run| &run.name);
        let topics = names
            .clone()
            .map(|name| LidarTopics::of_sensor(&topic(name)));
        let recorder = LidarRecorder::create_of_several(&self.output, topics.collect())?;
        let mut recorder = recorder.with_classes(&loaded.classes.of_object);

        // Simulate and record each sweep
        let mut points = vec![0; scans.len()];
        let mut beams = vec![0; scans.len()];
        let mut recorded = vec![0; scans.len()];
        let mut scan = Sweep::default();
        let mut engines = vec![];
        for (scan, world) in scans.iter().zip(&worlds) {
            engines.push(Engine::new(scan.arguments, world, scan.lidar)?);
        }
        let sweeps = scans.iter().map(|scan| u64::from(scan.sweeps())).sum();
        let progress = progress(sweeps, PROGRESS);
        for (sensor, sweep) in in_order(&scans) {
            scans[sensor].scan_into(&mut engines[sensor], sweep, &mut scan)?;
            points[sensor] += scan.points.len();
            beams[sensor] += scan.shots.len();
            finite::check_sweep(&scan)?;
            let ScanRun {
                lidar, trajectory, ..
            } = &scans[sensor];
            recorder.record_of(sensor, &scan, lidar, &|time| trajectory.at(time))?;
            progress.inc(1);
            recorded[sensor] += 1;
            if interrupt::requested() {
                break;
            }
        }
        recorder.record_last_poses()?;
        let bag = end_recording(recorder, &self.output)?;
        progress.finish_and_clear();
        engines.iter().for_each(Engine::report);

        // Report
        let mut lines = Vec::new();
        for (number, (name, scan)) in names.zip(&scans).enumerate() {
            let silent = (points[number] == 0).then(|| silent(beams[number], &scan.air));
            for warning in scan.warnings().into_iter().chain(silent) {
                warn([format!("{name}: {warning}")]);
            }
            lines.push(format!(
                "{name}, {}, {} points",
                counted(recorded[number], "sweep"),
                points[number]
            ));
        }
        let lines = lines.join("\n");
        let output = self.output.display();
        print(&format!("{lines}\n  wrote {output}\n{bag}"))?;
        let recorded = scans.iter().zip(&recorded);
        let until = recorded.map(|(scan, count)| *count as f64 * scan.lidar.sweep_duration());
        interrupt::ended(guard, &self.output, until.fold(f64::INFINITY, f64::min))
    }

    /// Runs of all sensors, checked before the simulation.
    pub fn each_sensor(&self, loaded: &LoadedScene) -> Result<Vec<SensorRun>, Failure> {
        if self.sensor.len() < 2 {
            let argument = self.sensor.first().map(String::as_str);
            return Ok(vec![self.sensor_run(loaded, argument, 0, None)?]);
        }
        let is_file = is_file_name(&self.output);
        if is_file && !self.is_recording() {
            return Err(Failure::argument(
                format!("{} is not a folder", self.output.display()),
                "give a folder for the folders of all sensors, or one .mcap file",
            ));
        }
        let mut taken = BTreeSet::new();
        let run = |(number, argument): (u32, &String)| {
            let folder = free_name(argument, &mut taken);
            self.sensor_run(loaded, Some(argument), number, Some(&folder))
        };
        (0..).zip(&self.sensor).map(run).collect()
    }

    /// Run of one sensor, with a folder among several.
    fn sensor_run(
        &self,
        loaded: &LoadedScene,
        argument: Option<&str>,
        number: u32,
        folder: Option<&str>,
    ) -> Result<SensorRun, Failure> {
        // The sensor and its mount
        let (name, mount) = argument.map_or(Ok((None, Isometry3::identity())), mounted)?;
        let (sensor, source) = source::sensor_in(name, loaded)?;

        // Arguments for this sensor only
        let mut arguments = self.clone();
        arguments.number = number;
        if let Some(folder) = folder {
            if !self.is_recording() {
                arguments.output = self.output.join(folder);
            }
            arguments.sensor = argument.map(str::to_owned).into_iter().collect();
        }
        if let Some(seconds) = self.duration {
            arguments.sweeps = Some(sweeps_in(&sensor, seconds));
        }
        arguments.check_options(&sensor)?;

        // Its trajectory, which a recording follows to its end
        let trajectory = SensorTrajectory::of(&arguments, loaded, mount)?;
        if let (None, Some(seconds)) = (arguments.sweeps, trajectory.duration()) {
            let sweeps = whole_sweeps_in(sensor.lidar.sweep_duration(), seconds);
            if self.is_recording() {
                arguments.sweeps = Some(sweeps);
            } else if sweeps > 1 && number == 0 {
                remark(format_args!(
                    "one sweep of the {seconds:.1} s of the trajectory: --sweeps {sweeps} gives all"
                ));
            }
        }
        Ok(SensorRun {
            name: folder.unwrap_or(&sensor.name).to_owned(),
            arguments,
            sensor,
            source,
            trajectory,
        })
    }
}

/// Sweeps of all sensors in the order of their starts, then of the sensors.
fn in_order(scans: &[ScanRun]) -> Vec<(usize, u32)> {
    let sweeps = (0..).zip(scans).flat_map(|(sensor, scan)| {
        let duration = scan.lidar.sweep_duration();
        (0..scan.sweeps()).map(move |sweep| (f64::from(sweep) * duration, sensor, sweep))
    });
    let mut sweeps: Vec<(f64, usize, u32)> = sweeps.collect();
    sweeps.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    sweeps
        .into_iter()
        .map(|(_, sensor, sweep)| (sensor, sweep))
        .collect()
}

/// A name as ROS 2 allows it in topics.
fn topic(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    name.chars().map(allowed).collect()
}

/// Number of sweeps that begin in a time, s.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number, at least one, and saturating"
)]
fn sweeps_in(sensor: &Sensor, seconds: f64) -> u32 {
    let turn = sensor.lidar.sweep_duration();
    // Without a sweep that would begin at the end
    (seconds / turn - 1e-9).ceil().max(1.0) as u32
}

/// Number of whole sweeps of a duration in a time (s), at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number, at least one, and saturating"
)]
fn whole_sweeps_in(turn: f64, seconds: f64) -> u32 {
    (seconds / turn + 1e-9).floor().max(1.0) as u32
}

/// Name and mount of `NAME@x,y,z,yaw[,pitch,roll]`.
fn mounted(argument: &str) -> Result<(Option<&str>, Isometry3<f64>), Failure> {
    let Some((name, mount)) = argument.split_once('@') else {
        return Ok((Some(argument), Isometry3::identity()));
    };
    let pose: Pose = mount.parse().map_err(|error| {
        Failure::argument(
            format!("invalid mount of {name}: {error}"),
            "give NAME@x,y,z,yaw or NAME@x,y,z,yaw,pitch,roll (metres and degrees)",
        )
    })?;
    Ok((Some(name), pose.world_from_sensor))
}

/// Unique folder name of a sensor, whose topic is unique too.
fn free_name(argument: &str, taken: &mut BTreeSet<String>) -> String {
    let name = argument.split('@').next().unwrap_or(argument);
    let stem = Path::new(name).file_stem().unwrap_or_default();
    let stem = stem.to_string_lossy().into_owned();
    let numbered = (2..).map(|number| format!("{stem}-{number}"));
    let mut names = std::iter::once(stem.clone()).chain(numbered);
    let is_free = |name: &String| !taken.contains(&topic(name));
    let free = names.find(is_free).unwrap_or(stem);
    taken.insert(topic(&free));
    free
}

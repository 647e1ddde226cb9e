//! `etendue demo street`.

mod driver;
mod recording;
mod replay;
mod rig;

use crate::command::demo::world::{build, invalid_world};
use crate::failure::Failure;
use crate::folder::Folder;
use crate::interrupt;
use crate::number;
use crate::output::print_report;
use crate::view::drive_view::{DriveLayer, DriveView, LayerStyle};
use clap::Args;
use driver::{COMMAND_RATE, RigDriver};
use etendue::config::scene::daylight;
use etendue::io::ros2::RigRecorder;
use etendue::scene::Scene;
use etendue::sensors::rig::{
    ControlPlan, Environment, LatestData, Rate, RigRun, drive, nanoseconds,
};
use etendue_experiments::demo::street::{Town, sedan};
use etendue_plot::{Color, Drawing};
use recording::{Commands, DriveRecording, TimedCommand, Tracks};
use rig::{TOPICS, rig};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Arguments of `etendue demo street`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: etendue demo street\n          \
    etendue demo street --duration 60 --seed 3 -o town\n          \
    etendue demo street --replay town/street.mcap\n\n\
    The driver steers by IMU, wheel encoders and GNSS, without the true pose. Output: street.mcap \
    (camera, lidar, IMU, GNSS, wheels, commands and the true motion), a picture from above, frames of \
    the camera and the results. The same seed gives the same bytes. --replay sends the messages of a \
    recording to the same driver at their stamps, and compares every command byte for byte.")]
pub struct Street {
    /// Seed of the town and of all noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Duration of the drive, s
    #[arg(long, default_value_t = 60.0, value_name = "S", value_parser = number::positive)]
    duration: f64,
    /// Lidar on the roof (see `etendue sensors`)
    #[arg(long, default_value = "velodyne-vlp-16", value_name = "PRESET")]
    lidar: String,
    /// Folder for the recording, the picture and the results
    #[arg(short, long, default_value = "out/street", value_name = "DIR")]
    output: PathBuf,
    /// Recording to replay instead of a drive
    #[arg(long, value_name = "FILE.mcap", conflicts_with_all = ["seed", "duration", "lidar", "output"])]
    replay: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// Printed results of a drive.
#[derive(Serialize)]
struct Report {
    seed: u64,
    duration_s: f64,
    objects: usize,
    triangles: usize,
    sweeps: usize,
    points: usize,
    inertial_readings: usize,
    frames: usize,
    fixes: usize,
    fixes_lost: usize,
    /// Root mean square of the horizontal errors of the fixes, m.
    horizontal_error_m: f64,
    /// Root mean square and largest error of the estimated position of the driver, m.
    estimate_error_m: [f64; 2],
    /// Largest distance from the route, m.
    largest_route_distance_m: f64,
    commands: u32,
    path_m: f64,
    /// It depends on the computer: it is printed, and no part of the JSON.
    #[serde(skip)]
    real_time_factor: f64,
    files: Vec<PathBuf>,
}

/// Azimuth and elevation of the sun (rad), haze, and reflectance of the ground.
const SUN: [f64; 4] = [2.4, 0.7, 0.08, 0.2];

/// Rate of the dynamics of the vehicle, Hz.
const DYNAMICS_RATE: f64 = 1000.0;

impl Street {
    /// Simulates the drive, records it and prints the results; or replays a recording.
    pub fn run(self) -> Result<(), Failure> {
        if let Some(recording) = &self.replay {
            return replay::replay(recording, self.json);
        }
        // Town, vehicle with sensors, and driver
        let town = Town::generate(self.seed).map_err(|error| invalid_world(&error))?;
        let scene = build(&town.parts)?;
        let rig = rig(&self.lidar)?;
        let environment = environment();
        let end = nanoseconds(self.duration);
        let mut run = RigRun::new(&rig, &scene, &environment, self.seed, end)?;
        let mut vehicle = sedan(&town.route);
        let mut driver = RigDriver::new(&town.route, &rig, &environment);

        // Recording
        std::fs::create_dir_all(&self.output)?;
        let file = self.output.join("street.mcap");
        let topics = TOPICS.map(|topic| vec![topic.to_owned()]);
        let recorder = RigRecorder::create(&file, &rig, &topics)?;
        interrupt::note_written();
        let commands = Commands::default();
        let route = &town.route;
        let mut recording = DriveRecording::new(recorder, &commands, route, &environment, end);

        // Drive
        let plan = ControlPlan {
            dynamics: Rate::from_hertz(DYNAMICS_RATE).expect("a valid rate"),
            control: Rate::from_hertz(COMMAND_RATE).expect("a valid rate"),
        };
        let start = Instant::now();
        let controller = |latest: &LatestData, now: i64| {
            let (command, position) = driver.command(latest, now);
            commands.borrow_mut().push(TimedCommand {
                time: now,
                command,
                position,
            });
            command
        };
        drive(&mut run, &mut vehicle, &plan, controller, &mut recording);
        let elapsed = start.elapsed();
        recording.progress.finish_and_clear();
        if let Some(failure) = recording.failure.take() {
            return Err(failure);
        }

        // Write and report
        let mut report = self.report(&scene, &recording, elapsed);
        recording.recorder.finish()?;
        report.files.push(file);
        let mut folder = Folder::new(&self.output);
        folder.picture("street", &self.picture(&scene, recording.tracks))?;
        for (name, picture) in recording.pictures {
            folder.bytes(&name, picture);
        }
        folder.json("street.json", &report)?;
        report.files.extend(folder.commit()?);
        print_report(self.json, &report, Report::text)
    }

    /// Results of a drive; its files are added later.
    fn report(&self, scene: &Scene, recording: &DriveRecording, elapsed: Duration) -> Report {
        let counts = recording.counts;
        let localisation = recording.localisation_errors;
        Report {
            seed: self.seed,
            duration_s: self.duration,
            objects: scene.objects().len(),
            triangles: scene.triangle_count(),
            sweeps: counts.sweeps,
            points: counts.points,
            inertial_readings: counts.inertial,
            frames: counts.frames,
            fixes: counts.fixes,
            fixes_lost: counts.fixes_lost,
            horizontal_error_m: recording.fix_errors.rms(),
            estimate_error_m: [localisation.rms(), localisation.largest()],
            largest_route_distance_m: recording.route_distances.largest(),
            commands: counts.commands,
            path_m: length(&recording.tracks.vehicle),
            real_time_factor: self.duration / elapsed.as_secs_f64(),
            files: Vec::new(),
        }
    }

    fn picture(&self, scene: &Scene, tracks: Tracks) -> Drawing {
        let layer = |name: &str, points, style| DriveLayer {
            name: name.into(),
            points,
            style,
        };
        let blue = LayerStyle::Dots(Color::hex(0x0072B2).fade(0.5), 0.8);
        let orange = LayerStyle::Line(Color::hex(0xD55E00));
        let green = LayerStyle::Dots(Color::hex(0x009E73), 1.8);
        DriveView {
            title: "A drive through a procedural town",
            subtitle: &format!(
                "seed {}, {} s, section 1.9 m above the road",
                self.seed, self.duration
            ),
            scene,
            world_from_sensor: tracks.world_from_lidar,
            layers: vec![
                layer("last sweep, with motion distortion", tracks.cloud, blue),
                layer("trajectory of the vehicle", tracks.vehicle, orange),
                layer("GNSS fixes", tracks.fixes, green),
            ],
        }
        .draw()
    }
}

/// Environment with the sun in a hazy sky.
fn environment() -> Environment {
    let mut environment = Environment::default();
    let [azimuth, elevation, haze, ground] = SUN;
    if let Some((sun, sky)) = daylight(azimuth, elevation, haze, ground) {
        environment.lighting.lights.push(sun);
        environment.lighting.environment = sky;
    }
    environment
}

/// Length of a polyline, m.
fn length(points: &[[f64; 2]]) -> f64 {
    let segments = points.windows(2);
    segments
        .map(|ends| (ends[1][0] - ends[0][0]).hypot(ends[1][1] - ends[0][1]))
        .sum()
}

impl Report {
    fn text(&self) -> String {
        // Drive, sensors and driver
        let mut text = format!(
            "seed {}, {} s, {:.0} m through {} objects of {} triangles: {:.2} times real time\n  \
             camera: {} frames\n  lidar: {} sweeps, {} points\n  IMU: {} measurements\n  \
             GNSS: {} fixes, horizontal error {:.2} m rms, {} fixes without a position\n  \
             driver: {} commands, position error {:.2} m rms, {:.2} m at most; at most {:.2} m from \
             the route\n",
            self.seed,
            self.duration_s,
            self.path_m,
            self.objects,
            self.triangles,
            self.real_time_factor,
            self.frames,
            self.sweeps,
            self.points,
            self.inertial_readings,
            self.fixes,
            self.horizontal_error_m,
            self.fixes_lost,
            self.commands,
            self.estimate_error_m[0],
            self.estimate_error_m[1],
            self.largest_route_distance_m
        );

        // Files
        for file in &self.files {
            writeln!(text, "  wrote {}", file.display())
                .expect("writing to a string does not fail");
        }
        text
    }
}

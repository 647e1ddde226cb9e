//! `etendue demo street`.

use super::{build, inner};
use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::{print, print_json};
use crate::picture::Color;
use crate::picture::drive_view::{DriveView, Layer, Look};
use clap::Args;
use etendue::formats::robot::preset_device;
use etendue::formats::ros2::RigRecorder;
use etendue::physics::gnss::Geodetic;
use etendue::physics::inertial::MotionState;
use etendue::scene::Scene;
use etendue::sensors::demo::street::{self, Tour};
use etendue::sensors::rig::{
    Data, Environment, Event, FrameTree, Mount, Observer, Plan, Rate, Rig, RigRun, drive,
    nanoseconds,
};
use indicatif::ProgressBar;
use nalgebra::Isometry3;
use serde::Serialize;
use std::fmt::Write;
use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

/// Arguments of `etendue demo street`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: etendue demo street\n          \
    etendue demo street --duration 60 --seed 3 -o town\n\n\
    Writes street.mcap (lidar, IMU, GNSS and the true motion), a picture from above and the \
    results. The same seed gives the same bytes.")]
pub struct Street {
    /// Seed of the town and of all noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How long the drive is, s
    #[arg(long, default_value_t = 60.0, value_name = "S")]
    duration: f64,
    /// The lidar on the roof (see `etendue sensors`)
    #[arg(long, default_value = "velodyne-vlp-16", value_name = "PRESET")]
    lidar: String,
    /// Folder for the recording, the picture and the results
    #[arg(short, long, default_value = "out", value_name = "DIR")]
    output: PathBuf,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// How the drive went.
#[derive(Serialize)]
struct Outcome {
    seed: u64,
    duration_s: f64,
    objects: usize,
    triangles: usize,
    sweeps: usize,
    points: usize,
    inertial_readings: usize,
    fixes: usize,
    fixes_lost: usize,
    /// Root mean square of the fixes' horizontal errors, m.
    horizontal_error_m: f64,
    way_m: f64,
    real_time_factor: f64,
    files: Vec<PathBuf>,
}

/// Time between records of the true motion, ns.
const MOTION_EVERY: i64 = 20_000_000;

impl Street {
    /// Drives and records.
    pub fn run(self) -> Result<(), Failure> {
        if !(self.duration > 0.0 && self.duration.is_finite()) {
            return Err(Failure::Asked {
                message: format!("the drive lasts {} s", self.duration),
                remedy: "give a duration above zero".into(),
            });
        }
        let town = street::Street::generate(self.seed);
        let town = town.map_err(|error| inner(&error.to_string()))?;
        let scene = build(&town.parts)?;
        let rig = self.rig()?;
        let environment = Environment::default();
        let end = nanoseconds(self.duration);
        let mut run = RigRun::new(&rig, &scene, &environment, self.seed, end)?;
        let mut tour = Tour::new(&town.route);
        std::fs::create_dir_all(&self.output)?;
        let recording = self.output.join("street.mcap");
        let topics = [["/points"], ["/imu"], ["/fix"]].map(|t| t.map(String::from).to_vec());
        let mut keeper = Keeper {
            recorder: RigRecorder::create(&recording, &rig, &topics)?,
            environment: &environment,
            failed: None,
            counts: [0; 5],
            squares: 0.0,
            layers: Layers::default(),
            bar: ProgressBar::new(u64::try_from(end / 1_000_000).unwrap_or(0)),
        };
        let plan = Plan {
            dynamics: Rate::from_hertz(1000.0).expect("a good rate"),
            control: Rate::from_hertz(1.0).expect("a good rate"),
        };
        let start = Instant::now();
        drive(&mut run, &mut tour, &plan, |_, _| (), &mut keeper);
        let elapsed = start.elapsed().as_secs_f64();
        keeper.bar.finish_and_clear();
        if let Some(failure) = keeper.failed {
            return Err(failure);
        }
        keeper.recorder.finish()?;
        let [sweeps, points, inertial_readings, fixes, fixes_lost] = keeper.counts;
        let mut outcome = Outcome {
            seed: self.seed,
            duration_s: self.duration,
            objects: scene.objects().len(),
            triangles: scene.triangle_count(),
            sweeps,
            points,
            inertial_readings,
            fixes,
            fixes_lost,
            horizontal_error_m: (keeper.squares / fixes.max(1) as f64).sqrt(),
            way_m: length(&keeper.layers.way),
            real_time_factor: self.duration / elapsed,
            files: vec![recording],
        };
        let mut folder = Folder::new(&self.output);
        folder.picture("street", &self.picture(&scene, keeper.layers))?;
        folder.json("street.json", &outcome)?;
        outcome.files.extend(folder.commit()?);
        if self.json {
            return print_json(&outcome);
        }
        print(&outcome.text())
    }

    /// The sensors on the vehicle, seen from the middle of its rear axle.
    fn rig(&self) -> Result<Rig, Failure> {
        let mut rig = Rig::new(FrameTree::of_base("base"));
        let mut mount = |name: &str, place: [f64; 3], rate, window, lag, preset: &str| {
            let device = preset_device(preset).ok_or_else(|| Failure::Asked {
                message: format!("there is no sensor \"{preset}\""),
                remedy: "`etendue sensors` lists them".into(),
            })?;
            let mount = Mount {
                name: name.into(),
                frame: "base".into(),
                frame_from_sensor: Isometry3::translation(place[0], place[1], place[2]),
                rate,
                offset: 0.0,
                window,
                lag,
                filters: vec![],
            };
            Ok::<(), Failure>(rig.mount(mount, device)?)
        };
        mount("lidar", [1.2, 0.0, 1.9], None, None, 0.03, &self.lidar)?;
        mount(
            "imu",
            [1.0, 0.0, 0.5],
            Some(200.0),
            Some(0.005),
            0.002,
            "adis16470",
        )?;
        mount(
            "gnss",
            [0.2, 0.0, 1.6],
            Some(5.0),
            None,
            0.1,
            "ublox-neo-m8n",
        )?;
        Ok(rig)
    }

    fn picture(&self, scene: &Scene, layers: Layers) -> crate::picture::Drawing {
        let dots = |name: &str, points, color, radius| Layer {
            name: name.into(),
            points,
            look: Look::Dots(color, radius),
        };
        DriveView {
            title: "A drive through a town made by rule",
            subtitle: &format!(
                "seed {}, {} s, cut 1.9 m above the road",
                self.seed, self.duration
            ),
            scene,
            world_from_sensor: layers.last,
            layers: vec![
                dots(
                    "the last sweep, bent by the motion",
                    layers.cloud,
                    Color::hex(0x0072B2).fade(0.5),
                    0.8,
                ),
                Layer {
                    name: "the vehicle's way".into(),
                    points: layers.way,
                    look: Look::Way(Color::hex(0xD55E00)),
                },
                dots(
                    "positions by satellites",
                    layers.fixes,
                    Color::hex(0x009E73),
                    1.8,
                ),
            ],
        }
        .draw()
    }
}

/// What the picture shows.
#[derive(Default)]
struct Layers {
    cloud: Vec<[f64; 2]>,
    way: Vec<[f64; 2]>,
    fixes: Vec<[f64; 2]>,
    last: Isometry3<f64>,
}

fn length(way: &[[f64; 2]]) -> f64 {
    let steps = way.windows(2);
    steps
        .map(|pair| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1]))
        .sum()
}

/// Records and counts what the sensors give.
struct Keeper<'r> {
    recorder: RigRecorder<'r, BufWriter<File>>,
    environment: &'r Environment,
    failed: Option<Failure>,
    /// Sweeps, points, inertial readings, fixes, fixes without a position.
    counts: [usize; 5],
    squares: f64,
    layers: Layers,
    bar: ProgressBar,
}

impl Keeper<'_> {
    fn note(&mut self, event: &Event) {
        match &event.data {
            Data::Points(sweep) => {
                self.counts[0] += 1;
                self.counts[1] += sweep.points.len();
                self.layers.last = sweep.world_from_sensor;
                let near_level = sweep
                    .points
                    .iter()
                    .map(|point| sweep.world_from_sensor * point.position);
                let above_ground = near_level.filter(|point| point.z > 0.3);
                self.layers.cloud = above_ground.map(|point| [point.x, point.y]).collect();
            }
            Data::Imu(_) => self.counts[2] += 1,
            Data::Fix(fix) => {
                let position = fix.solution.map(|solution| solution.position);
                self.note_fix(position, event.capture.end);
            }
            _ => {}
        }
    }

    fn note_fix(&mut self, position: Option<Geodetic>, end: i64) {
        let then = usize::try_from(end / MOTION_EVERY).unwrap_or(0);
        let (Some(position), Some([x, y])) = (position, self.layers.way.get(then)) else {
            self.counts[4] += 1;
            return;
        };
        self.counts[3] += 1;
        let at = self.environment.frame.local(&position);
        self.squares += (at.x - x).powi(2) + (at.y - y).powi(2);
        self.layers.fixes.push([at.x, at.y]);
    }

    fn flow(&mut self, result: Result<(), etendue::formats::FormatError>) -> ControlFlow<()> {
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error.into());
                ControlFlow::Break(())
            }
        }
    }
}

impl Observer for Keeper<'_> {
    fn received(&mut self, event: &Event) -> ControlFlow<()> {
        self.note(event);
        let result = self.recorder.record(event);
        self.flow(result)
    }

    fn moved(&mut self, time: i64, state: &MotionState) -> ControlFlow<()> {
        if time % MOTION_EVERY != 0 {
            return ControlFlow::Continue(());
        }
        self.bar
            .set_position(u64::try_from(time / 1_000_000).unwrap_or(0));
        let at = state.world_from_body.translation;
        self.layers.way.push([at.x, at.y]);
        let result = self.recorder.record_motion(time, state);
        self.flow(result)
    }
}

impl Outcome {
    fn text(&self) -> String {
        let mut text = format!(
            "seed {}, {} s, {:.0} m through {} objects of {} triangles: {:.2} times real time\n  \
             lidar: {} sweeps, {} points\n  IMU: {} readings\n  GNSS: {} fixes, {:.2} m off level \
             (root mean square), {} without a position\n",
            self.seed,
            self.duration_s,
            self.way_m,
            self.objects,
            self.triangles,
            self.real_time_factor,
            self.sweeps,
            self.points,
            self.inertial_readings,
            self.fixes,
            self.horizontal_error_m,
            self.fixes_lost
        );
        for file in &self.files {
            let _ = writeln!(text, "  wrote {}", file.display());
        }
        text
    }
}

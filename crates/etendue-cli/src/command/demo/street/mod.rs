//! `etendue demo street`.

mod cab;
mod replay;

use super::{build, inner};
use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::{print, print_json};
use crate::view::drive_view::{DriveView, Layer, LayerStyle};
use cab::Cab;
use clap::Args;
use etendue::config::camera;
use etendue::config::robot::preset_device;
use etendue::config::scene::daylight;
use etendue::io::FormatError;
use etendue::io::image::{Pixels, png};
use etendue::io::ros2::RigRecorder;
use etendue::physics::gnss::Geodetic;
use etendue::physics::inertial::MotionState;
use etendue::scene::Scene;
use etendue::sensors::camera::{CameraFrame, LightTransport};
use etendue::sensors::dynamics::DriveCommand;
use etendue::sensors::rig::{
    ControlPlan, Data, Device, Environment, Event, FrameTree, LatestData, Mount, MountedCamera,
    Observer, Rate, Rig, RigRun, drive, nanoseconds,
};
use etendue_experiments::demo::street::{self, Route};
use etendue_plot::Color;
use indicatif::ProgressBar;
use nalgebra::{Isometry3, Point3};
use serde::Serialize;
use std::cell::RefCell;
use std::fmt::Write as _;
use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

/// Arguments of `etendue demo street`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: etendue demo street\n          \
    etendue demo street --duration 60 --seed 3 -o town\n          \
    etendue demo street --replay town/street.mcap\n\n\
    The vehicle is steered by what its IMU, its wheels and its GNSS say, not by where it truly is. \
    Writes street.mcap (camera, lidar, IMU, GNSS, wheels, commands and the true motion), a picture \
    from above, frames of the camera and the results. The same seed gives the same bytes. \
    --replay plays a recording on its stamps through the same driver, and compares every command \
    byte for byte.")]
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
    /// Play this recording back instead: its messages go to the driver on their stamps
    #[arg(long, value_name = "FILE.mcap", conflicts_with_all = ["seed", "duration", "lidar", "output"])]
    replay: Option<PathBuf>,
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
    frames: usize,
    fixes: usize,
    fixes_lost: usize,
    /// Root mean square of the fixes' horizontal errors, m.
    horizontal_error_m: f64,
    /// Root mean square and largest distance of where the driver thought it was from where it was,
    /// m.
    estimate_error_m: [f64; 2],
    /// Largest distance from the way, m.
    off_the_way_m: f64,
    commands: u32,
    way_m: f64,
    real_time_factor: f64,
    files: Vec<PathBuf>,
}

/// Topics of the sensors, in the order that they are mounted.
const TOPICS: [&str; 6] = [
    "/points",
    "/imu",
    "/fix",
    "/camera/image",
    "/left_wheel",
    "/right_wheel",
];

/// Time between records of the true motion, ns.
const MOTION_EVERY: i64 = 20_000_000;

/// Azimuth and elevation of the sun, haze and ground, rad.
const SUN: [f64; 4] = [2.4, 0.7, 0.08, 0.2];
/// Frames of the camera a second.
const FRAME_RATE: f64 = 2.0;
/// Frames from one that is kept as a picture to the next.
const PICTURE_EVERY: usize = 20;

/// Behind the windscreen, looking ahead.
fn camera_mount() -> Mount {
    Mount {
        name: "camera".into(),
        frame: "base".into(),
        frame_from_sensor: Isometry3::translation(1.6, 0.0, 1.4),
        rate: None,
        offset: 0.0,
        window: None,
        lag: 0.05,
        filters: vec![],
    }
}

/// A quarter of the ideal camera's pixels.
fn town_camera() -> Result<MountedCamera, Failure> {
    let mut camera = camera::preset("ideal")?;
    camera.width /= 2;
    camera.height /= 2;
    let intrinsics = &mut camera.intrinsics;
    intrinsics.focal = intrinsics.focal.map(|focal| 0.5 * focal);
    intrinsics.centre = [camera.width, camera.height].map(|size| 0.5 * (f64::from(size) - 1.0));
    camera.frame_rate = FRAME_RATE;
    Ok(MountedCamera {
        camera,
        samples: 4,
        light: LightTransport::default(),
        depth: false,
    })
}

impl Street {
    /// Drives and records.
    pub fn run(self) -> Result<(), Failure> {
        if let Some(recording) = &self.replay {
            return replay::replay(recording, self.json);
        }
        if !(self.duration > 0.0 && self.duration.is_finite()) {
            return Err(Failure::Usage {
                message: format!("the drive lasts {} s", self.duration),
                remedy: "give a duration above zero".into(),
            });
        }
        let town = street::Street::generate(self.seed);
        let town = town.map_err(|error| inner(&error.to_string()))?;
        let scene = build(&town.parts)?;
        let rig = self.rig()?;
        let mut environment = Environment::default();
        if let Some((sun, sky)) = daylight(SUN[0], SUN[1], SUN[2], SUN[3]) {
            environment.lighting.lights.push(sun);
            environment.lighting.environment = sky;
        }
        let end = nanoseconds(self.duration);
        let mut run = RigRun::new(&rig, &scene, &environment, self.seed, end)?;
        let mut vehicle = street::sedan(&town.route);
        let mut cab = Cab::new(&town.route, &rig, &environment);
        std::fs::create_dir_all(&self.output)?;
        let recording = self.output.join("street.mcap");
        let topics = TOPICS.map(|topic| vec![topic.to_owned()]);
        let commands = RefCell::new(Vec::new());
        let mut keeper = Keeper {
            commands: &commands,
            count: 0,
            estimates: Errors::default(),
            route: &town.route,
            off_the_way: 0.0,
            recorder: RigRecorder::create(&recording, &rig, &topics)?,
            environment: &environment,
            failed: None,
            counts: [0; 5],
            frames: 0,
            pictures: vec![],
            squares: 0.0,
            antenna: vec![],
            layers: Layers::default(),
            bar: ProgressBar::new(u64::try_from(end / 1_000_000).unwrap_or(0)),
        };
        let plan = ControlPlan {
            dynamics: Rate::from_hertz(1000.0).expect("a good rate"),
            control: Rate::from_hertz(cab::CONTROL).expect("a good rate"),
        };
        let start = Instant::now();
        let controller = |latest: &LatestData, now: i64| {
            let (command, place) = cab.decide(latest, now);
            commands.borrow_mut().push((now, command, place));
            command
        };
        drive(&mut run, &mut vehicle, &plan, controller, &mut keeper);
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
            estimate_error_m: keeper.estimates.mean_and_largest(),
            off_the_way_m: keeper.off_the_way,
            commands: keeper.count,
            frames: keeper.frames,
            way_m: length(&keeper.layers.way),
            real_time_factor: self.duration / elapsed,
            files: vec![recording],
        };
        let mut folder = Folder::new(&self.output);
        folder.picture("street", &self.picture(&scene, keeper.layers))?;
        for (name, picture) in keeper.pictures {
            folder.bytes(&name, picture);
        }
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
            let device = preset_device(preset).ok_or_else(|| Failure::Usage {
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
            Some(1.0 / cab::INERTIAL_PERIOD),
            Some(cab::INERTIAL_PERIOD),
            0.002,
            "adis16470",
        )?;
        let [x, y] = cab::ANTENNA;
        let receiver = "ublox-zed-f9p";
        mount("gnss", [x, y, 1.6], Some(5.0), None, 0.1, receiver)?;
        rig.mount(camera_mount(), Device::Camera(Box::new(town_camera()?)))?;
        for (name, side) in [("left_wheel", 0.8), ("right_wheel", -0.8)] {
            let (mount, device) = cab::wheel(name, side);
            rig.mount(mount, device)?;
        }
        Ok(rig)
    }

    fn picture(&self, scene: &Scene, layers: Layers) -> etendue_plot::Drawing {
        let dots = |name: &str, points, color, radius| Layer {
            name: name.into(),
            points,
            style: LayerStyle::Dots(color, radius),
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
                    style: LayerStyle::Line(Color::hex(0xD55E00)),
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

/// Commands with their times (ns) and where the driver thought it was, not yet recorded.
type Commands = RefCell<Vec<(i64, DriveCommand, [f64; 2])>>;

/// Distances from the truth.
#[derive(Default)]
struct Errors {
    squares: f64,
    count: f64,
    largest: f64,
}

impl Errors {
    fn note(&mut self, error: f64) {
        self.squares += error * error;
        self.count += 1.0;
        self.largest = self.largest.max(error);
    }

    fn mean_and_largest(&self) -> [f64; 2] {
        [(self.squares / self.count.max(1.0)).sqrt(), self.largest]
    }
}

/// Records and counts what the sensors give.
struct Keeper<'r> {
    commands: &'r Commands,
    /// How many commands there were.
    count: u32,
    estimates: Errors,
    route: &'r Route,
    off_the_way: f64,
    recorder: RigRecorder<'r, BufWriter<File>>,
    environment: &'r Environment,
    failed: Option<Failure>,
    /// Sweeps, points, inertial readings, fixes, fixes without a position.
    counts: [usize; 5],
    /// Frames of the camera.
    frames: usize,
    /// Names and files of some of them.
    pictures: Vec<(String, Vec<u8>)>,
    squares: f64,
    /// Where the antenna truly was, every so often.
    antenna: Vec<[f64; 2]>,
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
            Data::Image(frame) => self.note_frame(frame),
            Data::Imu(_) => self.counts[2] += 1,
            Data::Fix(fix) => {
                let position = fix.solution.map(|solution| solution.position);
                self.note_fix(position, event.capture.end);
            }
            _ => {}
        }
    }

    /// Keeps one frame in so many seconds as a picture.
    fn note_frame(&mut self, frame: &CameraFrame) {
        let pixels = Pixels::Colour8(&frame.picture);
        if self.frames.is_multiple_of(PICTURE_EVERY) {
            match png(frame.width, frame.height, pixels) {
                Ok(file) => {
                    let name = format!("camera_{:03.0}s.png", frame.start);
                    self.pictures.push((name, file));
                }
                Err(error) => self.failed = Some(error.into()),
            }
        }
        self.frames += 1;
    }

    fn note_fix(&mut self, position: Option<Geodetic>, end: i64) {
        let then = usize::try_from(end / MOTION_EVERY).unwrap_or(0);
        let (Some(position), Some([x, y])) = (position, self.antenna.get(then)) else {
            self.counts[4] += 1;
            return;
        };
        self.counts[3] += 1;
        let at = self.environment.frame.local(&position);
        self.squares += (at.x - x).powi(2) + (at.y - y).powi(2);
        self.layers.fixes.push([at.x, at.y]);
    }

    /// Records the commands up to now. A command holds from its time on: it is recorded before the
    /// vehicle has moved under it.
    fn take_commands(&mut self, at: [f64; 2]) -> Result<(), FormatError> {
        for (time, command, place) in self.commands.take() {
            self.count += 1;
            self.recorder.record_command(time, &command)?;
            self.estimates
                .note((place[0] - at[0]).hypot(place[1] - at[1]));
        }
        Ok(())
    }

    fn flow(&mut self, result: Result<(), FormatError>) -> ControlFlow<()> {
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

    fn moved(&mut self, time: i64, states: &[MotionState]) -> ControlFlow<()> {
        let at = states[0].world_from_body.translation;
        let taken = self.take_commands([at.x, at.y]);
        self.flow(taken)?;
        if time % MOTION_EVERY != 0 {
            return ControlFlow::Continue(());
        }
        self.bar
            .set_position(u64::try_from(time / 1_000_000).unwrap_or(0));
        self.layers.way.push([at.x, at.y]);
        let [x, y] = cab::ANTENNA;
        let antenna = states[0].world_from_body * Point3::new(x, y, 1.6);
        self.antenna.push([antenna.x, antenna.y]);
        self.off_the_way = self.off_the_way.max(self.route.distance([at.x, at.y]));
        let result = self.recorder.record_motion(time, states);
        self.flow(result)
    }
}

impl Outcome {
    fn text(&self) -> String {
        let mut text = format!(
            "seed {}, {} s, {:.0} m through {} objects of {} triangles: {:.2} times real time\n  \
             camera: {} frames\n  lidar: {} sweeps, {} points\n  IMU: {} readings\n  GNSS: {} fixes, {:.2} m off level \
             (root mean square), {} without a position\n  driver: {} commands, {:.2} m off its place (root mean \
             square), {:.2} m at most; {:.2} m off the way at most\n",
            self.seed,
            self.duration_s,
            self.way_m,
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
            self.off_the_way_m
        );
        for file in &self.files {
            writeln!(text, "  wrote {}", file.display()).expect("a string takes all");
        }
        text
    }
}

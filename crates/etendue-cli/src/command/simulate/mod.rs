//! `etendue simulate`.

mod scan;
mod several;
mod staged;
mod summary;
mod way;
mod weather;
mod write;

use crate::failure::Failure;
use crate::interrupt;
use crate::number::positive;
use crate::output::{print, print_json};
use crate::pose::Pose;
use crate::source;
use clap::{Args, ValueEnum};
use etendue::config::profile::other_sensors;
use etendue::config::scene::LoadedScene;
use etendue::config::sensor::{Sensor, SensorModel};
use etendue::io::output::{Run, RunMetadata, SourceMetadata};
use etendue::sensors::PlanarSweep;
use etendue::sensors::cw::{CwLidar, Turn, simulate, simulate_paths};
use etendue::sensors::lidar::{Air, Frame, Pipeline};
use etendue::sensors::transport::{PathSettings, World};
use indicatif::{ProgressBar, ProgressStyle};
use nalgebra::Isometry3;
use staged::{Done, Staged};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;
use summary::Summary;
use way::{Way, WayOptions};
use weather::AirOptions;
use write::Results;

/// Arguments of `etendue simulate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples: etendue simulate\n          \
    etendue simulate examples/small-house.toml --pose 1.5,0,0.4,90 --sweeps 20 -o house\n          \
    etendue simulate -o scan.npz --seed 7\n          \
    etendue simulate examples/street.toml --sensor velodyne-vlp-16 --sensor sick-lms-111@0.5,0,-1.5,0 \
    --trajectory examples/street.tum --duration 5 --rain 10 -o drive\n          \
    etendue simulate examples/street.toml --sensor velodyne-vlp-16 --sensor ouster-os1-64@1,0,0,0 -o bag/run.mcap\n\n\
    The same scene, sensor, pose, sweeps and seed give the same bytes on any number of threads.\n\
    If no beam meets a surface this is an error and nothing is written; if surfaces are met but \
    none gives a range, there is a warning.")]
pub struct Simulate {
    /// Scene file (.toml) or the name of a built-in scene; without one, the built-in arena, with a
    /// mirror and a pane
    scene: Option<PathBuf>,
    /// Name of a preset (see `etendue sensors`) or a sensor file (.toml); without it, the sensor
    /// that the scene file names, else hokuyo-urg-04lx. Given several times, every sensor leaves
    /// its results in a folder of its own, or all are recorded in one .mcap file; `@x,y,z,yaw[,pitch,roll]` after a name says where it is
    /// mounted on what the pose or the trajectory moves
    #[arg(long, value_name = "PRESET|FILE[@MOUNT]")]
    sensor: Vec<String>,
    /// Where the sensor stands: x,y,z,yaw[,pitch,roll] in metres and degrees; without it, where
    /// the scene file says
    #[arg(long, allow_hyphen_values = true, value_name = "POSE")]
    pose: Option<Pose>,
    /// How many turns of the sensor
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    sweeps: u32,
    /// How long the run is, s, instead of --sweeps: as many turns as begin in it
    #[arg(long, value_name = "S", value_parser = positive, conflicts_with = "sweeps", allow_negative_numbers = true)]
    duration: Option<f64>,
    /// Seed of all noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Trace so many random paths of light a ray, to add what comes back over several rough
    /// surfaces; without it, ray trees, which are faster and follow mirrors and glass alone. A
    /// receiver whose file gives no window is taken to see all around: the most that such light
    /// can add
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    paths: Option<u32>,
    /// Folder for all formats, or a single .csv, .npz, .pcd, .ply, .json, .png or .svg file; of a
    /// scanning lidar also a .las, .laz, .e57, .bin (KITTI), .parquet or .mcap file. An .mcap file is
    /// written sweep by sweep, and in a folder gets a metadata.yaml beside it, with which `ros2 bag`
    /// opens the folder
    #[arg(short, long, default_value = "out", value_name = "DIR|FILE")]
    output: PathBuf,
    /// Worker threads; without it, one a processor
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Instruction set: plain, neon, avx2 or avx512, or reference for the plain pipeline; the default
    /// is the fastest that this processor supports. The results are the same
    #[arg(long, env = "ETENDUE_ISA")]
    isa: Option<Pipeline>,
    #[command(flatten)]
    way: WayOptions,
    #[command(flatten)]
    air: AirOptions,
    /// Frame of a scanning lidar's points: as the device gives them, or compensated for motion
    /// [default: world; recordings and scan.mcap hold the sensor's own, always]
    #[arg(long, value_enum)]
    frame: Option<FrameName>,
    /// Draw the waveform of one beam of a pulsed lidar's first sweep
    #[arg(long, value_name = "RING,COLUMN", value_parser = ring_and_column)]
    waveform: Option<[u32; 2]>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    /// Which of several sensors this is
    #[arg(skip)]
    number: u32,
}

impl Simulate {
    /// Simulates, writes and sums up.
    pub fn run(self) -> Result<(), Failure> {
        let threads = self.threads.map_or(0, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()?;
        pool.install(|| self.run_here())
    }

    /// The implementation of the sweep pipeline.
    fn pipeline(&self) -> Pipeline {
        self.isa.unwrap_or_default()
    }

    fn run_here(&self) -> Result<(), Failure> {
        let mut loaded = source::scene(self.scene.as_deref())?;
        match self.pipeline() {
            Pipeline::Reference => {}
            Pipeline::Vectorized(isa) => loaded.scene = loaded.scene.edit().with_isa(isa).finish(),
        }
        let runs = self.each_sensor(&loaded)?;
        if self.is_recording() {
            return match &runs[..] {
                [only] => only.record(&loaded),
                several => self.record_all(&loaded, several),
            };
        }
        let mut staged = Staged::default();
        let done = { runs.into_iter() }.map(|run| run.run(&loaded, &mut staged));
        let done: Vec<Done> = done.collect::<Result<_, _>>()?;
        staged.commit()?;
        self.report(&done)
    }

    /// Runs a continuous-wave lidar.
    fn run_lidar(
        &self,
        loaded: &LoadedScene,
        (name, lidar, sensor_source): (&str, &CwLidar<f64>, SourceMetadata),
        way: &Way,
        staged: &mut Staged,
    ) -> Result<Done, Failure> {
        let formats = write::formats(&self.output)?;
        way.check(f64::from(self.sweeps) * lidar.turn_time)?;

        let world = World::at_wavelength(&loaded.scene, lidar.wavelength)?
            .with_profiles(&loaded.profiles)
            .in_light(&loaded.ambient);
        let start = Instant::now();
        let sweeps = self.sweeps(&world, lidar, way)?;
        let elapsed = start.elapsed();
        check_view(&sweeps, &way.start)?;

        let run = Run {
            scene: &loaded.scene,
            sweeps: &sweeps,
        };
        let mut metadata =
            RunMetadata::new(run, self.seed, self.scene_source(loaded), sensor_source);
        metadata.command = self.words();
        metadata.warnings.clone_from(&loaded.warnings);
        metadata
            .warnings
            .extend(summary::no_range(&metadata.counts, &Air::default()));
        metadata.warnings.extend(unheard_light(loaded, lidar));
        let others = other_sensors(loaded, name);
        metadata.warnings.extend(others);
        if loaded.air != Air::default() {
            let warning = "the air of the scene counts for scanning lidars alone";
            metadata.warnings.push(warning.into());
        }
        let results = Results {
            run,
            metadata: &metadata,
            max_range: lidar.receiver.ambiguity.farthest,
        };
        let files = staged.write(|outputs| results.write(outputs, &formats))?;
        // The truth costs one ray a beam more.
        let rays_per_sweep = lidar.beams.len() * (lidar.pattern.sub_rays().len() + 1);
        let rays = rays_per_sweep as f64 * f64::from(self.sweeps);
        Ok(Done {
            files,
            metadata,
            has_echoes: false,
            rays,
            elapsed,
            sweeps,
        })
    }

    /// No option may go unheard.
    fn check_options(&self, sensor: &Sensor) -> Result<(), Failure> {
        let in_other_frame = { self.frame }.is_some_and(|frame| frame != FrameName::Sensor);
        let unheard = [
            ("--waveform", self.waveform.is_some()),
            ("--frame", in_other_frame),
            ("--json", self.json),
        ];
        let unheard = unheard.iter().find(|(_, given)| *given);
        if let Some((option, _)) = unheard.filter(|_| self.is_recording()) {
            return Err(Failure::Usage {
                message: format!(
                    "{option} does not apply to a recording, which {} is",
                    self.output.display()
                ),
                remedy: "leave the option out, or name a folder: it gets a recording, too".into(),
            });
        }
        let air = self
            .air
            .given()
            .into_iter()
            .map(|(option, _)| (option, true));
        let (kind, foreign): (_, Vec<_>) = match &sensor.model {
            SensorModel::ContinuousWave(_) => (
                "a continuous-wave lidar",
                [
                    ("--frame", self.frame.is_some()),
                    ("--waveform", self.waveform.is_some()),
                ]
                .into_iter()
                .chain(air)
                .collect(),
            ),
            SensorModel::Scanner(_) => {
                ("a scanning lidar", vec![("--paths", self.paths.is_some())])
            }
        };
        match foreign.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Failure::OtherSensor {
                option,
                kind,
                sensor: sensor.name.clone(),
            }),
            None => Ok(()),
        }
    }

    /// The command line as far as results depend on it: neither threads nor where they are written.
    fn words(&self) -> Vec<String> {
        let mut words = vec!["etendue".to_owned(), "simulate".to_owned()];
        words.extend(self.scene.as_ref().map(|scene| scene.display().to_string()));
        let mut add = |key: &str, value: String| words.extend([key.to_owned(), value]);
        for sensor in &self.sensor {
            add("--sensor", sensor.clone());
        }
        if let Some(pose) = &self.pose {
            add("--pose", pose.text.clone());
        }
        add("--sweeps", self.sweeps.to_string());
        add("--seed", self.seed.to_string());
        if let Some(paths) = self.paths {
            add("--paths", paths.to_string());
        }
        if let Some(trajectory) = &self.way.trajectory {
            add("--trajectory", trajectory.display().to_string());
        }
        if let Some(frame) = self.frame.and_then(|frame| frame.to_possible_value()) {
            add("--frame", frame.get_name().to_owned());
        }
        for (key, value) in self.air.given() {
            add(key, value.to_string());
        }
        words
    }

    fn scene_source(&self, loaded: &LoadedScene) -> SourceMetadata {
        let is_file = !loaded.files.is_empty();
        let file = self.scene.as_ref().filter(|_| is_file);
        SourceMetadata {
            name: loaded.name.clone(),
            file: file.map(|file| file.display().to_string()),
            sha256: loaded.sha256.clone(),
        }
    }

    fn sweeps(
        &self,
        world: &World<f64>,
        lidar: &CwLidar<f64>,
        way: &Way,
    ) -> Result<Vec<PlanarSweep>, Failure> {
        let progress = self.progress();
        let sweeps = (0..self.sweeps).map(|index| {
            interrupt::check()?;
            let turn = Turn {
                seed: self.seed,
                sensor: self.number,
                index,
                start: f64::from(index) * lidar.turn_time,
                with_truth: true,
                ..Turn::default()
            };
            let sweep = match self.paths {
                None => simulate(world, lidar, &turn, |time| way.at(time)),
                Some(paths) => {
                    let settings = PathSettings {
                        paths,
                        ..PathSettings::default()
                    };
                    simulate_paths(world, lidar, &turn, &settings, |time| way.at(time))
                }
            };
            progress.inc(1);
            Ok(sweep)
        });
        let sweeps = sweeps.collect();
        progress.finish_and_clear();
        sweeps
    }

    fn progress(&self) -> ProgressBar {
        ProgressBar::new(self.sweeps.into()).with_style(progress_style())
    }

    /// One summary a sensor; as JSON a list where there are several.
    fn report(&self, all: &[Done]) -> Result<(), Failure> {
        all.iter().for_each(Done::tell);
        let summaries: Vec<Summary> = all.iter().map(Summary::of).collect();
        match &summaries[..] {
            [only] if self.json => print_json(only),
            several if self.json => print_json(&several),
            several => several.iter().try_for_each(|one| print(&one.text())),
        }
    }
}

/// Says where ambient light has no effect.
fn unheard_light(loaded: &LoadedScene, lidar: &CwLidar<f64>) -> Option<String> {
    let hears = lidar.receiver.window.is_some() && lidar.receiver.noise.shot > 0.0;
    (!loaded.ambient.is_dark() && !hears).then(|| {
        "the scene's ambient light has no effect on this sensor: its file gives no \
         receiver.window, or no receiver.noise.shot_per_m2_sr"
            .to_owned()
    })
}

/// The frame that points are given in.
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
enum FrameName {
    /// The sensor's at each shot's own time
    Sensor,
    /// The sensor's at the start of each sweep
    SweepStart,
    /// The world's
    #[default]
    World,
}

impl From<FrameName> for Frame {
    fn from(name: FrameName) -> Self {
        match name {
            FrameName::Sensor => Self::Sensor,
            FrameName::SweepStart => Self::SweepStart,
            FrameName::World => Self::World,
        }
    }
}

fn ring_and_column(text: &str) -> Result<[u32; 2], String> {
    let numbers = text
        .split_once(',')
        .and_then(|(ring, column)| Some([ring.trim().parse().ok()?, column.trim().parse().ok()?]));
    numbers.ok_or_else(|| "give the numbers of a ring and a column, as in 8,120".into())
}

fn progress_style() -> ProgressStyle {
    ProgressStyle::with_template("simulating {bar:40} {pos}/{len} sweeps, {eta} left")
        .expect("the template is well formed")
}

/// An empty result is an error: no beam met anything.
fn check_view(sweeps: &[PlanarSweep], pose: &Isometry3<f64>) -> Result<(), Failure> {
    let mut beams = sweeps.iter().flat_map(|sweep| &sweep.measurements);
    let seen = beams.any(|beam| beam.truth.is_some() || beam.reading.range().is_some());
    if seen {
        return Ok(());
    }
    Err(Failure::NothingInFront {
        beams: sweeps.iter().map(|sweep| sweep.measurements.len()).sum(),
        position: pose.translation.vector.into(),
    })
}

//! `etendue simulate`.

mod ending;
mod engine;
mod files;
mod pictures;
mod record;
mod results;
mod scan;
mod selection;
mod sensors;
mod summary;
mod trajectory;
mod weather;

use crate::failure::Failure;
use crate::folder::is_file_name;
use crate::formats;
use crate::memory::Memory;
use crate::number::positive;
use crate::output::{print_json, print_text, progress};
use crate::pose::Pose;
use crate::source;
use crate::threads::Threads;
use clap::{Args, ValueEnum};
use etendue::config::scene::LoadedScene;
use etendue::config::sensor::Sensor;
use etendue::io::output::SourceMetadata;
use etendue::sensors::BeamSweep;
use etendue::sensors::lidar::{Frame, LightModel, Pipeline, Receiver};
#[cfg(feature = "gpu")]
use etendue_gpu::DeviceChoice;
use indicatif::ProgressBar;
use nalgebra::Isometry3;
use results::{PendingFiles, SensorResults};
use std::path::PathBuf;
use summary::Summary;
use trajectory::TrajectoryOptions;
use weather::AirOptions;

/// Template of the progress bar.
const PROGRESS: &str = "simulating {bar:40} {pos}/{len} sweeps, {eta} left";

/// Arguments of `etendue simulate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples: etendue simulate\n          \
    etendue simulate patio --pose 1,0,0.4,90 --sweeps 20 -o patio\n          \
    etendue simulate -o scan.npz --seed 7\n          \
    etendue simulate examples/street.toml --sensor velodyne-vlp-16 --sensor sick-lms-111@0.5,0,-1.5,0 \
    --trajectory examples/street.tum --duration 5 --rain 10 -o drive\n          \
    etendue simulate examples/street.toml --sensor velodyne-vlp-16 --sensor ouster-os1-64@1,0,0,0 -o bag/run.mcap\n\n\
    The same scene, sensor, pose, sweeps and seed give the same bytes on any number of threads.\n\
    The command fails without output if no beam hits a surface. A warning is printed if beams hit \
    surfaces but none has a range.")]
pub struct Simulate {
    /// Scene file (.toml) or the name of a built-in scene [default: the built-in arena with a
    /// mirror and a glass pane]
    scene: Option<PathBuf>,
    /// Name of a preset (see `etendue sensors`) or a sensor file (.toml); without it, the sensor of the
    /// scene file, else hokuyo-urg-04lx. With several sensors, each has its own folder of results,
    /// or all are recorded in one .mcap file. `@x,y,z,yaw[,pitch,roll]` after a name is the mount
    /// on the platform that follows the pose or the trajectory
    #[arg(long, value_name = "PRESET|FILE[@MOUNT]")]
    sensor: Vec<String>,
    /// Pose of the sensor: x,y,z,yaw[,pitch,roll] in metres and degrees [default: the pose in the
    /// scene file]
    #[arg(long, allow_hyphen_values = true, value_name = "POSE")]
    pose: Option<Pose>,
    /// Number of sweeps [default: 1; of a recording along a trajectory, until its end]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    sweeps: Option<u32>,
    /// Duration of the run, s, instead of --sweeps: the sweeps that begin in it
    #[arg(long, value_name = "S", value_parser = positive, conflicts_with = "sweeps", allow_negative_numbers = true)]
    duration: Option<f64>,
    /// Seed of all noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of random light paths per ray, for light that several rough surfaces reflect; without it,
    /// ray trees, which are faster and only follow mirrors and glass. A receiver without a window in
    /// its file receives such light from all directions, which is an upper bound
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    paths: Option<u32>,
    #[arg(help_heading = "Output", short, long, default_value = "out/simulate", value_name = "DIR|FILE", help = output_help())]
    output: PathBuf,
    #[arg(help_heading = "Output", long, value_name = "LIST", value_delimiter = ',', value_parser = selection::format_name, help = selection::help())]
    formats: Option<Vec<String>>,
    #[command(flatten)]
    memory: Memory,
    #[command(flatten)]
    threads: Threads,
    /// Instruction set: plain, neon, avx2 or avx512, or reference for the plain pipeline; the default
    /// is the fastest that this processor supports. The results are the same
    #[arg(help_heading = "Resources", long, env = "ETENDUE_ISA")]
    isa: Option<Pipeline>,
    /// Device: cpu, gpu (the fastest kind), gpu:N with a number of `etendue inspect --devices`, or auto: a GPU if
    /// there is one. What a GPU does not simulate runs on the CPU, with a warning that names the reason
    #[cfg(feature = "gpu")]
    #[arg(
        help_heading = "Resources",
        long,
        default_value_t,
        value_name = "DEVICE"
    )]
    device: DeviceChoice,
    /// The GPU with the scene
    #[cfg(feature = "gpu")]
    #[arg(skip)]
    gpu: Option<std::sync::Arc<crate::gpu::Gpu>>,
    #[command(flatten)]
    motion: TrajectoryOptions,
    #[command(flatten)]
    air: AirOptions,
    /// Frame of the points: that of the sensor, or compensated for motion [default: world; recordings
    /// and scan.mcap always have the frame of the sensor]
    #[arg(help_heading = "Output", long, value_enum)]
    frame: Option<FrameName>,
    /// Draw the waveform of one beam in the first sweep of a pulsed lidar
    #[arg(help_heading = "Output", long, value_name = "RING,COLUMN", value_parser = ring_and_column)]
    waveform: Option<[u32; 2]>,
    /// Print the summary as JSON
    #[arg(help_heading = "Output", long)]
    json: bool,
    /// Number of the sensor among several
    #[arg(skip)]
    number: u32,
}

impl Simulate {
    /// Simulates, writes the results and prints a summary.
    pub fn run(self) -> Result<(), Failure> {
        self.threads.install(|| self.simulate())
    }

    /// The implementation of the sweep pipeline.
    fn pipeline(&self) -> Pipeline {
        self.isa.unwrap_or_default()
    }

    fn simulate(&self) -> Result<(), Failure> {
        // Load
        let mut loaded = source::scene(self.scene.as_deref())?;
        match self.pipeline() {
            Pipeline::Reference => {}
            Pipeline::Vectorized(isa) => loaded.scene = loaded.scene.edit().with_isa(isa).finish(),
        }
        #[cfg(feature = "gpu")]
        let runs = Self {
            gpu: crate::gpu::Gpu::open(self.device, &loaded.scene)?,
            ..self.clone()
        }
        .each_sensor(&loaded)?;
        #[cfg(not(feature = "gpu"))]
        let runs = self.each_sensor(&loaded)?;

        // Record sweep by sweep
        if self.is_recording() {
            return match &runs[..] {
                [only] => only.record(&loaded),
                several => self.record_all(&loaded, several),
            };
        }

        // Simulate, write and report
        let mut pending = PendingFiles::default();
        let results = runs.into_iter().map(|run| run.run(&loaded, &mut pending));
        let results: Vec<SensorResults> = results.collect::<Result<_, _>>()?;
        pending.commit()?;
        self.report(&results)
    }

    /// Error for an option that would have no effect.
    fn check_options(&self, sensor: &Sensor) -> Result<(), Failure> {
        // Options without an effect on a recording
        let in_other_frame = self.frame.is_some_and(|frame| frame != FrameName::Sensor);
        let without_effect = [
            ("--waveform", self.waveform.is_some()),
            ("--formats", self.formats.is_some()),
            ("--frame", in_other_frame),
            ("--json", self.json),
        ];
        let without_effect = without_effect.iter().find(|(_, given)| *given);
        if let Some((option, _)) = without_effect.filter(|_| self.is_recording()) {
            return Err(Failure::argument(
                format!(
                    "{option} does not apply to a recording such as {}",
                    self.output.display()
                ),
                "omit the option, or give a folder, which receives a recording too",
            ));
        }

        // Options without an effect on a single file
        let is_file = is_file_name(&self.output);
        if self.formats.is_some() && is_file {
            return Err(Failure::argument(
                format!(
                    "--formats does not apply to the file {}",
                    self.output.display()
                ),
                "omit the option, or give a folder",
            ));
        }

        // Options for pulsed lidars
        if self.waveform.is_some() && !matches!(sensor.lidar.receiver, Receiver::Pulsed(_)) {
            return Err(Failure::OtherSensor {
                option: "--waveform",
                kind: "a lidar that sends no pulses",
                sensor: sensor.name.clone(),
            });
        }
        Ok(())
    }

    /// Arguments that the results depend on: neither threads nor output.
    fn command_line(&self) -> Vec<String> {
        // Scene and sensors
        let mut words = vec!["etendue".to_owned(), "simulate".to_owned()];
        words.extend(self.scene.as_ref().map(|scene| scene.display().to_string()));
        let mut add = |key: &str, value: String| words.extend([key.to_owned(), value]);
        for sensor in &self.sensor {
            add("--sensor", sensor.clone());
        }
        if let Some(pose) = &self.pose {
            add("--pose", pose.text.clone());
        }

        // Settings of the sweeps
        add("--sweeps", self.sweeps().to_string());
        add("--seed", self.seed.to_string());
        if let Some(paths) = self.paths {
            add("--paths", paths.to_string());
        }
        #[cfg(feature = "gpu")]
        if self.device != DeviceChoice::Cpu {
            add("--device", self.device.to_string());
        }
        if let Some(trajectory) = &self.motion.trajectory {
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

    /// Light transport.
    fn light(&self) -> LightModel {
        self.paths
            .map_or_else(LightModel::default, LightModel::with_paths)
    }

    /// Number of sweeps.
    fn sweeps(&self) -> u32 {
        self.sweeps.unwrap_or(1)
    }

    fn progress(&self) -> ProgressBar {
        progress(self.sweeps().into(), PROGRESS)
    }

    /// Prints a summary per sensor; as JSON a list for several.
    fn report(&self, all: &[SensorResults]) -> Result<(), Failure> {
        all.iter().for_each(SensorResults::print_speed);
        let summaries: Vec<Summary> = all.iter().map(Summary::of).collect();
        match &summaries[..] {
            [only] if self.json => print_json(only),
            several if self.json => print_json(&several),
            several => several.iter().try_for_each(|one| print_text(&one.text())),
        }
    }
}

/// Help on the output.
fn output_help() -> String {
    format!(
        "Folder for the files of --formats and run.json, or a single file: points ({}), a summary (.json) or a \
         picture (.png, .svg). A .csv or .npz file has one row per return; beams.csv or beams.npz have one row \
         per beam, with or without a return. An .mcap file is written in chunks of whole sweeps; in a folder it is \
         accompanied by a metadata.yaml for `ros2 bag`",
        formats::written()
    )
}

/// Frame of the points.
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
enum FrameName {
    /// Frame of the sensor at the time of each shot
    Sensor,
    /// Frame of the sensor at the start of each sweep
    SweepStart,
    /// Frame of the world
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
    numbers.ok_or_else(|| "expected the numbers of a ring and a column, as in 8,120".into())
}

/// Error if no beam hits a surface.
fn check_view(sweeps: &[BeamSweep], pose: &Isometry3<f64>) -> Result<(), Failure> {
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

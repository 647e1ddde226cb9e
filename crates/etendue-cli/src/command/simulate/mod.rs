//! `etendue simulate`.

mod summary;
mod write;

use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::pose::Pose;
use crate::source;
use clap::Args;
use etendue::formats::output::{Run, RunMetadata};
use etendue::formats::sensor::SensorModel;
use etendue::sensors::Sweep;
use etendue::sensors::cw::{CwLidar, Turn, simulate};
use etendue::sensors::transport::World;
use indicatif::{ProgressBar, ProgressStyle};
use nalgebra::Isometry3;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use summary::Summary;
use write::Results;

/// Arguments of `etendue simulate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: etendue simulate\n          \
    etendue simulate examples/small_house.toml --pose 1.5,0,0.4,90 --sweeps 20 -o house\n          \
    etendue simulate -o scan.npz --seed 7\n\n\
    The same scene, sensor, pose, sweeps and seed give the same bytes on any number of threads.\n\
    If no beam meets a surface this is an error and nothing is written; if surfaces are met but \
    none gives a range, there is a warning.")]
pub struct Simulate {
    /// Scene file (.toml) or mesh; without one, the built-in arena with a mirror and a pane
    scene: Option<PathBuf>,
    /// Name of a preset (see `etendue sensors`) or a sensor file (.toml)
    #[arg(long, default_value = "hokuyo-urg-04lx", value_name = "PRESET|FILE")]
    sensor: String,
    /// Where the sensor stands: x,y,z,yaw[,pitch,roll] in metres and degrees; without it, where
    /// the scene file says
    #[arg(long, allow_hyphen_values = true, value_name = "POSE")]
    pose: Option<Pose>,
    /// How many turns of the sensor
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    sweeps: u32,
    /// Seed of all noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for all formats, or a single .csv, .npz, .pcd, .ply, .json, .png or .svg file
    #[arg(short, long, default_value = "out", value_name = "DIR|FILE")]
    output: PathBuf,
    /// Worker threads; without it, one a processor
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

impl Simulate {
    /// Simulates, writes and sums up.
    pub fn run(self) -> Result<(), Failure> {
        let threads = self.threads.map_or(0, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        pool.install(|| self.run_here())
    }

    fn run_here(&self) -> Result<(), Failure> {
        let formats = write::formats(&self.output)?;
        let (sensor, sensor_source) = source::sensor(&self.sensor)?;
        let SensorModel::ContinuousWave(lidar) = &sensor.model;
        let loaded = source::scene(self.scene.as_deref())?;
        let pose = self.pose.map_or(loaded.world_from_sensor, |Pose(pose)| pose);

        let world = World::at_wavelength(&loaded.scene, lidar.wavelength)?;
        let start = Instant::now();
        let sweeps = self.sweeps(&world, lidar, &pose);
        let elapsed = start.elapsed();
        check_view(&sweeps, &pose)?;

        let run = Run {
            scene: &loaded.scene,
            sweeps: &sweeps,
        };
        let mut metadata = RunMetadata::new(run, self.seed, loaded.source.clone(), sensor_source);
        metadata.command = std::env::args().collect();
        metadata.warnings.clone_from(&loaded.warnings);
        metadata.warnings.extend(summary::no_range(&metadata.counts));
        let results = Results {
            run,
            metadata: &metadata,
            max_range: lidar.receiver.ambiguity.farthest,
        };
        let files = results.write(&formats)?;
        self.report(lidar, elapsed, &Summary::of(&metadata, &sweeps, &files))
    }

    fn sweeps(&self, world: &World<f64>, lidar: &CwLidar<f64>, pose: &Isometry3<f64>) -> Vec<Sweep> {
        let progress = ProgressBar::new(self.sweeps.into()).with_style(progress_style());
        let sweeps = (0..self.sweeps).map(|index| {
            let turn = Turn {
                seed: self.seed,
                index,
                start: f64::from(index) * lidar.turn_time,
                with_truth: true,
                ..Turn::default()
            };
            progress.inc(1);
            simulate(world, lidar, &turn, |_| *pose)
        });
        let sweeps = sweeps.collect();
        progress.finish_and_clear();
        sweeps
    }

    fn report(&self, lidar: &CwLidar<f64>, elapsed: Duration, summary: &Summary) -> Result<(), Failure> {
        // The truth costs one ray a beam more.
        let rays_per_sweep = lidar.beams.len() * (lidar.pattern.sub_rays().len() + 1);
        let rays = rays_per_sweep as f64 * f64::from(self.sweeps);
        let seconds = elapsed.as_secs_f64();
        eprintln!(
            "{} sweeps in {seconds:.3} s: {:.0} sweeps/s, {:.2} million rays/s (those that leave the sensor)",
            self.sweeps,
            f64::from(self.sweeps) / seconds,
            rays / seconds * 1e-6,
        );
        for warning in summary.warnings {
            eprintln!("warning: {warning}");
        }
        if self.json {
            print_json(summary)
        } else {
            print(&summary.text())
        }
    }
}

fn progress_style() -> ProgressStyle {
    ProgressStyle::with_template("simulating {bar:40} {pos}/{len} sweeps, {eta} left")
        .expect("the template is well formed")
}

/// An empty result is an error: no beam met anything.
fn check_view(sweeps: &[Sweep], pose: &Isometry3<f64>) -> Result<(), Failure> {
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

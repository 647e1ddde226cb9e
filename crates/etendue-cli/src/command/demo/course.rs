//! `etendue demo course`.

use super::world::{build, invalid_world};
use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::print_report;
use crate::view::drive_view::{DriveLayer, DriveView, LayerStyle};
use clap::Args;
use etendue::config::robot::preset_device;
use etendue::scene::Scene;
use etendue::sensors::rig::Rig;
use etendue_experiments::demo::course::{self, RaceResult, car, race};
use etendue_plot::{Color, Drawing};
use nalgebra::Isometry3;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Lidar on the roof of the car.
const LIDAR: &str = "slamtec-rplidar-a2";

/// Arguments of `etendue demo course`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: etendue demo course\n          \
    etendue demo course --seeds 20\n\n\
    The car segments its scans into the left and the right barrier, and steers to the middle between \
    them with a PID controller, without a map of the course.")]
pub struct Course {
    /// Seed of the course and of all noise; the first of --seeds
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of courses with consecutive seeds
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Number of laps per course
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    laps: u32,
    /// Folder for a picture of the first course and the results
    #[arg(short, long, default_value = "out/course", value_name = "DIR")]
    output: PathBuf,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// Printed results of a course.
#[derive(Serialize)]
struct Outcome {
    seed: u64,
    length_m: f64,
    laps: u32,
    lap_times_s: Vec<f64>,
    closest_approach_m: f64,
    untouched: bool,
    sweeps: u32,
    duration_s: f64,
    /// It depends on the computer: it is printed, and no part of the JSON.
    #[serde(skip)]
    real_time_factor: f64,
}

impl Course {
    /// Simulates the car on every course and prints the results.
    pub fn run(self) -> Result<(), Failure> {
        let lidar = preset_device(LIDAR).expect("a preset of the library");
        let rig = car(lidar)?;
        let mut outcomes = Vec::new();
        let mut folder = Folder::new(&self.output);
        for seed in (0..self.seeds).map(|i| self.seed.wrapping_add(i)) {
            let (outcome, drawing) = self.drive(&rig, seed)?;
            if outcomes.is_empty() {
                folder.picture("course", &drawing)?;
            }
            outcomes.push(outcome);
        }
        folder.json("course.json", &outcomes)?;
        let files = folder.commit()?;
        print_report(self.json, &outcomes, |outcomes| self.text(outcomes, &files))
    }

    fn text(&self, outcomes: &[Outcome], files: &[PathBuf]) -> String {
        let mut text = String::new();
        for outcome in outcomes {
            let _ = writeln!(text, "{}", outcome.text());
        }
        let finished = outcomes
            .iter()
            .filter(|o| o.untouched && o.laps >= self.laps);
        let _ = writeln!(
            text,
            "{} of {} finished {} laps without contact",
            finished.count(),
            outcomes.len(),
            self.laps
        );
        for file in files {
            let _ = writeln!(text, "  wrote {}", file.display());
        }
        text
    }

    /// Generates and drives a course.
    fn drive(&self, rig: &Rig, seed: u64) -> Result<(Outcome, Drawing), Failure> {
        let course = course::Course::generate(seed)?;
        let parts = course.parts().map_err(|error| invalid_world(&error))?;
        let scene = build(&parts)?;
        let start = Instant::now();
        let race = race(&course, &scene, rig, self.laps, seed)?;
        let elapsed = start.elapsed().as_secs_f64();
        let outcome = Outcome {
            seed,
            length_m: course.length(),
            laps: race.laps,
            lap_times_s: race.lap_times.clone(),
            closest_approach_m: race.closest,
            untouched: race.untouched(),
            sweeps: race.sweeps,
            duration_s: race.duration,
            real_time_factor: race.duration / elapsed,
        };
        let drawing = picture(&course, &scene, &race, seed);
        Ok((outcome, drawing))
    }
}

impl Outcome {
    fn text(&self) -> String {
        let times = self.lap_times_s.iter().map(|time| format!("{time:.1}"));
        format!(
            "seed {}: {} laps of {:.1} m in {} s, closest approach {:.0} mm, {}; {} sweeps, {:.1} \
             times real time",
            self.seed,
            self.laps,
            self.length_m,
            times.collect::<Vec<_>>().join(", "),
            self.closest_approach_m * 1e3,
            if self.untouched {
                "no contact"
            } else {
                "CONTACT"
            },
            self.sweeps,
            self.real_time_factor
        )
    }
}

fn picture(course: &course::Course, scene: &Scene, race: &RaceResult, seed: u64) -> Drawing {
    // Layers over the scene: the middle line and the driven trajectory
    let from_above = |points: &[nalgebra::Point2<f64>]| -> Vec<[f64; 2]> {
        points.iter().map(|point| [point.x, point.y]).collect()
    };
    let mut middle = from_above(&course.middle);
    middle.extend(middle.first().copied());
    let line = |name: &str, points, color| DriveLayer {
        name: name.into(),
        points,
        style: LayerStyle::Line(color),
    };

    // Draw them with the scene as the lidar sees it from the start
    DriveView {
        title: "A course driven by lidar only",
        subtitle: &format!(
            "seed {seed}: {} laps, closest approach {:.0} mm",
            race.laps,
            race.closest * 1e3
        ),
        scene,
        world_from_sensor: course.start() * Isometry3::translation(0.0, 0.0, 0.2),
        layers: vec![
            line("middle of the course", middle, Color::hex(0xB8B8B8)),
            line(
                "trajectory of the rear axle",
                from_above(&race.path),
                Color::hex(0xD55E00),
            ),
        ],
    }
    .draw()
}

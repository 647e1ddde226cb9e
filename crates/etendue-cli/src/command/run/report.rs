//! Summary of a run.

use etendue::config::robot::LoadedRobot;
use etendue::sensors::rig::{Event, seconds};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Summary of a run.
#[derive(Serialize)]
pub struct Report {
    robot: String,
    scene: String,
    seed: u64,
    /// Duration of the run, s; shorter where Ctrl-C ended it.
    pub duration_s: f64,
    /// Simulated time divided by computing time.
    /// Depends on the computer: it is printed, and no part of the JSON.
    #[serde(skip)]
    real_time_factor: f64,
    outputs: Vec<OutputReport>,
    /// Arrival time of the last data, ns.
    #[serde(skip)]
    last_arrival: i64,
    /// Written files.
    pub files: Vec<PathBuf>,
}

/// Data of one output of a sensor.
#[derive(Serialize)]
struct OutputReport {
    name: String,
    topic: String,
    count: u32,
    /// Arrival times of the first and the last data, s.
    arrivals_s: Option<[f64; 2]>,
    #[serde(skip)]
    address: [usize; 2],
}

impl Report {
    /// Summary without data yet.
    pub fn new(robot: &LoadedRobot, duration_s: f64, seed: u64) -> Self {
        let sensors = robot.rig.sensors().iter().enumerate();
        let outputs = sensors.flat_map(|(sensor, mounted)| {
            let names = mounted.outputs().zip(&robot.topics[sensor]).enumerate();
            names.map(move |(output, (name, topic))| OutputReport {
                name: name.into(),
                topic: topic.clone(),
                count: 0,
                arrivals_s: None,
                address: [sensor, output],
            })
        });
        Self {
            robot: robot.name.clone(),
            scene: robot.scene.name.clone(),
            seed,
            duration_s,
            real_time_factor: 0.0,
            outputs: outputs.collect(),
            last_arrival: 0,
            files: Vec::new(),
        }
    }

    /// Counts data, in the order of their arrival.
    pub fn count(&mut self, event: &Event) {
        self.last_arrival = event.capture.arrival;
        let address = [event.sensor, event.output];
        let found = self
            .outputs
            .iter_mut()
            .find(|output| output.address == address);
        if let Some(output) = found {
            let arrival = seconds(event.capture.arrival);
            let first = output.arrivals_s.map_or(arrival, |[first, _]| first);
            output.arrivals_s = Some([first, arrival]);
            output.count += 1;
        }
    }

    /// Arrival time of the last data, s; zero without any.
    pub fn last_arrival(&self) -> f64 {
        self.last_arrival as f64 / 1e9
    }

    /// Sets the computing time.
    pub fn set_elapsed(&mut self, elapsed: Duration) {
        self.real_time_factor = self.duration_s / elapsed.as_secs_f64();
    }

    /// The report as text.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{} in {}, {} s, seed {}: {:.2} times real time\n",
            self.robot, self.scene, self.duration_s, self.seed, self.real_time_factor
        );
        for output in &self.outputs {
            let _ = match output.arrivals_s {
                Some([first, last]) => writeln!(
                    text,
                    "  {} ({}): {} from {first:.3} to {last:.3} s",
                    output.name, output.topic, output.count
                ),
                None => writeln!(text, "  {} ({}): no data", output.name, output.topic),
            };
        }
        for file in &self.files {
            let _ = writeln!(text, "  wrote {}", file.display());
        }
        text
    }
}

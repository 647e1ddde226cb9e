//! Recording of one lidar, sweep by sweep in constant memory.

use super::engine::Engine;
use super::scan::ScanRun;
use super::summary;
use crate::bag;
use crate::failure::Failure;
use crate::finite;
use crate::interrupt;
use crate::output::{counted, print, warn};
use etendue::io::ros2::{LidarRecorder, LidarTopics};
use etendue::sensors::lidar::{Air, Frame, Sweep, SweepSettings};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

impl ScanRun<'_> {
    /// Records sweep by sweep in constant memory; the file is readable up to its last chunk. Ctrl-C ends the
    /// recording after a whole sweep.
    pub fn record(&self) -> Result<(), Failure> {
        let guard = interrupt::writing();
        let world = &self.world()?;
        let path = &self.arguments.output;
        // Check before the file is created, so that an empty view does not overwrite an older
        // recording. With weather, the air may be the only target.
        if self.air == Air::default() {
            self.check_in_front(world)?;
        }

        // Simulate and record each sweep
        let progress = self.arguments.progress();
        let recorder = LidarRecorder::create(path, LidarTopics::default())?;
        let mut recorder = recorder.with_classes(&self.loaded.classes.of_object);
        let mut sweeps = 0;
        let mut points = 0;
        let mut beams = 0;
        let mut scan = Sweep::default();
        let mut engine = Engine::new(self.arguments, world, self.lidar)?;
        while sweeps < self.sweeps() && !interrupt::requested() {
            self.scan_into(&mut engine, sweeps, &mut scan)?;
            finite::check_sweep(&scan)?;
            recorder.record(&scan, self.lidar, &|time| self.trajectory.at(time))?;
            sweeps += 1;
            points += scan.points.len();
            beams += scan.shots.len();
            progress.inc(1);
        }
        recorder.record_last_poses()?;
        let bag = end_recording(recorder, path)?;
        progress.finish_and_clear();
        engine.report();

        // Report
        let silent = (points == 0).then(|| silent(beams, &self.air));
        warn(self.warnings().into_iter().chain(silent));
        let sensor = &self.lidar.name;
        print(&format!(
            "{sensor}, {}, {points} points\n  wrote {}\n{bag}",
            counted(sweeps as usize, "sweep"),
            path.display()
        ))?;
        let until = f64::from(sweeps) * self.lidar.sweep_duration();
        interrupt::ended(guard, path, until)
    }

    /// Sweep in the frame of the sensor, as in recordings, into reused memory.
    pub fn scan_into(
        &self,
        engine: &mut Engine,
        sweep: u32,
        scan: &mut Sweep,
    ) -> Result<(), Failure> {
        let run = SweepSettings {
            frame: Frame::Sensor,
            // Recordings contain returns only
            with_truth: false,
            ..self.settings(sweep)
        };
        let pose = |t| self.trajectory.at(t);
        engine.simulate(&run, pose, scan)
    }
}

/// Warning that no beam has a point.
pub fn silent(beams: usize, air: &Air) -> String {
    let why = summary::reasons_without_ranges(air);
    format!("none of {beams} beams has a point: {why}")
}

/// Ends a recording. In a folder it is accompanied by a `metadata.yaml`; returns a line about that file.
pub fn end_recording(
    recorder: LidarRecorder<BufWriter<File>>,
    path: &Path,
) -> Result<String, Failure> {
    recorder.finish()?;
    let metadata = bag::describe(path)?;
    Ok(metadata.map_or_else(String::new, |path| format!("  wrote {}\n", path.display())))
}

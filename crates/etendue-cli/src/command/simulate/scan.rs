//! Run of one lidar.

use super::Simulate;
use super::results::{PendingFiles, SensorResults};
use super::summary;
use super::trajectory::SensorTrajectory;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{print, warn};
use crate::view::range_image;
use crate::view::top_view::TopView;
use crate::view::waveform_plot::WaveformPlot;
use etendue::config::profile::other_sensors;
use etendue::config::scene::LoadedScene;
use etendue::io::FormatError;
use etendue::io::output::{OutputSet, Run, RunMetadata, SourceMetadata};
use etendue::io::points::{PointFormat, lossy_fields};
use etendue::io::ros2::{Recorder, Topics};
use etendue::io::scan_log::{write_sweeps_csv, write_sweeps_npz};
use etendue::io::table::{Encoding, PointTable};
use etendue::scene::Ray;
use etendue::sensors::PlanarSweep;
use etendue::sensors::lidar::{
    self, Air, Frame, Lidar, Receiver, Return, Shot, Sweep, SweepScratch, SweepSettings,
    simulate_into,
};
use etendue::sensors::transport::World;
use etendue_plot::{Drawing, png, svg};
use std::cell::OnceCell;
use std::fs::File;
use std::io::{BufWriter, Cursor};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Files of a folder.
const FOLDER: [&str; 17] = [
    "scan.csv",
    "scan.npz",
    "beams.csv",
    "beams.npz",
    "scan.pcd",
    "grid.pcd",
    "scan.ply",
    "scan.las",
    "scan.e57",
    "scan.bin",
    "scan.mcap",
    "metadata.yaml",
    "run.json",
    "scan.png",
    "scan.svg",
    "range.png",
    "intensity.png",
];

/// Run of a lidar.
pub struct ScanRun<'a> {
    pub arguments: &'a Simulate,
    pub lidar: &'a Lidar,
    pub loaded: &'a LoadedScene,
    pub sensor_source: SourceMetadata,
    pub trajectory: SensorTrajectory,
    pub air: Air,
}

/// Endings of single files that hold no points.
const OTHER_ENDINGS: [&str; 3] = ["json", "png", "svg"];

/// Error if the output is a file of an unknown format.
fn check_ending(output: &Path) -> Result<(), Failure> {
    let ending = output.extension().filter(|_| !output.is_dir());
    let known = ending.is_none_or(|ending| {
        let mut others = OTHER_ENDINGS.iter();
        others.any(|known| ending.eq_ignore_ascii_case(known))
            || PointFormat::of_ending(output).is_some_and(PointFormat::is_written)
    });
    known.then_some(()).ok_or_else(|| Failure::Ending {
        path: output.into(),
    })
}

impl ScanRun<'_> {
    /// Simulates the lidar and writes its results.
    pub fn run(self, pending: &mut PendingFiles) -> Result<SensorResults, Failure> {
        // Simulate
        check_ending(&self.arguments.output)?;
        let world = self.world()?;
        let start = Instant::now();
        let scans = self.scans(&world)?;
        let elapsed = start.elapsed();

        // Check that the sensor sees something
        let sweeps: Vec<PlanarSweep> = scans.iter().map(Sweep::first_echoes).collect();
        if super::check_view(&sweeps, &self.trajectory.start).is_err() {
            self.check_in_front(&world)?;
        }

        // Write
        let run = Run {
            scene: &self.loaded.scene,
            sweeps: &sweeps,
        };
        let mut metadata = self.metadata(run);
        metadata.warnings.extend(self.folded(&scans));
        let files = pending.write(|outputs| self.write(outputs, &world, &scans, run, &metadata))?;

        // Number of rays; the ground truth on the beam axis needs one more per shot
        let rays_per_shot = self.lidar.beam.ray_count() + usize::from(self.has_phase_receiver());
        let shots: usize = scans.iter().map(|scan| scan.shots.len()).sum();
        Ok(SensorResults {
            files,
            metadata,
            has_echoes: !self.has_phase_receiver(),
            rays: (shots * rays_per_shot) as f64,
            elapsed,
            sweeps,
        })
    }

    /// World at the wavelength of the lidar; an error if the trajectory is too short.
    pub fn world(&self) -> Result<World<'_, f64>, Failure> {
        self.trajectory
            .check(f64::from(self.sweeps()) * self.lidar.sweep_duration())?;
        let world = World::at_wavelength(&self.loaded.scene, self.lidar.wavelength)?
            .with_profiles(&self.loaded.profiles);
        Ok(world.in_light(&self.loaded.ambient))
    }

    pub fn sweeps(&self) -> u32 {
        self.arguments.sweeps
    }

    /// Whether beams are measured by phase: one range each, which several surfaces share.
    fn has_phase_receiver(&self) -> bool {
        matches!(self.lidar.receiver, Receiver::Phase(_))
    }

    fn settings(&self, sweep: u32) -> SweepSettings {
        SweepSettings {
            seed: self.arguments.seed,
            sensor: self.arguments.number,
            sweep,
            frame: self.arguments.frame.unwrap_or_default().into(),
            light: self.arguments.light(),
            air: self.air.clone(),
            pipeline: self.arguments.pipeline(),
            with_truth: self.has_phase_receiver(),
            ..SweepSettings::default()
        }
    }

    fn scans(&self, world: &World<f64>) -> Result<Vec<Sweep>, Failure> {
        let progress = self.arguments.progress();
        let mut scratch = SweepScratch::default();
        let scans = (0..self.arguments.sweeps).map(|sweep| {
            progress.inc(1);
            interrupt::check()?;
            let run = self.settings(sweep);
            let mut scan = Sweep::default();
            let pose = |t| self.trajectory.at(t);
            simulate_into(world, self.lidar, &run, pose, &mut scan, &mut scratch);
            Ok(scan)
        });
        let scans = scans.collect();
        progress.finish_and_clear();
        scans
    }

    /// Error if no beam axis hits a surface, which results without ranges do not show.
    fn check_in_front(&self, world: &World<f64>) -> Result<(), Failure> {
        let meets = |shot: &Shot| {
            let pose = self.trajectory.at(shot.time);
            let ray = Ray {
                time: shot.time,
                ..Ray::new(pose * shot.origin, pose.rotation * shot.direction())
            };
            world.scene().closest_hit(&ray).is_some()
        };
        let mut beams = 0;
        for sweep in 0..self.sweeps() {
            let shots = self.lidar.shots(sweep);
            if shots.iter().any(meets) {
                return Ok(());
            }
            beams += shots.len();
        }
        Err(Failure::NothingInFront {
            beams,
            position: self.trajectory.start.translation.vector.into(),
        })
    }

    /// Records sweep by sweep in constant memory; the file is readable at any time. Ctrl-C ends the
    /// recording after a whole sweep.
    pub fn record(&self) -> Result<(), Failure> {
        let _guard = interrupt::writing();
        let world = &self.world()?;
        let path = &self.arguments.output;
        // Before the file is created, so that an empty view does not overwrite an older one. With
        // weather, the air may be the only target.
        if self.air == Air::default() {
            self.check_in_front(world)?;
        }

        // Simulate and record each sweep
        let progress = self.arguments.progress();
        let recorder = Recorder::create(path, Topics::default())?;
        let mut recorder = recorder.with_classes(&self.loaded.classes.of_object);
        let mut sweeps = 0;
        let mut points = 0;
        let mut beams = 0;
        let mut scan = Sweep::default();
        let mut scratch = SweepScratch::default();
        while sweeps < self.sweeps() && !interrupt::requested() {
            self.scan_into(world, sweeps, &mut scan, &mut scratch);
            recorder.record(&scan, self.lidar)?;
            sweeps += 1;
            points += scan.points.len();
            beams += scan.shots.len();
            progress.inc(1);
        }
        let stopped = interrupt::requested();
        let bag = end_recording(recorder, path)?;
        progress.finish_and_clear();

        // Report
        let silent = (points == 0).then(|| silent(beams, &self.air));
        warn(self.warnings().into_iter().chain(silent));
        let sensor = &self.lidar.name;
        print(&format!(
            "{sensor}, sweeps: {sweeps}, {points} points\n  wrote {}\n{bag}",
            path.display()
        ))?;
        ended(stopped)
    }

    /// Sweep in the frame of the sensor, as in recordings.
    pub fn scan(&self, world: &World<f64>, sweep: u32) -> Sweep {
        let mut scan = Sweep::default();
        self.scan_into(world, sweep, &mut scan, &mut SweepScratch::default());
        scan
    }

    /// [`ScanRun::scan`] into reused memory.
    fn scan_into(
        &self,
        world: &World<f64>,
        sweep: u32,
        scan: &mut Sweep,
        scratch: &mut SweepScratch,
    ) {
        let run = SweepSettings {
            frame: Frame::Sensor,
            ..self.settings(sweep)
        };
        let pose = |t| self.trajectory.at(t);
        simulate_into(world, self.lidar, &run, pose, scan, scratch);
    }

    /// Warnings about the scene and about light without an effect on this sensor.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.loaded.warnings.clone();
        let is_open = match self.lidar.receiver {
            Receiver::Pulsed(receiver) => receiver.window.is_some(),
            Receiver::Phase(receiver) => receiver.window.is_some() && receiver.noise.shot > 0.0,
            _ => false,
        };
        if !self.loaded.ambient.is_dark() && !is_open {
            warnings.push(
                "the ambient light of the scene has no effect on this sensor: its file has no window of the \
                 receiver, or no shot noise"
                    .into(),
            );
        }
        warnings
    }

    /// Warning about folded ranges of an FMCW receiver, if any.
    fn folded(&self, scans: &[Sweep]) -> Option<String> {
        let Receiver::Fmcw(fmcw) = self.lidar.receiver else {
            return None;
        };
        let points = || scans.iter().flat_map(|scan| &scan.points);
        let far = |point: &&Return| {
            let source = point.source.map_or(point.range, |source| source.range);
            (point.range - source).abs() > 3.0 * fmcw.resolution()
        };
        let folded = points().filter(far).count();
        (folded > 0).then(|| {
            format!(
                "{folded} of {} echoes have wrong ranges and velocities: their Doppler shift is greater \
                 than the beat frequency of their range, and folds; a wider bandwidth_ghz or a shorter \
                 chirp_us separates them",
                points().count()
            )
        })
    }

    fn metadata(&self, run: Run) -> RunMetadata {
        let scene = self.arguments.scene_source(self.loaded);
        let sensor = self.sensor_source.clone();
        let mut metadata = RunMetadata::new(run, self.arguments.seed, scene, sensor);
        metadata.command = self.arguments.command_line();
        metadata.classes.clone_from(&self.loaded.classes.names);
        metadata.warnings = self.warnings();
        metadata
            .warnings
            .extend(summary::no_range(&metadata.counts, &self.air));
        let others = other_sensors(self.loaded, &self.lidar.name);
        metadata.warnings.extend(others);
        metadata
    }

    fn write(
        &self,
        outputs: &mut OutputSet,
        world: &World<f64>,
        scans: &[Sweep],
        run: Run,
        metadata: &RunMetadata,
    ) -> Result<(), Failure> {
        // Paths of the files
        let output = &self.arguments.output;
        let single = output.extension().is_some() && !output.is_dir();
        let paths: Vec<PathBuf> = if single {
            vec![output.clone()]
        } else {
            FOLDER.iter().map(|name| output.join(name)).collect()
        };

        // Files of all sweeps
        let files = Files {
            table: OnceCell::new(),
            scans,
            metadata,
            picture: &|| self.picture(run, scans, metadata),
            lidar: self.lidar,
            classes: &self.loaded.classes.of_object,
            run,
            alone: single,
        };
        for path in &paths {
            files.add(outputs, path)?;
            interrupt::check()?;
        }

        // The waveform of one beam
        if let Some(beam) = self.arguments.waveform {
            let drawing = self.waveform(world, &scans[0], beam)?;
            let path = if single {
                output.with_extension("waveform.svg")
            } else {
                output.join("waveform.svg")
            };
            let svg = svg::write(&drawing);
            outputs.add(&path, |file| file.write_all(svg.as_bytes()))?;
        }
        Ok(())
    }

    /// Picture of the waveform of one beam of the first sweep with its returns.
    fn waveform(
        &self,
        world: &World<f64>,
        scan: &Sweep,
        [ring, column]: [u32; 2],
    ) -> Result<Drawing, Failure> {
        let Receiver::Pulsed(receiver) = self.lidar.receiver else {
            return Err(Failure::usage(
                format!(
                    "the sensor {} has no waveforms: it sends no pulses",
                    self.lidar.name
                ),
                "leave --waveform out, or choose a pulsed lidar",
            ));
        };

        // Find the shot and simulate its waveform
        let settings = self.settings(0);
        let is_beam = |shot: Shot| {
            let channel = &self.lidar.channels[usize::from(shot.channel)];
            u32::from(channel.ring) == ring && shot.column == column
        };
        let simulated = scan.shots.iter().position(is_beam).and_then(|shot| {
            let pose = |t| self.trajectory.at(t);
            let waveform = lidar::waveform(world, self.lidar, &settings, shot, pose)?;
            Some((shot, waveform))
        });
        let Some((shot, waveform)) = simulated else {
            return Err(Failure::NoWaveform {
                ring,
                column,
                rings: self.lidar.channels.len(),
                columns: self.lidar.columns(),
            });
        };

        // Draw it with the returns of the shot
        let channel = usize::from(scan.shots.at(shot).channel);
        let offset = self.lidar.channels[channel].range_offset;
        let points = scan.points_of(shot).iter();
        let plot = WaveformPlot {
            title: &format!("{}: ring {ring}, column {column}", self.lidar.name),
            waveform: &waveform,
            threshold: receiver.threshold,
            echoes: points
                .map(|point| [point.range - offset, point.power])
                .collect(),
        };
        Ok(plot.draw())
    }

    /// Top view. A lidar with one channel: all sweeps. A lidar with several: the ring closest to
    /// horizontal of the first sweep.
    fn picture(&self, run: Run, scans: &[Sweep], metadata: &RunMetadata) -> Drawing {
        // Select the beams closest to horizontal
        let slope = |shot: Shot| {
            let channel = &self.lidar.channels[usize::from(shot.channel)];
            channel.elevation.abs()
        };
        let smallest_slope = scans[0].shots.iter().map(slope).fold(f64::MAX, f64::min);
        let is_planar = self.lidar.channels.len() == 1;
        let shown = if is_planar { run.sweeps.len() } else { 1 };
        let mut sweeps = run.sweeps[..shown].to_vec();
        for (sweep, scan) in sweeps.iter_mut().zip(scans) {
            let mut keep = scan.shots.iter().map(|shot| slope(shot) <= smallest_slope);
            sweep.measurements.retain(|_| keep.next().unwrap_or(false));
            // Several returns of a beam are no mixed pixel
            for measurement in &mut sweep.measurements {
                if !self.has_phase_receiver() {
                    measurement.returns = measurement.returns.min(1);
                }
            }
        }

        // Draw them
        let beams = match (is_planar, shown) {
            (false, _) => "ring closest to horizontal".to_owned(),
            (true, 1) => "one sweep".to_owned(),
            (true, count) => format!("{count} sweeps"),
        };
        TopView {
            title: &format!("{} in {}", metadata.sensor.name, metadata.scene.name),
            subtitle: &format!("top view, {beams}, seed {}", metadata.seed),
            scene: run.scene,
            sweeps: &sweeps,
            max_range: self.lidar.limits.far,
        }
        .draw()
    }
}

/// Warning that no beam has a point.
pub fn silent(beams: usize, air: &Air) -> String {
    let why = summary::why_nothing(air);
    format!("none of {beams} beams has a point: {why}")
}

/// Result of a recording that Ctrl-C may have stopped.
pub fn ended(stopped: bool) -> Result<(), Failure> {
    if stopped {
        return Err(Failure::StoppedRecording);
    }
    Ok(())
}

/// Data for the files of a run.
struct Files<'a> {
    table: OnceCell<PointTable>,
    scans: &'a [Sweep],
    metadata: &'a RunMetadata,
    run: Run<'a>,
    picture: &'a dyn Fn() -> Drawing,
    lidar: &'a Lidar,
    classes: &'a [i32],
    /// Whether the output is a single file.
    alone: bool,
}

impl Files<'_> {
    /// Adds a file by its name and ending.
    fn add(&self, outputs: &mut OutputSet, path: &Path) -> Result<(), Failure> {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        let ending = name.rsplit('.').next().unwrap_or_default();

        // Tables of points with semantic classes
        let classified = |mut table: PointTable| {
            table.classify(self.classes);
            table
        };
        let all = || classified(PointTable::of_scans(self.scans));
        let table = || self.table.get_or_init(all);

        // Write the format of the name
        match (name.as_str(), ending) {
            ("range.png", _) => {
                let image = range_image::png(&self.scans[0])?;
                outputs.add(path, |file| file.write_all(&image))?;
            }
            ("intensity.png", _) => {
                let image = range_image::intensity_png(&self.scans[0])?;
                outputs.add(path, |file| file.write_all(&image))?;
            }
            ("grid.pcd", _) => {
                let grid = classified(PointTable::of_scan_grid(&self.scans[0]));
                PointFormat::Pcd.write(outputs, path, &grid, Encoding::Binary)?;
            }
            (name, "csv") if name.ends_with("beams.csv") => {
                write_sweeps_csv(outputs, path, self.run)?;
            }
            (name, "npz") if name.ends_with("beams.npz") => {
                write_sweeps_npz(outputs, path, self.run)?;
            }
            (_, "mcap") => self.add_mcap(outputs, path)?,
            ("metadata.yaml", _) => {
                let bag = self.recording()?.bag_metadata("scan.mcap");
                outputs.add(path, |file| file.write_all(bag.as_bytes()))?;
            }
            (_, "json") => self.metadata.write(outputs, path)?,
            (_, "svg") => {
                let svg = svg::write(&(self.picture)());
                outputs.add(path, |file| file.write_all(svg.as_bytes()))?;
            }
            (_, "png") => {
                let png = png::render(&(self.picture)(), 2.0)?;
                outputs.add(path, |file| file.write_all(&png))?;
            }
            _ => {
                let format = PointFormat::of_ending(path).filter(|format| format.is_written());
                let format = format.ok_or_else(|| Failure::Ending { path: path.into() })?;
                self.add_table(outputs, path, format, table())?;
            }
        }
        Ok(())
    }

    /// Adds the points in a format, and reports values that it changes; for a single file, also
    /// fields that it drops.
    fn add_table(
        &self,
        outputs: &mut OutputSet,
        path: &Path,
        format: PointFormat,
        table: &PointTable,
    ) -> Result<(), FormatError> {
        let fields = lossy_fields(table, format);
        for warning in &fields.warnings {
            eprintln!("warning: {}: {warning}", path.display());
        }
        if self.alone && !fields.dropped.is_empty() {
            let dropped = fields.dropped.join(" ");
            eprintln!("{} does not store the fields {dropped}", path.display());
        }
        format.write(outputs, path, table, Encoding::Binary)
    }

    fn add_mcap(&self, outputs: &mut OutputSet, path: &Path) -> Result<(), FormatError> {
        let bytes = self.recording()?.into_bytes()?;
        outputs.add(path, |file| file.write_all(&bytes))
    }

    /// Recording in the frame of the sensor, which its messages name.
    fn recording(&self) -> Result<Recorder<Cursor<Vec<u8>>>, FormatError> {
        let recorder = Recorder::in_memory(Topics::default())?;
        let mut recorder = recorder.with_classes(self.classes);
        for scan in self.scans {
            recorder.record(&scan.in_sensor_frame(self.lidar), self.lidar)?;
        }
        Ok(recorder)
    }
}

/// Ends a recording. In a folder it is accompanied by a `metadata.yaml`, with which ROS 2 opens the
/// folder; returns a line about that file.
pub fn end_recording(recorder: Recorder<BufWriter<File>>, path: &Path) -> Result<String, Failure> {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let bag = recorder.bag_metadata(&file);
    recorder.finish()?;
    let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    else {
        return Ok(String::new());
    };
    let metadata = folder.join("metadata.yaml");
    // The metadata of another bag is kept
    if std::fs::read_to_string(&metadata).is_ok_and(|text| !text.contains(&*file)) {
        return Ok(String::new());
    }
    let mut outputs = OutputSet::new();
    outputs.add(&metadata, |file| file.write_all(bag.as_bytes()))?;
    outputs.commit()?;
    Ok(format!("  wrote {}\n", metadata.display()))
}

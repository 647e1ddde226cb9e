//! Run of one lidar.

use super::Simulate;
use super::ending::check_ending;
use super::engine::Engine;
use super::results::{PendingFiles, RangeErrors, SensorResults};
use super::selection;
use super::summary;
use super::trajectory::SensorTrajectory;
use crate::failure::Failure;
use crate::finite;
use crate::folder::is_file_name;
use crate::interrupt;
use crate::memory;
use crate::output::remark;
use etendue::config::scene::{LoadedScene, obstruction_warning, other_sensors};
use etendue::io::output::{RunMetadata, SimulatedSweeps, SourceMetadata};
use etendue::physics::pulse::ReturnMode;
use etendue::physics::statistics::median;
use etendue::scene::{CastScratch, Ray};
use etendue::sensors::BeamSweep;
use etendue::sensors::lidar::{
    Air, EchoModel, Lidar, Receiver, Return, Shot, Sweep, SweepSettings,
};
use etendue::sensors::transport::World;
use nalgebra::Point3;
use std::time::Instant;

/// Run of a lidar.
pub struct ScanRun<'a> {
    pub arguments: &'a Simulate,
    pub lidar: &'a Lidar,
    pub loaded: &'a LoadedScene,
    pub sensor_source: SourceMetadata,
    pub trajectory: SensorTrajectory,
    pub air: Air,
}

impl ScanRun<'_> {
    /// Simulates the lidar and writes its results.
    pub fn run(self, pending: &mut PendingFiles) -> Result<SensorResults, Failure> {
        // Announce large results
        check_ending(&self.arguments.output)?;
        self.announce_size()?;

        // Simulate
        let world = self.world()?;
        let start = Instant::now();
        let scans = self.scans(&world)?;
        let elapsed = start.elapsed();
        scans.iter().try_for_each(finite::check_sweep)?;

        // Check that there is a surface in front of the sensor
        let sweeps: Vec<BeamSweep> = scans.iter().map(Sweep::first_echoes).collect();
        if super::check_view(&sweeps, &self.trajectory.start).is_err() {
            self.check_in_front(&world)?;
        }

        // Write
        let run = SimulatedSweeps {
            scene: &self.loaded.scene,
            sweeps: &sweeps,
        };
        let mut metadata = self.metadata(run);
        metadata.warnings.extend(self.folded(&scans));
        let files = pending.write(|outputs| self.write(outputs, &world, &scans, run, &metadata))?;

        // Number of rays; the ground truth on the beam axis needs one more per shot
        let has_truths = scans.iter().any(|scan| !scan.axis_truths.is_empty());
        let rays_per_shot = self.lidar.beam.ray_count() + usize::from(has_truths);
        let shots: usize = scans.iter().map(|scan| scan.shots.len()).sum();
        Ok(SensorResults {
            files,
            metadata,
            counts_surfaces: scans.iter().any(|scan| !scan.surfaces.is_empty()),
            ranges_of_no_surface: scans.iter().map(ranges_of_no_surface).sum(),
            range_errors: RangeErrors::of(&scans),
            rays: (shots * rays_per_shot) as f64,
            elapsed,
            sweeps,
        })
    }

    /// Checks the memory of all sweeps, and prints the expected size of a folder above 100 MB.
    fn announce_size(&self) -> Result<(), Failure> {
        let is_file = is_file_name(&self.arguments.output);
        let formats = selection::selected(self.arguments.formats.as_deref());
        let beams = self.lidar.shots(0).len() as u64 * u64::from(self.sweeps());
        self.arguments.memory.check(
            beams as f64 * memory::BYTES_PER_BEAM,
            &format!("{beams} beams"),
            "record to a file .mcap, which needs the memory of one sweep, give fewer --sweeps",
        )?;
        let bytes = selection::expected_bytes(&formats, beams);
        if !is_file && bytes >= 100_000_000 {
            remark(format_args!(
                "{beams} beams: about {} MB in the formats {} (--formats selects others)",
                bytes / 1_000_000,
                formats.join(", ")
            ));
        }
        Ok(())
    }

    /// World at the wavelength of the lidar; an error if the trajectory is too short.
    pub fn world(&self) -> Result<World<'_, f64>, Failure> {
        self.trajectory
            .check(f64::from(self.sweeps()) * self.lidar.sweep_duration())?;
        let world = World::at_wavelength(&self.loaded.scene, self.lidar.wavelength)?
            .with_profiles(&self.loaded.profiles);
        Ok(world.in_light(&self.loaded.ambient))
    }

    /// Number of sweeps.
    pub fn sweeps(&self) -> u32 {
        self.arguments.sweeps()
    }

    /// Settings of a sweep.
    pub fn settings(&self, sweep: u32) -> SweepSettings {
        SweepSettings {
            seed: self.arguments.seed,
            sensor: self.arguments.number,
            sweep,
            frame: self.arguments.frame.unwrap_or_default().into(),
            light: self.arguments.light(),
            air: self.air.clone(),
            pipeline: self.arguments.pipeline(),
            with_truth: true,
            ..SweepSettings::default()
        }
    }

    /// All sweeps.
    fn scans(&self, world: &World<f64>) -> Result<Vec<Sweep>, Failure> {
        let progress = self.arguments.progress();
        let mut engine = Engine::new(self.arguments, world, self.lidar)?;
        let scans = (0..self.sweeps()).map(|sweep| {
            progress.inc(1);
            interrupt::check()?;
            let run = self.settings(sweep);
            let mut scan = Sweep::default();
            let pose = |t| self.trajectory.at(t);
            engine.simulate(&run, pose, &mut scan)?;
            Ok(scan)
        });
        let scans = scans.collect();
        progress.finish_and_clear();
        engine.report();
        scans
    }

    /// Error if no beam axis hits a surface, which results without ranges do not show.
    pub fn check_in_front(&self, world: &World<f64>) -> Result<(), Failure> {
        let mut scratch = CastScratch::new();
        let mut hits_surface = |shot: &Shot| {
            let pose = self.trajectory.at(shot.time);
            let ray = Ray {
                time: shot.time,
                ..Ray::new(pose * shot.origin, pose.rotation * shot.direction())
            };
            world.scene().closest_hit(&ray, &mut scratch).is_some()
        };
        let mut beams = 0;
        for sweep in 0..self.sweeps() {
            let shots = self.lidar.shots(sweep);
            if shots.iter().any(&mut hits_surface) {
                return Ok(());
            }
            beams += shots.len();
        }
        Err(Failure::NothingInFront {
            beams,
            position: self.trajectory.start.translation.vector.into(),
        })
    }

    /// Warnings about the scene, the place of the sensor, and light without an effect on it.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.loaded.warnings.clone();
        warnings.extend(self.obstruction());
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
        warnings.extend(self.spread_light());
        warnings
    }

    /// Warning about echoes of light over several surfaces in closed form.
    fn spread_light(&self) -> Option<String> {
        let Receiver::Pulsed(receiver) = self.lidar.receiver else {
            return None;
        };
        let is_closed_form = receiver.echoes == EchoModel::Analytic && receiver.window.is_none();
        let is_later = !matches!(receiver.returns, ReturnMode::First | ReturnMode::Strongest);
        (self.arguments.paths.is_some() && is_closed_form && is_later).then(|| {
            "the light of --paths arrives over many metres: the closed form of this receiver gives its later \
             echoes wrong ranges; set pipeline = \"waveform\" in [receiver.pulsed] of the sensor file"
                .into()
        })
    }

    /// Warning about a sensor inside an object, at a surface or outside the rooms at the start of a sweep.
    fn obstruction(&self) -> Option<String> {
        let arguments = self.arguments;
        let stated = match (&arguments.motion.trajectory, &arguments.pose) {
            (Some(file), _) => file.display().to_string(),
            (None, Some(_)) => "--pose".to_owned(),
            (None, None) => {
                let place = self.loaded.places.of_sensor.as_ref();
                place.unwrap_or(&self.loaded.name).clone()
            }
        };
        let position = |sweep: u32| {
            let time = f64::from(sweep) * self.lidar.sweep_duration();
            (time, self.trajectory.at(time) * Point3::origin())
        };
        let positions: Vec<_> = (0..self.sweeps()).map(position).collect();
        obstruction_warning(self.loaded, &self.lidar.name, &stated, &positions)
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

    /// Metadata and warnings of the run.
    fn metadata(&self, run: SimulatedSweeps) -> RunMetadata {
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
}

/// Number of first returns without a surface as the source of their light.
fn ranges_of_no_surface(scan: &Sweep) -> usize {
    let shots = 0..scan.shots.len();
    let first_returns = shots.filter_map(|shot| scan.points_of(shot).first());
    first_returns.filter(|point| point.source.is_none()).count()
}

impl RangeErrors {
    /// Absolute differences of the first returns from surfaces and the first surface on the beam axis.
    fn of(scans: &[Sweep]) -> Self {
        let mut of_axis = Vec::new();
        let mut of_others = Vec::new();
        for scan in scans {
            for (shot, truth) in scan.axis_truths.iter().enumerate() {
                let point = scan.points_of(shot).first();
                let source = point.and_then(|point| point.source.as_ref());
                if let (Some(truth), Some(point), Some(source)) = (truth, point, source) {
                    let is_of_axis = source.instance == truth.object;
                    let errors = if is_of_axis {
                        &mut of_axis
                    } else {
                        &mut of_others
                    };
                    errors.push((point.range - truth.range).abs());
                }
            }
        }
        Self {
            of_axis: of_axis.len(),
            of_others: of_others.len(),
            median_of_axis: median(&mut of_axis),
            median_of_others: median(&mut of_others),
        }
    }
}

//! Pictures of one lidar: top view and waveform.

use super::scan::ScanRun;
use crate::failure::Failure;
use crate::view::top_view::{Origin, TopView};
use crate::view::waveform_plot::WaveformPlot;
use etendue::io::output::{RunMetadata, SimulatedSweeps};
use etendue::physics::surface::Lobe;
use etendue::scene::{MaterialId, Scene};
use etendue::sensors::BeamMeasurement;
use etendue::sensors::lidar::{self, Receiver, Return, Shot, Sweep};
use etendue::sensors::transport::World;
use etendue_plot::Drawing;

/// Number of segments of the path of a sensor.
const PATH_STEPS: u32 = 400;

impl ScanRun<'_> {
    /// Picture of the waveform of one beam of the first sweep with its returns.
    pub fn waveform(
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
                "omit --waveform, or choose a pulsed lidar",
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

    /// Path of a moving sensor during the run, m; empty at rest.
    fn path(&self) -> Vec<[f64; 2]> {
        let duration = f64::from(self.sweeps()) * self.lidar.sweep_duration();
        let poses = (0..=PATH_STEPS).map(|step| {
            self.trajectory
                .at(duration * f64::from(step) / f64::from(PATH_STEPS))
        });
        let path: Vec<_> = poses
            .map(|pose| [pose.translation.x, pose.translation.y])
            .collect();
        let moves = path.iter().any(|point| *point != path[0]);
        if moves { path } else { Vec::new() }
    }

    /// Top view. A lidar with one channel: all sweeps. A lidar with several: the ring closest to
    /// horizontal of the first sweep.
    pub fn picture(
        &self,
        run: SimulatedSweeps,
        scans: &[Sweep],
        metadata: &RunMetadata,
    ) -> Drawing {
        // Select the beams closest to horizontal
        let slope = |shot: Shot| {
            let channel = &self.lidar.channels[usize::from(shot.channel)];
            channel.elevation.abs()
        };
        let smallest_slope = scans[0].shots.iter().map(slope).fold(f64::MAX, f64::min);
        let is_planar = self.lidar.channels.len() == 1;
        let shown = if is_planar { run.sweeps.len() } else { 1 };
        let mut sweeps = run.sweeps[..shown].to_vec();
        let mut origins = Vec::new();
        for (sweep, scan) in sweeps.iter_mut().zip(scans) {
            let is_shown = |shot: Shot| slope(shot) <= smallest_slope;
            let mut keep = scan.shots.iter().map(is_shown);
            sweep.measurements.retain(|_| keep.next().unwrap_or(false));
            let kept = (0..)
                .zip(scan.shots.iter())
                .filter(|(_, shot)| is_shown(*shot));
            let kept = kept.zip(&sweep.measurements);
            let origin = kept.map(|((shot, _), measurement)| {
                origin(run.scene, measurement, scan.points_of(shot).first())
            });
            origins.push(origin.collect::<Vec<_>>());
            // Only sweeps that count surfaces have mixed returns; other sweeps count separate
            // returns
            if scan.surfaces.is_empty() {
                for measurement in &mut sweep.measurements {
                    measurement.returns = measurement.returns.min(1);
                }
            }
        }

        // Draw them
        let all = run.sweeps.len();
        let beams = match (is_planar, shown) {
            (false, _) if all > 1 => {
                format!("ring closest to horizontal of the first of {all} sweeps")
            }
            (false, _) => "ring closest to horizontal".to_owned(),
            (true, 1) => "one sweep".to_owned(),
            (true, count) => format!("{count} sweeps"),
        };
        TopView {
            title: &format!("{} in {}", metadata.sensor.name, metadata.scene.name),
            subtitle: &format!("top view, {beams}, seed {}", metadata.seed),
            scene: run.scene,
            sweeps: &sweeps,
            origins: &origins,
            world_from_sensor: &|time| self.trajectory.at(time),
            path: self.path(),
            max_range: self.lidar.limits.far,
        }
        .draw()
    }
}

/// What scattered the light of the first return of a beam.
fn origin(scene: &Scene, measurement: &BeamMeasurement, first: Option<&Return>) -> Origin {
    let Some(first) = first else {
        return Origin::Surface;
    };
    let Some(source) = &first.source else {
        return Origin::NoSurface;
    };
    let is_in_mirror = measurement.truth.is_some_and(|on_axis| {
        on_axis.object != source.instance && is_mirror(scene, on_axis.material)
    });
    if is_in_mirror {
        Origin::MirrorImage
    } else {
        Origin::Surface
    }
}

/// Whether a material has a lobe of an ideal mirror or of a smooth metal.
fn is_mirror(scene: &Scene, material: MaterialId) -> bool {
    let lobes = &scene.materials()[material.0 as usize].material.lobes;
    lobes
        .iter()
        .any(|lobe| matches!(lobe, Lobe::Mirror(_) | Lobe::Conductor(_)))
}

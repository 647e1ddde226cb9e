//! Pictures of one lidar: top view and waveform.

use super::scan::ScanRun;
use crate::failure::Failure;
use crate::view::top_view::TopView;
use crate::view::waveform_plot::WaveformPlot;
use etendue::io::output::{RunMetadata, SimulatedSweeps};
use etendue::sensors::lidar::{self, Receiver, Shot, Sweep};
use etendue::sensors::transport::World;
use etendue_plot::Drawing;

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
        for (sweep, scan) in sweeps.iter_mut().zip(scans) {
            let mut keep = scan.shots.iter().map(|shot| slope(shot) <= smallest_slope);
            sweep.measurements.retain(|_| keep.next().unwrap_or(false));
            // Only sweeps that count surfaces have mixed returns; other sweeps count separate
            // returns
            if scan.surfaces.is_empty() {
                for measurement in &mut sweep.measurements {
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

//! What a pulsed scanner reports on average, in a scalar that may carry derivatives.

use crate::scanner::{PulsedReceiver, Scanner, Shot};
use crate::transport::{self, LightRay, TreeSettings, World, trace_trees};
use etendue_physics::Scalar;
use etendue_physics::beam::{BeamFrame, BeamRay};
use etendue_physics::pulse::{Echo, FastReceiver, Return, Timing};
use etendue_scene::{Hit, Ray};
use nalgebra::{Isometry3, Point3, Vector3};
use rayon::prelude::*;

/// Shots that one task handles: their rays are cast in one batch.
const BATCH: usize = 256;

/// What a shot reports on average: its first point, in the device's own order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanShot<S = f64> {
    /// Range, m, not rounded to the device's steps.
    pub range: S,
    /// Intensity in counts, not rounded.
    pub intensity: S,
    /// Power at the echo's peak, 1/(m² sr).
    pub power: S,
}

/// A pulsed scanner without its noise, with what of it may be unknown.
///
/// Echoes are those of the closed form ([`FastReceiver`]), whatever the scanner's own pipeline is:
/// its range differs from that of the sampled waveform by the errors stated there. The air is left
/// out. Which surfaces are met, which returns merge and which echo is reported is chosen on values;
/// what was chosen carries the derivatives.
#[derive(Clone, Debug)]
pub struct MeanScanner<'a, S> {
    /// The scanner.
    pub scanner: &'a Scanner,
    /// Its receiver.
    pub receiver: &'a PulsedReceiver,
    /// Pulse, threshold and reference, instead of those of the receiver.
    pub timing: Timing<S>,
    /// Where ray trees end.
    pub tree: TreeSettings,
}

impl<S: Scalar> MeanScanner<'_, S> {
    /// Fires `shots`: what each reports, none where it finds nothing within the limits.
    ///
    /// `world_from_sensor` is the sensor's pose at a time (s from the start of the run). `scattered`
    /// gives the power of a return to a shot (by its number in `shots`), in place of the return's
    /// own.
    pub fn fire(
        &self,
        world: &World<S>,
        shots: &[Shot],
        world_from_sensor: impl Fn(f64) -> Isometry3<S> + Sync,
        scattered: impl Fn(usize, &transport::Return<S>) -> S + Sync,
    ) -> Vec<Option<MeanShot<S>>> {
        let rays = self.scanner.beam.rays(self.scanner.sub_ray_rings);
        let fast = self.receiver.fast();
        let mut reported = vec![None; shots.len()];
        let batches = reported.par_chunks_mut(BATCH).zip(shots.par_chunks(BATCH));
        batches
            .enumerate()
            .for_each_init(Batch::default, |batch, (number, (reported, shots))| {
                batch.aim(shots, &rays, &world_from_sensor);
                world.scene().closest_hits(&batch.rays, &mut batch.hits);
                self.gather(world, batch, &rays, number * BATCH, &scattered);
                for ((out, shot), returns) in reported.iter_mut().zip(shots).zip(&mut batch.returns)
                {
                    *out = self.report(&fast, shot, returns);
                }
            });
        reported
    }

    /// Collects the light that comes back to each shot of a batch.
    fn gather(
        &self,
        world: &World<S>,
        batch: &mut Batch<S>,
        rays: &[BeamRay],
        first: usize,
        scattered: impl Fn(usize, &transport::Return<S>) -> S,
    ) {
        let returns = &mut batch.returns;
        let light = batch.light.iter().copied();
        trace_trees(world, light, &batch.hits, &self.tree, |ray, back| {
            let shot = ray / rays.len();
            let share = rays[ray % rays.len()].weight;
            returns[shot].push(Return {
                range: back.optical_range,
                power: scattered(first + shot, &back) * share,
            });
        });
    }

    /// The first point that a shot reports.
    fn report(
        &self,
        fast: &FastReceiver,
        shot: &Shot,
        returns: &mut [Return<S>],
    ) -> Option<MeanShot<S>> {
        let mut echoes = Vec::new();
        fast.mean_echoes(&self.timing, returns, |echo| echoes.push(echo));
        let echo = match &echoes[..] {
            [only] => *only,
            several => several[*self.receiver.returns.choose(&values(several)).first()?],
        };
        let range = echo.range + self.scanner.channels[usize::from(shot.channel)].range_offset;
        let limits = &self.scanner.limits;
        if !(limits.near..=limits.far).contains(&range.value()) {
            return None;
        }
        let intensity = &self.scanner.intensity;
        let counts = intensity.response.counts(echo.power, range);
        let top = intensity.top.unwrap_or(f64::INFINITY);
        Some(MeanShot {
            range,
            intensity: counts.max(S::zero()).min(S::from(top)),
            power: echo.power,
        })
    }
}

fn values<S: Scalar>(echoes: &[Echo<S>]) -> Vec<Echo> {
    let value = |echo: &Echo<S>| Echo {
        range: echo.range.value(),
        power: echo.power.value(),
        width: echo.width.value(),
    };
    echoes.iter().map(value).collect()
}

/// Memory that batches use again.
struct Batch<S: Scalar> {
    light: Vec<LightRay<S>>,
    rays: Vec<Ray>,
    hits: Vec<Option<Hit>>,
    returns: Vec<Vec<Return<S>>>,
}

impl<S: Scalar> Default for Batch<S> {
    fn default() -> Self {
        Self {
            light: Vec::new(),
            rays: Vec::new(),
            hits: Vec::new(),
            returns: Vec::new(),
        }
    }
}

impl<S: Scalar> Batch<S> {
    /// Fills the batch with the rays of `shots`, shot by shot.
    fn aim(
        &mut self,
        shots: &[Shot],
        rays: &[BeamRay],
        world_from_sensor: impl Fn(f64) -> Isometry3<S>,
    ) {
        self.light.clear();
        for shot in shots {
            let pose = world_from_sensor(shot.time);
            let frame = BeamFrame::new(shot.azimuth, shot.elevation);
            for ray in rays {
                let offset = frame.left * ray.offset[0] + frame.up * ray.offset[1];
                let slope = frame.left * ray.slope[0] + frame.up * ray.slope[1];
                let origin: Point3<f64> = shot.origin + offset;
                let direction: Vector3<f64> = (frame.axis + slope).normalize();
                self.light.push(LightRay {
                    time: shot.time,
                    ..LightRay::new(
                        pose * origin.map(S::from),
                        pose.rotation * direction.map(S::from),
                    )
                });
            }
        }
        self.rays.clear();
        self.rays.extend(self.light.iter().map(LightRay::values));
        self.returns.resize_with(shots.len(), Vec::new);
        for returns in &mut self.returns {
            returns.clear();
        }
    }
}

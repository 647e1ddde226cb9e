//! What a scanner reports on average, in a scalar that may carry derivatives.

mod batch;
mod receiver;
mod sampled;

use super::receiver::triangulation::Lens;
use super::{BeamRays, Lidar, Receiver, Shot};
use crate::transport::{Factor, LightRay, TreeSettings, World, first_distance, trace_trees};
use batch::Batch;
use etendue_physics::Scalar;
use etendue_physics::atmosphere::Coefficients;
use etendue_physics::pulse::PulseReturn;
use nalgebra::{Isometry3, Quaternion, UnitQuaternion};
use rayon::prelude::*;
use receiver::PreparedMean;

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

/// The air between a scanner and its surfaces, on average: drops and flakes send back their mean.
#[derive(Clone, Copy, Debug)]
pub struct MeanAir<S = f64> {
    /// Extinction and backscatter.
    pub coefficients: Coefficients<S>,
}

impl<S: Scalar> MeanAir<S> {
    /// What is left of a surface's return from `range` (m).
    fn transmission(&self, range: S) -> S {
        if self.coefficients.extinction.value() == 0.0 {
            return S::one();
        }
        self.coefficients.two_way_transmission(range)
    }
}

/// A ray that stands for a share of a beam's power beside the beam's own rays: for what edges
/// change, shares may be zero with derivatives, or negative.
#[derive(Clone, Copy, Debug)]
pub struct ExtraRay<S: Scalar> {
    /// The ray, in the world.
    pub ray: LightRay<S>,
    /// Its share of the beam's power.
    pub share: S,
}

/// A scanner without its noise, with what of it may be unknown.
///
/// Which surfaces are met, which returns merge, which samples are read and which echo is reported is
/// chosen on values; what was chosen carries the derivatives.
#[derive(Clone, Debug)]
pub struct MeanScanner<'a, S: Scalar> {
    /// The scanner.
    pub scanner: &'a Lidar<S>,
    /// The air; none in a vacuum.
    pub air: Option<MeanAir<S>>,
    /// Where ray trees end.
    pub tree: TreeSettings,
}

impl<S: Scalar> MeanScanner<'_, S> {
    /// Fires `shots`: what each reports, none where it finds nothing within the limits.
    ///
    /// `world_from_sensor` is the sensor's pose at a time (s from the start of the run). `factor` is
    /// what the power of a return to a shot (by its number in `shots`) from a hit is multiplied by.
    /// `extra` adds rays to those of a shot.
    pub fn fire(
        &self,
        world: &World<S>,
        shots: &[Shot],
        world_from_sensor: impl Fn(f64) -> Isometry3<S> + Sync,
        factor: Option<&Factor<S>>,
        extra: impl Fn(usize, &mut Vec<ExtraRay<S>>) + Sync,
    ) -> Vec<Option<MeanShot<S>>> {
        let rays = self.scanner.beam.rays();
        let receiver = PreparedMean::new(self);
        let mut reported = vec![None; shots.len()];
        let batches = reported.par_chunks_mut(BATCH).zip(shots.par_chunks(BATCH));
        batches
            .enumerate()
            .for_each_init(Batch::default, |batch, (number, (reported, shots))| {
                let first = number * BATCH;
                batch.aim(shots, &rays, &world_from_sensor);
                batch.aim_extra(first, shots.len(), &extra);
                batch.cast(world.scene());
                self.gather(world, batch, shots, &rays, first, factor);
                if receiver.sees_air() {
                    batch.find_axes(|ray, hit| first_distance(world, ray, hit));
                }
                for (shot, (out, fired)) in reported.iter_mut().zip(shots).enumerate() {
                    let axis = batch.axes.get(shot).copied().flatten();
                    *out = self.report(&receiver, fired, &mut batch.returns[shot], axis);
                }
            });
        reported
    }

    /// Collects the light that comes back to each shot of a batch.
    fn gather(
        &self,
        world: &World<S>,
        batch: &mut Batch<S>,
        shots: &[Shot],
        rays: &BeamRays<S>,
        first: usize,
        factor: Option<&Factor<S>>,
    ) {
        let Batch {
            returns,
            light,
            poses,
            hits,
            extra,
            ..
        } = batch;
        let per_shot = rays.count();
        let own = shots.len() * per_shot;
        trace_trees(
            world,
            light.iter().copied(),
            hits,
            &self.tree,
            |ray, back| {
                let (shot, share) = match ray.checked_sub(own) {
                    None => (ray / per_shot, S::from(rays.weight(ray % per_shot))),
                    Some(number) => extra[number],
                };
                let range = match &self.scanner.receiver {
                    Receiver::Pulsed(_) | Receiver::Phase(_) | Receiver::Fmcw(_) => {
                        back.optical_range
                    }
                    Receiver::Triangulation(camera) => {
                        let lens = Lens::new(&shots[shot], &poses[shot], camera);
                        if !lens.sees(world.scene(), &back) {
                            return;
                        }
                        back.range
                    }
                };
                let left = { self.air }.map_or(S::one(), |air| air.transmission(back.range));
                let factor = factor.map(|factor| factor(first + shot, &back.hit));
                let power = factor.map_or(back.power, |factor| back.power * factor);
                returns[shot].push(PulseReturn {
                    range,
                    power: power * share * left,
                });
            },
        );
    }

    /// The first point that a shot reports; `axis` is the distance of the first surface on the
    /// beam's axis, m.
    fn report(
        &self,
        receiver: &PreparedMean<S>,
        shot: &Shot,
        returns: &mut Vec<PulseReturn<S>>,
        axis: Option<S>,
    ) -> Option<MeanShot<S>> {
        let [distance, power] = receiver.first(returns, axis)?;
        let range = distance + self.scanner.channels[usize::from(shot.channel)].range_offset;
        let limits = &self.scanner.limits;
        if !(limits.near..=limits.far).contains(&range.value()) {
            return None;
        }
        let intensity = &self.scanner.intensity;
        let counts = intensity.response.counts(power, distance);
        let top = intensity.top.unwrap_or(f64::INFINITY);
        Some(MeanShot {
            range,
            intensity: counts.max(S::zero()).min(S::from(top)),
            power,
        })
    }
}

/// A pose without its derivatives.
fn plain<S: Scalar>(pose: &Isometry3<S>) -> Isometry3<f64> {
    let rotation = Quaternion::from(pose.rotation.coords.map(Scalar::value));
    Isometry3::from_parts(
        pose.translation.vector.map(Scalar::value).into(),
        UnitQuaternion::new_unchecked(rotation),
    )
}

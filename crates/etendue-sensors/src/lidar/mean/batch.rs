//! Shots that are handled together.

use super::{ExtraRay, plain};
use crate::lidar::{BeamRays, Shot};
use crate::transport::LightRay;
use etendue_physics::Scalar;
use etendue_physics::pulse::PulseReturn;
use etendue_scene::{Hit, Ray, Scene};
use nalgebra::Isometry3;

/// Memory that batches use again.
pub(super) struct Batch<S: Scalar> {
    /// Where each shot was fired from.
    pub poses: Vec<Isometry3<f64>>,
    /// The rays of the shots' beams, shot by shot, and then the extra ones.
    pub light: Vec<LightRay<S>>,
    rays: Vec<Ray>,
    pub hits: Vec<Option<Hit>>,
    /// Shot and share of each extra ray.
    pub extra: Vec<(usize, S)>,
    pub returns: Vec<Vec<PulseReturn<S>>>,
    /// Distance of the first surface on each shot's axis, m, where it was asked for.
    pub axes: Vec<Option<S>>,
}

impl<S: Scalar> Default for Batch<S> {
    fn default() -> Self {
        Self {
            poses: Vec::new(),
            light: Vec::new(),
            rays: Vec::new(),
            hits: Vec::new(),
            extra: Vec::new(),
            returns: Vec::new(),
            axes: Vec::new(),
        }
    }
}

impl<S: Scalar> Batch<S> {
    /// Fills the batch with the rays of `shots`, shot by shot.
    pub fn aim(
        &mut self,
        shots: &[Shot],
        rays: &BeamRays<S>,
        world_from_sensor: impl Fn(f64) -> Isometry3<S>,
    ) {
        self.light.clear();
        self.poses.clear();
        let mut own = Vec::new();
        for shot in shots {
            let pose = world_from_sensor(shot.time);
            self.poses.push(plain(&pose));
            own.clear();
            rays.aim(shot, &mut own);
            for (origin, direction) in &own {
                self.light.push(LightRay {
                    time: shot.time,
                    ..LightRay::new(pose * origin, pose.rotation * direction)
                });
            }
        }
        self.returns.resize_with(shots.len(), Vec::new);
        for returns in &mut self.returns {
            returns.clear();
        }
    }

    /// Adds the extra rays of so many shots from the number `first` on.
    pub fn aim_extra(
        &mut self,
        first: usize,
        shots: usize,
        extra: impl Fn(usize, &mut Vec<ExtraRay<S>>),
    ) {
        self.extra.clear();
        let mut rays = Vec::new();
        for shot in 0..shots {
            extra(first + shot, &mut rays);
            self.extra.extend(rays.iter().map(|ray| (shot, ray.share)));
            self.light.extend(rays.drain(..).map(|ray| ray.ray));
        }
    }

    /// Finds what each ray meets first.
    pub fn cast(&mut self, scene: &Scene) {
        self.rays.clear();
        self.rays.extend(self.light.iter().map(LightRay::values));
        scene.closest_hits(&self.rays, &mut self.hits);
    }

    /// Finds the distances of the first surfaces on the axes.
    pub fn find_axes(&mut self, distance: impl Fn(&LightRay<S>, &Hit) -> S) {
        let shots = self.poses.len();
        let per_shot = (self.light.len() - self.extra.len()) / shots.max(1);
        let axis = |shot: usize| {
            let middle = shot * per_shot + per_shot / 2;
            let hit = self.hits[middle].as_ref()?;
            Some(distance(&self.light[middle], hit))
        };
        self.axes = (0..shots).map(axis).collect();
    }
}

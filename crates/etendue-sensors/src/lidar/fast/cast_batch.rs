//! A batch of shots whose rays are cast.

use super::order::Order;
use super::poses::Poses;
use crate::calibrated::{DirectReturn, ReturnSummary};
use crate::lidar::batch_shots::BatchShots;
use crate::lidar::shot::Shot;
use crate::lidar::sweep::{FiredShot, shot_number};
use crate::transport::DirectReturnLanes;
use etendue_scene::{Hit, HitTile, Ray, RayTile};

/// A batch of shots with their rays, first hits and direct returns.
pub(in crate::lidar) struct CastBatch<'a> {
    /// Index of the first shot in the sweep.
    pub first: usize,
    pub shots: BatchShots<'a>,
    pub poses: &'a Poses,
    /// The order in which the rays are cast.
    pub order: Order<'a>,
    /// Number of rays of each shot.
    pub per_shot: usize,
    /// Rays: for each sixteen shots in cast order, a tile per ray of the beam.
    pub tiles: &'a [RayTile],
    /// First hits of the rays.
    pub hits: &'a [HitTile],
    /// Direct returns along the rays.
    pub direct_returns: &'a [DirectReturnLanes],
}

impl CastBatch<'_> {
    /// Index in the sweep of a shot of the batch.
    #[inline]
    pub fn number(&self, shot: usize) -> u32 {
        shot_number(self.first + shot)
    }

    /// A shot of the batch with its index and pose.
    #[inline]
    pub fn fired<'s>(&'s self, shot: &'s Shot, place: usize) -> FiredShot<'s, f64> {
        FiredShot {
            shot,
            number: self.number(place),
            pose: self.poses.of(place),
        }
    }

    /// Indices of the rays of a shot, by its place in cast order.
    #[inline]
    pub fn rays_of(&self, place: usize) -> impl Iterator<Item = usize> + Clone + use<> {
        let first = place / 16 * self.per_shot * 16 + place % 16;
        (first..).step_by(16).take(self.per_shot)
    }

    /// A ray by its index.
    #[inline]
    pub fn ray(&self, number: usize) -> Ray {
        self.tiles[number / 16].ray(number % 16)
    }

    /// The first hit of a ray by its index.
    #[inline]
    pub fn hit(&self, number: usize) -> Option<Hit> {
        self.hits[number / 16].hit(number % 16)
    }

    /// Adds a direct return along a ray, and the orientation of its surface, to a summary.
    #[inline]
    pub fn add_surface(&self, summary: &mut ReturnSummary, light: &DirectReturn, ray: usize) {
        if summary.add(light)
            && let Some(hit) = self.hit(ray)
        {
            summary.add_orientation(light.power, &hit.normal, &self.ray(ray).direction);
        }
    }
}

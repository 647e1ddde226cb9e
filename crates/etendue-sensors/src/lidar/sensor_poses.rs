//! Poses of a sensor during a sweep.

use super::batch_shots::BatchShots;
use etendue_physics::Scalar;
use nalgebra::{Isometry3, try_convert};

/// Pose of a sensor as a function of time; implemented by closures. The pipelines take it as a `dyn`, so
/// that they are compiled once for all closures.
pub(super) trait SensorPoses<S: Scalar>: Sync {
    /// `world_from_sensor` at a time (s).
    fn at(&self, time: f64) -> Isometry3<S>;

    /// The pose of all shots of a batch, if it is the same for all.
    fn constant(&self, shots: BatchShots) -> Option<Isometry3<S>>;
}

impl<S: Scalar, F: Fn(f64) -> Isometry3<S> + Sync> SensorPoses<S> for F {
    fn at(&self, time: f64) -> Isometry3<S> {
        self(time)
    }

    /// The loop has no side effects: the compiler removes it for closures that do not depend on time.
    fn constant(&self, shots: BatchShots) -> Option<Isometry3<S>> {
        if shots.count() == 0 {
            return None;
        }
        let first = self(shots.at(0).time);
        let is_constant = shots.at_all_times(|time| is_same(&self(time), &first));
        is_constant.then_some(first)
    }
}

/// The pose of a sensor at rest.
pub(super) struct AtRest<'a, S: Scalar>(pub &'a Isometry3<S>);

impl<S: Scalar> SensorPoses<S> for AtRest<'_, S> {
    fn at(&self, _: f64) -> Isometry3<S> {
        *self.0
    }

    fn constant(&self, _: BatchShots) -> Option<Isometry3<S>> {
        Some(*self.0)
    }
}

/// Whether two poses are equal, with equal derivatives.
pub(super) fn is_same<S: Scalar>(a: &Isometry3<S>, b: &Isometry3<S>) -> bool {
    let parts = |pose: &Isometry3<S>| {
        let [i, j, k, w] = pose.rotation.coords.into();
        let [x, y, z] = pose.translation.vector.into();
        [i, j, k, w, x, y, z]
    };
    let mut pairs = parts(a).into_iter().zip(parts(b));
    pairs.all(|(a, b)| try_convert::<S, f64>(a - b) == Some(0.0))
}

//! Edges of a scene in the beams of a sensor.

use super::ray_bundles::RayBundles;
use super::round_beams::RoundBeams;
use super::settings::EdgeSettings;
use crate::sensor::SensorInputs;
use etendue_physics::Scalar;
use etendue_sensors::transport::{TreeSettings, World};
use nalgebra::Isometry3;

/// A scene seen from one pose of a sensor.
pub(crate) struct EdgeView<'w, 'a, S: Scalar> {
    pub world: &'w World<'a, S>,
    pub world_from_sensor: &'w Isometry3<S>,
    /// Limits of the ray trees.
    pub tree: TreeSettings,
    pub settings: EdgeSettings,
}

/// The edges of a scene as seen from one pose of a sensor.
pub(crate) enum Boundaries<'a, S: Scalar> {
    /// In the round beams of a continuous-wave lidar.
    ContinuousWave(RoundBeams<'a, S>),
    /// In the ray bundles of a scanner.
    Scanner(RayBundles<S>),
}

impl<'a, S: Scalar> Boundaries<'a, S> {
    pub(crate) fn new(view: &EdgeView<'_, 'a, S>, sensor: &SensorInputs<S>) -> Self {
        match sensor {
            SensorInputs::ContinuousWave(lidar) => {
                Self::ContinuousWave(RoundBeams::new(view, lidar))
            }
            SensorInputs::Scanner(scanner) => Self::Scanner(RayBundles::new(view, scanner)),
        }
    }
}

//! Frames of points.

use nalgebra::{Isometry3, Point3};

/// The frame that points are given in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Frame {
    /// The sensor's own at each shot's own time: as the device reports them, distorted by motion.
    #[default]
    Sensor,
    /// The sensor's at the start of the sweep: motion-compensated with the true poses.
    SweepStart,
    /// The world's.
    World,
}

impl Frame {
    /// A point that a sensor at `world_from_sensor` sees in its own frame, in this one.
    pub(in crate::lidar) fn place(
        self,
        point: Point3<f64>,
        world_from_sensor: &Isometry3<f64>,
        world_from_start: &Isometry3<f64>,
    ) -> Point3<f64> {
        match self {
            Self::Sensor => point,
            Self::World => world_from_sensor * point,
            Self::SweepStart => {
                world_from_start.inverse_transform_point(&(world_from_sensor * point))
            }
        }
    }
}

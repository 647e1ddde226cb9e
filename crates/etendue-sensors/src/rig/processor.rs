//! Sweeps and frames of a run on another processor.

use super::camera::MountedCamera;
use crate::camera::{CameraFrame, CameraWorld, FrameSettings};
use crate::lidar::{Lidar, Sweep, SweepSettings};
use crate::transport::World;
use nalgebra::Isometry3;

/// Pose of a sensor in the world as a function of time (s).
pub type PoseAt<'a> = &'a (dyn Fn(f64) -> Isometry3<f64> + Sync);

/// Another processor, such as a GPU, that simulates sweeps of lidars and frames of cameras of a run
/// ([`RigRun::with_processor`](super::RigRun::with_processor)).
pub trait Processor: Sync {
    /// A sweep of a lidar ([`simulate`](crate::lidar::simulate())); `None` leaves it to the CPU.
    fn sweep<'a>(
        &self,
        world: &'a World<'a, f64>,
        lidar: &'a Lidar,
        settings: &SweepSettings,
        world_from_sensor: PoseAt,
    ) -> Option<Sweep>;

    /// A frame of a camera ([`CameraWorld::expose`]), with the depth of its pixels if the camera has it; `None` leaves it to
    /// the CPU.
    fn frame<'a>(
        &self,
        world: &'a CameraWorld<'a>,
        mounted: &'a MountedCamera,
        settings: &FrameSettings,
        world_from_sensor: PoseAt,
    ) -> Option<CameraFrame>;
}

//! Robots with sensors: frames, clocks, and the run of all sensors.
//!
//! A [`Rig`] is the description of a robot: [`MountedSensor`]s, each a [`Device`] in a frame with its own
//! [`Clock`] and its own filters ([`crate::filter`]). A [`RigRun`] moves along a trajectory and
//! delivers [`Event`]s: the data of a capture arrive at its end plus the sensor's latency, in
//! simulation time. [`drive`] closes the loop with dynamics and a controller; [`replay`] follows a
//! known trajectory.
//!
//! Times are whole nanoseconds; rates are exact in simulation time. Every sensor draws its noise from its
//! own random streams, so the data do not depend on threads, on the step length of a run, or on the other
//! sensors.
//!
//! Not modelled: objects of the scene that the robot moves.

mod camera;
mod device;
mod drive;
mod error;
mod frames;
mod lidar;
mod mounting;
mod processor;
mod run;

pub use crate::capture::{
    Capture, CaptureContext, Clock, ClockError, Cloud, CloudPoint, Data, DataKind, Environment,
    Rate, SECOND, nanoseconds, seconds,
};
pub use crate::gnss::Gnss;
pub use camera::MountedCamera;
pub use device::Device;
pub use drive::{ControlPlan, LatestData, Observer, drive, replay};
pub use error::RigError;
pub use frames::{FrameDeclaration, FrameError, FrameTree};
pub use mounting::{Mount, MountedSensor, Rig};
pub use processor::{PoseAt, Processor};
pub use run::{Event, RigRun};

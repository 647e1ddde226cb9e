//! Filters of a sensor's data, between the sensor and the robot.
//!
//! A [`FilterGraph`] is an ordered list of [`Filter`]s behind a sensor: augmentation (noise, drop-outs),
//! conversion and reduction (clouds, motion compensation, voxels), access ([`Filter::Tap`] outputs the
//! data at its position in the graph). Kinds of data are checked when the graph is built. Users add
//! their own filters with [`UserFilter`].

mod cloud;
mod definition;
mod graph;
mod low_pass;
mod noise;
mod user;

pub use definition::Filter;
pub use graph::{FilterGraph, FilterGraphError, FilterGraphRun};
pub use noise::LidarNoise;
pub use user::{FilterContext, FilterRun, UserFilter};

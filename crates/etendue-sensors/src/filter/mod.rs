//! What a sensor's data pass through before the robot has them.
//!
//! A [`FilterGraph`] is an ordered list of [`Filter`]s behind a sensor: augmentation (noise, drop-outs),
//! conversion and reduction (clouds, compensation of motion, voxels), access ([`Filter::Tap`] gives
//! away the data as they are at that place). Which kind of data goes into each is checked when the
//! graph is built. Users put in their own: [`UserFilter`].

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

//! Filters of sensor data, between a sensor and the robot.
//!
//! A [`FilterGraph`] is an ordered list of [`Filter`]s: augmentation (noise, drop-out), conversion and
//! reduction (clouds, motion compensation, voxels), and access ([`Filter::Tap`] outputs the data at its
//! position in the graph). Kinds of data are checked when the graph is built. Users add their own
//! filters with [`UserFilter`].
//!
//! ```
//! use etendue_sensors::filter::{Filter, FilterGraph};
//! use etendue_sensors::rig::DataKind;
//!
//! let graph = FilterGraph::new(
//!     DataKind::Points,
//!     vec![Filter::DropOut { probability: 0.01 }, Filter::ToCloud, Filter::Voxels { size: 0.1 }],
//! )?;
//! assert_eq!(graph.output(), DataKind::Cloud);
//! # Ok::<(), etendue_sensors::filter::FilterGraphError>(())
//! ```

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

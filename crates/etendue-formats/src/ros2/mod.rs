//! ROS 2 messages in MCAP files: what Foxglove, Rerun and `ros2 bag` open.
//!
//! [`Recorder`] writes a recording sweep by sweep, so that memory stays flat and a run that is
//! killed leaves everything up to its last whole sweep readable. [`read_clouds`] reads the clouds
//! back, from cut files too.

mod cdr;
mod definition;
mod message;
mod reader;
mod recorder;

pub(crate) use cdr::CdrReader;
pub use message::{cloud, laser_scan};
pub(crate) use reader::number as field_number;
pub use reader::{RecordedCloud, Recording, read_clouds};
pub use recorder::{Recorder, Topics};

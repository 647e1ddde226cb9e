//! ROS 2 messages in MCAP files, for Foxglove, Rerun and `ros2 bag`.
//!
//! [`LidarRecorder`] writes a recording in chunks of whole sweeps: memory use is constant, and the chunks
//! of an interrupted run are readable. [`RigMessages`] encodes the events of a whole rig, and [`RigRecorder`] writes them:
//! inertial readings, GNSS fixes, magnetic fields, pressures, wheel angles, scans, clouds, images
//! and the true motion. [`repair_recording`] completes a recording that a killed process left.
//! [`read_clouds`] reads clouds, also from truncated files; [`read_drive`]
//! reads the sensor messages and the commands of a driver.

mod bag;
mod cdr;
mod channel;
mod definition;
mod drive_log;
mod frame_recorder;
mod image;
mod message;
mod motion;
mod open_writer;
mod reader;
mod recorder;
mod repair;
mod rewrite;
mod rig_message;
mod rig_messages;
mod rig_recorder;
mod topic;

pub use bag::bag_metadata;
pub(crate) use cdr::CdrReader;
pub use drive_log::{LoggedData, LoggedMessage, read_drive};
pub use frame_recorder::FrameRecorder;
pub use image::{camera_info, picture, raw, stamp};
pub use message::{cloud, laser_scan};
pub use reader::{Recording, parse_clouds, read_clouds};
pub use recorder::{LidarRecorder, LidarTopics};
pub use repair::{RepairedRecording, repair_recording};
pub use rewrite::rewrite_clouds;
pub use rig_message::drive_command;
pub use rig_messages::RigMessages;
pub use rig_recorder::RigRecorder;
pub use topic::{Topic, TopicMessage, recorded_messages};

//! Bags of ROS messages: MCAP, ROS 2 bags in SQLite, ROS 1 bags. The readers decode planar scans
//! and point clouds.

mod laser_scan;
mod mcap;
mod message;
mod point_cloud;
mod ros1;
mod rosbag2;
mod sqlite;

pub(crate) use mcap::{mcap_messages, mcap_scans};
pub use message::CloudScan;
pub(crate) use message::{Body, Message};
pub(crate) use ros1::messages as ros1_messages;
pub(crate) use rosbag2::messages as rosbag2_messages;

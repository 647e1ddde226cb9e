//! File formats of etendue: meshes, point clouds, scan logs, recordings, packets, images and
//! trajectories.

mod bag;
pub mod digest;
mod editable;
mod error;
pub mod image;
pub mod input;
mod mcap_chunks;
mod mcap_messages;
pub mod mesh;
pub mod nmea;
mod npy;
pub mod output;
pub mod packets;
mod ply;
pub mod points;
mod precision;
pub mod recording;
pub mod ros2;
pub mod scan_file;
pub mod scan_log;
pub mod sequence;
pub mod table;
pub mod text;
pub mod trajectory;

pub use error::{FormatError, Place};

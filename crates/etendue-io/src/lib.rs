//! Readers and writers of the file formats of lidars and robots.
//!
//! | module | files | main items |
//! |---|---|---|
//! | [`points`] | PCD, PLY, NPZ, LAS, LAZ, E57, KITTI, Parquet, MCAP, VTK, packet captures, CSV | [`points::PointFormat`], [`points::read_points`]; one sweep after another: [`points::for_each_sweep`] |
//! | [`table`] | point tables in memory: one column per field | [`table::PointTable`] |
//! | [`scan_file`] | scans with editable positions; all other content is unchanged | [`scan_file::ScanFile`] |
//! | [`scan_log`] | logs of planar scans: tinySLAM, CARMEN, RPLIDAR, MRPT, CSV | [`scan_log::read_scan_log`] |
//! | [`recording`], [`sequence`] | bags, and folders of scans | [`recording::read_recording`], [`sequence::read_sequence`]; one scan after another: [`sequence::survey_sequence`], [`sequence::for_each_scan`] |
//! | [`ros2`] | MCAP files with ROS 2 messages | [`ros2::LidarRecorder`], [`ros2::RigRecorder`] |
//! | [`packets`] | packets of Velodyne, Ouster and Hesai lidars in PCAP files | [`packets::PacketSource`] |
//! | [`mesh`], [`image`], [`trajectory`], [`nmea`] | OBJ, PLY, STL, glTF; PNG, JPEG, HDR, EXR; TUM, KITTI; NMEA 0183 | [`mesh::read_mesh`], [`trajectory::read_trajectory`] |
//! | [`foreign`] | boundary to the readers of other crates | [`foreign::guarded`] |
//! | [`output`] | atomic output files; metadata of a run | [`output::OutputSet`], [`output::RunMetadata`] |
//!
//! The content of a file determines its format, or the ending of its name if the format has no
//! magic number. Errors ([`FormatError`]) contain the position in the file and a remedy; warnings
//! are part of the returned values. Units are SI, and angles are in radians.
//!
//! ```
//! use etendue_io::packets::PacketSource;
//! use etendue_io::points::parse_points;
//! let text = b"x,y,z,intensity\n1,2,3,70\n4,5,6,80\n".to_vec();
//! let points = parse_points("a.csv".as_ref(), text, &PacketSource::default()).unwrap();
//! assert_eq!(points.together().number("intensity", 1), Some(80.0));
//! ```

pub mod bag;
pub mod digest;
mod editable;
mod error;
pub mod foreign;
pub mod image;
pub mod input;
mod interrupt;
mod little_endian;
mod mcap_chunks;
mod mcap_messages;
pub mod mesh;
pub mod nmea;
mod npy;
mod npz;
pub mod output;
pub mod packets;
mod ply;
pub mod points;
mod precision;
pub mod recording;
pub mod ros2;
pub mod scan_file;
mod scan_folder;
pub mod scan_log;
pub mod sequence;
pub mod table;
pub mod text;
pub mod trajectory;

pub use error::{FileLocation, FormatError};

//! Points with all their fields: one file for each format with its reader and its writer.
//! [`PointFormat`] is the registry of formats.
//!
//! | format | fields |
//! |---|---|
//! | PCD (text, binary), PLY, CSV, NPZ, Parquet | all that the file has |
//! | LAS, LAZ | position, intensity, return number and count, time, ring, material, as [`write_las`] writes them |
//! | E57 | position, intensity, row, column, return, time of every cloud |
//! | KITTI `.bin` | position and intensity |
//! | MCAP | all fields of one topic's `PointCloud2`, one cloud a sweep; else its `LaserScan` |
//! | VTK (legacy, text) | position |
//! | PCAP, PCAPNG | what Velodyne, Ouster and Hesai packets hold ([`crate::packets`]) |

mod cloud;
mod csv;
mod e57;
mod format;
mod kitti;
mod las;
mod lossy;
mod mcap;
mod npz;
mod parquet;
pub(crate) mod pcd;
mod ply;
mod vtk;

pub use cloud::{Cloud, is_cloud, parse_cloud, read_cloud};
pub use csv::write_csv;
pub use e57::write_e57;
pub use format::{PointFormat, parse_points, read_points, read_points_of_topic};
pub use kitti::write_kitti;
pub(crate) use las::pack as pack_las;
pub use las::write_las;
pub use lossy::{LossyFields, lossy_fields};
pub use mcap::write_mcap;
pub use npz::write_npz;
pub use parquet::write_parquet;
pub use pcd::write_pcd;
pub use ply::write_ply;

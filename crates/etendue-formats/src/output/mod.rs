//! What a run leaves behind: scans as CSV, NPZ, PCD and PLY, and a description of the run.
//!
//! Every writer goes through [`OutputSet`]: files appear whole or not at all.
//!
//! | writer | holds |
//! |---|---|
//! | [`write_csv`] | one row a beam, with its truth; [`read_scan_log`](crate::scan_log::read_scan_log) reads it back |
//! | [`write_npz`] | the same as named arrays |
//! | [`write_pcd`], [`write_ply`] | the measured points in the world frame, with a field per quantity |
//! | [`write_table_csv`], [`write_table_npz`], [`write_las`], [`write_e57`], [`write_kitti`], [`write_parquet`] | any [`PointTable`], as those formats can |
//! | [`RunMetadata`] | versions, seed, scene, sensor, pose, counts, as JSON |

mod csv;
mod e57;
mod kept;
mod kitti;
mod las;
mod metadata;
mod npz;
mod parquet;
mod pcd;
mod ply;
mod point_table;
mod scan_table;
mod table_csv;
mod table_npz;
mod whole;

pub use csv::write_csv;
pub use e57::write_e57;
pub use kept::{Kept, kept};
pub use kitti::write_kitti;
pub(crate) use las::pack as pack_las;
pub use las::write_las;
pub use metadata::{ReadingCounts, RunMetadata, SourceMetadata};
pub use npz::write_npz;
pub use parquet::write_parquet;
pub use pcd::write_pcd;
pub use ply::write_ply;
pub use point_table::{Column, ColumnData, Encoding, Number, PointTable};
pub use table_csv::write_table_csv;
pub use table_npz::write_table_npz;
pub use whole::OutputSet;

use etendue_scene::Scene;
use etendue_sensors::PlanarSweep;

/// What a run measured, and where: what every writer is given.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The scene, for the names of objects and materials.
    pub scene: &'a Scene,
    /// The sweeps, in order.
    pub sweeps: &'a [PlanarSweep],
}

//! What a run leaves behind: scans as CSV, NPZ, PCD and PLY, and a description of the run.
//!
//! Every writer goes through [`OutputSet`]: files appear whole or not at all.
//!
//! | writer | holds |
//! |---|---|
//! | [`write_csv`] | one row a beam, with its truth; [`read_scan_log`](crate::scan_log::read_scan_log) reads it back |
//! | [`write_npz`] | the same as named arrays |
//! | [`write_pcd`], [`write_ply`] | the measured points in the world frame, with a field per quantity |
//! | [`RunMetadata`] | versions, seed, scene, sensor, pose, counts, as JSON |

mod csv;
mod metadata;
mod npz;
mod pcd;
mod ply;
mod point_table;
mod whole;

pub use csv::write_csv;
pub use metadata::{ReadingCounts, RunMetadata, SourceMetadata};
pub use npz::write_npz;
pub use pcd::write_pcd;
pub use ply::write_ply;
pub use point_table::{Column, ColumnData, Encoding, PointTable};
pub use whole::OutputSet;

use etendue_scene::Scene;
use etendue_sensors::Sweep;

/// What a run measured, and where: what every writer is given.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The scene, for the names of objects and materials.
    pub scene: &'a Scene,
    /// The sweeps, in order.
    pub sweeps: &'a [Sweep],
}

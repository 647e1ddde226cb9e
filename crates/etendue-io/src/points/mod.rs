//! Point clouds with all their fields. [`PointFormat`] is the registry of formats, each in a file
//! with its reader and writer.

mod cloud;
mod format;
mod lossy;
mod placement;
mod sweeps;

pub use cloud::{PointCloud, is_cloud, parse_cloud, read_cloud};
pub use format::{
    McapSweeps, PointFormat, ReadOptions, has_separate_sweeps, parse_points, read_points,
    read_points_with, write_csv, write_e57, write_kitti, write_las, write_mcap, write_npz,
    write_parquet, write_pcd, write_ply,
};
pub(crate) use format::{missing_column, visit_sweeps};
pub use lossy::{LossyFields, lossy_fields};
pub use placement::Placement;
pub use sweeps::{RecordedSweep, SweepSummary, for_each_sweep};
pub(crate) use sweeps::{VisitSweep, push_to_all};

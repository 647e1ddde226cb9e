//! Point clouds with all their fields. [`PointFormat`] is the registry of formats, each in a file
//! with its reader and writer.

mod cloud;
mod format;
mod lossy;
mod placement;

pub use cloud::{PointCloud, is_cloud, parse_cloud, read_cloud};
pub(crate) use format::missing_column;
pub use format::{
    PointFormat, ReadOptions, parse_points, read_points, read_points_with, write_csv, write_e57,
    write_kitti, write_las, write_mcap, write_mcap_sweeps, write_npz, write_parquet, write_pcd,
    write_ply,
};
pub use lossy::{LossyFields, lossy_fields};

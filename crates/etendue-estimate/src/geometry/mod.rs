//! Local geometry of point clouds: nearest neighbours, plane fits, normals oriented towards the sensor,
//! angles of incidence.

mod cell_table;
mod cells;
mod eigen;
mod moments;
mod neighbours;
mod normals;
mod reference_mesh;
mod voxel;
mod voxel_table;

pub(crate) use cell_table::{BlockTable, CELLS, CELLS_PER_SIDE, CellTable, block_of, place_of};
pub use cells::{CellOptions, CellPlane, CellPlanes, local_surfaces_by_cells, map_cell_planes};
pub use eigen::EigenDecomposition;
pub use moments::{covariance, mean};
pub use neighbours::{Neighbourhood, Neighbours};
pub use normals::{LocalSurface, local_surfaces, local_surfaces_among};
pub use reference_mesh::ReferenceMesh;
pub use voxel::{one_per_voxel, voxel_of};
pub(crate) use voxel_table::{KEY_CHUNK, VoxelKeys};
pub use voxel_table::{VoxelTable, voxel_key};

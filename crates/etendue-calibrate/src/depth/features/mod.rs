//! Neighbourhoods of points: their planes, normals and incidences, and which of them to trust.

mod cells;
mod eigen;
mod mask;
mod neighbours;
mod normals;
mod shadow;
mod spread;
mod voxel;

pub(super) use cells::by_cells;
pub use cells::{CellOptions, surface_views_by_cells};
pub use eigen::Eigen;
pub(super) use mask::Shape;
pub use mask::{Mask, MaskReport, Verdict};
pub use neighbours::{Neighbourhood, Neighbours};
pub(super) use normals::views_among;
pub use normals::{SurfaceView, surface_views};
pub use shadow::without_shadows;
pub use spread::{covariance, mean};
pub use voxel::one_per_voxel;

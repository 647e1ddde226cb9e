//! Intersection of rays and triangles in `f64`, in the frame of the mesh.

mod lane_mask;
pub(crate) mod local_ray;
pub(crate) mod nearest;
pub(crate) mod triangle;
pub(crate) mod triangle_cache;
pub(crate) mod triangle_tile;

pub(crate) use lane_mask::LaneMask;

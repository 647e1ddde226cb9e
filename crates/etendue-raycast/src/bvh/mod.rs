//! Bounding volume hierarchies over the triangles of meshes.

pub(crate) mod blas;
pub(crate) mod leaf_block;
pub(crate) mod node;
mod packed_block;
pub(crate) mod rounding;
pub(crate) mod wide_tree;

//! Meshes of simple shapes.
//!
//! Solids have outward normals; [`Mesh::inside_out`](etendue_raycast::Mesh::inside_out) turns one into a
//! room. Round shapes are given by the greatest distance between the mesh and the true surface (the
//! sagitta): their vertices are on the surface, their faces inside it by at most the sagitta.

mod check;
mod cuboid;
mod flat;
mod round;

pub use check::PrimitiveError;
pub use cuboid::cuboid;
pub use flat::{checkerboard, rectangle, stripes};
pub use round::{cone, cylinder, sphere};

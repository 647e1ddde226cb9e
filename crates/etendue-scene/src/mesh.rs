//! Triangle meshes.

use crate::MaterialId;
use nalgebra::Point3;
use thiserror::Error;

/// A triangle mesh in its object's frame.
///
/// A triangle's outward normal is right-handed: $(v_1 - v_0) \times (v_2 - v_0)$.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertex positions, m.
    pub vertices: Vec<Point3<f64>>,
    /// Vertex numbers of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Material of each triangle, or empty where the object's own material holds for all.
    pub materials: Vec<MaterialId>,
}

/// Why a mesh cannot be used.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MeshError {
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} uses vertex {vertex}, the mesh has {vertices}")]
    VertexOutOfRange {
        /// The triangle's number.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// A vertex has a coordinate that is not a finite number.
    #[error("vertex {vertex} is not finite: {position:?}")]
    NotFinite {
        /// The vertex's number.
        vertex: usize,
        /// Its coordinates.
        position: [f64; 3],
    },
    /// There is no triangle.
    #[error("the mesh has no triangle")]
    Empty,
}

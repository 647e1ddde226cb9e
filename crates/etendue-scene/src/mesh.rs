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

impl Mesh {
    /// Whether rays can be cast at it.
    ///
    /// # Errors
    /// Where there is no triangle, a vertex is not finite, or a triangle names a vertex that does
    /// not exist.
    pub fn check(&self) -> Result<(), MeshError> {
        if self.triangles.is_empty() {
            return Err(MeshError::Empty);
        }
        let finite = |vertex: &Point3<f64>| vertex.iter().all(|x| x.is_finite());
        if let Some(vertex) = self.vertices.iter().position(|vertex| !finite(vertex)) {
            return Err(MeshError::NotFinite {
                vertex,
                position: self.vertices[vertex].coords.into(),
            });
        }
        let vertices = self.vertices.len();
        for (triangle, corners) in self.triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertices) {
                return Err(MeshError::VertexOutOfRange {
                    triangle,
                    vertex,
                    vertices,
                });
            }
        }
        Ok(())
    }
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

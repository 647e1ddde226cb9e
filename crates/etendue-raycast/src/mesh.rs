//! Triangle meshes.

use crate::bounding_box::BoundingBox;
use crate::ids::MaterialId;
use nalgebra::{Isometry3, Point3, Vector3};
use thiserror::Error;

/// A triangle mesh in its object's frame.
///
/// A triangle's outward normal is right-handed: $(v_1 - v_0) \times (v_2 - v_0)$.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertex positions, m.
    pub vertices: Vec<Point3<f64>>,
    /// Vertex indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Material of each triangle, or empty where the object has one material. The ray caster does not
    /// read them.
    pub materials: Vec<MaterialId>,
}

impl Mesh {
    /// Checks that rays can be cast at the mesh.
    ///
    /// # Errors
    /// Where there is no triangle, a vertex is not finite, or a triangle refers to a vertex that does not
    /// exist.
    pub fn check(&self) -> Result<(), MeshError> {
        if self.triangles.is_empty() {
            return Err(MeshError::Empty);
        }
        check_count(self.triangles.len())?;
        check_vertices(&self.vertices)?;
        if !self.materials.is_empty() && self.materials.len() != self.triangles.len() {
            return Err(MeshError::MaterialCount {
                materials: self.materials.len(),
                triangles: self.triangles.len(),
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

    /// Corners of a triangle, m.
    #[inline]
    pub fn corners(&self, triangle: u32) -> [Point3<f64>; 3] {
        self.triangles[triangle as usize].map(|v| self.vertices[v as usize])
    }

    /// Outward unit normal of a triangle.
    #[inline]
    pub fn normal(&self, triangle: u32) -> Vector3<f64> {
        let corners = self.triangles[triangle as usize].map(|v| &self.vertices[v as usize]);
        unit_normal(corners)
    }

    /// Least and greatest coordinates of all vertices, m; `None` without vertices.
    pub fn bounds(&self) -> Option<[Point3<f64>; 2]> {
        let bounds = BoundingBox::around(self.vertices.iter().copied())?;
        Some([bounds.low, bounds.high])
    }

    /// The mesh with opposite winding: normals point the other way.
    #[must_use]
    pub fn inside_out(mut self) -> Self {
        for triangle in &mut self.triangles {
            triangle.swap(1, 2);
        }
        self
    }

    /// The mesh with all lengths multiplied by `factor`. A negative factor mirrors the mesh at the origin
    /// and reverses the winding, so that outside stays outside.
    #[must_use]
    pub fn scaled(mut self, factor: f64) -> Self {
        for vertex in &mut self.vertices {
            *vertex *= factor;
        }
        if factor < 0.0 {
            self.inside_out()
        } else {
            self
        }
    }

    /// The mesh in another frame.
    #[must_use]
    pub fn moved(mut self, new_from_old: &Isometry3<f64>) -> Self {
        for vertex in &mut self.vertices {
            *vertex = new_from_old * *vertex;
        }
        self
    }

    /// Merges meshes; each comes with the material of its triangles where it has none per triangle.
    pub fn merged<'a>(parts: impl IntoIterator<Item = (&'a Self, MaterialId)>) -> Self {
        let mut whole = Self::default();
        for (part, material) in parts {
            let first = u32::try_from(whole.vertices.len()).expect("vertices are numbered in u32");
            whole.vertices.extend_from_slice(&part.vertices);
            let renumbered = part.triangles.iter().map(|t| t.map(|v| first + v));
            whole.triangles.extend(renumbered);
            if part.materials.is_empty() {
                let all = std::iter::repeat_n(material, part.triangles.len());
                whole.materials.extend(all);
            } else {
                whole.materials.extend_from_slice(&part.materials);
            }
        }
        whole
    }
}

/// Outward unit normal of a triangle, in the frame of its corners.
#[inline]
pub(crate) fn unit_normal(corners: [&Point3<f64>; 3]) -> Vector3<f64> {
    let [a, b, c] = corners;
    let [x, y, z] = unit_cross((b - a).into(), (c - a).into());
    Vector3::new(x, y, z)
}

/// The unit vector along $u \times v$.
#[inline(always)]
fn unit_cross(u: [f64; 3], v: [f64; 3]) -> [f64; 3] {
    let n = [
        u[1] * v[2] - u[2] * v[1],
        u[2] * v[0] - u[0] * v[2],
        u[0] * v[1] - u[1] * v[0],
    ];
    let length = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt();
    n.map(|part| part / length)
}

/// Largest number of triangles of a mesh: indices of nodes and slots must fit 32 bits.
const MOST_TRIANGLES: usize = 1 << 29;

fn check_count(triangles: usize) -> Result<(), MeshError> {
    if triangles > MOST_TRIANGLES {
        return Err(MeshError::TooLarge {
            triangles,
            most: MOST_TRIANGLES,
        });
    }
    Ok(())
}

/// Checks that all vertices are finite.
///
/// # Errors
/// Where one is not, with its index.
pub fn check_vertices(vertices: &[Point3<f64>]) -> Result<(), MeshError> {
    let finite = |vertex: &Point3<f64>| vertex.iter().all(|x| x.is_finite());
    match vertices.iter().position(|vertex| !finite(vertex)) {
        Some(vertex) => Err(MeshError::NotFinite {
            vertex,
            position: vertices[vertex].coords.into(),
        }),
        None => Ok(()),
    }
}

/// An error in a mesh.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MeshError {
    /// A triangle refers to a vertex that does not exist.
    #[error("triangle {triangle} uses vertex {vertex}, the mesh has {vertices}")]
    VertexOutOfRange {
        /// The triangle's index.
        triangle: usize,
        /// The vertex it refers to.
        vertex: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// A vertex has a coordinate that is not a finite number.
    #[error("vertex {vertex} is not finite: {position:?}")]
    NotFinite {
        /// The vertex's index.
        vertex: usize,
        /// Its coordinates.
        position: [f64; 3],
    },
    /// The number of materials differs from that of triangles.
    #[error(
        "the mesh names {materials} materials for {triangles} triangles: name one each, or none"
    )]
    MaterialCount {
        /// Number of materials.
        materials: usize,
        /// Number of triangles.
        triangles: usize,
    },
    /// There are more triangles than indices.
    #[error("the mesh has {triangles} triangles, more than {most}: split it into several objects")]
    TooLarge {
        /// Number of triangles.
        triangles: usize,
        /// Largest number.
        most: usize,
    },
    /// There is no triangle.
    #[error("the mesh has no triangle")]
    Empty,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mesh_with_too_many_triangles_is_refused_with_a_remedy() {
        assert_eq!(check_count(1 << 29), Ok(()));
        let refused = check_count((1 << 31) + 5).expect_err("too many");
        assert!(refused.to_string().contains("split it"), "{refused}");
    }
}

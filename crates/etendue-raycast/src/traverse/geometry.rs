//! The geometry that rays are cast at.

use crate::bvh::blas::Blas;
use crate::instance::PlacedMesh;
use crate::mesh::Mesh;
use crate::tlas::Tlas;
use std::sync::Arc;

/// Meshes with their acceleration structures, and the objects placed in the world.
#[derive(Clone)]
pub(crate) struct Geometry {
    pub meshes: Vec<Arc<Mesh>>,
    /// The structure of each mesh.
    pub blas: Vec<Arc<Blas>>,
    pub objects: Vec<PlacedMesh>,
    pub tlas: Tlas,
}

impl Geometry {
    /// The mesh of an object.
    #[inline(always)]
    pub fn mesh_of(&self, object: &PlacedMesh) -> &Mesh {
        &self.meshes[object.mesh]
    }

    /// The acceleration structure of an object's mesh.
    #[inline(always)]
    pub fn blas_of(&self, object: &PlacedMesh) -> &Blas {
        &self.blas[object.mesh]
    }

    /// The structure of a mesh that this geometry shares.
    pub fn structure_of(&self, mesh: &Arc<Mesh>) -> Option<Arc<Blas>> {
        let known = self.meshes.iter().position(|own| Arc::ptr_eq(own, mesh));
        known.map(|number| Arc::clone(&self.blas[number]))
    }
}

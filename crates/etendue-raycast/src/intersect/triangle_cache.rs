//! Cached triangles in full precision.

use crate::bvh::blas::{Blas, BlasId};
use crate::mesh::{Mesh, unit_normal};
use etendue_simd::prefetch;

/// Number of cached triangles. Neighbouring rays hit the same few.
const SLOTS: usize = 256;

/// A triangle in its mesh's frame.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(crate) struct CachedTriangle {
    pub vertex: [[f64; 3]; 3],
    /// Unit normal.
    pub normal: [f64; 3],
}

/// A direct-mapped cache of triangles. The slots of the triangles of a mesh follow each other, from a slot that depends on
/// the mesh.
pub(crate) struct TriangleCache {
    /// Mesh and number of the triangle in each slot.
    key: [(BlasId, u32); SLOTS],
    triangle: [CachedTriangle; SLOTS],
}

impl TriangleCache {
    /// A cache without triangles.
    #[expect(
        clippy::large_stack_arrays,
        reason = "workers have it in a box (CastScratch::for_worker)"
    )]
    pub const EMPTY: Self = Self {
        key: [(BlasId::NONE, u32::MAX); SLOTS],
        triangle: [CachedTriangle {
            vertex: [[0.0; 3]; 3],
            normal: [0.0; 3],
        }; SLOTS],
    };

    #[inline(never)]
    fn insert(&mut self, slot: usize, blas: BlasId, mesh: &Mesh, number: u32) {
        let corners = mesh.triangles[number as usize].map(|v| &mesh.vertices[v as usize]);
        self.key[slot] = (blas, number);
        self.triangle[slot] = CachedTriangle {
            vertex: corners.map(|corner| corner.coords.into()),
            normal: unit_normal(corners).into(),
        };
    }
}

/// The triangles of one mesh, read through a cache.
pub(crate) struct CachedTriangles<'a> {
    pub cache: &'a mut TriangleCache,
    pub blas: &'a Blas,
    /// The mesh of the BLAS.
    pub mesh: &'a Mesh,
}

impl CachedTriangles<'_> {
    /// Prefetches a triangle's vertex numbers.
    #[inline(always)]
    pub fn prefetch(&self, number: u32) {
        prefetch(&self.mesh.triangles[number as usize]);
    }

    /// The triangle of a number.
    #[inline(always)]
    pub fn get(&mut self, number: u32) -> &CachedTriangle {
        let cache = &mut *self.cache;
        let blas = self.blas.id;
        let slot = (number as usize + blas.first_slot()) % SLOTS;
        if cache.key[slot] != (blas, number) {
            cache.insert(slot, blas, self.mesh, number);
        }
        &cache.triangle[slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Point3;

    /// A strip of triangles along x, of a width.
    fn strip(width: f64) -> Mesh {
        let vertex = |i: u32| Point3::new(f64::from(i / 2), width * f64::from(i % 2), 0.0);
        Mesh {
            vertices: (0..300).map(vertex).collect(),
            triangles: (0..298).map(|i| [i, i + 1, i + 2]).collect(),
            materials: vec![],
        }
    }

    fn assert_reads(cache: &mut TriangleCache, blas: &Blas, mesh: &Mesh) {
        let mut triangles = CachedTriangles { cache, blas, mesh };
        for (number, vertices) in (0..).zip(&mesh.triangles) {
            let cached = triangles.get(number);
            for (own, vertex) in cached.vertex.iter().zip(vertices) {
                assert_eq!(*own, mesh.vertices[*vertex as usize].coords.as_slice());
            }
        }
    }

    /// Two meshes whose triangles have the same numbers, and one of them again after its vertices
    /// moved.
    #[test]
    fn triangles_of_another_mesh_are_not_reused() {
        let mut cache = TriangleCache::EMPTY;
        let [narrow, mut wide] = [1.0, 2.0].map(strip);
        let [blas_of_narrow, mut blas_of_wide] = [&narrow, &wide].map(Blas::new);
        assert_reads(&mut cache, &blas_of_narrow, &narrow);
        assert_reads(&mut cache, &blas_of_wide, &wide);
        assert_reads(&mut cache, &blas_of_narrow, &narrow);
        assert_reads(&mut cache, &blas_of_wide, &wide);
        for vertex in &mut wide.vertices {
            vertex.x += 5.0;
        }
        blas_of_wide.refit(&wide);
        assert_reads(&mut cache, &blas_of_wide, &wide);
    }
}

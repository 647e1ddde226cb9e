//! Triangles in full precision, as they were looked up lately.

use super::face::flat_normal;
use super::tree::MeshTree;
use crate::Mesh;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many triangles are remembered. Neighbouring rays meet the same few.
const PLACES: usize = 128;

/// What a tree and its mesh are known by: no two that differ have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity(u64);

impl Identity {
    const NONE: Self = Self(0);

    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A triangle in its mesh's frame.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(crate) struct Face {
    pub vertex: [[f64; 3]; 3],
    /// Unit normal.
    pub normal: [f64; 3],
}

/// Triangles that were looked up lately, each in the place that its number gives.
pub(crate) struct Known {
    tree: Identity,
    number: [u32; PLACES],
    face: [Face; PLACES],
}

impl Known {
    pub const NONE: Self = Self {
        tree: Identity::NONE,
        number: [u32::MAX; PLACES],
        face: [Face {
            vertex: [[0.0; 3]; 3],
            normal: [0.0; 3],
        }; PLACES],
    };

    #[inline(never)]
    fn look_up(&mut self, (tree, mesh): (&MeshTree, &Mesh), triangle: u32) {
        if self.tree != tree.identity {
            self.tree = tree.identity;
            self.number = [u32::MAX; PLACES];
        }
        let corners = mesh.triangles[triangle as usize].map(|v| &mesh.vertices[v as usize]);
        let place = triangle as usize % PLACES;
        self.number[place] = triangle;
        self.face[place] = Face {
            vertex: corners.map(|corner| corner.coords.into()),
            normal: flat_normal(corners).into(),
        };
    }
}

/// The triangles of one tree, those looked up lately sooner.
pub(crate) struct Faces<'a> {
    pub known: &'a mut Known,
    pub tree: &'a MeshTree,
    /// That of the tree.
    pub mesh: &'a Mesh,
}

impl Faces<'_> {
    /// Has a triangle fetched.
    #[inline(always)]
    pub fn fetch(&self, triangle: u32) {
        super::lanes::fetch(&self.mesh.triangles[triangle as usize]);
    }

    /// The triangle of that number.
    #[inline(always)]
    pub fn face(&mut self, triangle: u32) -> &Face {
        let known = &mut *self.known;
        let place = triangle as usize % PLACES;
        if known.number[place] != triangle || known.tree != self.tree.identity {
            known.look_up((self.tree, self.mesh), triangle);
        }
        &known.face[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitive;

    fn check(known: &mut Known, tree: &MeshTree, mesh: &Mesh) {
        let mut faces = Faces { known, tree, mesh };
        for (number, vertices) in (0..).zip(&mesh.triangles) {
            let face = faces.face(number);
            for (own, vertex) in face.vertex.iter().zip(vertices) {
                assert_eq!(*own, mesh.vertices[*vertex as usize].coords.as_slice());
            }
        }
    }

    /// Two meshes whose triangles have the same numbers, and one of them again with its vertices
    /// moved: each has its own faces.
    #[test]
    fn faces_of_another_tree_are_forgotten() {
        let mut known = Known::NONE;
        let [small, mut large] =
            [1.0, 2.0].map(|size| primitive::cuboid([size; 3]).expect("a box"));
        let [of_small, mut of_large] = [&small, &large].map(MeshTree::new);
        check(&mut known, &of_small, &small);
        check(&mut known, &of_large, &large);
        check(&mut known, &of_small, &small);
        check(&mut known, &of_large, &large);
        for vertex in &mut large.vertices {
            vertex.x += 5.0;
        }
        of_large.refit(&large);
        check(&mut known, &of_large, &large);
    }
}

//! Following a mesh whose vertices moved, without a new tree.

use super::build::{extent, outer_box};
use super::tree::{Block, LEAF, MeshTree, NO_TRIANGLE, corners};
use crate::Mesh;
use obvhs::aabb::Aabb;
use rayon::prelude::*;

impl MeshTree {
    /// Takes over moved vertices: the same triangles in the same tree, its boxes fitted anew.
    /// Right however far they moved; slower to search than a new tree when they moved far.
    pub fn refit(&mut self, mesh: &Mesh) {
        let (middle, reach, bounds) = extent(mesh);
        self.middle = middle;
        self.reach = reach;
        self.bounds = bounds;
        let boxes: Vec<Aabb> = self
            .blocks
            .par_iter_mut()
            .map(|block| {
                let triangles = block.triangles();
                *block = Block::new(mesh, &middle, &triangles);
                let own = triangles
                    .iter()
                    .map(|&t| outer_box(corners(mesh, &middle, t)));
                own.fold(Aabb::INVALID, |all, one| all.union(&one))
            })
            .collect();
        self.fit_nodes(&boxes);
    }

    /// Children stand behind their parents: the last node is fitted first.
    fn fit_nodes(&mut self, blocks: &[Aabb]) {
        let mut nodes = vec![Aabb::INVALID; self.nodes.len()];
        for index in (0..self.nodes.len()).rev() {
            for place in 0..8 {
                let child = self.nodes[index].child[place];
                if !self.nodes[index].is_used(place) {
                    continue;
                }
                let bounds = if child & LEAF == 0 {
                    nodes[child as usize]
                } else {
                    blocks[(child & !LEAF) as usize]
                };
                self.nodes[index].set_bounds(place, &bounds);
                nodes[index] = nodes[index].union(&bounds);
            }
        }
    }
}

impl Block {
    /// The numbers of its triangles.
    fn triangles(&self) -> Vec<u32> {
        let used = |triangle: &u32| *triangle != NO_TRIANGLE;
        self.triangle.into_iter().filter(used).collect()
    }
}

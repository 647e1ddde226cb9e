//! Following a mesh whose vertices moved, without a new tree.

use super::block::Block;
use super::build::{extent, triangle_box};
use super::known::Identity;
use super::packed::Packed;
use super::tree::{LEAF, MeshTree, PACKED, corners};
use crate::Mesh;
use obvhs::aabb::Aabb;
use rayon::prelude::*;

impl MeshTree {
    /// Takes over moved vertices: the same triangles in the same tree, its boxes fitted anew.
    /// Right however far they moved; slower to search than a new tree when they moved far.
    pub fn refit(&mut self, mesh: &Mesh) {
        let (middle, reach, bounds) = extent(mesh);
        self.identity = Identity::new();
        self.middle = middle;
        self.reach = reach;
        self.bounds = bounds;
        let around = |triangles: &[u32]| {
            let own = triangles
                .iter()
                .map(|&t| triangle_box(corners(mesh, &middle, t)));
            own.fold(Aabb::INVALID, |all, one| all.union(&one))
        };
        let blocks = self.blocks.par_iter_mut().map(|block| {
            let triangles = block.triangles();
            *block = Block::new(mesh, &middle, &triangles);
            around(&triangles)
        });
        let blocks: Vec<Aabb> = blocks.collect();
        let packed = self.packed.par_iter_mut().map(|packed| {
            let triangles = packed.triangles();
            *packed = Packed::new(&Block::new(mesh, &middle, &triangles));
            around(&triangles)
        });
        let packed: Vec<Aabb> = packed.collect();
        self.fit_nodes(&blocks, &packed);
    }

    /// Children stand behind their parents: the last node is fitted first.
    fn fit_nodes(&mut self, blocks: &[Aabb], packed: &[Aabb]) {
        let mut nodes = vec![Aabb::INVALID; self.nodes.len()];
        for index in (0..self.nodes.len()).rev() {
            for place in 0..8 {
                let child = self.nodes[index].child[place];
                if !self.nodes[index].is_used(place) {
                    continue;
                }
                let number = (child & !(LEAF | PACKED)) as usize;
                let bounds = if child & LEAF == 0 {
                    nodes[child as usize]
                } else if child & PACKED == 0 {
                    blocks[number]
                } else {
                    packed[number]
                };
                self.nodes[index].set_bounds(place, &bounds);
                nodes[index] = nodes[index].union(&bounds);
            }
        }
    }
}

//! All that one ray meets, up to a number.

use super::instance::Instance;
use super::lanes::{Job, Lanes};
use super::single::Single;
use super::top::{Bundle, Movers};
use super::tree::LEAF;
use super::{Caster, Scratch};
use crate::{Hit, Mesh, Ray};
use std::sync::Arc;

/// The nearest `most` hits of a ray, nearest first.
pub(crate) struct Several<'a> {
    pub caster: &'a Caster,
    pub movers: &'a Movers,
    pub meshes: &'a [Arc<Mesh>],
    pub ray: &'a Ray,
    pub most: usize,
    pub hits: &'a mut Vec<Hit>,
    pub scratch: &'a mut Scratch,
}

impl Job for Several<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let mut candidates = std::mem::take(&mut self.scratch.candidates);
        let top = &self.caster.top;
        let mut walk = top.walk::<L>(self.movers, &Bundle::one(self.ray), &mut candidates);
        while let Some(number) = walk.next::<L>(self.far()) {
            let instance = &self.caster.instances[number];
            if instance.mask & self.ray.mask != 0 {
                self.visit::<L>(number, instance);
            }
        }
        self.scratch.candidates = candidates;
    }
}

impl Several<'_> {
    /// The distance beyond which nothing counts any more.
    fn far(&self) -> f64 {
        let last = self.hits.get(self.most - 1);
        last.map_or(self.ray.far, |hit| hit.distance)
    }

    #[inline(always)]
    fn visit<L: Lanes>(&mut self, number: usize, instance: &Instance) {
        let tree = &*self.caster.trees[instance.mesh];
        let mesh = &*self.meshes[instance.mesh];
        let ray = instance.localise(self.ray);
        let single = Single::new(&ray, tree);
        let mut open = vec![tree.root];
        while let Some(child) = open.pop() {
            let far = single.farthest(&ray, self.far());
            if child & LEAF == 0 {
                let node = &tree.nodes[child as usize];
                let (hits, _) = single.inside::<L>(node, far);
                open.extend((0..8).filter(|i| hits >> i & 1 == 1).map(|i| node.child[i]));
                continue;
            }
            let block = tree.leaf(child, &mut self.scratch.room);
            let triangles = block.triangle;
            let hits = single.may_meet::<L>(block);
            for place in (0..8).filter(|i| hits >> i & 1 == 1) {
                if let Some(met) = ray.hit(mesh, number, triangles[place]) {
                    let normal = instance.normal(mesh, met.triangle, self.ray.time);
                    self.insert(met.hit(normal));
                }
            }
        }
    }

    fn insert(&mut self, hit: Hit) {
        let key = |hit: &Hit| (hit.object, hit.triangle);
        let before = |other: &Hit| match other.distance.total_cmp(&hit.distance) {
            std::cmp::Ordering::Equal => key(other) < key(&hit),
            order => order.is_lt(),
        };
        let at = self.hits.partition_point(before);
        let known = self
            .hits
            .get(at)
            .is_some_and(|other| key(other) == key(&hit));
        if at < self.most && !known {
            self.hits.insert(at, hit);
            self.hits.truncate(self.most);
        }
    }
}

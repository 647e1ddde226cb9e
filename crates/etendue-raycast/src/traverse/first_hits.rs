//! Queries of a single ray for several hits.

use super::geometry::Geometry;
use super::ray_traversal::AxisRay;
use super::scratch::CastScratch;
use super::triangle_hit::TriangleHit;
use crate::bvh::node::LEAF;
use crate::ray::{Hit, Ray};
use crate::tlas::{MovingNodes, RayBundle};
use etendue_simd::{Kernel, Lanes};

/// A query for the nearest `count` hits of a ray, at least one, nearest first.
pub(crate) struct FirstHits<'a> {
    pub geometry: &'a Geometry,
    pub moving: &'a MovingNodes,
    pub ray: &'a Ray,
    pub count: usize,
    pub hits: &'a mut Vec<Hit>,
    pub scratch: &'a mut CastScratch,
}

impl Kernel for FirstHits<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let mut stack = std::mem::take(&mut self.scratch.tlas_stack);
        let bundle = RayBundle::one(self.ray);
        let tlas = &self.geometry.tlas;
        let mut traversal = tlas.traverse::<L>(self.moving, &bundle, &mut stack);
        while let Some(number) = traversal.next::<L>(self.far()) {
            if self.geometry.objects[number].mask & self.ray.mask != 0 {
                self.intersect_object::<L>(number);
            }
        }
        self.scratch.tlas_stack = stack;
    }
}

impl FirstHits<'_> {
    /// The distance beyond which hits no longer count.
    fn far(&self) -> f64 {
        let last = self.hits.get(self.count - 1);
        last.map_or(self.ray.far, |hit| hit.distance)
    }

    /// Inserts the hits with one object.
    #[inline(always)]
    fn intersect_object<L: Lanes>(&mut self, number: usize) {
        let object = &self.geometry.objects[number];
        let blas = self.geometry.blas_of(object);
        let mesh = self.geometry.mesh_of(object);
        let ray = object.local_ray(self.ray);
        let axis_ray = AxisRay::new(&ray, blas);
        let mut open = vec![blas.root];
        while let Some(child) = open.pop() {
            // Open the boxes of a node.
            if child & LEAF == 0 {
                let far = axis_ray.depth_bound(&ray, self.far());
                let node = &blas.nodes[child as usize];
                let (hits, _) = axis_ray.intersect_boxes::<L>(node, far);
                open.extend((0..8).filter(|i| hits >> i & 1 == 1).map(|i| node.child[i]));
                continue;
            }

            // Test the triangles of a leaf.
            let block = blas.leaf(child, &mut self.scratch.unpacked);
            let triangles = block.triangle;
            let candidates = axis_ray.may_hit::<L>(block);
            for slot in (0..8).filter(|i| candidates >> i & 1 == 1) {
                if let Some(hit) = TriangleHit::new(&ray, mesh, number, triangles[slot]) {
                    let normal = object.normal(mesh, hit.triangle, self.ray.time);
                    self.insert(hit.with_normal(normal));
                }
            }
        }
    }

    /// Inserts a hit in order, unless it is already there or too far.
    fn insert(&mut self, hit: Hit) {
        let key = |hit: &Hit| (hit.object, hit.triangle);
        let before = |other: &Hit| match other.distance.total_cmp(&hit.distance) {
            std::cmp::Ordering::Equal => key(other) < key(&hit),
            order => order.is_lt(),
        };
        let at = self.hits.partition_point(before);
        let next = self.hits.get(at);
        let is_repeated = next.is_some_and(|other| key(other) == key(&hit));
        if at < self.count && !is_repeated {
            self.hits.insert(at, hit);
            self.hits.truncate(self.count);
        }
    }
}

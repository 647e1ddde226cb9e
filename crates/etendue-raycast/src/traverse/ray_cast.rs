//! Queries of a single ray.

use super::geometry::Geometry;
use super::ray_traversal::trace_ray;
use super::scratch::CastScratch;
use super::triangle_hit::TriangleHit;
use crate::bvh::leaf_block::{LeafBlock, NO_TRIANGLE};
use crate::intersect::triangle_cache::{CachedTriangles, TriangleCache};
use crate::ray::{Hit, Ray};
use crate::tlas::{MovingNodes, RayBundle};
use crate::traverse::stack::StackEntry;
use etendue_simd::{Kernel, Lanes};

/// A query of one ray for the nearest hit (with `ANY`, for some hit).
pub(crate) struct RayCast<'a, const ANY: bool> {
    pub geometry: &'a Geometry,
    pub moving: &'a MovingNodes,
    pub ray: &'a Ray,
    pub scratch: &'a mut CastScratch,
}

/// The parts of the scratch that a single ray uses in one object.
struct RayScratch<'a> {
    cache: &'a mut TriangleCache,
    stack: &'a mut Vec<StackEntry>,
    unpacked: &'a mut LeafBlock,
}

impl<const ANY: bool> Kernel for RayCast<'_, ANY> {
    type Output = Option<TriangleHit>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Option<TriangleHit> {
        let Self {
            geometry,
            moving,
            ray,
            scratch,
        } = self;
        let mut own = RayScratch {
            cache: &mut scratch.cache,
            stack: &mut scratch.stack,
            unpacked: &mut scratch.unpacked,
        };

        // A single object needs no search for objects.
        if geometry.objects.len() == 1 {
            return intersect_object::<L, ANY>(geometry, 0, ray, None, &mut own);
        }

        // Visit objects, nearest first.
        let bundle = RayBundle::one(ray);
        let stack = &mut scratch.tlas_stack;
        let mut traversal = geometry.tlas.traverse::<L>(moving, &bundle, stack);
        let mut nearest: Option<TriangleHit> = None;
        let mut farthest = ray.far;
        while let Some(number) = traversal.next::<L>(farthest) {
            let before = nearest.as_ref();
            let hit = intersect_object::<L, ANY>(geometry, number, ray, before, &mut own);
            if let Some(hit) = hit {
                if ANY {
                    return Some(hit);
                }
                farthest = hit.distance;
                nearest = Some(hit);
            }
        }
        nearest
    }
}

/// The hit of a ray with one object that comes before another hit.
#[inline(always)]
fn intersect_object<L: Lanes, const ANY: bool>(
    geometry: &Geometry,
    number: usize,
    ray: &Ray,
    before: Option<&TriangleHit>,
    scratch: &mut RayScratch,
) -> Option<TriangleHit> {
    // Transform the ray to the frame of the object, limited by the other hit.
    let object = &geometry.objects[number];
    if object.mask & ray.mask == 0 {
        return None;
    }
    let mut local = object.local_ray(ray);
    if let Some(hit) = before {
        hit.limit(&mut local, number);
    }
    // Traverse the mesh.
    let mesh = geometry.mesh_of(object);
    let mut triangles = CachedTriangles {
        cache: scratch.cache,
        blas: geometry.blas_of(object),
        mesh,
    };
    let triangle = trace_ray::<L, ANY>(&mut triangles, &local, scratch.stack, scratch.unpacked);
    if triangle == NO_TRIANGLE {
        return None;
    }
    TriangleHit::new(&local, mesh, number, triangle)
}

/// All hits of a ray, nearest first, by testing every triangle of every object in `f64`.
pub(crate) fn exhaustive_hits(geometry: &Geometry, ray: &Ray) -> Vec<Hit> {
    let mut hits = vec![];
    for (number, object) in geometry.objects.iter().enumerate() {
        if object.mask & ray.mask == 0 {
            continue;
        }
        let mesh = geometry.mesh_of(object);
        let local = object.local_ray(ray);
        let all = 0..mesh.triangles.len() as u32;
        hits.extend(all.filter_map(|triangle| {
            let hit = TriangleHit::new(&local, mesh, number, triangle)?;
            Some(hit.with_normal(object.normal(mesh, triangle, ray.time)))
        }));
    }
    let key = |hit: &Hit| (hit.object, hit.triangle);
    hits.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(key(a).cmp(&key(b))));
    hits
}

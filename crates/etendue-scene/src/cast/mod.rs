//! What does a ray meet first.
//!
//! The answer is defined by the watertight test in `f64` over all triangles, ties going to the
//! lowest object and then the lowest triangle. Everything else only leaves out triangles that
//! cannot be the answer: it does not depend on the tree's shape or the order of the search.

#![expect(
    clippy::cast_possible_truncation,
    reason = "f32 bounds are rounded outwards on purpose, and counts are checked to fit u32"
)]

mod spawn;
mod tree;
mod triangle;

use crate::{Hit, Mesh, Object, ObjectId, Ray};
use nalgebra::Isometry3;
pub(crate) use spawn::spawn_near;
use std::sync::Arc;
use tree::{LocalRay, MeshTree};

/// A scene's objects, prepared for rays.
pub(crate) struct Caster {
    trees: Vec<MeshTree>,
    instances: Vec<Instance>,
}

struct Instance {
    object_from_world: Isometry3<f64>,
    mesh: usize,
    mask: u32,
}

impl Caster {
    /// Meshes must have been checked and every object's mesh must exist.
    pub fn new(meshes: &[Arc<Mesh>], objects: &[Object]) -> Self {
        let instances = objects
            .iter()
            .map(|object| Instance {
                object_from_world: object.world_from_object.inverse(),
                mesh: object.mesh.0 as usize,
                mask: object.mask,
            })
            .collect();
        Self {
            trees: meshes.iter().map(|mesh| MeshTree::new(mesh)).collect(),
            instances,
        }
    }

    pub fn closest(&self, meshes: &[Arc<Mesh>], ray: &Ray) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        let mut far = ray.far;
        for (number, instance) in self.instances.iter().enumerate() {
            if instance.mask & ray.mask == 0 {
                continue;
            }
            let local = LocalRay {
                origin: instance.object_from_world * ray.origin,
                direction: instance.object_from_world * ray.direction,
                near: ray.near,
                far,
            };
            let Some(found) = self.trees[instance.mesh].closest(&meshes[instance.mesh], &local)
            else {
                continue;
            };
            if best.is_none_or(|best| found.meeting.distance < best.distance) {
                far = found.meeting.distance;
                best = Some(Hit {
                    distance: found.meeting.distance,
                    object: ObjectId(number as u32),
                    triangle: found.triangle,
                    barycentric: found.meeting.barycentric,
                });
            }
        }
        best
    }
}

impl std::fmt::Debug for Caster {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Caster")
            .field("instances", &self.instances.len())
            .finish_non_exhaustive()
    }
}

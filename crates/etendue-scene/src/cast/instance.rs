//! Meshes where they stand: frames, motion, and the boxes around them.

use super::best::LocalRay;
use super::tree::MeshTree;
use crate::motion::{Bounds, Trajectory};
use crate::{Object, Ray};
use nalgebra::{Isometry3, Vector3};

/// A mesh placed in the world.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub mesh: usize,
    pub mask: u32,
    pub pose: Pose,
    /// The mesh's box in its own frame.
    local: Bounds,
}

/// Where an instance stands.
#[derive(Clone, Debug)]
pub(crate) enum Pose {
    Still {
        world_from_object: Isometry3<f64>,
        object_from_world: Isometry3<f64>,
        /// Whether there is no rotation, only a shift.
        shifted: bool,
    },
    Moving(Trajectory),
}

impl Pose {
    pub fn still(world_from_object: Isometry3<f64>) -> Self {
        Self::Still {
            object_from_world: world_from_object.inverse(),
            shifted: world_from_object.rotation == nalgebra::UnitQuaternion::identity(),
            world_from_object,
        }
    }

    pub fn is_identity(&self) -> bool {
        matches!(self, Self::Still { world_from_object, .. }
            if *world_from_object == Isometry3::identity())
    }
}

impl Instance {
    pub fn new(object: &Object, tree: &MeshTree) -> Self {
        Self {
            mesh: object.mesh.0 as usize,
            mask: object.mask,
            pose: Pose::still(object.world_from_object),
            local: tree.bounds,
        }
    }

    /// Follows the mesh's box.
    pub fn set_local(&mut self, tree: &MeshTree) {
        self.local = tree.bounds;
    }

    pub fn is_moving(&self) -> bool {
        self.motion().is_some()
    }

    pub fn motion(&self) -> Option<&Trajectory> {
        match &self.pose {
            Pose::Moving(motion) => Some(motion),
            Pose::Still { .. } => None,
        }
    }

    /// The pose (`world_from_object`) at a time.
    pub fn world_from_object(&self, time: f64) -> Isometry3<f64> {
        match &self.pose {
            Pose::Still {
                world_from_object, ..
            } => *world_from_object,
            Pose::Moving(motion) => motion.at(time),
        }
    }

    /// The box around it in the world over a span of time.
    pub fn bounds(&self, span: [f64; 2]) -> Bounds {
        let bounds = match &self.pose {
            Pose::Still {
                world_from_object, ..
            } => self.local.moved(world_from_object),
            Pose::Moving(motion) => motion.bounds(&self.local, span),
        };
        let size = bounds.low.coords.amax().max(bounds.high.coords.amax());
        bounds.grown(1e-12 * size)
    }

    /// The ray in the mesh's frame.
    #[inline(always)]
    pub fn localise(&self, ray: &Ray) -> LocalRay {
        let object_from_world = match &self.pose {
            Pose::Still {
                shifted: true,
                object_from_world,
                ..
            } => {
                return local(
                    ray,
                    ray.origin + object_from_world.translation.vector,
                    ray.direction,
                );
            }
            Pose::Still {
                object_from_world, ..
            } => *object_from_world,
            Pose::Moving(motion) => motion.at(ray.time).inverse(),
        };
        local(
            ray,
            object_from_world * ray.origin,
            object_from_world * ray.direction,
        )
    }
}

#[inline(always)]
fn local(ray: &Ray, origin: nalgebra::Point3<f64>, direction: Vector3<f64>) -> LocalRay {
    LocalRay {
        origin,
        direction,
        near: ray.near,
        far: ray.far,
        far_included: true,
    }
}

//! Instances: meshes placed in the world.

use crate::bounding_box::BoundingBox;
use crate::ids::MeshId;
use crate::intersect::local_ray::LocalRay;
use crate::mesh::Mesh;
use crate::motion::RigidMotion;
use crate::ray::Ray;
use crate::rotation::{rotate, rotate_lanes};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use std::sync::Arc;

/// A mesh placed in the world.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The mesh.
    pub mesh: MeshId,
    /// The pose; ignored where there is a motion.
    pub world_from_object: Isometry3<f64>,
    /// The pose over time, for objects that move.
    pub motion: Option<Arc<dyn RigidMotion>>,
    /// Visibility mask: rays whose mask shares no bit with it ignore the instance.
    pub mask: u32,
}

impl Instance {
    /// A static instance that every ray sees.
    pub fn new(mesh: MeshId, world_from_object: Isometry3<f64>) -> Self {
        Self {
            mesh,
            world_from_object,
            motion: None,
            mask: u32::MAX,
        }
    }
}

/// An [`Instance`] prepared for rays.
#[derive(Clone, Debug)]
pub(crate) struct PlacedMesh {
    pub mesh: usize,
    pub mask: u32,
    pub placement: Placement,
    /// The mesh's box in its own frame.
    local_bounds: BoundingBox,
}

/// The pose of an instance.
#[derive(Clone, Debug)]
pub(crate) enum Placement {
    Static {
        world_from_object: Isometry3<f64>,
        object_from_world: Isometry3<f64>,
        /// Whether the rotation is the identity.
        translation_only: bool,
    },
    Moving(Arc<dyn RigidMotion>),
}

impl Placement {
    /// A constant pose.
    pub fn at_rest(world_from_object: Isometry3<f64>) -> Self {
        Self::Static {
            object_from_world: world_from_object.inverse(),
            translation_only: world_from_object.rotation == UnitQuaternion::identity(),
            world_from_object,
        }
    }
}

impl PlacedMesh {
    /// Prepares an instance of a mesh with a box in its own frame.
    pub fn new(instance: &Instance, local_bounds: BoundingBox) -> Self {
        let placement = match &instance.motion {
            Some(motion) => Placement::Moving(motion.clone()),
            None => Placement::at_rest(instance.world_from_object),
        };
        Self {
            mesh: instance.mesh.0 as usize,
            mask: instance.mask,
            placement,
            local_bounds,
        }
    }

    /// Replaces the mesh's box in its own frame.
    pub fn set_local_bounds(&mut self, bounds: BoundingBox) {
        self.local_bounds = bounds;
    }

    /// Whether the pose depends on time.
    pub fn is_moving(&self) -> bool {
        matches!(self.placement, Placement::Moving(_))
    }

    /// The pose at a time, s.
    pub fn world_from_object(&self, time: f64) -> Isometry3<f64> {
        match &self.placement {
            Placement::Static {
                world_from_object, ..
            } => *world_from_object,
            Placement::Moving(motion) => motion.world_from_object(time),
        }
    }

    /// A box in the world that contains the instance during a span of time.
    pub fn bounds(&self, span: [f64; 2]) -> BoundingBox {
        let bounds = match &self.placement {
            Placement::Static {
                world_from_object, ..
            } => self.local_bounds.transformed(world_from_object),
            Placement::Moving(motion) => motion.bounds(&self.local_bounds, span),
        };
        let size = bounds.low.coords.amax().max(bounds.high.coords.amax());
        bounds.grown(1e-12 * size)
    }

    /// A ray in the mesh's frame.
    #[inline(always)]
    pub fn local_ray(&self, ray: &Ray) -> LocalRay {
        let object_from_world = match &self.placement {
            Placement::Static {
                translation_only: true,
                object_from_world,
                ..
            } => {
                let origin = ray.origin + object_from_world.translation.vector;
                return with_limits(ray, origin, ray.direction);
            }
            Placement::Static {
                object_from_world, ..
            } => *object_from_world,
            Placement::Moving(motion) => motion.world_from_object(ray.time).inverse(),
        };
        with_limits(
            ray,
            object_from_world * ray.origin,
            object_from_world * ray.direction,
        )
    }

    /// Rotates a direction of the mesh's frame into the world.
    #[inline]
    pub fn rotate(&self, direction: Vector3<f64>, time: f64) -> Vector3<f64> {
        match &self.placement {
            Placement::Static {
                translation_only: true,
                ..
            } => direction,
            Placement::Static {
                world_from_object, ..
            } => rotate(&world_from_object.rotation, &direction),
            Placement::Moving(motion) => {
                rotate(&motion.world_from_object(time).rotation, &direction)
            }
        }
    }

    /// [`PlacedMesh::rotate`] of sixteen directions, each at its own time.
    #[inline(always)]
    pub fn rotate_lanes(&self, directions: &mut [[f64; 16]; 3], times: &[f64; 16]) {
        match &self.placement {
            Placement::Static {
                translation_only: true,
                ..
            } => {}
            Placement::Static {
                world_from_object, ..
            } => *directions = rotate_lanes(&world_from_object.rotation, directions),
            Placement::Moving(_) => {
                for lane in 0..16 {
                    let direction = Vector3::from(directions.map(|axis| axis[lane]));
                    let rotated = self.rotate(direction, times[lane]);
                    for (axis, part) in directions.iter_mut().zip(rotated.iter()) {
                        axis[lane] = *part;
                    }
                }
            }
        }
    }

    /// Unit normal in the world of a triangle of the instance's mesh.
    pub fn normal(&self, mesh: &Mesh, triangle: u32, time: f64) -> Vector3<f64> {
        self.rotate(mesh.normal(triangle), time)
    }
}

/// A ray of the mesh's frame with the limits of a ray in the world.
#[inline(always)]
fn with_limits(ray: &Ray, origin: Point3<f64>, direction: Vector3<f64>) -> LocalRay {
    LocalRay {
        origin,
        direction,
        near: ray.near,
        far: ray.far,
        far_included: true,
    }
}

//! A scene in the memory of a device.

use crate::device::GpuDevice;
use crate::device_tree::{DeviceTree, EMPTY, Node, shifted};
use crate::error::GpuError;
use crate::geometry::{Geometry, NODE_BYTES, PlacedTree, below, index};
use crate::numbers;
use crate::transfers::Scratch;
use bytemuck::{Pod, Zeroable, cast_slice};
use etendue_raycast::{BoundingBox, BoxTree, Mesh, MeshId, ObjectId, RayCaster};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion};
use rayon::prelude::*;
use wgpu::Buffer;

/// Levels of a tree that the stack of the shader may have to hold.
const MOST_LEVELS: usize = 192;

/// Levels of the tree over objects.
const LEVELS_OF_OBJECTS: usize = 64;

/// The meshes and objects of a ray caster in the memory of a device. The poses of moving objects are written for the times
/// of each batch of rays; vertices that move are not supported.
pub struct GpuScene {
    pub(crate) nodes: Buffer,
    pub(crate) triangles: Buffer,
    pub(crate) vertices: Buffer,
    pub(crate) corners: Buffer,
    meshes: Vec<PlacedTree>,
    /// Number of triangles of each mesh.
    triangle_counts: Vec<usize>,
    objects: Vec<PlacedObject>,
    /// Size of the stack of the shader.
    pub(crate) stack: usize,
    /// Bytes of the buffers.
    bytes: u64,
}

/// An object of the scene.
struct PlacedObject {
    mesh: usize,
    mask: u32,
    is_moving: bool,
}

/// An object in the form of the shaders.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct InstanceRecord {
    root: u32,
    object: u32,
    mask: u32,
    /// Bit 0: no rotation; bit 1: a pose per time; bit 2: a pose per environment.
    flags: u32,
    pose: u32,
    first_vertex: u32,
    first_corner: u32,
    reach: f32,
}

/// Where objects are, by the indices that each ray states.
#[derive(Clone, Copy)]
pub(crate) struct Placement<'a> {
    /// Times, s, at which objects are where the scene has them.
    pub times: &'a [f64],
    /// Where some objects are in each environment, world from object, at all times.
    pub bodies: &'a [(ObjectId, Vec<Isometry3<f64>>)],
}

/// The poses of an object.
enum Poses {
    One(Isometry3<f64>),
    Times(Vec<Isometry3<f64>>),
    Environments(Vec<Isometry3<f64>>),
}

/// The objects of a scene at the times, or in the environments, of some rays.
pub(crate) struct PlacedObjects<'a> {
    pub instances: Scratch<'a>,
    pub poses: Scratch<'a>,
    /// The origin of the coordinates of the upper level, m.
    pub middle: Point3<f64>,
    /// The largest coordinate of the upper level, m.
    pub reach: f32,
}

impl GpuScene {
    /// Copies the scene of a ray caster to a device, with trees of its own.
    ///
    /// # Errors
    /// Where the device has too little memory or is lost, or a tree is too deep.
    pub fn new(device: &GpuDevice, caster: &RayCaster) -> Result<Self, GpuError> {
        // Build the trees of the meshes.
        let meshes = (0..caster.mesh_count()).map(|number| &**caster.mesh(MeshId(index(number))));
        let geometry = Geometry::new(meshes.map(|mesh: &Mesh| mesh));
        let stack = (geometry.depth + LEVELS_OF_OBJECTS).next_multiple_of(8);
        if geometry.depth > MOST_LEVELS {
            return Err(GpuError::TooDeep {
                depth: geometry.depth,
                most: MOST_LEVELS,
            });
        }

        // Copy them, after the nodes of the upper level; these are fewer than the objects.
        let objects: Vec<PlacedObject> = (0..index(caster.object_count()))
            .map(|number| PlacedObject {
                mesh: caster.mesh_of(ObjectId(number)).0 as usize,
                mask: caster.mask_of(ObjectId(number)),
                is_moving: caster.is_moving(ObjectId(number)),
            })
            .collect();
        let reserved = index(objects.len().max(1));
        let mut nodes: Vec<Node> = vec![EMPTY; reserved as usize];
        let of_meshes = geometry.nodes.iter();
        nodes.extend(of_meshes.map(|node| shifted(*node, reserved, 0)));
        let meshes = geometry.meshes.iter().map(|mesh| PlacedTree {
            root: mesh.root + reserved,
            ..*mesh
        });
        let bytes = size_of_val(&nodes[..])
            + size_of_val(&geometry.triangles[..])
            + size_of_val(&geometry.vertices[..])
            + size_of_val(&geometry.corners[..]);
        Ok(Self {
            nodes: device.storage("the nodes of the scene", cast_slice::<Node, u32>(&nodes))?,
            triangles: device.storage("the triangles of the scene", &geometry.triangles)?,
            vertices: device.storage("the vertices of the scene", &geometry.vertices)?,
            corners: device.storage("the corners of the scene", &geometry.corners)?,
            meshes: meshes.collect(),
            triangle_counts: triangle_counts(caster),
            objects,
            stack,
            bytes: bytes as u64,
        })
    }

    /// Fails if a caster has other objects or meshes: indices of the shaders would be out of bounds. Objects that moved
    /// may be at rest.
    pub(crate) fn check(&self, caster: &RayCaster) -> Result<(), GpuError> {
        let is_same = |(number, object): (u32, &PlacedObject)| {
            caster.mesh_of(ObjectId(number)).0 as usize == object.mesh
                && (object.is_moving || !caster.is_moving(ObjectId(number)))
        };
        let has_objects = caster.object_count() == self.objects.len();
        let has_meshes = triangle_counts(caster) == self.triangle_counts;
        if has_objects && has_meshes && (0..).zip(&self.objects).all(is_same) {
            Ok(())
        } else {
            Err(GpuError::OtherScene)
        }
    }

    /// Memory of the scene on the device, bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where the vertices and the corners of an object begin.
    pub(crate) fn first_vertex_and_corner(&self, object: ObjectId) -> [u32; 2] {
        let mesh = &self.meshes[self.objects[object.0 as usize].mesh];
        [mesh.first_vertex, mesh.first_corner]
    }

    /// Whether any object moves.
    pub fn has_moving_objects(&self) -> bool {
        self.objects.iter().any(|object| object.is_moving)
    }

    /// Places the objects for rays, which refer to the times or environments by index.
    pub(crate) fn place<'d>(
        &self,
        device: &'d GpuDevice,
        caster: &RayCaster,
        placement: Placement,
    ) -> Result<PlacedObjects<'d>, GpuError> {
        // Build the tree over the boxes of the objects at all times, or in all environments.
        self.check(caster)?;
        let ids = (0..index(self.objects.len())).map(ObjectId);
        let boxes: Vec<BoundingBox> = ids.map(|id| placement.bounds(caster, id)).collect();
        let around = boxes.iter().copied().reduce(|a, b| a.union(&b));
        let around = around.unwrap_or(BoundingBox::point(Point3::origin()));
        let middle = nalgebra::center(&around.low, &around.high);
        let shifted = |own: &BoundingBox| BoundingBox {
            low: own.low - middle.coords,
            high: own.high - middle.coords,
        };
        let boxes: Vec<BoundingBox> = boxes.iter().map(shifted).collect();
        let around = shifted(&around);
        let reach = -below(-around.low.coords.amax().max(around.high.coords.amax()));
        let mut members = vec![];
        // Without objects the first node stays empty
        if let Some(tree) = BoxTree::new(&boxes, 1) {
            let bounds = [around.low.map(below), around.high.map(|x| -below(-x))];
            let upper = DeviceTree::new(&tree, bounds.map(|corner| corner.coords.into()));
            if upper.depth > LEVELS_OF_OBJECTS {
                return Err(GpuError::TooDeep {
                    depth: upper.depth,
                    most: LEVELS_OF_OBJECTS,
                });
            }
            debug_assert!(upper.nodes.len() <= self.objects.len().max(1));
            device
                .queue
                .write_buffer(&self.nodes, 0, cast_slice(&upper.nodes));
            debug_assert_eq!(size_of_val(&upper.nodes[0]), NODE_BYTES);
            members = upper.members;
        }

        // Write the objects in the order of the leaves, and their poses.
        let mut instances = vec![];
        let mut poses = vec![];
        for number in members {
            let object = &self.objects[number as usize];
            let (flags, own) = match placement.poses(caster, ObjectId(number)) {
                Poses::One(own) => (u32::from(is_translation(&own)), vec![own]),
                Poses::Times(own) => (1 << 1, own),
                Poses::Environments(own) => (1 << 2, own),
            };
            let mesh = &self.meshes[object.mesh];
            instances.push(InstanceRecord {
                root: mesh.root,
                object: number,
                mask: object.mask,
                flags,
                pose: index(poses.len()),
                first_vertex: mesh.first_vertex,
                first_corner: mesh.first_corner,
                reach: mesh.reach,
            });
            let to_middle = Translation3::from(-mesh.middle.coords);
            let from_world = |pose: &Isometry3<f64>| numbers::pose(&(to_middle * pose.inverse()));
            poses.par_extend(own.par_iter().map(from_world));
        }
        Ok(PlacedObjects {
            instances: device.scratch_with("the objects", &instances)?,
            poses: device.scratch_with("the poses of the objects", &poses)?,
            middle,
            reach,
        })
    }
}

impl PlacedObjects<'_> {
    /// Memory on the device, bytes.
    pub fn bytes(&self) -> u64 {
        self.instances.size() + self.poses.size()
    }
}

impl<'a> Placement<'a> {
    /// At times, in one environment.
    pub fn at(times: &'a [f64]) -> Self {
        Self { times, bodies: &[] }
    }

    /// The poses of an object in each environment, if it has its own.
    fn in_environments(&self, object: ObjectId) -> Option<&[Isometry3<f64>]> {
        let own = self.bodies.iter().find(|(body, _)| *body == object);
        own.map(|(_, poses)| &poses[..])
    }

    /// A box in the world that contains an object at all times, in all environments.
    fn bounds(&self, caster: &RayCaster, object: ObjectId) -> BoundingBox {
        let Some(poses) = self.in_environments(object) else {
            let first = self.times.iter().copied().fold(f64::INFINITY, f64::min);
            let last = self.times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            return caster.bounds_of(object, [first, last]);
        };
        let mesh = caster.mesh(caster.mesh_of(object));
        let [low, high] = mesh.bounds().expect("a checked mesh has a vertex");
        let local = BoundingBox { low, high };
        let all = poses.iter().map(|pose| local.transformed(pose));
        let around = all.reduce(|a, b| a.union(&b)).unwrap_or(local);
        let size = around.low.coords.amax().max(around.high.coords.amax());
        around.grown(1e-12 * size)
    }

    fn poses(&self, caster: &RayCaster, object: ObjectId) -> Poses {
        let at = |time: &f64| caster.world_from_object(object, *time);
        if let Some(poses) = self.in_environments(object) {
            Poses::Environments(poses.to_vec())
        } else if caster.is_moving(object) {
            Poses::Times(self.times.iter().map(at).collect())
        } else {
            Poses::One(at(self.times.first().unwrap_or(&0.0)))
        }
    }
}

/// Number of triangles of each mesh.
fn triangle_counts(caster: &RayCaster) -> Vec<usize> {
    let meshes = 0..index(caster.mesh_count());
    let count = |number| caster.mesh(MeshId(number)).triangles.len();
    meshes.map(count).collect()
}

/// Whether a pose has no rotation.
fn is_translation(pose: &Isometry3<f64>) -> bool {
    pose.rotation == UnitQuaternion::identity()
}

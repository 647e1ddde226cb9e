//! The meshes of a scene in the form of the shaders.

use crate::device_tree::{DeviceTree, LEAF_SIZE, NODE_WORDS, Node, shifted};
use crate::numbers;
use bytemuck::{Pod, Zeroable};
use etendue_raycast::{BoundingBox, BoxTree, Mesh};
use nalgebra::{Point3, Vector3};
use rayon::prelude::*;

/// A triangle for tests in `f32`: corners relative to the middle of the mesh.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Triangle {
    first: [f32; 3],
    /// Index in the mesh.
    number: u32,
    second: [f32; 3],
    /// The largest difference of any coordinate along any edge, m.
    size: f32,
    third: [f32; 3],
    /// The largest coordinate, m.
    reach: f32,
}

/// All meshes of a scene.
#[derive(Default)]
pub(crate) struct Geometry {
    /// The nodes of all meshes, as if they started at the index zero.
    pub nodes: Vec<Node>,
    /// The triangles of all leaves.
    pub triangles: Vec<Triangle>,
    /// The vertices, relative to the middle of their mesh, in double-single numbers.
    pub vertices: Vec<[f32; 6]>,
    /// The vertices of each triangle, relative to the mesh's first.
    pub corners: Vec<[u32; 3]>,
    pub meshes: Vec<PlacedTree>,
    /// The most levels of any mesh.
    pub depth: usize,
}

/// Where a mesh is in the lists of [`Geometry`].
#[derive(Clone, Copy)]
pub(crate) struct PlacedTree {
    pub root: u32,
    pub first_vertex: u32,
    /// Three times the index of its first triangle in [`Geometry::corners`].
    pub first_corner: u32,
    /// The origin of its coordinates, m.
    pub middle: Point3<f64>,
    /// The largest coordinate relative to the middle, m.
    pub reach: f32,
}

impl Geometry {
    /// The meshes, each of which [can be used](Mesh::check).
    pub fn new<'a>(meshes: impl IntoIterator<Item = &'a Mesh>) -> Self {
        let mut geometry = Self::default();
        for mesh in meshes {
            geometry.add(mesh);
        }
        geometry
    }

    fn add(&mut self, mesh: &Mesh) {
        // Build the tree over the triangles.
        let own = LocalMesh::new(mesh);
        let count = mesh.triangles.len();
        let boxes: Vec<BoundingBox> = (0..count)
            .into_par_iter()
            .map(|at| own.bounds_of(at))
            .collect();
        let tree = BoxTree::new(&boxes, LEAF_SIZE).expect("a checked mesh has a triangle");
        let around = boxes.iter().copied().reduce(|a, b| a.union(&b));
        let around = around.expect("a checked mesh has a triangle");
        let bounds = [around.low.map(below), around.high.map(|x| -below(-x))];
        let own_tree = DeviceTree::new(&tree, bounds.map(|corner| corner.coords.into()));

        // Append it, with indices in the common lists.
        let placed = PlacedTree {
            root: index(self.nodes.len()),
            first_vertex: index(self.vertices.len()),
            first_corner: index(3 * self.corners.len()),
            middle: own.middle,
            reach: -below(-own.reach),
        };
        let first_member = index(self.triangles.len());
        let nodes = own_tree.nodes.iter();
        self.nodes
            .extend(nodes.map(|node| shifted(*node, placed.root, first_member)));
        self.triangles
            .par_extend(own_tree.members.par_iter().map(|at| own.triangle(*at)));
        self.vertices.par_extend(
            mesh.vertices
                .par_iter()
                .map(|vertex| numbers::vector(&(vertex - own.middle))),
        );
        self.corners.extend(&mesh.triangles);
        self.meshes.push(placed);
        self.depth = self.depth.max(own_tree.depth);
    }
}

/// Bytes of a node.
pub(crate) const NODE_BYTES: usize = 4 * NODE_WORDS;

/// A mesh seen from the middle of its box.
struct LocalMesh<'a> {
    mesh: &'a Mesh,
    middle: Point3<f64>,
    reach: f64,
}

impl<'a> LocalMesh<'a> {
    fn new(mesh: &'a Mesh) -> Self {
        let [low, high] = mesh.bounds().expect("a checked mesh has a vertex");
        let middle = nalgebra::center(&low, &high);
        Self {
            mesh,
            middle,
            reach: (high - middle).amax().max((middle - low).amax()),
        }
    }

    fn corners(&self, triangle: usize) -> [Vector3<f64>; 3] {
        let own = self.mesh.triangles[triangle];
        own.map(|vertex| self.mesh.vertices[vertex as usize] - self.middle)
    }

    fn bounds_of(&self, triangle: usize) -> BoundingBox {
        let [a, b, c] = self.corners(triangle);
        BoundingBox {
            low: a.inf(&b).inf(&c).into(),
            high: a.sup(&b).sup(&c).into(),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the shader bounds the error"
    )]
    fn triangle(&self, number: u32) -> Triangle {
        let corners = self.corners(number as usize);
        let [a, b, c] = corners;
        let size = (b - a).amax().max((c - b).amax()).max((a - c).amax());
        let reach = a.amax().max(b.amax()).max(c.amax());
        let [first, second, third] = corners.map(|corner| corner.map(|x| x as f32).into());
        Triangle {
            first,
            number,
            second,
            size: -below(-size),
            third,
            reach: -below(-reach),
        }
    }
}

/// A number in `f32` below another one.
#[expect(clippy::cast_possible_truncation, reason = "rounded down")]
pub(crate) fn below(x: f64) -> f32 {
    let rounded = (x as f32).next_down();
    if rounded.abs() < f32::MIN_POSITIVE {
        -f32::MIN_POSITIVE
    } else {
        rounded
    }
}

/// An index in the type of the shaders.
pub(crate) fn index(number: usize) -> u32 {
    u32::try_from(number).expect("the device's buffers have fewer than 2^32 elements")
}

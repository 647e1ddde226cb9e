//! A mesh's bounding volume hierarchy.

use super::triangle::{Meeting, ShearedRay};
use crate::Mesh;
use nalgebra::{Point3, Vector3};
use obvhs::aabb::Aabb;
use obvhs::bvh2::{Bvh2, leaf_collapser::collapse, reinsertion::ReinsertionOptimizer};
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};

/// A mesh's triangles in a tree of boxes. Boxes are `f32`, relative to the mesh's own middle, and
/// rounded outwards: a mesh far from its frame's origin loses nothing.
pub(crate) struct MeshTree {
    middle: Point3<f64>,
    tree: Bvh2,
}

/// A ray's direction and limits in a mesh's frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalRay {
    pub origin: Point3<f64>,
    pub direction: Vector3<f64>,
    pub near: f64,
    pub far: f64,
}

/// A triangle met, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub triangle: u32,
    pub meeting: Meeting,
}

impl MeshTree {
    pub fn new(mesh: &Mesh) -> Self {
        let (middle, half) = extent(mesh);
        let margin = half.amax() * f64::from(f32::EPSILON);
        let boxes: Vec<Aabb> = mesh
            .triangles
            .iter()
            .map(|corners| outer_box(corners.map(|v| mesh.vertices[v as usize] - middle), margin))
            .collect();
        Self {
            middle,
            tree: binary_tree(&boxes),
        }
    }

    /// The nearest triangle within the ray's limits; of equally near ones the lowest number.
    pub fn closest(&self, mesh: &Mesh, ray: &LocalRay) -> Option<Found> {
        let sheared = ShearedRay::new(ray.origin, &ray.direction);
        let slabs = Slabs::new(ray.origin - self.middle, &ray.direction);
        let mut best: Option<Found> = None;
        let mut far = ray.far;
        let mut stack = vec![0_u32];
        while let Some(index) = stack.pop() {
            let node = &self.tree.nodes[index as usize];
            if !slabs.cross(&node.aabb, ray.near, far) {
                continue;
            }
            if !node.is_leaf() {
                stack.extend([node.first_index, node.first_index + 1]);
                continue;
            }
            for slot in node.first_index..node.first_index + node.prim_count {
                let triangle = self.tree.primitive_indices[slot as usize];
                let corners = mesh.triangles[triangle as usize].map(|v| mesh.vertices[v as usize]);
                let Some(meeting) = sheared.meet(corners) else {
                    continue;
                };
                let found = Found { triangle, meeting };
                if (ray.near..=far).contains(&meeting.distance) && found.is_before(best.as_ref()) {
                    far = meeting.distance;
                    best = Some(found);
                }
            }
        }
        best
    }
}

impl Found {
    fn is_before(&self, other: Option<&Self>) -> bool {
        other.is_none_or(|other| {
            let [own, theirs] = [self.meeting.distance, other.meeting.distance];
            own < theirs || (own == theirs && self.triangle < other.triangle)
        })
    }
}

/// A ray prepared for boxes.
struct Slabs {
    origin: Vector3<f64>,
    inverse: Vector3<f64>,
}

impl Slabs {
    fn new(origin: Vector3<f64>, direction: &Vector3<f64>) -> Self {
        let inverse = direction.map(|d| 1.0 / d.abs().max(1e-30).copysign(d));
        Self { origin, inverse }
    }

    fn cross(&self, bounds: &Aabb, near: f64, far: f64) -> bool {
        let [mut enter, mut leave] = [near, far];
        for axis in 0..3 {
            let low = (f64::from(bounds.min[axis]) - self.origin[axis]) * self.inverse[axis];
            let high = (f64::from(bounds.max[axis]) - self.origin[axis]) * self.inverse[axis];
            enter = enter.max(low.min(high) - ROUNDING * low.min(high).abs());
            leave = leave.min(low.max(high) + ROUNDING * low.max(high).abs());
        }
        enter <= leave
    }
}

/// Relative widening of a box's crossing, well above the rounding of three `f64` operations.
const ROUNDING: f64 = 1e-14;

/// The middle of the mesh's box and half its size.
fn extent(mesh: &Mesh) -> (Point3<f64>, Vector3<f64>) {
    let (low, high) = mesh.vertices.iter().fold(
        (mesh.vertices[0], mesh.vertices[0]),
        |(low, high), vertex| (low.inf(vertex), high.sup(vertex)),
    );
    (nalgebra::center(&low, &high), (high - low) * 0.5)
}

fn outer_box(corners: [Vector3<f64>; 3], margin: f64) -> Aabb {
    let low = corners[0]
        .inf(&corners[1])
        .inf(&corners[2])
        .add_scalar(-margin);
    let high = corners[0]
        .sup(&corners[1])
        .sup(&corners[2])
        .add_scalar(margin);
    Aabb::new(
        <[f32; 3]>::from(low.map(|x| (x as f32).next_down())).into(),
        <[f32; 3]>::from(high.map(|x| (x as f32).next_up())).into(),
    )
}

fn binary_tree(boxes: &[Aabb]) -> Bvh2 {
    let everything = (0..boxes.len() as u32).collect();
    let mut tree = PlocBuilder::with_capacity(boxes.len()).build(
        PlocSearchDistance::Medium,
        boxes,
        everything,
        SortPrecision::U64,
        3,
    );
    ReinsertionOptimizer::default().run(&mut tree, 0.05, None);
    collapse(&mut tree, 8, 3.0);
    tree
}

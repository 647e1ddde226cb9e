//! The top-level acceleration structure: which objects rays may hit, and from which distance on.

use crate::bounding_box::BoundingBox;
use crate::bvh::node::{LEAF, Node};
use crate::bvh::rounding::{above, below, outer_box};
use crate::bvh::wide_tree::WideTree;
use crate::instance::PlacedMesh;
use crate::ray::Ray;
use crate::ray_tile::RayTile;
use etendue_simd::{Float, Lanes, Mask};
use nalgebra::Point3;
use obvhs::aabb::Aabb;

/// Relative margin of bounds for the rounding of `f32`: four times that of the four operations.
const ROUNDING: f64 = 1e-6;

/// At most this number of instances at rest are listed, without a tree: a tree over them takes longer to build than
/// thousands of rays save by it.
const MOST_LISTED: usize = 32;

/// Components of directions below this are treated as zero.
const PARALLEL: f64 = 1e-18;

/// A top-level acceleration structure: a tree over the boxes of static instances in the world, or a list of few, and
/// a list of the moving ones.
#[derive(Clone)]
pub(crate) struct Tlas {
    /// The origin of the tree's coordinates, m.
    middle: Point3<f64>,
    /// The nodes of the tree, or those that list all static instances.
    nodes: Vec<Node>,
    /// The root of the tree, encoded like [`Node::child`]; a leaf's number is that of an instance. `None` for a list.
    root: Option<u32>,
    /// The moving instances.
    moving: Vec<usize>,
}

/// The boxes of the moving instances over a span of time.
pub(crate) struct MovingNodes(Vec<Node>);

/// Bounds on the origins and directions of some rays.
#[derive(Clone, Debug)]
pub(crate) struct RayBundle {
    origin: BoundingBox,
    direction: BoundingBox,
}

/// An entry of the traversal's stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TlasEntry {
    /// The least distance at which rays may enter the box.
    distance: f32,
    /// A node, or [`LEAF`] and the number of an instance.
    child: u32,
}

impl RayBundle {
    /// The bounds of one ray.
    pub fn one(ray: &Ray) -> Self {
        Self {
            origin: BoundingBox::point(ray.origin),
            direction: BoundingBox::point(Point3::from(ray.direction)),
        }
    }

    /// The bounds of the rays of a tile.
    #[inline(always)]
    pub fn of_tile(tile: &RayTile) -> Self {
        let around = |axes: &[[f64; 16]; 3]| {
            let bounds = axes.each_ref().map(|axis| extremes(axis, tile.used));
            BoundingBox {
                low: Point3::from(bounds.map(|[low, _]| low)),
                high: Point3::from(bounds.map(|[_, high]| high)),
            }
        };
        Self {
            origin: around(&tile.origin),
            direction: around(&tile.direction),
        }
    }

    /// The bounds of rays whose origins and directions differ by up to some distances from these.
    #[inline(always)]
    pub fn widened(&self, origin: f64, direction: f64) -> Self {
        Self {
            origin: self.origin.grown(origin),
            direction: self.direction.grown(direction),
        }
    }
}

/// The least and the greatest of the first `used` numbers, none of which is a NaN: halves are compared, in vectors.
#[inline(always)]
fn extremes(lanes: &[f64; 16], used: usize) -> [f64; 2] {
    let mut low = [lanes[0]; 16];
    for lane in 0..16 {
        low[lane] = if lane < used { lanes[lane] } else { lanes[0] };
    }
    let mut high = low;
    for width in [8, 4, 2, 1] {
        for lane in 0..width {
            let [a, b] = [low[lane], low[lane + width]];
            low[lane] = if a < b { a } else { b };
            let [a, b] = [high[lane], high[lane + width]];
            high[lane] = if a > b { a } else { b };
        }
    }
    [low[0], high[0]]
}

impl Tlas {
    /// Builds the structure.
    pub fn new(instances: &[PlacedMesh]) -> Self {
        // Separate the moving instances from those at rest.
        let numbers = 0..instances.len();
        let (moving, at_rest): (Vec<usize>, Vec<usize>) =
            numbers.partition(|&number| instances[number].is_moving());
        let bounds = |&number: &usize| instances[number].bounds([0.0, 0.0]);
        // Bound the instances at rest, relative to their middle.
        let middle = at_rest
            .iter()
            .map(bounds)
            .reduce(|all, other| all.union(&other))
            .map_or(Point3::origin(), |all| {
                nalgebra::center(&all.low, &all.high)
            });
        let boxes: Vec<Aabb> = at_rest
            .iter()
            .map(bounds)
            .map(|b| outer_box(&(b.low - middle), &(b.high - middle)))
            .collect();
        // List few of them, or build a tree over the bounds.
        let mut tlas = Self {
            middle,
            nodes: vec![],
            root: None,
            moving,
        };
        if boxes.len() <= MOST_LISTED {
            let listed: Vec<(usize, Aabb)> = at_rest.into_iter().zip(boxes).collect();
            tlas.nodes = listed.chunks(8).map(node_of).collect();
        } else {
            tlas.set_tree(WideTree::new(&boxes, 1), &at_rest);
        }
        tlas
    }

    /// Stores a tree whose leaves are indices in a list of instances.
    fn set_tree(&mut self, wide: WideTree, instances: &[usize]) {
        let instance = |child: u32| {
            if child & LEAF == 0 {
                return child;
            }
            let index = wide.leaves[(child & !LEAF) as usize].numbers()[0];
            LEAF | instances[index as usize] as u32
        };
        self.root = Some(instance(wide.root));
        self.nodes = wide.nodes;
        for node in &mut self.nodes {
            for slot in 0..8 {
                if node.is_used(slot) {
                    node.child[slot] = instance(node.child[slot]);
                }
            }
        }
    }

    /// The boxes of the moving instances over a span of time; `span` is evaluated only if there are
    /// any.
    pub fn moving(&self, instances: &[PlacedMesh], span: impl FnOnce() -> [f64; 2]) -> MovingNodes {
        if self.moving.is_empty() {
            return MovingNodes(vec![]);
        }
        let span = span();
        let around = |&number: &usize| {
            let b = instances[number].bounds(span);
            let around = outer_box(&(b.low - self.middle), &(b.high - self.middle));
            (number, around)
        };
        let boxes: Vec<(usize, Aabb)> = self.moving.iter().map(around).collect();
        MovingNodes(boxes.chunks(8).map(node_of).collect())
    }

    /// Starts a traversal along rays; `stack` is cleared and used for it.
    #[inline(always)]
    pub fn traverse<'a, L: Lanes>(
        &'a self,
        moving: &MovingNodes,
        rays: &RayBundle,
        stack: &'a mut Vec<TlasEntry>,
    ) -> TlasTraversal<'a> {
        stack.clear();
        let mut traversal = TlasTraversal {
            tlas: self,
            slabs: Slabs::new(rays, &self.middle),
            stack,
        };
        traversal.stack.extend(self.root.map(|child| TlasEntry {
            distance: 0.0,
            child,
        }));
        let listed = if self.root.is_none() {
            &self.nodes[..]
        } else {
            &[]
        };
        for node in listed.iter().chain(&moving.0) {
            traversal.push_children::<L>(node, f32::MAX, 0);
        }
        traversal
    }
}

/// A node with up to eight instances and their boxes.
fn node_of(instances: &[(usize, Aabb)]) -> Node {
    let mut node = Node::EMPTY;
    for (slot, (number, around)) in instances.iter().enumerate() {
        node.set_bounds(slot, around);
        node.child[slot] = LEAF | *number as u32;
    }
    node
}

/// A traversal of the instances that rays may hit, approximately nearest first.
pub(crate) struct TlasTraversal<'a> {
    tlas: &'a Tlas,
    slabs: Slabs,
    stack: &'a mut Vec<TlasEntry>,
}

impl TlasTraversal<'_> {
    /// The next instance that any of the rays may hit within a distance, which must not increase from
    /// call to call.
    #[inline(always)]
    pub fn next<L: Lanes>(&mut self, farthest: f64) -> Option<usize> {
        let limit = above(farthest).min(f32::MAX);
        while let Some(entry) = self.stack.pop() {
            if entry.distance > limit {
                continue;
            }
            if entry.child & LEAF != 0 {
                return Some((entry.child & !LEAF) as usize);
            }
            let tlas = self.tlas;
            let base = self.stack.len();
            self.push_children::<L>(&tlas.nodes[entry.child as usize], limit, base);
        }
        None
    }

    /// Pushes the children of a node that the rays may hit: the nearest last, behind the first `base` entries.
    #[inline(always)]
    fn push_children<L: Lanes>(&mut self, node: &Node, limit: f32, base: usize) {
        let (mut hits, distances) = self.slabs.intersect_boxes::<L>(node, limit);
        while hits != 0 {
            let slot = (hits.trailing_zeros() & 7) as usize;
            hits &= hits - 1;
            let entry = TlasEntry {
                distance: distances[slot],
                child: node.child[slot],
            };
            // Insertion sort.
            let mut at = self.stack.len();
            self.stack.push(entry);
            while at > base && self.stack[at - 1].distance < entry.distance {
                self.stack[at] = self.stack[at - 1];
                at -= 1;
            }
            self.stack[at] = entry;
        }
    }
}

/// The slab test of a ray bundle, in the coordinates of the tree.
///
/// Rays with origins in `[o0, o1]` and directions in `[d0, d1]` (of one axis) reach a plane ahead no
/// earlier than at the distance `(plane - o1) / d1`, and have passed it by `(plane - o0) / d0` if
/// `d0 > 0`.
#[derive(Debug)]
struct Slabs {
    /// The least and the greatest origin by axis.
    origin: [[f32; 2]; 3],
    /// The least distance per length along the axis, upwards and downwards.
    enter: [[f32; 2]; 3],
    exit: [Option<ExitPlane>; 3],
}

/// The plane of a box through which all rays leave its slab.
#[derive(Clone, Copy, Debug)]
struct ExitPlane {
    /// Index in [`Node::bounds`].
    plane: usize,
    origin: f32,
    rate: f32,
}

impl Slabs {
    #[inline(always)]
    fn new(rays: &RayBundle, middle: &Point3<f64>) -> Self {
        let mut slabs = Self {
            origin: [[0.0; 2]; 3],
            enter: [[0.0; 2]; 3],
            exit: [None; 3],
        };
        for axis in 0..3 {
            // Interval of the origins, relative to the middle of the tree.
            let low = below(rays.origin.low[axis] - middle[axis]);
            let high = above(rays.origin.high[axis] - middle[axis]);
            // Distances to the planes per unit of coordinate, where the rays enter and leave.
            let least = rays.direction.low[axis];
            let most = rays.direction.high[axis];
            slabs.origin[axis] = [low, high];
            slabs.enter[axis] = [least_distance(most), least_distance(-least)];
            slabs.exit[axis] = if least > PARALLEL {
                Some(ExitPlane {
                    plane: 2 * axis + 1,
                    origin: low,
                    rate: ((1.0 + ROUNDING) / least) as f32,
                })
            } else if most < -PARALLEL {
                Some(ExitPlane {
                    plane: 2 * axis,
                    origin: high,
                    rate: ((1.0 + ROUNDING) / most) as f32,
                })
            } else {
                None
            };
        }
        slabs
    }

    /// The boxes (by bit) that any of the rays may enter within a limit, and the least distances.
    #[inline(always)]
    fn intersect_boxes<L: Lanes>(&self, node: &Node, limit: f32) -> (u32, [f32; 8]) {
        let mut enter = L::F8::splat(0.0);
        let mut leave = L::F8::splat(limit);
        for axis in 0..3 {
            let [low, high] = self.origin[axis].map(L::F8::splat);
            let [up, down] = self.enter[axis].map(L::F8::splat);
            let ahead = L::F8::load(&node.bounds[2 * axis]).sub(high);
            let behind = low.sub(L::F8::load(&node.bounds[2 * axis + 1]));
            enter = enter.max(ahead.mul(up)).max(behind.mul(down));
            if let Some(exit) = &self.exit[axis] {
                let length = L::F8::load(&node.bounds[exit.plane]).sub(L::F8::splat(exit.origin));
                leave = leave.min(length.mul(L::F8::splat(exit.rate)));
            }
        }
        (enter.le(leave).bits(), enter.to_array())
    }
}

/// The least distance per length along an axis, rounded down, from the greatest component of the
/// directions.
#[inline(always)]
fn least_distance(greatest: f64) -> f32 {
    let greatest = if greatest > PARALLEL {
        greatest
    } else {
        PARALLEL
    };
    ((1.0 - ROUNDING) / greatest) as f32
}

//! Which instances may rays meet, and from where on.

use super::build::Wide;
use super::instance::Instance;
use super::lanes::{Float, Lanes, Mask};
use super::outwards::{above, below, outer_box};
use super::tree::{LEAF, Node};
use crate::Ray;
use crate::motion::Bounds;
use nalgebra::Point3;
use obvhs::aabb::Aabb;

/// What bounds give way by for the rounding of `f32`: four roundings are a quarter of it.
const ROUNDING: f64 = 1e-6;

/// Components of directions below this bound nothing.
const PARALLEL: f64 = 1e-18;

/// A tree over the boxes of instances in the world.
#[derive(Clone)]
pub(crate) struct Top {
    /// What the tree's coordinates are relative to.
    middle: Point3<f64>,
    /// The instances that stand still.
    nodes: Vec<Node>,
    /// Where the search starts: a child like those in [`Node::child`], whose leaves are instances.
    root: Option<u32>,
    /// The instances that move.
    moving: Vec<usize>,
}

/// The boxes of the instances that move, over a span of time.
pub(crate) struct Movers(Vec<Node>);

/// Rays as a whole: where they start and where they go.
#[derive(Clone, Debug)]
pub(crate) struct Bundle {
    origin: Bounds,
    direction: Bounds,
}

/// A place in the tree that rays may come to, and the least distance at which they do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    distance: f32,
    /// A node, or [`LEAF`] and the number of an instance.
    child: u32,
}

impl Bundle {
    pub fn one(ray: &Ray) -> Self {
        let direction = Point3::from(ray.direction);
        Self {
            origin: Bounds {
                low: ray.origin,
                high: ray.origin,
            },
            direction: Bounds {
                low: direction,
                high: direction,
            },
        }
    }

    /// These rays and another one.
    #[inline]
    pub fn with(&mut self, ray: &Ray) {
        let direction = Point3::from(ray.direction);
        self.origin.low = lower(self.origin.low, ray.origin);
        self.origin.high = upper(self.origin.high, ray.origin);
        self.direction.low = lower(self.direction.low, direction);
        self.direction.high = upper(self.direction.high, direction);
    }
}

#[inline]
fn lower(a: Point3<f64>, b: Point3<f64>) -> Point3<f64> {
    Point3::from(
        a.coords
            .zip_map(&b.coords, |a, b| if a < b { a } else { b }),
    )
}

#[inline]
fn upper(a: Point3<f64>, b: Point3<f64>) -> Point3<f64> {
    Point3::from(
        a.coords
            .zip_map(&b.coords, |a, b| if a > b { a } else { b }),
    )
}

impl Top {
    /// The tree over the places of all instances that stand still.
    pub fn new(instances: &[Instance]) -> Self {
        let numbers = 0..instances.len();
        let (moving, still): (Vec<usize>, Vec<usize>) =
            numbers.partition(|&number| instances[number].is_moving());
        let bounds = |&number: &usize| instances[number].bounds([0.0, 0.0]);
        let middle = still
            .iter()
            .map(bounds)
            .reduce(|all, other| all.and(&other))
            .map_or(Point3::origin(), |all| {
                nalgebra::center(&all.low, &all.high)
            });
        let boxes: Vec<Aabb> = still
            .iter()
            .map(bounds)
            .map(|b| outer_box(&(b.low - middle), &(b.high - middle)))
            .collect();
        let mut top = Self {
            middle,
            nodes: vec![],
            root: None,
            moving,
        };
        if !boxes.is_empty() {
            top.plant(Wide::new(&boxes, 1), &still);
        }
        top
    }

    /// Takes a tree whose leaves are places in a list of instances.
    fn plant(&mut self, wide: Wide, instances: &[usize]) {
        let instance = |child: u32| {
            if child & LEAF == 0 {
                return child;
            }
            let place = wide.leaves[(child & !LEAF) as usize].numbers()[0];
            LEAF | instances[place as usize] as u32
        };
        self.root = Some(instance(wide.root));
        self.nodes = wide.nodes;
        for node in &mut self.nodes {
            for place in 0..8 {
                if node.is_used(place) {
                    node.child[place] = instance(node.child[place]);
                }
            }
        }
    }

    /// Whether any instance moves.
    pub fn moves(&self) -> bool {
        !self.moving.is_empty()
    }

    /// Where the moving instances are over a span of time, which is asked for if there are any.
    pub fn movers(&self, instances: &[Instance], span: impl FnOnce() -> [f64; 2]) -> Movers {
        if !self.moves() {
            return Movers(vec![]);
        }
        let span = span();
        let node = |eight: &[usize]| {
            let mut node = Node::EMPTY;
            for (place, &number) in eight.iter().enumerate() {
                let b = instances[number].bounds(span);
                let around = outer_box(&(b.low - self.middle), &(b.high - self.middle));
                node.set_bounds(place, &around);
                node.child[place] = LEAF | number as u32;
            }
            node
        };
        Movers(self.moving.chunks(8).map(node).collect())
    }

    /// A walk through the tree along the rays. What is left to visit lies in `open`.
    #[inline(always)]
    pub fn walk<'a, L: Lanes>(
        &'a self,
        movers: &Movers,
        rays: &Bundle,
        open: &'a mut Vec<Candidate>,
    ) -> Walk<'a> {
        open.clear();
        let mut walk = Walk {
            top: self,
            slabs: Slabs::new(rays, &self.middle),
            open,
        };
        walk.open.extend(self.root.map(|child| Candidate {
            distance: 0.0,
            child,
        }));
        for node in &movers.0 {
            walk.enter::<L>(node, f32::MAX);
        }
        walk
    }
}

/// The instances that rays may meet, about nearest first.
pub(crate) struct Walk<'a> {
    top: &'a Top,
    slabs: Slabs,
    open: &'a mut Vec<Candidate>,
}

impl Walk<'_> {
    /// The next instance that any of the rays may meet within a distance that never grows.
    #[inline(always)]
    pub fn next<L: Lanes>(&mut self, farthest: f64) -> Option<usize> {
        let limit = above(farthest).min(f32::MAX);
        while let Some(candidate) = self.open.pop() {
            if candidate.distance > limit {
                continue;
            }
            if candidate.child & LEAF != 0 {
                return Some((candidate.child & !LEAF) as usize);
            }
            let top = self.top;
            self.enter::<L>(&top.nodes[candidate.child as usize], limit);
        }
        None
    }

    /// Lists what of a node the rays may come to, the nearest last.
    #[inline(always)]
    fn enter<L: Lanes>(&mut self, node: &Node, limit: f32) {
        let (mut hits, distances) = self.slabs.inside::<L>(node, limit);
        let base = self.open.len();
        while hits != 0 {
            let place = (hits.trailing_zeros() & 7) as usize;
            hits &= hits - 1;
            let candidate = Candidate {
                distance: distances[place],
                child: node.child[place],
            };
            let mut at = self.open.len();
            self.open.push(candidate);
            while at > base && self.open[at - 1].distance < candidate.distance {
                self.open[at] = self.open[at - 1];
                at -= 1;
            }
            self.open[at] = candidate;
        }
    }
}

/// How rays pass the planes of boxes, in the coordinates of the tree.
///
/// A bundle between the starts `o0 <= o1` with directions between `d0 <= d1` (of one axis) comes to
/// a plane ahead no sooner than `(plane - o1) / d1` and leaves it for good by `(plane - o0) / d0`,
/// if `d0 > 0`.
#[derive(Debug)]
struct Slabs {
    /// The least and the greatest start.
    origin: [[f32; 2]; 3],
    /// The least times for a length up the axis, and down.
    enter: [[f32; 2]; 3],
    leave: [Option<Leave>; 3],
}

/// The last plane of a box that all rays leave through.
#[derive(Clone, Copy, Debug)]
struct Leave {
    /// Which of [`Node::bounds`].
    plane: usize,
    origin: f32,
    rate: f32,
}

impl Slabs {
    #[inline(always)]
    fn new(rays: &Bundle, middle: &Point3<f64>) -> Self {
        let mut slabs = Self {
            origin: [[0.0; 2]; 3],
            enter: [[0.0; 2]; 3],
            leave: [None; 3],
        };
        for axis in 0..3 {
            let low = below(rays.origin.low[axis] - middle[axis]);
            let high = above(rays.origin.high[axis] - middle[axis]);
            let [least, most] = [rays.direction.low[axis], rays.direction.high[axis]];
            slabs.origin[axis] = [low, high];
            slabs.enter[axis] = [quickest(most), quickest(-least)];
            slabs.leave[axis] = if least > PARALLEL {
                Some(Leave {
                    plane: 2 * axis + 1,
                    origin: low,
                    rate: ((1.0 + ROUNDING) / least) as f32,
                })
            } else if most < -PARALLEL {
                Some(Leave {
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

    /// The boxes that any of the rays may come to within the limit, and the least distances.
    #[inline(always)]
    fn inside<L: Lanes>(&self, node: &Node, limit: f32) -> (u32, [f32; 8]) {
        let mut enter = L::F8::splat(0.0);
        let mut leave = L::F8::splat(limit);
        for axis in 0..3 {
            let [low, high] = self.origin[axis].map(L::F8::splat);
            let [up, down] = self.enter[axis].map(L::F8::splat);
            let ahead = L::F8::load(&node.bounds[2 * axis]).sub(high);
            let behind = low.sub(L::F8::load(&node.bounds[2 * axis + 1]));
            enter = enter.max(ahead.mul(up)).max(behind.mul(down));
            if let Some(last) = &self.leave[axis] {
                let way = L::F8::load(&node.bounds[last.plane]).sub(L::F8::splat(last.origin));
                leave = leave.min(way.mul(L::F8::splat(last.rate)));
            }
        }
        (enter.le(leave).bits(), enter.array())
    }
}

/// The least time for a length when no ray goes faster than this along an axis, rounded down.
#[inline(always)]
fn quickest(fastest: f64) -> f32 {
    let fastest = if fastest > PARALLEL {
        fastest
    } else {
        PARALLEL
    };
    ((1.0 - ROUNDING) / fastest) as f32
}

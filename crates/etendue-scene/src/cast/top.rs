//! Which instances may rays meet, and from where on.

use super::instance::Instance;
use crate::Ray;
use crate::motion::Bounds;
use nalgebra::{Point3, Vector3};
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};

/// A tree over the boxes of instances in the world.
#[derive(Clone)]
pub(crate) struct Top {
    /// What the tree's coordinates are relative to.
    middle: Point3<f64>,
    tree: Bvh2,
}

/// Rays as a whole: where they start and where they go.
#[derive(Clone, Debug)]
pub(crate) struct Bundle {
    origin: Bounds,
    direction: Bounds,
    far: f64,
}

/// An instance that rays may meet, and the least distance at which they do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub distance: f64,
    pub instance: usize,
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
            far: ray.far,
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
        self.far = if ray.far > self.far {
            ray.far
        } else {
            self.far
        };
    }

    /// The least distance at which any of the rays can be in the box, if there is one.
    fn enters(&self, low: Point3<f64>, high: Point3<f64>) -> Option<f64> {
        let [mut enter, mut leave] = [0.0_f64, self.far];
        for axis in 0..3 {
            let [o0, o1] = [self.origin.low[axis], self.origin.high[axis]];
            let [d0, d1] = [self.direction.low[axis], self.direction.high[axis]];
            let ahead = low[axis] - o1;
            let behind = o0 - high[axis];
            if ahead > 0.0 {
                // The box lies up the axis: the quickest ray enters first.
                if d1 <= 0.0 {
                    return None;
                }
                enter = enter.max(ahead / d1);
            } else if behind > 0.0 {
                if d0 >= 0.0 {
                    return None;
                }
                enter = enter.max(-behind / d0);
            }
            if d0 > 0.0 {
                leave = leave.min((high[axis] - o0) / d0);
            } else if d1 < 0.0 {
                leave = leave.min((low[axis] - o1) / d1);
            }
        }
        (enter * (1.0 - 1e-12) <= leave * (1.0 + 1e-12)).then_some(enter * (1.0 - 1e-12))
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
    /// The tree over the places of all instances at time zero, for many rays.
    pub fn at_zero(instances: &[Instance]) -> Self {
        Self::new(instances, [0.0, 0.0], PlocSearchDistance::Medium)
    }

    /// The tree over the places of all instances during a span of time, quickly made for few rays.
    pub fn during(instances: &[Instance], span: [f64; 2]) -> Self {
        Self::new(instances, span, PlocSearchDistance::Minimum)
    }

    fn new(instances: &[Instance], span: [f64; 2], distance: PlocSearchDistance) -> Self {
        let bounds: Vec<Bounds> = instances.iter().map(|i| i.bounds(span)).collect();
        let all = bounds.iter().fold(bounds[0], |all, b| all.and(b));
        let middle = nalgebra::center(&all.low, &all.high);
        let margin = (all.high - all.low).amax() * f64::from(f32::EPSILON);
        let boxes: Vec<Aabb> = bounds
            .iter()
            .map(|b| {
                let b = b.grown(margin);
                let low = (b.low - middle).map(|x| (x as f32).next_down());
                let high = (b.high - middle).map(|x| (x as f32).next_up());
                Aabb::new(<[f32; 3]>::from(low).into(), <[f32; 3]>::from(high).into())
            })
            .collect();
        let everything = (0..boxes.len() as u32).collect();
        let tree = PlocBuilder::with_capacity(boxes.len()).build(
            distance,
            &boxes,
            everything,
            SortPrecision::U64,
            0,
        );
        Self { middle, tree }
    }

    /// The instances that the rays may meet, nearest first.
    pub fn candidates(&self, rays: &Bundle, found: &mut Vec<Candidate>) {
        found.clear();
        self.collect(rays, 0, found);
        if found.len() > 1 {
            found.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance));
        }
    }

    fn collect(&self, rays: &Bundle, node: usize, found: &mut Vec<Candidate>) {
        let node = &self.tree.nodes[node];
        let corner = |c: [f32; 3]| self.middle + Vector3::from(c.map(f64::from));
        let low = corner(node.aabb().min.to_array());
        let high = corner(node.aabb().max.to_array());
        let Some(distance) = rays.enters(low, high) else {
            return;
        };
        let first = node.first_index as usize;
        if node.is_leaf() {
            let slots = &self.tree.primitive_indices[first..first + node.prim_count as usize];
            found.extend(slots.iter().map(|&instance| Candidate {
                distance,
                instance: instance as usize,
            }));
        } else {
            self.collect(rays, first, found);
            self.collect(rays, first + 1, found);
        }
    }
}

//! Rays in a mesh's frame, and the last word in `f64`.

use super::face::Met;
use super::known::{Face, Faces};
use super::tree::NO_TRIANGLE;
use super::triangle::{Meeting, ShearedRay};
use crate::Mesh;
use nalgebra::{Point3, Vector3};

/// Unit round-off of `f32`.
pub(crate) const ROUND_OFF: f32 = f32::EPSILON * 0.5;

/// A ray in a mesh's frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalRay {
    pub origin: Point3<f64>,
    pub direction: Vector3<f64>,
    pub near: f64,
    /// The nearest surface so far, or the ray's own limit.
    pub far: f64,
    /// Whether a surface exactly at `far` counts.
    pub far_included: bool,
}

impl LocalRay {
    /// Depth along a packet's major axis at which the ray has gone this far.
    pub fn depth(&self, distance: f64, axis: usize, sign: f32, start: f64) -> f64 {
        (distance * self.direction[axis] + (self.origin[axis] - start)) * f64::from(sign)
    }

    /// Ends the ray at what it has met in another object. At the same distance the object with the
    /// lower number counts.
    #[inline]
    pub fn end_at(&mut self, met: &Met, number: usize) {
        self.far = met.distance;
        self.far_included = number < met.object.0 as usize;
    }

    /// The ray and the triangle in `f64`, within the ray's limits.
    #[inline(always)]
    pub fn meet(&self, mesh: &Mesh, triangle: u32) -> Option<Meeting> {
        let [a, b, c] = mesh.triangles[triangle as usize];
        let corner = |vertex: u32| mesh.vertices[vertex as usize];
        self.meet_corners([corner(a), corner(b), corner(c)])
    }

    #[inline(always)]
    fn meet_face(&self, face: &Face) -> Option<Meeting> {
        let [a, b, c] = face.vertex;
        self.meet_corners([Point3::from(a), Point3::from(b), Point3::from(c)])
    }

    #[inline(always)]
    fn meet_corners(&self, corners: [Point3<f64>; 3]) -> Option<Meeting> {
        let sheared = ShearedRay::new(self.origin, &self.direction);
        let meeting = sheared.meet(corners)?;
        let t = meeting.distance;
        let before_far = t < self.far || (t == self.far && self.far_included);
        (t >= self.near && before_far).then_some(meeting)
    }

    /// Where `f32` could not tell: the meeting with `triangle`, if it comes before that with
    /// `incumbent`.
    #[cold]
    #[inline(never)]
    pub fn decide(&self, faces: &mut Faces, triangle: u32, incumbent: u32) -> Option<Meeting> {
        let meeting = self.meet_face(faces.face(triangle))?;
        if incumbent == NO_TRIANGLE {
            return Some(meeting);
        }
        let Some(other) = self.meet_face(faces.face(incumbent)) else {
            return Some(meeting);
        };
        let key = |m: &Meeting, number: u32| (m.distance, number);
        (key(&meeting, triangle) < key(&other, incumbent)).then_some(meeting)
    }
}

/// Where the rays of a search come from, in full precision.
pub(crate) trait Exact {
    /// Whether the search itself is to find weights of vertices, to `f32`.
    const WEIGHTS: bool;

    fn ray(&self, lane: usize) -> LocalRay;
}

impl Exact for LocalRay {
    const WEIGHTS: bool = false;

    fn ray(&self, _lane: usize) -> LocalRay {
        *self
    }
}

/// Bounds on the nearest surface that a ray has met, as depth along its major axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    pub low: f32,
    pub high: f32,
    /// [`NO_TRIANGLE`] where none was met in this mesh.
    pub triangle: u32,
    /// Weights of the second and third vertex.
    pub weights: [f32; 2],
}

impl Nearest {
    /// Nothing nearer than the limit.
    pub fn none(far_depth: f64) -> Self {
        Self {
            low: (far_depth as f32).next_down(),
            high: (far_depth as f32).next_up(),
            triangle: NO_TRIANGLE,
            weights: [0.0; 2],
        }
    }

    /// A triangle that was met at a depth known to `f64`.
    pub fn exact(triangle: u32, depth: f64, meeting: &Meeting) -> Self {
        Self {
            triangle,
            weights: meeting.barycentric.map(|weight| weight as f32),
            ..Self::none(depth)
        }
    }
}

/// [`Nearest`] of sixteen rays.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Best {
    pub low: [f32; 16],
    pub high: [f32; 16],
    /// Bits of the triangle's number, so that vectors of one type hold all.
    pub triangle: [f32; 16],
    pub weights: [[f32; 16]; 2],
}

impl Best {
    /// Nothing can be met.
    pub const CLOSED: Self = Self {
        low: [f32::NEG_INFINITY; 16],
        high: [f32::NEG_INFINITY; 16],
        triangle: [f32::from_bits(NO_TRIANGLE); 16],
        weights: [[0.0; 16]; 2],
    };

    pub fn triangle(&self, lane: usize) -> u32 {
        self.triangle[lane].to_bits()
    }

    /// The triangles of all lanes.
    #[inline(always)]
    pub fn triangles(&self) -> [u32; 16] {
        let mut triangles = [NO_TRIANGLE; 16];
        for lane in 0..16 {
            triangles[lane] = self.triangle(lane);
        }
        triangles
    }

    pub fn get(&self, lane: usize) -> Nearest {
        Nearest {
            low: self.low[lane],
            high: self.high[lane],
            triangle: self.triangle(lane),
            weights: self.weights.map(|w| w[lane]),
        }
    }

    pub fn set(&mut self, lane: usize, nearest: &Nearest) {
        self.low[lane] = nearest.low;
        self.high[lane] = nearest.high;
        self.triangle[lane] = f32::from_bits(nearest.triangle);
        for (weights, new) in self.weights.iter_mut().zip(nearest.weights) {
            weights[lane] = new;
        }
    }

    /// Lanes that have met something need no more.
    pub fn close_met(&mut self) {
        for lane in 0..16 {
            if self.triangle(lane) != NO_TRIANGLE {
                self.low[lane] = f32::NEG_INFINITY;
                self.high[lane] = f32::NEG_INFINITY;
            }
        }
    }
}

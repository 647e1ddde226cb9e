//! The ray and the triangle in `f64`: the test that every answer of the caster rests on.

use super::flags::Flags;
use super::known::Faces;
use nalgebra::{Point3, Vector3};

/// Where a ray meets a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Meeting {
    /// Along the ray, m.
    pub distance: f64,
    /// Weights of the triangle's second and third vertex.
    pub barycentric: [f64; 2],
}

/// A ray in a mesh's frame, with the shear that turns its direction into the third axis.
///
/// Source: Woop, Benthin and Wald (2013), "Watertight ray/triangle intersection", JCGT 2(1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShearedRay {
    origin: Point3<f64>,
    axes: [usize; 3],
    shear: [f64; 3],
}

impl ShearedRay {
    /// `direction` need not be a unit vector: distances count in its lengths.
    pub fn new(origin: Point3<f64>, direction: &Vector3<f64>) -> Self {
        let axes = axes(direction);
        let [next, last, major] = axes;
        let scale = 1.0 / direction[major];
        Self {
            origin,
            axes,
            shear: [direction[next] * scale, direction[last] * scale, scale],
        }
    }

    /// The triangle seen along the ray. Two triangles that share an edge get the same edge function
    /// with the opposite sign, to the last bit, so that no ray passes between them; an edge or a
    /// vertex met exactly belongs to every triangle that has it.
    #[inline(always)]
    pub fn meet(&self, corners: [Point3<f64>; 3]) -> Option<Meeting> {
        // Not by `map`, which may be called rather than made here.
        let [a, b, c] = corners;
        let [a, b, c] = [self.sheared(a), self.sheared(b), self.sheared(c)];
        let u = c[0] * b[1] - c[1] * b[0];
        let v = a[0] * c[1] - a[1] * c[0];
        let w = b[0] * a[1] - b[1] * a[0];
        let outside = (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0);
        let sum = u + v + w;
        if outside || sum == 0.0 {
            return None;
        }
        let one = 1.0 / sum;
        let weights = [u * one, v * one, w * one];
        let height = weights[0] * a[2] + weights[1] * b[2] + weights[2] * c[2];
        Some(Meeting {
            distance: height * self.shear[2],
            barycentric: [weights[1], weights[2]],
        })
    }

    #[inline(always)]
    fn sheared(&self, corner: Point3<f64>) -> [f64; 3] {
        let [next, last, major] = self.axes;
        let from_origin = corner - self.origin;
        let depth = from_origin[major];
        [
            from_origin[next] - self.shear[0] * depth,
            from_origin[last] - self.shear[1] * depth,
            depth,
        ]
    }
}

/// The two lateral axes and the major one, in the order that keeps the frame right-handed when the
/// ray looks up the major axis.
#[inline(always)]
fn axes(direction: &Vector3<f64>) -> [usize; 3] {
    let [x, y, z] = [direction.x.abs(), direction.y.abs(), direction.z.abs()];
    let [next, last, major] = if x >= y && x >= z {
        [1, 2, 0]
    } else if y >= z {
        [2, 0, 1]
    } else {
        [0, 1, 2]
    };
    if direction[major] < 0.0 {
        [last, next, major]
    } else {
        [next, last, major]
    }
}

/// Sixteen triangles in their mesh's frame.
#[repr(C, align(64))]
pub(crate) struct Corners {
    /// By vertex, axis and lane.
    vertex: [[[f64; 16]; 3]; 3],
    /// Unit normals, by axis and lane.
    pub normal: [[f64; 16]; 3],
}

/// [`Meeting`]s by lane.
pub(crate) struct Meetings {
    pub distance: [f64; 16],
    pub barycentric: [[f64; 16]; 2],
    /// Lanes whose ray does not meet its triangle.
    pub none: [bool; 16],
}

/// Numbers of sixteen lanes for each axis.
type Axes<'a> = [&'a [f64; 16]; 3];

impl Corners {
    pub const NONE: Self = Self {
        vertex: [[[0.0; 16]; 3]; 3],
        normal: [[0.0; 16]; 3],
    };

    /// Takes the triangles of these numbers for these lanes; others are left to what they get. Each
    /// is looked up once for all lanes that want it: neighbours mostly meet the same few.
    #[inline(always)]
    pub fn take(&mut self, faces: &mut Faces, triangles: &[u32; 16], mut lanes: u32) {
        let mut is_first = true;
        while lanes != 0 {
            let triangle = triangles[lanes.trailing_zeros() as usize];
            let wanting = Flags::equal(triangles, triangle);
            lanes &= !wanting.bits();
            let face = faces.face(triangle);
            for axis in 0..3 {
                let own = &mut self.vertex;
                for (own, vertex) in own.iter_mut().zip(&face.vertex) {
                    spread(&mut own[axis], vertex[axis], &wanting, is_first);
                }
                spread(
                    &mut self.normal[axis],
                    face.normal[axis],
                    &wanting,
                    is_first,
                );
            }
            is_first = false;
        }
    }

    /// Sixteen rays, each with its own triangle: [`ShearedRay::meet`] for all at once, with the same
    /// operations and so the same bits. `alike` where all rays are known to have the same axes.
    #[inline(always)]
    pub fn meet(
        &self,
        origin: &[[f64; 16]; 3],
        direction: &[[f64; 16]; 3],
        alike: bool,
    ) -> Meetings {
        let first = axes(&Vector3::from(direction.map(|axis| axis[0])));
        if alike || share_axes(direction) {
            let along = |of: &'_ [[f64; 16]; 3]| first.map(|axis| of[axis]);
            let [o, d] = [along(origin), along(direction)];
            let [a, b, c] = [
                along(&self.vertex[0]),
                along(&self.vertex[1]),
                along(&self.vertex[2]),
            ];
            return meet_along(refer(&o), refer(&d), [refer(&a), refer(&b), refer(&c)]);
        }
        let mut along = [[[0.0; 16]; 3]; 5];
        let all = [
            origin,
            direction,
            &self.vertex[0],
            &self.vertex[1],
            &self.vertex[2],
        ];
        for lane in 0..16 {
            let axes = axes(&Vector3::from(direction.map(|axis| axis[lane])));
            for (to, from) in along.iter_mut().zip(all) {
                for (place, axis) in axes.into_iter().enumerate() {
                    to[place][lane] = from[axis][lane];
                }
            }
        }
        let [o, d, a, b, c] = &along;
        meet_along(refer(o), refer(d), [refer(a), refer(b), refer(c)])
    }
}

/// Puts a number in these lanes, or in all.
#[inline(always)]
fn spread(own: &mut [f64; 16], number: f64, lanes: &Flags, in_all: bool) {
    if in_all {
        *own = [number; 16];
    } else {
        lanes.keep(own, &[number; 16]);
    }
}

#[inline(always)]
fn refer(of: &[[f64; 16]; 3]) -> Axes<'_> {
    [&of[0], &of[1], &of[2]]
}

/// Whether [`axes`] are the same for all directions.
#[inline(always)]
fn share_axes([x, y, z]: &[[f64; 16]; 3]) -> bool {
    let mut kinds = [0; 16];
    for i in 0..16 {
        let [ax, ay, az] = [x[i].abs(), y[i].abs(), z[i].abs()];
        let is_x = u64::from(ax >= ay) & u64::from(ax >= az);
        let is_y = u64::from(ay >= az) & (is_x ^ 1);
        let first = if is_x == 1 { x[i] } else { z[i] };
        let major = if is_y == 1 { y[i] } else { first };
        kinds[i] = is_x | is_y << 1 | u64::from(major < 0.0) << 2;
    }
    kinds
        .iter()
        .fold(0, |differ, kind| differ | (kind ^ kinds[0]))
        == 0
}

/// Rays and triangles along the rays' axes, the major one last.
#[inline(always)]
fn meet_along([ox, oy, ok]: Axes, [dx, dy, dk]: Axes, [a, b, c]: [Axes; 3]) -> Meetings {
    let mut all = Meetings {
        distance: [0.0; 16],
        barycentric: [[0.0; 16]; 2],
        none: [false; 16],
    };
    for i in 0..16 {
        let scale = 1.0 / dk[i];
        let [sx, sy] = [dx[i] * scale, dy[i] * scale];
        let [az, bz, cz] = [a[2][i] - ok[i], b[2][i] - ok[i], c[2][i] - ok[i]];
        let [ax, ay] = [a[0][i] - ox[i] - sx * az, a[1][i] - oy[i] - sy * az];
        let [bx, by] = [b[0][i] - ox[i] - sx * bz, b[1][i] - oy[i] - sy * bz];
        let [cx, cy] = [c[0][i] - ox[i] - sx * cz, c[1][i] - oy[i] - sy * cz];
        let u = cx * by - cy * bx;
        let v = ax * cy - ay * cx;
        let w = bx * ay - by * ax;
        let negative = u < 0.0 || v < 0.0 || w < 0.0;
        let positive = u > 0.0 || v > 0.0 || w > 0.0;
        let sum = u + v + w;
        let one = 1.0 / sum;
        let weights = [u * one, v * one, w * one];
        let height = weights[0] * az + weights[1] * bz + weights[2] * cz;
        all.distance[i] = height * scale;
        all.barycentric[0][i] = weights[1];
        all.barycentric[1][i] = weights[2];
        all.none[i] = (negative && positive) || sum == 0.0;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_meets_a_triangle_where_its_plane_is() {
        let ray = ShearedRay::new(Point3::new(0.25, 0.5, 3.0), &-Vector3::z());
        let corners = [
            Point3::origin(),
            Point3::new(1.0, 0.0, 0.0),
            Point3::new(0.0, 1.0, 0.0),
        ];
        let meeting = ray.meet(corners).expect("it aims there");
        assert_eq!(meeting.distance, 3.0);
        assert_eq!(meeting.barycentric, [0.25, 0.5]);
    }

    #[test]
    fn a_shared_vertex_belongs_to_both_triangles() {
        let [a, b, c, d] =
            [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(|[x, y]| Point3::new(x, y, 0.0));
        let ray = ShearedRay::new(Point3::new(0.0, 0.0, 1.0), &-Vector3::z());
        assert!(ray.meet([a, b, c]).is_some());
        assert!(ray.meet([a, c, d]).is_some());
    }
}

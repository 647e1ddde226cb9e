//! The ray and the triangle in `f64`: the test that every answer of the caster rests on.

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
    #[inline]
    pub fn meet(&self, corners: [Point3<f64>; 3]) -> Option<Meeting> {
        let [a, b, c] = corners.map(|corner| self.sheared(corner));
        let u = c[0] * b[1] - c[1] * b[0];
        let v = a[0] * c[1] - a[1] * c[0];
        let w = b[0] * a[1] - b[1] * a[0];
        let outside = (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0);
        let sum = u + v + w;
        if outside || sum == 0.0 {
            return None;
        }
        let weights = [u / sum, v / sum, w / sum];
        let height = weights[0] * a[2] + weights[1] * b[2] + weights[2] * c[2];
        Some(Meeting {
            distance: height * self.shear[2],
            barycentric: [weights[1], weights[2]],
        })
    }

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

/// Sixteen rays and a triangle for each, along each ray's own axes: [`ShearedRay::meet`] for all
/// at once, with the same operations and so the same bits.
#[repr(C, align(64))]
pub(crate) struct Pairs {
    /// By axis and lane; the major axis last.
    direction: [[f64; 16]; 3],
    /// From the ray's origin, by vertex, axis and lane.
    corner: [[[f64; 16]; 3]; 3],
}

/// [`Meeting`]s by lane.
pub(crate) struct Meetings {
    pub distance: [f64; 16],
    pub barycentric: [[f64; 16]; 2],
    /// Lanes whose ray does not meet its triangle.
    pub none: [bool; 16],
}

impl Pairs {
    pub const NONE: Self = Self {
        direction: [[1.0; 16]; 3],
        corner: [[[0.0; 16]; 3]; 3],
    };

    #[inline(always)]
    pub fn put(
        &mut self,
        lane: usize,
        origin: &Point3<f64>,
        direction: &Vector3<f64>,
        corners: [&Point3<f64>; 3],
    ) {
        let axes = axes(direction);
        for (place, axis) in axes.into_iter().enumerate() {
            self.direction[place][lane] = direction[axis];
            for vertex in 0..3 {
                self.corner[vertex][place][lane] = corners[vertex][axis] - origin[axis];
            }
        }
    }

    #[inline(always)]
    pub fn meet(&mut self) -> Meetings {
        let mut all = Meetings {
            distance: [0.0; 16],
            barycentric: [[0.0; 16]; 2],
            none: [false; 16],
        };
        let [dx, dy, dk] = &self.direction;
        let [a, b, c] = &self.corner;
        for i in 0..16 {
            let scale = 1.0 / dk[i];
            let [sx, sy] = [dx[i] * scale, dy[i] * scale];
            let [ax, ay] = [a[0][i] - sx * a[2][i], a[1][i] - sy * a[2][i]];
            let [bx, by] = [b[0][i] - sx * b[2][i], b[1][i] - sy * b[2][i]];
            let [cx, cy] = [c[0][i] - sx * c[2][i], c[1][i] - sy * c[2][i]];
            let u = cx * by - cy * bx;
            let v = ax * cy - ay * cx;
            let w = bx * ay - by * ax;
            let negative = u < 0.0 || v < 0.0 || w < 0.0;
            let positive = u > 0.0 || v > 0.0 || w > 0.0;
            let sum = u + v + w;
            let weights = [u / sum, v / sum, w / sum];
            let height = weights[0] * a[2][i] + weights[1] * b[2][i] + weights[2] * c[2][i];
            all.distance[i] = height * scale;
            all.barycentric[0][i] = weights[1];
            all.barycentric[1][i] = weights[2];
            all.none[i] = (negative && positive) || sum == 0.0;
        }
        all
    }
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

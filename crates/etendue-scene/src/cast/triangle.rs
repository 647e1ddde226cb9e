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
        let major = direction.iamax();
        let [mut next, mut last] = [(major + 1) % 3, (major + 2) % 3];
        if direction[major] < 0.0 {
            std::mem::swap(&mut next, &mut last);
        }
        let scale = 1.0 / direction[major];
        Self {
            origin,
            axes: [next, last, major],
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

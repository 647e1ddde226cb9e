//! The watertight ray-triangle test in `f64`, which defines the results of the caster.

use nalgebra::{Point3, Vector3};

/// The intersection of a ray with a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Intersection {
    /// Distance along the ray, m.
    pub distance: f64,
    /// Barycentric weights of the triangle's second and third vertex.
    pub barycentric: [f64; 2],
}

/// A ray in a mesh's frame, with the shear that maps its direction to the third axis.
///
/// Source: Woop, Benthin and Wald (2013), "Watertight ray/triangle intersection", JCGT 2(1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShearedRay {
    origin: Point3<f64>,
    axes: [usize; 3],
    shear: [f64; 3],
}

impl ShearedRay {
    /// `direction` may have any length; distances are in units of it.
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

    /// Intersects a triangle. Two triangles that share an edge get the same edge function with the
    /// opposite sign, to the last bit, so that no ray passes between them; an edge or a vertex that
    /// the ray hits exactly belongs to every triangle that has it.
    #[inline(always)]
    pub fn intersect(&self, corners: [Point3<f64>; 3]) -> Option<Intersection> {
        // Not by `map`, which is not always inlined.
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
        Some(Intersection {
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
/// ray points along the positive major axis.
#[inline(always)]
pub(super) fn axes(direction: &Vector3<f64>) -> [usize; 3] {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_hits_a_triangle_at_the_depth_of_its_plane() {
        let ray = ShearedRay::new(Point3::new(0.25, 0.5, 3.0), &-Vector3::z());
        let corners = [
            Point3::origin(),
            Point3::new(1.0, 0.0, 0.0),
            Point3::new(0.0, 1.0, 0.0),
        ];
        let intersection = ray.intersect(corners).expect("it aims there");
        assert_eq!(intersection.distance, 3.0);
        assert_eq!(intersection.barycentric, [0.25, 0.5]);
    }

    #[test]
    fn a_shared_vertex_belongs_to_both_triangles() {
        let [a, b, c, d] =
            [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(|[x, y]| Point3::new(x, y, 0.0));
        let ray = ShearedRay::new(Point3::new(0.0, 0.0, 1.0), &-Vector3::z());
        assert!(ray.intersect([a, b, c]).is_some());
        assert!(ray.intersect([a, c, d]).is_some());
    }
}

//! Angular bounds of an object as seen by the sensor.

use etendue_physics::Scalar;
use etendue_physics::beam::BeamFrame;
use etendue_scene::Mesh;
use nalgebra::{Isometry3, Point3, Vector3};

/// Bounds of the horizontal and the vertical angle of an object, in the frame of the direction to its
/// centre.
///
/// The bounds are those of the corners of the box of the mesh: equal to the outline for upright panels and
/// boxes in the plane of a scanner, larger for other shapes.
pub(crate) struct ObjectBounds<S> {
    /// Frame of the direction to the centre.
    frame: BeamFrame,
    /// Lower bounds of the horizontal and the vertical angle, rad.
    lower: [S; 2],
    /// Upper bounds of both angles, rad.
    upper: [S; 2],
}

impl<S: Scalar> ObjectBounds<S> {
    /// Bounds of a mesh at a pose.
    pub(crate) fn new(mesh: &Mesh, sensor_from_object: &Isometry3<S>) -> Self {
        // Find the corners of the box of the mesh.
        let mut low = Point3::from([f64::INFINITY; 3]);
        let mut high = Point3::from([f64::NEG_INFINITY; 3]);
        for vertex in &mesh.vertices {
            low = low.inf(vertex);
            high = high.sup(vertex);
        }
        let corner = |number: usize| {
            let of = |k: usize| {
                let is_high = number >> k & 1 == 1;
                S::from(if is_high { high[k] } else { low[k] })
            };
            (sensor_from_object * Point3::new(of(0), of(1), of(2))).coords
        };
        // Measure their angles from the direction to the centre.
        let corners: Vec<Vector3<S>> = (0..8).map(corner).collect();
        let centre: Vector3<f64> = corners.iter().map(|c| c.map(Scalar::value)).sum();
        let elevation = centre.z.atan2(centre.x.hypot(centre.y));
        let frame = BeamFrame::new(centre.y.atan2(centre.x), elevation);
        let angles: Vec<[S; 2]> = corners.iter().map(|c| angles(&frame, c)).collect();
        // The bounds are the angles of the outermost corners.
        let by_angle =
            |k: usize| move |a: &&[S; 2], b: &&[S; 2]| a[k].value().total_cmp(&b[k].value());
        let least = |k: usize| {
            angles
                .iter()
                .min_by(by_angle(k))
                .map_or(S::zero(), |a| a[k])
        };
        let greatest = |k: usize| {
            angles
                .iter()
                .max_by(by_angle(k))
                .map_or(S::zero(), |a| a[k])
        };
        Self {
            lower: [0, 1].map(least),
            upper: [0, 1].map(greatest),
            frame,
        }
    }

    /// Signed angular distance of a direction (sensor frame) from the bounds, rad; positive inside.
    pub(crate) fn distance(&self, direction: &Vector3<f64>) -> S {
        let at = angles(&self.frame, &direction.map(S::from));
        let mut distance = at[0] - self.lower[0];
        for side in [
            self.upper[0] - at[0],
            at[1] - self.lower[1],
            self.upper[1] - at[1],
        ] {
            if side.value() < distance.value() {
                distance = side;
            }
        }
        distance
    }
}

/// Horizontal and vertical angle of a vector in a frame, rad.
fn angles<S: Scalar>(frame: &BeamFrame, vector: &Vector3<S>) -> [S; 2] {
    let along = |axis: &Vector3<f64>| vector.dot(&axis.map(S::from));
    let [ahead, left, up] = [&frame.axis, &frame.left, &frame.up].map(along);
    let horizontal = (ahead * ahead + left * left).sqrt();
    [left.atan2(ahead), up.atan2(horizontal)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_is_positive_inside_the_bounds_of_a_panel() {
        // A panel of 2 m by 1 m, 2 m ahead: half angles of 45 and at least 12.6 degrees
        let vertices = [[0.0, -2.0, -0.5], [0.0, 2.0, -0.5], [0.0, 2.0, 0.5]];
        let mesh = Mesh {
            vertices: vertices.map(Point3::from).into(),
            triangles: vec![[0, 1, 2]],
            materials: Vec::new(),
        };
        let bounds = ObjectBounds::new(&mesh, &Isometry3::translation(2.0, 0.0, 0.0));
        let towards = |azimuth: f64| Vector3::new(azimuth.cos(), azimuth.sin(), 0.0);
        let quarter = std::f64::consts::FRAC_PI_4;
        assert!(bounds.distance(&towards(quarter)).abs() < 1e-12);
        assert!((bounds.distance(&towards(quarter - 0.05)) - 0.05).abs() < 1e-12);
        assert!((bounds.distance(&towards(quarter + 0.3)) + 0.3).abs() < 1e-12);
    }
}

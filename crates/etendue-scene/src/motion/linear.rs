//! Linear interpolation of key frames.

use super::key_frame::KeyFrame;
use etendue_raycast::BoundingBox;
use nalgebra::{Isometry3, UnitQuaternion};

/// The pose at the fraction `share` of the interval between two key frames.
pub(super) fn pose([from, to]: [&KeyFrame; 2], share: f64) -> Isometry3<f64> {
    let [a, b] = [from, to].map(|frame| &frame.pose);
    Isometry3::from_parts(
        a.translation
            .vector
            .lerp(&b.translation.vector, share)
            .into(),
        slerp(&a.rotation, &b.rotation, share),
    )
}

/// Spherical linear interpolation along the shorter arc; between opposite orientations, where it is not
/// defined, about any axis. The result is normalised: for angles of less than a milliradian the weights of
/// `try_slerp` have relative errors above 1e-9.
fn slerp(from: &UnitQuaternion<f64>, to: &UnitQuaternion<f64>, share: f64) -> UnitQuaternion<f64> {
    let between = from.try_slerp(to, share, 1e-12).unwrap_or(*from);
    UnitQuaternion::new_normalize(between.into_inner())
}

/// A box around the object between two key frames, within an interval of time (s), given the box around its
/// poses at the ends of that interval.
///
/// Between key frames a point at radius $r$ deviates from the straight line between its end points by
/// at most $r (1 - \cos(\varphi / 2))$, with $\varphi$ the angle turned.
pub(super) fn bounds(
    pair: [&KeyFrame; 2],
    local: &BoundingBox,
    reach: f64,
    ends: &BoundingBox,
    [start, end]: [f64; 2],
) -> BoundingBox {
    let inside = |frame: &&KeyFrame| frame.time > start && frame.time < end;
    let frames = pair.into_iter().filter(inside);
    let all = frames.fold(*ends, |all, frame| {
        all.union(&local.transformed(&frame.pose))
    });
    let turned = pair[0].pose.rotation.angle_to(&pair[1].pose.rotation);
    all.grown(reach * (1.0 - (0.5 * turned).cos()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    /// Measured without normalisation: up to 6e-9.
    #[test]
    fn small_rotations_are_interpolated_by_unit_quaternions() {
        for exponent in 1..12 {
            let angle = 0.1_f64.powi(exponent);
            let to =
                UnitQuaternion::from_scaled_axis(Vector3::new(0.3, -0.5, 0.8).normalize() * angle);
            for share in [0.1, 0.37, 0.5, 0.99] {
                let between = slerp(&UnitQuaternion::identity(), &to, share);
                assert!((between.norm() - 1.0).abs() < 4e-16, "{angle} {share}");
                let error = between.angle() - share * angle;
                assert!(
                    error.abs() < 1e-7 * angle.max(0.1),
                    "{angle} {share}: {error}"
                );
            }
        }
    }
}

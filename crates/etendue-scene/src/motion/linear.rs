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
/// defined, about any axis.
fn slerp(from: &UnitQuaternion<f64>, to: &UnitQuaternion<f64>, share: f64) -> UnitQuaternion<f64> {
    from.try_slerp(to, share, 1e-12).unwrap_or(*from)
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

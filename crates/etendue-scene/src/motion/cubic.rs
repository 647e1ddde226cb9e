//! Cubic interpolation of key frames, with continuous velocity and angular velocity.

use super::key_frame::KeyFrame;
use etendue_raycast::BoundingBox;
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};

/// Velocity in the world (m/s) and angular velocity in the moving frame (rad/s).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate {
    velocity: Vector3<f64>,
    turn: Vector3<f64>,
}

/// The rates at the key frames: those of the parabola through three neighbours.
pub(super) fn rates(frames: &[KeyFrame]) -> Vec<Rate> {
    // Mean rates between key frames.
    let between: Vec<(f64, Rate)> = frames
        .windows(2)
        .map(|pair| slope(&pair[0], &pair[1]))
        .collect();
    let (Some(first), Some(last)) = (between.first(), between.last()) else {
        let rest = Vector3::zeros();
        return vec![
            Rate {
                velocity: rest,
                turn: rest
            };
            frames.len()
        ];
    };

    // Inner key frames: the shorter interval has the larger weight.
    let inner = between.windows(2).map(|pair| {
        let [(before, a), (after, b)] = [pair[0], pair[1]];
        a.mix(&b, before / (before + after))
    });
    let inner: Vec<Rate> = inner.collect();

    // The first and the last.
    let ends = |edge: &(f64, Rate), next: Option<&Rate>| match next {
        Some(next) => edge.1.mix(next, -1.0),
        None => edge.1,
    };
    let start = ends(first, inner.first());
    let end = ends(last, inner.last());
    std::iter::once(start).chain(inner).chain([end]).collect()
}

/// The duration between two key frames, and the mean rates.
fn slope(from: &KeyFrame, to: &KeyFrame) -> (f64, Rate) {
    let seconds = to.time - from.time;
    let turn = (from.pose.rotation.inverse() * to.pose.rotation).scaled_axis();
    let displacement = to.pose.translation.vector - from.pose.translation.vector;
    let rate = Rate {
        velocity: displacement / seconds,
        turn: turn / seconds,
    };
    (seconds, rate)
}

impl Rate {
    fn mix(&self, other: &Self, share: f64) -> Self {
        Self {
            velocity: self.velocity.lerp(&other.velocity, share),
            turn: self.turn.lerp(&other.turn, share),
        }
    }
}

/// Control points of the cubic curve (Bézier form) between two key frames.
pub(super) fn control(frames: [&KeyFrame; 2], rates: [&Rate; 2]) -> [Vector3<f64>; 4] {
    let third = (frames[1].time - frames[0].time) / 3.0;
    let [from, to] = frames.map(|frame| frame.pose.translation.vector);
    [
        from,
        from + rates[0].velocity * third,
        to - rates[1].velocity * third,
        to,
    ]
}

/// The pose at the fraction `u` of the interval between two key frames.
///
/// Positions follow the cubic curve with the given velocities at its ends. Orientations follow the
/// same curve in its cumulative form on the rotations,
/// $q(u) = q_0 \prod_{i=1}^{3} \exp(w_i \tilde B_i(u))$ with $w_1 = \omega_0 h/3$,
/// $w_3 = \omega_1 h/3$ and $w_2$ such that $q(1) = q_1$ (Kim, Kim, Shin 1995, eq. 4 and 5,
/// doi:10.1145/218380.218486).
pub(super) fn pose(frames: [&KeyFrame; 2], rates: [&Rate; 2], u: f64) -> Isometry3<f64> {
    let v = 1.0 - u;
    let [a, b, c, d] = control(frames, rates);
    let position =
        a * (v * v * v) + b * (3.0 * u * v * v) + c * (3.0 * u * u * v) + d * (u * u * u);
    let third = (frames[1].time - frames[0].time) / 3.0;
    let [from, to] = frames.map(|frame| frame.pose.rotation);
    let exp = UnitQuaternion::from_scaled_axis;
    let [first, last] = rates.map(|rate| rate.turn * third);
    let middle = (exp(-first) * from.inverse() * to * exp(-last)).scaled_axis();
    let rotation = from
        * exp(first * (1.0 - v * v * v))
        * exp(middle * (u * u * (3.0 - 2.0 * u)))
        * exp(last * (u * u * u));
    Isometry3::from_parts(position.into(), rotation)
}

/// A box around everything within `reach` of the curve between two key frames: a curve stays
/// within its control points.
pub(super) fn bounds(frames: [&KeyFrame; 2], rates: [&Rate; 2], reach: f64) -> BoundingBox {
    let points = control(frames, rates).map(|c| BoundingBox::point(Point3::from(c)));
    let hull = points[1..]
        .iter()
        .fold(points[0], |all, one| all.union(one));
    hull.grown(reach)
}

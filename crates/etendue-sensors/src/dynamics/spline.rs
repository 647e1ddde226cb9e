//! Cubic splines through recorded poses.

use super::state_trajectory::StateTrajectory;
use etendue_physics::inertial::MotionState;
use etendue_scene::KeyFrameTrajectory;
use nalgebra::{Isometry3, Quaternion, SVector, Translation3, UnitQuaternion, Vector3};

/// Position and quaternion.
type Coordinates = SVector<f64, 7>;

/// Trajectory through key frames with continuous acceleration: natural cubic splines of the position and
/// of the components of the quaternion, which is then normalised.
///
/// An accelerometer on it measures a smooth specific force; linear interpolation between poses would
/// give an impulse at each. Before the first key frame and after the last the body is at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct SplineTrajectory {
    times: Vec<f64>,
    values: Vec<Coordinates>,
    /// Second derivatives at the key frames.
    second_derivatives: Vec<Coordinates>,
}

impl SplineTrajectory {
    /// The spline through a trajectory's key frames.
    pub fn through(trajectory: &KeyFrameTrajectory) -> Self {
        let frames = trajectory.frames();
        let times: Vec<f64> = frames.iter().map(|frame| frame.time).collect();
        let mut values: Vec<Coordinates> = Vec::with_capacity(frames.len());
        for frame in frames {
            let position = frame.pose.translation.vector;
            let mut quaternion = frame.pose.rotation.coords;
            // Of the two quaternions of an attitude, take the one nearer to the previous one.
            if let Some(before) = values.last()
                && before.fixed_rows::<4>(3).dot(&quaternion) < 0.0
            {
                quaternion = -quaternion;
            }
            values.push(Coordinates::from_iterator(
                position.iter().chain(quaternion.iter()).copied(),
            ));
        }
        Self {
            second_derivatives: second_derivatives(&times, &values),
            times,
            values,
        }
    }

    /// First and last time, s.
    pub fn span(&self) -> [f64; 2] {
        [self.times[0], self.times[self.times.len() - 1]]
    }

    /// Value, first and second derivative at a time.
    fn at(&self, time: f64) -> [Coordinates; 3] {
        let last = self.times.len() - 1;
        let after = self.times.partition_point(|key| *key <= time);
        if after == 0 || after > last {
            let end = self.values[after.min(last)];
            return [end, Coordinates::zeros(), Coordinates::zeros()];
        }

        // Evaluate the cubic of the interval.
        let i = after - 1;
        let span = self.times[after] - self.times[i];
        let right = (time - self.times[i]) / span;
        let left = (self.times[after] - time) / span;
        let from = self.values[i];
        let to = self.values[after];
        let [m0, m1] = [self.second_derivatives[i], self.second_derivatives[after]];
        let square = span * span / 6.0;
        let value = from * left
            + to * right
            + (m0 * (left.powi(3) - left) + m1 * (right.powi(3) - right)) * square;
        let derivative = (to - from) / span
            + (m1 * (3.0 * right * right - 1.0) - m0 * (3.0 * left * left - 1.0)) * (span / 6.0);
        [value, derivative, m0 * left + m1 * right]
    }
}

/// Second derivatives of the natural cubic spline: the tridiagonal system of Press et al. 2007,
/// "Numerical Recipes", eq. 3.3.7.
fn second_derivatives(times: &[f64], values: &[Coordinates]) -> Vec<Coordinates> {
    let count = times.len();
    let mut second_derivatives = vec![Coordinates::zeros(); count];
    let mut factors = vec![0.0; count];

    // Eliminate forwards.
    for i in 1..count.saturating_sub(1) {
        let before = times[i] - times[i - 1];
        let after = times[i + 1] - times[i];
        let share = before / (before + after);
        let pivot = share * factors[i - 1] + 2.0;
        let slopes = (values[i + 1] - values[i]) / after - (values[i] - values[i - 1]) / before;
        factors[i] = (share - 1.0) / pivot;
        second_derivatives[i] =
            (slopes * (6.0 / (before + after)) - second_derivatives[i - 1] * share) / pivot;
    }

    // Substitute backwards.
    for i in (0..count.saturating_sub(1)).rev() {
        let next = second_derivatives[i + 1];
        second_derivatives[i] += next * factors[i];
    }
    second_derivatives
}

impl StateTrajectory for SplineTrajectory {
    /// With $p = nq$ the interpolated quaternion: $\dot q = (\dot p - \dot n q)/n$,
    /// $\ddot q = (\ddot p - \ddot n q - 2\dot n\dot q)/n$; in the body
    /// $\omega = 2\\,\bar q\dot q$ and $\dot\omega = 2\\,\mathrm{Im}(\bar q\ddot q)$.
    fn state(&self, time: f64) -> MotionState {
        let [value, derivative, second_derivative] = self.at(time);
        let position = |v: &Coordinates| Vector3::new(v[0], v[1], v[2]);
        let quaternion = |v: &Coordinates| v.fixed_rows::<4>(3).into_owned();
        let [p, p1, p2] = [&value, &derivative, &second_derivative].map(quaternion);
        let n = p.norm();
        let q = p / n;
        let n1 = q.dot(&p1);
        let q1 = (p1 - q * n1) / n;
        let n2 = q1.dot(&p1) + q.dot(&p2);
        let q2 = (p2 - q * n2 - q1 * (2.0 * n1)) / n;
        let [q, q1, q2] = [q, q1, q2].map(Quaternion::from);
        let attitude = UnitQuaternion::new_unchecked(q);
        MotionState {
            world_from_body: Isometry3::from_parts(Translation3::from(position(&value)), attitude),
            velocity: position(&derivative),
            acceleration: position(&second_derivative),
            angular_velocity: (q.conjugate() * q1).imag() * 2.0,
            angular_acceleration: (q.conjugate() * q2).imag() * 2.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamics::CircularTrajectory;
    use etendue_scene::KeyFrame;

    /// Poses of a circle at 10 Hz; measured errors in the middle of the record: position 1e-6 m, angular
    /// velocity 1e-5 rad/s, acceleration 2e-3 m/s².
    #[test]
    fn a_spline_through_poses_of_a_circle_has_its_rates_and_accelerations() {
        // Sample a circle at 10 Hz.
        let circle = CircularTrajectory {
            start: Isometry3::new(Vector3::new(1.0, 2.0, 3.0), Vector3::new(0.3, 0.0, 0.4)),
            radius: 4.0,
            speed: 2.0,
        };
        let frames = (0..200)
            .map(|i| f64::from(i) * 0.1)
            .map(|time| KeyFrame {
                time,
                pose: circle.state(time).world_from_body,
            })
            .collect();
        // Compare the spline with it.
        let spline =
            SplineTrajectory::through(&KeyFrameTrajectory::new(frames).expect("ascending"));
        for i in 0..100 {
            let time = 5.0 + 0.0917 * f64::from(i);
            let read = spline.state(time);
            let truth = circle.state(time);
            let position = |state: &MotionState| state.world_from_body.translation.vector;
            assert!((position(&read) - position(&truth)).norm() < 1e-5);
            assert!((read.velocity - truth.velocity).norm() < 1e-4);
            assert!((read.angular_velocity - truth.angular_velocity).norm() < 1e-4);
            assert!((read.acceleration - truth.acceleration).norm() < 5e-3);
            assert!(read.angular_acceleration.norm() < 5e-3);
        }
        assert_eq!(spline.state(-1.0).velocity, Vector3::zeros());
    }
}

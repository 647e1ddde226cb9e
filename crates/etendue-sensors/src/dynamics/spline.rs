//! Smooth trajectories through recorded poses.

use super::state_trajectory::StateTrajectory;
use etendue_physics::inertial::MotionState;
use etendue_scene::KeyFrameTrajectory;
use nalgebra::{Isometry3, Quaternion, SVector, Translation3, UnitQuaternion, Vector3};

/// Position and quaternion.
type Coordinates = SVector<f64, 7>;

/// A trajectory through key frames with continuous acceleration: natural cubic splines of the
/// position and of the quaternion's components, which are then normalised. An accelerometer on it
/// reads a smooth specific force, whereas linear interpolation between poses would give an impulse
/// at each of them. Before the first key frame and after the last it is at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct SplineTrajectory {
    times: Vec<f64>,
    values: Vec<Coordinates>,
    /// Second derivatives at the key frames.
    bends: Vec<Coordinates>,
}

impl SplineTrajectory {
    /// The spline through a trajectory's key frames.
    pub fn through(trajectory: &KeyFrameTrajectory) -> Self {
        let frames = trajectory.frames();
        let times: Vec<f64> = frames.iter().map(|frame| frame.time).collect();
        let mut values: Vec<Coordinates> = Vec::with_capacity(frames.len());
        for frame in frames {
            let place = frame.pose.translation.vector;
            let mut turn = frame.pose.rotation.coords;
            // Of the two quaternions of an attitude, take the one nearer to the previous key frame's
            if let Some(before) = values.last()
                && before.fixed_rows::<4>(3).dot(&turn) < 0.0
            {
                turn = -turn;
            }
            values.push(Coordinates::from_iterator(
                place.iter().chain(turn.iter()).copied(),
            ));
        }
        Self {
            bends: bends(&times, &values),
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
        let i = after - 1;
        let span = self.times[after] - self.times[i];
        let right = (time - self.times[i]) / span;
        let left = (self.times[after] - time) / span;
        let [from, to] = [self.values[i], self.values[after]];
        let [m0, m1] = [self.bends[i], self.bends[after]];
        let square = span * span / 6.0;
        let value = from * left
            + to * right
            + (m0 * (left.powi(3) - left) + m1 * (right.powi(3) - right)) * square;
        let slope = (to - from) / span
            + (m1 * (3.0 * right * right - 1.0) - m0 * (3.0 * left * left - 1.0)) * (span / 6.0);
        [value, slope, m0 * left + m1 * right]
    }
}

/// Second derivatives of the natural cubic spline: the tridiagonal system of Press et al. 2007,
/// "Numerical Recipes", eq. 3.3.7.
fn bends(times: &[f64], values: &[Coordinates]) -> Vec<Coordinates> {
    let count = times.len();
    let mut bends = vec![Coordinates::zeros(); count];
    let mut factors = vec![0.0; count];
    for i in 1..count.saturating_sub(1) {
        let (before, after) = (times[i] - times[i - 1], times[i + 1] - times[i]);
        let share = before / (before + after);
        let pivot = share * factors[i - 1] + 2.0;
        let slopes = (values[i + 1] - values[i]) / after - (values[i] - values[i - 1]) / before;
        factors[i] = (share - 1.0) / pivot;
        bends[i] = (slopes * (6.0 / (before + after)) - bends[i - 1] * share) / pivot;
    }
    for i in (0..count.saturating_sub(1)).rev() {
        let next = bends[i + 1];
        bends[i] += next * factors[i];
    }
    bends
}

impl StateTrajectory for SplineTrajectory {
    /// With $p = nq$ the interpolated quaternion: $\dot q = (\dot p - \dot n q)/n$,
    /// $\ddot q = (\ddot p - \ddot n q - 2\dot n\dot q)/n$; in the body
    /// $\omega = 2\\,\bar q\dot q$ and $\dot\omega = 2\\,\mathrm{Im}(\bar q\ddot q)$.
    fn state(&self, time: f64) -> MotionState {
        let [value, slope, bend] = self.at(time);
        let place = |v: &Coordinates| Vector3::new(v[0], v[1], v[2]);
        let turn = |v: &Coordinates| v.fixed_rows::<4>(3).into_owned();
        let [p, p1, p2] = [turn(&value), turn(&slope), turn(&bend)];
        let n = p.norm();
        let q = p / n;
        let n1 = q.dot(&p1);
        let q1 = (p1 - q * n1) / n;
        let n2 = q1.dot(&p1) + q.dot(&p2);
        let q2 = (p2 - q * n2 - q1 * (2.0 * n1)) / n;
        let [q, q1, q2] = [q, q1, q2].map(Quaternion::from);
        let attitude = UnitQuaternion::new_unchecked(q);
        MotionState {
            world_from_body: Isometry3::from_parts(Translation3::from(place(&value)), attitude),
            velocity: place(&slope),
            acceleration: place(&bend),
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

    /// A circle given by poses at 10 Hz, in the middle of the record: the place to 1e-6 m, the
    /// angular velocity to 1e-5 rad/s, the acceleration to 2e-3 m/s² measured.
    #[test]
    fn a_circle_through_poses_has_the_circle_s_rates_and_accelerations() {
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
        let spline =
            SplineTrajectory::through(&KeyFrameTrajectory::new(frames).expect("ascending"));
        for i in 0..100 {
            let time = 5.0 + 0.0917 * f64::from(i);
            let (read, truth) = (spline.state(time), circle.state(time));
            let place = |state: &MotionState| state.world_from_body.translation.vector;
            assert!((place(&read) - place(&truth)).norm() < 1e-5);
            assert!((read.velocity - truth.velocity).norm() < 1e-4);
            assert!((read.angular_velocity - truth.angular_velocity).norm() < 1e-4);
            assert!((read.acceleration - truth.acceleration).norm() < 5e-3);
            assert!(read.angular_acceleration.norm() < 5e-3);
        }
        assert_eq!(spline.state(-1.0).velocity, Vector3::zeros());
    }
}

//! Trajectories through key frames.

use super::key_frame::{Interpolation, KeyFrame, TrajectoryError};
use super::{cubic, linear};
use etendue_raycast::BoundingBox;
use nalgebra::Isometry3;

/// Rounding of a time in a trajectory, s. Times since 1970 have steps of 0.24 µs in double precision.
const ROUNDING: f64 = 1e-6;

/// A trajectory through key frames.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyFrameTrajectory {
    frames: Vec<KeyFrame>,
    /// Rates at the frames; none where the interpolation is linear.
    rates: Vec<cubic::Rate>,
}

impl KeyFrameTrajectory {
    /// A trajectory with linear interpolation.
    ///
    /// # Errors
    /// Where there is none, one is not finite, or times do not ascend.
    pub fn new(frames: Vec<KeyFrame>) -> Result<Self, TrajectoryError> {
        Self::interpolated(frames, Interpolation::Linear)
    }

    /// A trajectory with a choice of interpolation.
    ///
    /// ```
    /// use etendue_scene::{Interpolation, KeyFrame, KeyFrameTrajectory};
    /// use nalgebra::Isometry3;
    /// let thrown = |time: f64| KeyFrame {
    ///     time,
    ///     pose: Isometry3::translation(3.0 * time, 0.0, -4.9 * time * time),
    /// };
    /// let frames = vec![thrown(0.0), thrown(0.5), thrown(0.8), thrown(1.2)];
    /// // Through points of a parabola, the cubic is that parabola.
    /// let cubic = KeyFrameTrajectory::interpolated(frames, Interpolation::Cubic)?;
    /// let z = cubic.pose(0.3).unwrap().translation.z;
    /// assert!((z + 4.9 * 0.3 * 0.3).abs() < 1e-12);
    /// # Ok::<(), etendue_scene::TrajectoryError>(())
    /// ```
    ///
    /// # Errors
    /// As [`KeyFrameTrajectory::new`].
    pub fn interpolated(
        frames: Vec<KeyFrame>,
        interpolation: Interpolation,
    ) -> Result<Self, TrajectoryError> {
        check(&frames)?;
        let rates = vec![];
        Ok(Self { frames, rates }.with_interpolation(interpolation))
    }

    /// The same key frames with another interpolation.
    #[must_use]
    pub fn with_interpolation(mut self, interpolation: Interpolation) -> Self {
        self.rates = match interpolation {
            Interpolation::Linear => vec![],
            Interpolation::Cubic => cubic::rates(&self.frames),
        };
        self
    }

    /// The key frames, by time.
    pub fn frames(&self) -> &[KeyFrame] {
        &self.frames
    }

    /// The interpolation between the key frames.
    pub fn interpolation(&self) -> Interpolation {
        if self.rates.is_empty() {
            Interpolation::Linear
        } else {
            Interpolation::Cubic
        }
    }

    /// First and last time, s.
    pub fn span(&self) -> [f64; 2] {
        [self.frames[0].time, self.frames[self.frames.len() - 1].time]
    }

    /// Checks that the trajectory covers a span of time (s), within the rounding of times (1 µs).
    ///
    /// # Errors
    /// Where it does not.
    pub fn check_span(&self, needed_from: f64, needed_to: f64) -> Result<(), TrajectoryError> {
        let [from, to] = self.span();
        if needed_from >= from - ROUNDING && needed_to <= to + ROUNDING {
            return Ok(());
        }
        Err(TrajectoryError::TooShort {
            needed_from,
            needed_to,
            from,
            to,
        })
    }

    /// The pose at a time (s); `None` outside the key frames.
    ///
    /// ```
    /// use etendue_scene::{KeyFrame, KeyFrameTrajectory};
    /// use nalgebra::{Isometry3, Vector3};
    /// let frame = |time, x, turn| KeyFrame {
    ///     time,
    ///     pose: Isometry3::new(Vector3::new(x, 0.0, 0.0), Vector3::z() * turn),
    /// };
    /// let trajectory = KeyFrameTrajectory::new(vec![frame(0.0, 0.0, 0.0), frame(2.0, 4.0, 1.0)]).unwrap();
    /// let pose = trajectory.pose(1.0).unwrap();
    /// assert!((pose.translation.x - 2.0).abs() < 1e-12);
    /// assert!((pose.rotation.angle() - 0.5).abs() < 1e-12);
    /// assert!(trajectory.pose(2.1).is_none());
    /// ```
    pub fn pose(&self, time: f64) -> Option<Isometry3<f64>> {
        let [from, to] = self.span();
        (from..=to).contains(&time).then(|| self.pose_or_end(time))
    }

    /// The pose at a time (s), clamped to the first and the last key frame.
    pub fn pose_or_end(&self, time: f64) -> Isometry3<f64> {
        let after = self.frames.partition_point(|frame| frame.time <= time);
        let Some(before) = after.checked_sub(1) else {
            return self.frames[0].pose;
        };
        if after == self.frames.len() {
            return self.frames[before].pose;
        }
        let pair = [&self.frames[before], &self.frames[after]];
        let share = (time - pair[0].time) / (pair[1].time - pair[0].time);
        match self.rates_of(before) {
            Some(rates) => cubic::pose(pair, rates, share),
            None => linear::pose(pair, share),
        }
    }

    fn rates_of(&self, before: usize) -> Option<[&cubic::Rate; 2]> {
        Some([self.rates.get(before)?, self.rates.get(before + 1)?])
    }

    pub(super) fn within(mut self, parent: &Isometry3<f64>) -> Self {
        let interpolation = self.interpolation();
        for frame in &mut self.frames {
            frame.pose = parent * frame.pose;
        }
        self.with_interpolation(interpolation)
    }

    pub(super) fn bounds(&self, local: &BoundingBox, [start, end]: [f64; 2]) -> BoundingBox {
        let ends = [start, end].map(|time| local.transformed(&self.pose_or_end(time)));
        let mut all = ends[0].union(&ends[1]);
        let reach = local.reach();
        for (number, pair) in self.frames.windows(2).enumerate() {
            if pair[0].time >= end || pair[1].time <= start {
                continue;
            }
            let pair = [&pair[0], &pair[1]];
            all = all.union(&match self.rates_of(number) {
                Some(rates) => cubic::bounds(pair, rates, reach),
                None => linear::bounds(pair, local, reach, &all, [start, end]),
            });
        }
        all
    }
}

fn check(frames: &[KeyFrame]) -> Result<(), TrajectoryError> {
    if frames.is_empty() {
        return Err(TrajectoryError::Empty);
    }
    for (number, frame) in frames.iter().enumerate() {
        let pose = frame.pose.to_homogeneous();
        if !pose.iter().all(|entry| entry.is_finite()) || !frame.time.is_finite() {
            return Err(TrajectoryError::NotFinite {
                frame: number,
                time: frame.time,
            });
        }
    }
    match (1..frames.len()).find(|i| frames[*i].time <= frames[*i - 1].time) {
        Some(i) => Err(TrajectoryError::NotAscending {
            frame: i,
            time: frames[i].time,
            before: frames[i - 1].time,
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    fn frame(time: f64, x: f64) -> KeyFrame {
        KeyFrame {
            time,
            pose: Isometry3::translation(x, 0.0, 0.0),
        }
    }

    #[test]
    fn key_frames_that_cannot_be_are_refused_by_number() {
        let error = |frames| KeyFrameTrajectory::new(frames).expect_err("refused");
        assert_eq!(error(vec![]), TrajectoryError::Empty);
        for wrong in [
            [frame(0.0, 0.0), frame(0.0, 1.0)],
            [frame(1.0, 0.0), frame(0.5, 1.0)],
            [frame(0.0, 0.0), frame(f64::NAN, 1.0)],
        ] {
            assert_eq!(error(wrong.into()).frame(), Some(1));
        }
        assert_eq!(error(vec![frame(0.0, f64::INFINITY)]).frame(), Some(0));
    }

    #[test]
    fn a_run_longer_than_the_trajectory_is_refused() {
        let trajectory =
            KeyFrameTrajectory::new(vec![frame(0.0, 0.0), frame(1.0, 1.0)]).expect("fine");
        assert!(trajectory.check_span(0.0, 1.0).is_ok());
        assert!(trajectory.check_span(-1e-7, 1.0 + 1e-7).is_ok());
        for [from, to] in [[0.0, 1.1], [0.0, 1.0 + 1e-5], [-1e-5, 1.0]] {
            assert!(trajectory.check_span(from, to).is_err());
        }
    }

    #[test]
    fn it_is_constant_outside_its_key_frames() {
        let trajectory =
            KeyFrameTrajectory::new(vec![frame(1.0, 0.5), frame(2.0, 1.0)]).expect("fine");
        assert_eq!(trajectory.pose_or_end(-3.0), frame(0.0, 0.5).pose);
        assert_eq!(trajectory.pose_or_end(9.0), frame(0.0, 1.0).pose);
        assert!(trajectory.pose(0.9).is_none() && trajectory.pose(2.0).is_some());
    }

    /// Between opposite orientations slerp has no unique arc.
    #[test]
    fn half_turns_do_not_panic() {
        let turned = |time, angle| KeyFrame {
            time,
            pose: Isometry3::rotation(Vector3::x() * angle),
        };
        let half = std::f64::consts::PI;
        let trajectory =
            KeyFrameTrajectory::new(vec![turned(0.0, 0.0), turned(1.0, half)]).expect("fine");
        assert!(trajectory.pose(0.5).is_some());
    }

    /// Constant rotation about one axis is reproduced, and velocities are continuous at key frames
    /// (linear: they jump by 3 m/s here). Measured: 1e-15 rad, 5e-6.
    #[test]
    fn cubic_motion_is_smooth_and_exact_for_a_steady_turn() {
        // A turn at a constant rate with accelerated positions.
        let frames: Vec<KeyFrame> = [0.0, 0.7, 1.0, 2.2, 2.5]
            .map(|time: f64| KeyFrame {
                time,
                pose: Isometry3::new(
                    Vector3::new(time.sin(), time.powi(3), 0.0),
                    Vector3::new(0.3, -0.2, 1.0) * time,
                ),
            })
            .into();
        let cubic =
            KeyFrameTrajectory::interpolated(frames.clone(), Interpolation::Cubic).expect("fine");
        // The turn is exact.
        let turned =
            cubic.pose_or_end(1.6).rotation.scaled_axis() - Vector3::new(0.3, -0.2, 1.0) * 1.6;
        assert!(turned.norm() < 1e-12, "{turned}");
        // Velocities and positions at key frames are continuous.
        let speed = |time: f64| {
            let [a, b] =
                [time - 5e-7, time + 5e-7].map(|t| cubic.pose_or_end(t).translation.vector);
            (b - a) * 1e6
        };
        for frame in &frames[1..4] {
            let jump = speed(frame.time + 1e-6) - speed(frame.time - 1e-6);
            assert!(jump.norm() < 1e-4, "{jump}");
            assert!(
                (cubic.pose_or_end(frame.time).translation.vector - frame.pose.translation.vector)
                    .norm()
                    < 1e-12
            );
        }
    }
}

//! Where a moving object is, and when.

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use thiserror::Error;

/// A pose at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyFrame {
    /// When, s from the scene's epoch.
    pub time: f64,
    /// Where the object stands then.
    pub world_from_object: Isometry3<f64>,
}

/// An object's pose over time: key frames, between which the position moves evenly on a straight
/// line and the attitude turns evenly about one axis (spherical interpolation). Before the first
/// and after the last key frame the object stands still.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    frames: Vec<KeyFrame>,
}

/// Why key frames make no motion.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MotionError {
    /// There is no key frame.
    #[error("the motion has no key frame")]
    Empty,
    /// A key frame is not later than the one before it.
    #[error("key frame {frame} at {time} s is not later than the one before it, at {before} s")]
    NotLater {
        /// The key frame's number.
        frame: usize,
        /// Its time, s.
        time: f64,
        /// The time of the one before, s.
        before: f64,
    },
    /// A key frame's time or pose is not a finite number.
    #[error("key frame {frame} has a time or a pose that is not finite")]
    NotFinite {
        /// The key frame's number.
        frame: usize,
    },
}

impl Motion {
    /// The motion through these key frames.
    ///
    /// # Errors
    /// Where there is none, one is not finite, or one is not later than the one before.
    ///
    /// # Examples
    /// ```
    /// use etendue_scene::{KeyFrame, Motion};
    /// use nalgebra::Isometry3;
    ///
    /// let frame = |time, x| KeyFrame {
    ///     time,
    ///     world_from_object: Isometry3::translation(x, 0.0, 0.0),
    /// };
    /// let motion = Motion::new(vec![frame(0.0, 0.0), frame(2.0, 3.0)])?;
    /// assert_eq!(motion.at(1.0).translation.x, 1.5);
    /// # Ok::<(), etendue_scene::MotionError>(())
    /// ```
    pub fn new(frames: Vec<KeyFrame>) -> Result<Self, MotionError> {
        if frames.is_empty() {
            return Err(MotionError::Empty);
        }
        for (frame, key) in frames.iter().enumerate() {
            let pose = key.world_from_object.to_homogeneous();
            if !key.time.is_finite() || !pose.iter().all(|entry| entry.is_finite()) {
                return Err(MotionError::NotFinite { frame });
            }
        }
        for (frame, pair) in (1..).zip(frames.windows(2)) {
            let [before, time] = [pair[0].time, pair[1].time];
            if time <= before {
                return Err(MotionError::NotLater {
                    frame,
                    time,
                    before,
                });
            }
        }
        Ok(Self { frames })
    }

    /// The key frames, in the order of time.
    pub fn frames(&self) -> &[KeyFrame] {
        &self.frames
    }

    /// The pose (`world_from_object`) at a time, s.
    pub fn at(&self, time: f64) -> Isometry3<f64> {
        let next = self.frames.partition_point(|frame| frame.time <= time);
        let Some(last) = next.checked_sub(1) else {
            return self.frames[0].world_from_object;
        };
        let [before, after] = [last, next.min(self.frames.len() - 1)].map(|i| &self.frames[i]);
        if last + 1 == self.frames.len() {
            return before.world_from_object;
        }
        let share = (time - before.time) / (after.time - before.time);
        let [from, to] = [before, after].map(|frame| &frame.world_from_object);
        Isometry3::from_parts(
            from.translation
                .vector
                .lerp(&to.translation.vector, share)
                .into(),
            slerp(&from.rotation, &to.rotation, share),
        )
    }

    /// The box around a ball's box (middle, half size in the object's frame) over a span of time.
    ///
    /// Between key frames a point at radius $r$ leaves the straight line between its two places by
    /// at most $r (1 - \cos(\varphi / 2))$, with $\varphi$ the angle turned.
    pub(crate) fn bounds(&self, local: &Bounds, [start, end]: [f64; 2]) -> Bounds {
        let mut all = local
            .moved(&self.at(start))
            .and(&local.moved(&self.at(end)));
        let inside = |frame: &&KeyFrame| frame.time > start && frame.time < end;
        for frame in self.frames.iter().filter(inside) {
            all = all.and(&local.moved(&frame.world_from_object));
        }
        let reach = local.low.coords.abs().sup(&local.high.coords.abs()).norm();
        let bulge = reach * self.most_turn([start, end]);
        all.grown(bulge)
    }

    /// The greatest $1 - \cos(\varphi / 2)$ of the turns that fall in a span of time.
    fn most_turn(&self, [start, end]: [f64; 2]) -> f64 {
        self.frames
            .windows(2)
            .filter(|pair| pair[0].time < end && pair[1].time > start)
            .map(|pair| {
                let [from, to] = [0, 1].map(|i| pair[i].world_from_object.rotation);
                1.0 - (0.5 * from.angle_to(&to)).cos()
            })
            .fold(0.0, f64::max)
    }
}

/// The shorter way round; opposite attitudes (where it is not defined) turn about any axis.
fn slerp(from: &UnitQuaternion<f64>, to: &UnitQuaternion<f64>, share: f64) -> UnitQuaternion<f64> {
    from.try_slerp(to, share, 1e-12).unwrap_or(*from)
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub low: Point3<f64>,
    pub high: Point3<f64>,
}

impl Bounds {
    /// The box around this one in another frame.
    pub fn moved(&self, pose: &Isometry3<f64>) -> Self {
        let middle = pose * nalgebra::center(&self.low, &self.high);
        let turn = pose.rotation.to_rotation_matrix().matrix().abs();
        let half = turn * ((self.high - self.low) * 0.5);
        Self {
            low: middle - half,
            high: middle + half,
        }
    }

    /// The box around both.
    pub fn and(&self, other: &Self) -> Self {
        Self {
            low: self.low.inf(&other.low),
            high: self.high.sup(&other.high),
        }
    }

    /// Wider by so much on every side.
    pub fn grown(&self, by: f64) -> Self {
        let by = Vector3::repeat(by);
        Self {
            low: self.low - by,
            high: self.high + by,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turning() -> Motion {
        let frame = |time, x, yaw| KeyFrame {
            time,
            world_from_object: Isometry3::new(Vector3::new(x, 0.0, 0.0), Vector3::z() * yaw),
        };
        Motion::new(vec![
            frame(1.0, 0.0, 0.0),
            frame(2.0, 1.0, 2.0),
            frame(4.0, 0.0, 1.0),
        ])
        .expect("good frames")
    }

    #[test]
    fn an_object_stands_still_outside_its_key_frames() {
        let motion = turning();
        assert_eq!(motion.at(-3.0), motion.at(1.0));
        assert_eq!(motion.at(4.0), motion.at(9.0));
        assert!((motion.at(3.0).rotation.angle() - 1.5).abs() < 1e-12);
    }

    #[test]
    fn bounds_hold_the_object_all_the_time() {
        let motion = turning();
        let local = Bounds {
            low: Point3::new(-1.0, 0.5, 0.0),
            high: Point3::new(2.0, 1.0, 3.0),
        };
        let all = motion.bounds(&local, [0.5, 3.5]);
        for step in 0..=300 {
            let now = local_corner(&motion.at(0.5 + 0.01 * f64::from(step)), &local);
            assert!((0..3).all(|a| all.low[a] <= now[a] && now[a] <= all.high[a]));
        }
    }

    fn local_corner(pose: &Isometry3<f64>, local: &Bounds) -> Point3<f64> {
        pose * local.high
    }

    #[test]
    fn key_frames_must_be_in_the_order_of_time() {
        let still = |time| KeyFrame {
            time,
            world_from_object: Isometry3::identity(),
        };
        assert_eq!(Motion::new(vec![]), Err(MotionError::Empty));
        let exchanged = Motion::new(vec![still(2.0), still(1.0)]);
        assert!(matches!(
            exchanged,
            Err(MotionError::NotLater { frame: 1, .. })
        ));
        let nan = Motion::new(vec![still(f64::NAN)]);
        assert_eq!(nan, Err(MotionError::NotFinite { frame: 0 }));
    }
}

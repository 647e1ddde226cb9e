//! Poses that a recording needs within a sweep.

use nalgebra::Isometry3;

/// Time between two poses that are compared with the interpolation, s.
const STEP: f64 = 1e-3;

/// Longest time between two recorded poses, s. Readers do not interpolate over long gaps.
const LONGEST: f64 = 0.5;

/// Largest error of an interpolated position, m.
const POSITION_ERROR: f64 = 1e-4;

/// Largest error of an interpolated orientation, rad.
const ORIENTATION_ERROR: f64 = 1e-5;

/// A time (s) and the pose of the sensor in the world at that time.
type TimedPose = (f64, Isometry3<f64>);

/// Poses between two times (s), without those at the two times: linear interpolation between them deviates from the
/// motion by at most 0.1 mm and 0.01 mrad, in samples every millisecond.
pub(super) fn poses_between(
    [from, to]: [f64; 2],
    world_from_sensor: &dyn Fn(f64) -> Isometry3<f64>,
) -> Vec<TimedPose> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number of at least one"
    )]
    let count = ((to - from) / STEP).ceil().max(1.0) as usize;
    let step = (to - from) / count as f64;
    let times = (0..=count).map(|index| from + step * index as f64);
    let samples: Vec<TimedPose> = times.map(|time| (time, world_from_sensor(time))).collect();
    let mut poses = Vec::new();
    add_poses(&samples, &mut poses);
    poses
}

/// Appends the inner poses of samples, which are halved until the interpolation between the first and the last holds.
fn add_poses(samples: &[TimedPose], poses: &mut Vec<TimedPose>) {
    let [first, inner @ .., last] = samples else {
        return;
    };
    let is_short = last.0 - first.0 <= LONGEST;
    if inner.is_empty() || is_short && inner.iter().all(|one| is_between(first, last, one)) {
        return;
    }
    let middle = samples.len() / 2;
    add_poses(&samples[..=middle], poses);
    poses.push(samples[middle]);
    add_poses(&samples[middle..], poses);
}

/// Whether the interpolation between two poses gives a third one.
fn is_between(first: &TimedPose, last: &TimedPose, (time, pose): &TimedPose) -> bool {
    let share = (time - first.0) / (last.0 - first.0);
    let Some(interpolated) = first.1.try_lerp_slerp(&last.1, share, 1e-9) else {
        return false;
    };
    let shift = interpolated.translation.vector - pose.translation.vector;
    shift.norm() <= POSITION_ERROR
        && interpolated.rotation.angle_to(&pose.rotation) <= ORIENTATION_ERROR
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;
    use std::f64::consts::TAU;

    /// A sensor that shakes by 50 mm at 13 Hz and turns by 5 degrees at 7 Hz.
    fn shaking(time: f64) -> Isometry3<f64> {
        let x = 0.05 * (TAU * 13.0 * time).sin();
        let yaw = 5_f64.to_radians() * (TAU * 7.0 * time).sin();
        Isometry3::new(Vector3::new(x, 0.0, 0.0), Vector3::new(0.0, 0.0, yaw))
    }

    #[test]
    fn interpolated_poses_follow_a_shaking_sensor() {
        let mut poses = vec![(0.0, shaking(0.0))];
        poses.extend(poses_between([0.0, 0.1], &shaking));
        poses.push((0.1, shaking(0.1)));
        assert!(poses.is_sorted_by(|a, b| a.0 < b.0));
        for pair in poses.windows(2) {
            for part in 0..=20 {
                let share = f64::from(part) / 20.0;
                let truth = shaking(pair[0].0 + share * (pair[1].0 - pair[0].0));
                let pose = pair[0].1.lerp_slerp(&pair[1].1, share);
                let shift = pose.translation.vector - truth.translation.vector;
                // Measured: 0.10 mm and 0.010 mrad between the samples, 43 mm and 120 mrad without inner poses
                assert!(shift.norm() < 1.1e-4, "{}", shift.norm());
                let turn = pose.rotation.angle_to(&truth.rotation);
                assert!(turn < 2.5e-5, "{turn}");
            }
        }
    }

    #[test]
    fn constant_velocity_needs_no_inner_poses() {
        let at = |time: f64| {
            let turn = Vector3::new(0.0, 0.0, time);
            Isometry3::new(Vector3::new(10.0 * time, 0.0, 0.0), turn)
        };
        assert!(poses_between([0.0, 0.1], &at).is_empty());
        assert!(poses_between([0.0, 1e-6], &at).is_empty());
        // A slow sweep has poses at most half a second apart
        let slow: Vec<f64> = poses_between([0.0, 2.0], &at)
            .iter()
            .map(|one| one.0)
            .collect();
        assert_eq!(slow, [0.5, 1.0, 1.5]);
    }
}

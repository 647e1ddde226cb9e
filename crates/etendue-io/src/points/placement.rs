//! Placement of the points of a moving sensor in one frame.

use super::RecordedSweep;
use nalgebra::Isometry3;

/// Rounding error of the time of a point, s.
const TIME_ROUNDING: f64 = 1e-6;

/// Placement of the sweeps of a recording in one reference frame.
///
/// Each point is placed with the pose of the sensor at its time. A sweep without times, and a point in a gap of the
/// transforms, is placed with the pose of its sweep. Before the first and after the last transform the pose is constant.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// Number of points so far.
    points: usize,
    /// Number of points outside of the poses of the recording, and the times of these poses, s.
    outside: usize,
    span: Option<[f64; 2]>,
}

impl Placement {
    /// Moves the points of a sweep from the frame of the sensor to a reference frame, which is given by its pose in the root of
    /// the poses ([`RecordedSweep::root_from_sensor`]). Returns `false` for a sweep without a pose, which does not change.
    pub fn place(
        &mut self,
        sweep: &mut RecordedSweep,
        reference_from_root: &Isometry3<f64>,
    ) -> bool {
        let Some(pose) = sweep.root_from_sensor() else {
            return false;
        };
        sweep.world_from_sensor = None;
        sweep.odometry = None;
        let motion = sweep.motion.take();
        self.points += sweep.table.points;

        // A sweep without times has one pose
        let timed = motion.zip(sweep.stamp).and_then(|(motion, stamp)| {
            let times = sweep.table.times_since(stamp)?;
            let absolute = times.into_iter().map(|time| stamp + time);
            Some((motion, absolute.collect::<Vec<f64>>()))
        });
        let Some((motion, times)) = timed else {
            sweep.table.transform(&(reference_from_root * pose));
            return true;
        };

        // Otherwise every point has the pose at its time
        let [from, to] = motion.span();
        let known = from - TIME_ROUNDING..=to + TIME_ROUNDING;
        self.outside += times.iter().filter(|time| !known.contains(time)).count();
        self.span = Some([from, to]);
        sweep.table.transform_each(|point| {
            reference_from_root * motion.world_from_sensor(times[point]).unwrap_or(pose)
        });
        true
    }

    /// A warning if points were measured outside of the poses of the recording.
    pub fn warning(&self) -> Option<String> {
        let [from, to] = self.span.filter(|_| self.outside > 0)?;
        Some(format!(
            "{} of {} points were measured outside of the poses of the recording \
             ({from:.3} s to {to:.3} s): they are placed with the nearest pose",
            self.outside, self.points
        ))
    }
}

//! Placement of the points of a moving sensor in one frame.

use crate::table::PointSweeps;
use nalgebra::Isometry3;

/// Rounding error of the time of a point, s.
const TIME_ROUNDING: f64 = 1e-6;

impl PointSweeps {
    /// Moves the points from the frames of the sensor to one reference frame. Each point is placed
    /// with the pose of the sensor at its time. A sweep without times, and a point in a gap of the
    /// transforms, is placed with the pose of its sweep. Before the first and after the last
    /// transform the pose is constant; a warning is returned if there are such points. Sweeps
    /// without poses do not change.
    pub fn place(&mut self, reference_from_world: &Isometry3<f64>) -> Option<String> {
        let poses = self.world_from_sensor.take()?;
        let motion = self.motion.take();
        let mut points = 0;
        let mut outside = 0;
        for (number, (sweep, pose)) in self.sweeps.iter_mut().zip(&poses).enumerate() {
            points += sweep.points;

            // A sweep without times has one pose
            let stamp = self.stamps.as_ref().map(|stamps| stamps[number]);
            let timed = motion.as_ref().zip(stamp).and_then(|(motion, stamp)| {
                let times = sweep.times_since(stamp)?;
                let absolute = times.into_iter().map(|time| stamp + time);
                Some((motion, absolute.collect::<Vec<f64>>()))
            });
            let Some((motion, times)) = timed else {
                sweep.transform(&(reference_from_world * pose));
                continue;
            };

            // Otherwise every point has the pose at its time
            let [from, to] = motion.span();
            let known = from - TIME_ROUNDING..=to + TIME_ROUNDING;
            outside += times.iter().filter(|time| !known.contains(time)).count();
            sweep.transform_each(|point| {
                reference_from_world * motion.world_from_sensor(times[point]).unwrap_or(*pose)
            });
        }
        let [from, to] = motion?.span();
        (outside > 0).then(|| {
            format!(
                "{outside} of {points} points were measured outside of the poses of the recording \
                 ({from:.3} s to {to:.3} s): they are placed with the nearest pose"
            )
        })
    }
}

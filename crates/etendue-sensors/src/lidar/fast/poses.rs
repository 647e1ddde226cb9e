//! Poses of the sensor at the shots of a batch.

use crate::lidar::batch_shots::BatchShots;
use crate::lidar::sensor_poses::SensorPoses;
use crate::lidar::shot::Shot;
use crate::lidar::sweep::shot_number;
use nalgebra::Isometry3;

/// Poses of the sensor at the shots of a batch; consecutive equal poses are stored once.
#[derive(Default)]
pub(in crate::lidar) struct Poses {
    /// The different poses, in the order of the shots.
    different: Vec<Isometry3<f64>>,
    /// Index of each shot's pose; empty if all shots have the same pose.
    numbers: Vec<u32>,
}

impl Poses {
    /// Sets the common pose of all shots. Returns false, leaving no poses, if the poses differ.
    pub fn set_constant(&mut self, shots: BatchShots, poses: &dyn SensorPoses<f64>) -> bool {
        self.different.clear();
        self.numbers.clear();
        let only = poses.constant(shots);
        self.different.extend(only);
        only.is_some()
    }

    /// Sets the pose of each shot at its time.
    pub fn set(&mut self, shots: &[Shot], poses: &dyn SensorPoses<f64>) {
        if self.set_constant(BatchShots::Listed(shots), poses) {
            return;
        }
        let mut last = f64::NAN;
        let different = &mut self.different;
        self.numbers.extend(shots.iter().map(|shot| {
            if last != shot.time {
                last = shot.time;
                let pose = poses.at(shot.time);
                if different.last() != Some(&pose) {
                    different.push(pose);
                }
            }
            shot_number(different.len() - 1)
        }));
    }

    /// The pose at a shot.
    #[inline]
    pub fn of(&self, shot: usize) -> &Isometry3<f64> {
        let number = self.numbers.get(shot).map_or(0, |number| *number as usize);
        &self.different[number]
    }

    /// The common pose, if the sensor is static.
    pub fn only(&self) -> Option<&Isometry3<f64>> {
        match &self.different[..] {
            [only] => Some(only),
            _ => None,
        }
    }
}

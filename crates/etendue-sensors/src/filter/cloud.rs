//! Point clouds: conversion, motion compensation, cropping and downsampling.

use super::user::{FilterContext, FilterRun};
use crate::capture::{Cloud, CloudPoint, Data, seconds};
use crate::lidar::Return;
use std::collections::BTreeMap;

/// Conversion of a sweep to a point cloud.
pub(super) struct ToCloud;

impl FilterRun for ToCloud {
    fn apply(&mut self, data: Data, _context: &FilterContext) -> Data {
        let points = match data {
            Data::Points(sweep) => {
                let cloud_point = |point: &Return| {
                    let shot = sweep.shot_of(point);
                    CloudPoint {
                        position: point.position,
                        intensity: point.intensity,
                        time: shot.time,
                        ring: sweep.rings[usize::from(shot.channel)],
                    }
                };
                sweep.points.iter().map(cloud_point).collect()
            }
            other => return other,
        };
        Data::Cloud(Cloud { points })
    }
}

/// Motion compensation to one instant.
pub(super) struct Compensate {
    /// From 0 (the start of the capture) to 1 (its end).
    pub at: f64,
}

impl FilterRun for Compensate {
    fn apply(&mut self, data: Data, context: &FilterContext) -> Data {
        let Data::Cloud(mut cloud) = data else {
            return data;
        };
        let [start, end] = [context.capture.start, context.capture.end].map(seconds);
        let instant = start + (end - start) * self.at;
        let sensor_from_world = context.world_from_sensor(instant).inverse();
        for point in &mut cloud.points {
            let world_from_sensor = context.world_from_sensor(point.time);
            point.position = sensor_from_world * (world_from_sensor * point.position);
            point.time = instant;
        }
        Data::Cloud(cloud)
    }
}

/// Crop by distance.
pub(super) struct Distance {
    /// m.
    pub limits: [f64; 2],
}

impl FilterRun for Distance {
    fn apply(&mut self, data: Data, _context: &FilterContext) -> Data {
        let Data::Cloud(mut cloud) = data else {
            return data;
        };
        let [near, far] = self.limits;
        let keep = |point: &CloudPoint| (near..=far).contains(&point.position.coords.norm());
        cloud.points.retain(keep);
        Data::Cloud(cloud)
    }
}

/// Voxel grid downsampling: the mean of positions, intensities and times, the ring of the first point.
pub(super) struct Voxels {
    /// Edge of a voxel, m.
    pub size: f64,
}

impl FilterRun for Voxels {
    fn apply(&mut self, data: Data, _context: &FilterContext) -> Data {
        let Data::Cloud(cloud) = data else {
            return data;
        };
        let mut voxels = BTreeMap::<[i64; 3], (f64, CloudPoint)>::new();
        for point in cloud.points {
            let voxel = [0, 1, 2].map(|axis| floor(point.position[axis] / self.size));
            let (count, sum) = voxels.entry(voxel).or_insert((0.0, point));
            if *count > 0.0 {
                sum.position += point.position.coords;
                sum.intensity += point.intensity;
                sum.time += point.time;
            }
            *count += 1.0;
        }
        let mean = |(count, sum): (f64, CloudPoint)| CloudPoint {
            position: sum.position / count,
            intensity: sum.intensity / count,
            time: sum.time / count,
            ring: sum.ring,
        };
        Data::Cloud(Cloud {
            points: voxels.into_values().map(mean).collect(),
        })
    }
}

/// The greatest integer that is not above a number.
#[expect(clippy::cast_possible_truncation, reason = "saturating")]
fn floor(number: f64) -> i64 {
    number.floor() as i64
}

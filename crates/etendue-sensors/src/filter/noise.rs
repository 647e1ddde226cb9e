//! Added noise and drop-out of lidars.

use super::user::{FilterContext, FilterRun};
use crate::capture::Data;
use crate::lidar::{Outcome, Return, Sweep};
use etendue_physics::{Purpose, Stream};
use nalgebra::Vector3;

/// Standard deviations of added noise of a lidar.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LidarNoise {
    /// Standard deviation of ranges, m.
    pub range: f64,
    /// Standard deviation of azimuth and elevation, rad.
    pub angle: f64,
    /// Standard deviation of intensities, relative.
    pub intensity: f64,
}

/// Address of the random streams of a filter.
#[derive(Clone, Copy)]
pub(super) struct StreamAddress {
    pub seed: u64,
    pub sensor: u32,
    pub place: u32,
}

impl StreamAddress {
    /// The stream of one measurement of a capture. The index of the filter offsets the seed, so that
    /// filters of one graph are independent.
    fn stream(self, capture: u32, measurement: u32) -> Stream {
        let seed = self.seed ^ (u64::from(self.place + 1) << 48);
        Stream::new(seed, self.sensor, capture, measurement, Purpose::Filter)
    }
}

/// Noise on ranges, directions and intensities.
pub(super) struct AddLidarNoise {
    pub sd: LidarNoise,
    pub source: StreamAddress,
}

impl AddLidarNoise {
    /// Adds noise to one return.
    fn add_noise(&self, sweep: &Sweep, point: &mut Return, stream: &mut Stream) {
        let [range, azimuth] = stream.normal_pair();
        let [elevation, intensity] = stream.normal_pair();
        let shot = sweep.shot_of(point);
        point.range += self.sd.range * range;
        point.intensity *= 1.0 + self.sd.intensity * intensity;
        let azimuth = shot.azimuth + self.sd.angle * azimuth;
        let elevation = shot.elevation + self.sd.angle * elevation;
        let distance = (point.position - shot.origin).norm();
        let direction = Vector3::new(
            elevation.cos() * azimuth.cos(),
            elevation.cos() * azimuth.sin(),
            elevation.sin(),
        );
        point.position = shot.origin + direction * (distance + self.sd.range * range);
    }
}

impl FilterRun for AddLidarNoise {
    fn apply(&mut self, data: Data, context: &FilterContext) -> Data {
        let stream = |number| self.source.stream(context.capture.number, number);
        match data {
            Data::Points(mut sweep) => {
                let mut points = std::mem::take(&mut sweep.points);
                for (number, point) in (0..).zip(&mut points) {
                    self.add_noise(&sweep, point, &mut stream(number));
                }
                sweep.points = points;
                Data::Points(sweep)
            }
            other => other,
        }
    }
}

/// Random removal of returns.
pub(super) struct DropOut {
    pub probability: f64,
    pub source: StreamAddress,
}

impl FilterRun for DropOut {
    fn apply(&mut self, data: Data, context: &FilterContext) -> Data {
        let lost = |number| {
            let mut stream = self.source.stream(context.capture.number, number);
            stream.uniform() < self.probability
        };
        match data {
            Data::Points(sweep) => Data::Points(without(sweep, lost)),
            other => other,
        }
    }
}

/// The sweep without the returns of the shots that are lost.
fn without(mut sweep: Sweep, lost: impl Fn(u32) -> bool) -> Sweep {
    let points = std::mem::take(&mut sweep.points);
    for (number, outcome) in (0..).zip(&mut sweep.outcomes) {
        let Outcome::Points { first, count } = *outcome else {
            continue;
        };
        if lost(number) {
            *outcome = Outcome::NoReturn;
            continue;
        }
        let start = first as usize;
        let kept = &points[start..start + usize::from(count)];
        *outcome = Outcome::Points {
            first: u32::try_from(sweep.points.len()).unwrap_or(u32::MAX),
            count,
        };
        sweep.points.extend_from_slice(kept);
    }
    sweep
}

//! Signature of the scans of a sensor.

use etendue_physics::statistics::nearest_quantile;
use nalgebra::Point3;

/// Signature of the scans of a model: identifies scans of another sensor, for which the model is not
/// valid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanSignature {
    /// 1st and 99th percentile of the elevations of the beams, rad.
    pub elevations: [f64; 2],
    /// Median number of finite points per scan.
    pub points: usize,
}

/// Greatest difference of the elevations of one sensor, rad.
const ELEVATION: f64 = 0.07;
/// Greatest ratio of the numbers of points of one sensor.
const POINTS: f64 = 3.0;

impl ScanSignature {
    /// Signature of scans in the lidar frame, m.
    pub fn of<'a>(scans: impl Iterator<Item = &'a [Point3<f64>]>) -> Self {
        let mut counts = Vec::new();
        let mut elevations = Vec::new();
        for scan in scans {
            let is_return =
                |p: &&Point3<f64>| p.iter().all(|x| x.is_finite()) && p.coords.norm() > 0.0;
            let finite = scan.iter().filter(is_return);
            let before = elevations.len();
            elevations.extend(finite.map(|p| p.z.atan2(p.x.hypot(p.y))));
            counts.push(elevations.len() - before);
        }
        elevations.sort_by(f64::total_cmp);
        counts.sort_unstable();
        let quantile = |probability| nearest_quantile(&elevations, probability).unwrap_or(0.0);
        Self {
            elevations: [quantile(0.01), quantile(0.99)],
            points: nearest_quantile(&counts, 0.5).unwrap_or(0),
        }
    }

    /// Description of the difference of another signature, if it belongs to another sensor.
    pub fn differs(&self, other: &Self) -> Option<String> {
        let [ours, theirs] = [self, other].map(|s| s.elevations.map(f64::to_degrees));
        let limit = ELEVATION.to_degrees();
        if ours.iter().zip(&theirs).any(|(a, b)| (a - b).abs() > limit) {
            return Some(format!(
                "its elevations are from {:.0} to {:.0} degrees, those of the training scans from \
                 {:.0} to {:.0} degrees",
                theirs[0], theirs[1], ours[0], ours[1]
            ));
        }
        let ratio = (other.points.max(1) as f64) / (self.points.max(1) as f64);
        (!(1.0 / POINTS..=POINTS).contains(&ratio)).then(|| {
            format!(
                "it has {} points, the training scans about {}",
                other.points, self.points
            )
        })
    }
}

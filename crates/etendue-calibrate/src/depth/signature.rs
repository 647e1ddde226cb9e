//! What tells one sensor's scans from another's.

use etendue_physics::statistics::nearest_quantile;
use nalgebra::Point3;

/// What the scans that a model learnt from look like: a model is of one sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanSignature {
    /// 1st and 99th percentile of the beams' elevations, rad.
    pub elevations: [f64; 2],
    /// Median number of finite points of a scan.
    pub points: usize,
}

/// Elevations that differ by more than this say another sensor, rad.
const ELEVATION: f64 = 0.07;
/// So do numbers of points whose ratio is greater.
const POINTS: f64 = 3.0;

impl ScanSignature {
    /// Of scans in the lidar's frame, m.
    pub fn of<'a>(scans: impl Iterator<Item = &'a [Point3<f64>]>) -> Self {
        let mut counts = Vec::new();
        let mut elevations = Vec::new();
        for scan in scans {
            let here = |p: &Point3<f64>| p.iter().all(|x| x.is_finite()) && p.coords.norm() > 0.0;
            let finite = scan.iter().filter(|p| here(p));
            let before = elevations.len();
            elevations.extend(finite.map(|p| p.z.atan2(p.x.hypot(p.y))));
            counts.push(elevations.len() - before);
        }
        elevations.sort_by(f64::total_cmp);
        counts.sort_unstable();
        let quantile = |share| nearest_quantile(&elevations, share).unwrap_or(0.0);
        Self {
            elevations: [quantile(0.01), quantile(0.99)],
            points: nearest_quantile(&counts, 0.5).unwrap_or(0),
        }
    }

    /// In words, what of a scan's signature cannot come from the sensor with this one.
    pub fn differs(&self, other: &Self) -> Option<String> {
        let [ours, theirs] = [self, other].map(|s| s.elevations.map(f64::to_degrees));
        let limit = ELEVATION.to_degrees();
        if ours.iter().zip(&theirs).any(|(a, b)| (a - b).abs() > limit) {
            return Some(format!(
                "its beams rise from {:.0} to {:.0} degrees, those that the model learnt from \
                 from {:.0} to {:.0}",
                theirs[0], theirs[1], ours[0], ours[1]
            ));
        }
        let ratio = (other.points.max(1) as f64) / (self.points.max(1) as f64);
        (!(1.0 / POINTS..=POINTS).contains(&ratio)).then(|| {
            format!(
                "it has {} points, those that the model learnt from about {}",
                other.points, self.points
            )
        })
    }
}

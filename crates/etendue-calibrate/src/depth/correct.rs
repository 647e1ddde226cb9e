//! Correction of scans by a depth model.

use super::model::DepthModel;
use etendue_estimate::geometry::{CellOptions, map_cell_planes};
use nalgebra::Point3;

/// A scan with corrected depths.
#[derive(Clone, Debug, PartialEq)]
pub struct CorrectedScan {
    /// All points of the scan in their order, m.
    pub points: Vec<Point3<f64>>,
    /// Incidence of each point, rad; `None` for uncorrected points.
    pub incidences: Vec<Option<f64>>,
}

impl CorrectedScan {
    /// Number of uncorrected points: at edges, isolated or not finite.
    pub fn uncorrected(&self) -> usize {
        self.incidences.iter().filter(|i| i.is_none()).count()
    }

    /// Root mean square displacement of the corrected points, m; zero without any.
    pub fn rms_change(&self, before: &[Point3<f64>]) -> f64 {
        let both = self.points.iter().zip(before).zip(&self.incidences);
        let changed = both.filter(|(_, i)| i.is_some());
        let (sum, count) = changed.fold((0.0, 0_u32), |(sum, count), ((a, b), _)| {
            (sum + (a - b).norm_squared(), count + 1)
        });
        (sum / f64::from(count.max(1))).sqrt()
    }
}

/// Corrects a scan (lidar frame, m, beams from the origin) by a model: each point moves along its beam
/// from $d$ to $\hat d = d - \epsilon(d, \gamma)$, with the incidence $\gamma$ on the local plane. Points
/// without a local plane are unchanged.
///
/// ```
/// use etendue_calibrate::depth::{DepthModel, PolynomialBias, correct_scan};
/// use etendue_estimate::geometry::CellOptions;
/// use nalgebra::Point3;
/// let wall: Vec<_> = (0..900)
///     .map(|i| Point3::new(1.0 + f64::from(i / 30) * 0.05, 1.0, f64::from(i % 30) * 0.05))
///     .collect();
/// let model = DepthModel::Polynomial(PolynomialBias::plain([0.01, 0.0]));
/// let corrected = correct_scan(&wall, &model, &CellOptions::default());
/// assert_eq!(corrected.uncorrected(), 0);
/// let gamma = corrected.incidences[0].unwrap();
/// let moved = (corrected.points[0] - wall[0]).norm();
/// assert!((moved - 0.01 * gamma * gamma).abs() < 1e-12);
/// ```
pub fn correct_scan(
    points: &[Point3<f64>],
    model: &DepthModel,
    cells: &CellOptions,
) -> CorrectedScan {
    let position = |i: usize| points[i].coords;
    let moved = map_cell_planes(points.len(), position, cells, |position, plane| {
        let depth = position.norm();
        let cosine = plane.normal.dot(position).abs() / depth;
        let incidence = cosine.min(1.0).acos();
        (
            Point3::from(position * (model.correct(depth, incidence) / depth)),
            incidence,
        )
    });
    let both = points.iter().zip(&moved);
    CorrectedScan {
        points: both
            .map(|(p, m)| m.map_or(*p, |(moved, _)| moved))
            .collect(),
        incidences: moved.iter().map(|m| m.map(|(_, i)| i)).collect(),
    }
}

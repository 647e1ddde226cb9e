//! A model put to use: scans corrected.

use super::DepthModel;
use etendue_estimate::geometry::{CellOptions, map_cell_planes};
use nalgebra::Point3;

/// A scan with its depths corrected.
#[derive(Clone, Debug, PartialEq)]
pub struct CorrectedScan {
    /// As many points as were given, in the same order, m.
    pub points: Vec<Point3<f64>>,
    /// Incidence of each point, rad; `None` where it is left as measured.
    pub incidences: Vec<Option<f64>>,
}

impl CorrectedScan {
    /// Points that are left as measured: at edges, alone, or no places at all.
    pub fn left(&self) -> usize {
        self.incidences.iter().filter(|i| i.is_none()).count()
    }

    /// Root mean square of the changes of the points that were changed, m; zero of none.
    pub fn rms_change(&self, before: &[Point3<f64>]) -> f64 {
        let both = self.points.iter().zip(before).zip(&self.incidences);
        let changed = both.filter(|(_, i)| i.is_some());
        let (sum, count) = changed.fold((0.0, 0_u32), |(sum, count), ((a, b), _)| {
            (sum + (a - b).norm_squared(), count + 1)
        });
        (sum / f64::from(count.max(1))).sqrt()
    }
}

/// Takes the bias of a model off a scan (lidar's frame, m, the beams from its origin): each point
/// moves along its beam from $d$ to $\hat d = d - \epsilon(d, \gamma)$, with the incidence $\gamma$
/// of the plane about it. Points without a plane stay.
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
/// assert_eq!(corrected.left(), 0);
/// let gamma = corrected.incidences[0].unwrap();
/// let moved = (corrected.points[0] - wall[0]).norm();
/// assert!((moved - 0.01 * gamma * gamma).abs() < 1e-12);
/// ```
pub fn correct_scan(
    points: &[Point3<f64>],
    model: &DepthModel,
    cells: &CellOptions,
) -> CorrectedScan {
    let place = |i: usize| points[i].coords;
    let moved = map_cell_planes(points.len(), place, cells, |place, plane| {
        let depth = place.norm();
        let cosine = plane.eigen.vectors[0].dot(place).abs() / depth;
        let incidence = cosine.min(1.0).acos();
        (
            Point3::from(place * (model.correct(depth, incidence) / depth)),
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

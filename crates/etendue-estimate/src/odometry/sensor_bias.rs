//! Effects of biases of the ranges on a trajectory.

use super::icp::IcpResult;
use super::replicates::{moved, scaled};
use nalgebra::{Matrix6, Vector3, Vector6};

/// Number of biases of unknown size: one that all ranges have, and one in proportion to the squared tangent of the angle of
/// incidence.
const ESTIMATED: usize = 2;

/// Number of independent errors of a correction of the ranges.
pub const CORRECTION_ERRORS: usize = 2;

/// Independent errors of corrected ranges, m, each with the size of one standard deviation, by depth (m) and angle of
/// incidence (rad).
pub type CorrectionErrors<'a> = dyn Fn(f64, f64) -> [f64; CORRECTION_ERRORS] + 'a;

/// Number of biases.
pub(super) const BIASES: usize = ESTIMATED + CORRECTION_ERRORS;

/// Smallest cosine of the angle of incidence: the bias is constant beyond 80 degrees.
const LEAST_COSINE: f64 = 0.17;

/// Displacements of a point of a plane along its normal by the biases of the ranges: per metre of a bias of unknown size, and by
/// a standard deviation of an error of the correction. `offset` is the vector from the lidar to the point, in the axes of the normal.
pub(super) fn displacements(
    normal: &Vector3<f64>,
    offset: &Vector3<f64>,
    correction: Option<&CorrectionErrors>,
) -> [f64; BIASES] {
    let depth = offset.norm();
    let along = normal.dot(offset) / depth;
    let cosine = along.abs().max(LEAST_COSINE);
    let of_correction = correction.map(|errors| errors(depth, cosine.min(1.0).acos()));
    let [first, second] = of_correction.unwrap_or_default();
    [
        along,
        along * (cosine.powi(-2) - 1.0),
        along * first,
        along * second,
    ]
}

/// Trajectories as biases of the ranges would change them, to first order.
///
/// A bias displaces the points of a scan, and those of the map that were measured at another angle, by different
/// distances from a plane. The poses follow in part, and errors of the map pass on to later scans; the distances that
/// remain estimate the size of a bias of unknown size by least squares over all scans. The effects of the estimated biases, and of one
/// standard deviation of each error of the correction, are terms of the covariance of a pose; the poses are not corrected for them.
pub(super) struct BiasTrajectories {
    /// Change of the pose of each scan per unit of bias (1 m, or a standard deviation): translation at the origin of the world, and
    /// rotation.
    scans: Vec<[Vector6<f64>; BIASES]>,
    /// Sums of squares and products of the least-squares estimates.
    estimates: [BiasEstimate; ESTIMATED],
}

/// Estimate of the size of a bias.
#[derive(Clone, Copy, Default)]
struct BiasEstimate {
    squares: f64,
    products: f64,
}

impl BiasEstimate {
    /// Size, m; 0 where nothing depends on it.
    fn size(&self) -> f64 {
        if self.squares > 0.0 {
            self.products / self.squares
        } else {
            0.0
        }
    }
}

impl BiasTrajectories {
    /// Trajectories without scans.
    pub fn new() -> Self {
        Self {
            scans: Vec::new(),
            estimates: [BiasEstimate::default(); ESTIMATED],
        }
    }

    /// Adds a scan at a position with its registration, if it has one. Returns the squares of the effects of the
    /// biases, at the lidar in world axes.
    pub fn add(
        &mut self,
        at: &Vector3<f64>,
        found: Option<&IcpResult>,
        correction: Option<&CorrectionErrors>,
    ) -> Matrix6<f64> {
        let of_scan = match (self.scans.last(), found) {
            (None, _) => [Vector6::zeros(); BIASES],
            (Some(_), Some(found)) => self.registered(found, at, correction),
            (Some(last), None) => last.map(|change| moved(&change, at)),
        };
        self.scans.push(of_scan.map(|change| moved(&change, &-at)));
        let estimated = self.estimates.iter().map(BiasEstimate::size);
        let sizes = estimated.chain([1.0; CORRECTION_ERRORS]);
        let effects = of_scan.iter().zip(sizes);
        effects
            .map(|(change, size)| change * size)
            .map(|effect| effect * effect.transpose())
            .sum()
    }

    /// Changes of a registered pose per unit of each bias; the remaining distances add to the estimates.
    fn registered(
        &mut self,
        found: &IcpResult,
        at: &Vector3<f64>,
        correction: Option<&CorrectionErrors>,
    ) -> [Vector6<f64>; BIASES] {
        let displaced: Vec<[f64; BIASES]> = found
            .pairs
            .iter()
            .map(|pair| displacements(&pair.normal, &pair.offset, correction))
            .collect();
        let is_given = |bias: usize| bias < ESTIMATED || correction.is_some();
        std::array::from_fn(|bias| {
            if is_given(bias) {
                self.registered_with(bias, &displaced, found, at)
            } else {
                Vector6::zeros()
            }
        })
    }

    /// Change of a registered pose per unit of a bias that displaces its points along their normals.
    fn registered_with(
        &mut self,
        bias: usize,
        displaced: &[[f64; BIASES]],
        found: &IcpResult,
        at: &Vector3<f64>,
    ) -> Vector6<f64> {
        // Changes of the distances of the pairs
        let radius = found.radius;
        let of_map = |scan: u32| scaled(&moved(&self.scans[scan as usize][bias], at), radius);
        let mut matrix = Matrix6::zeros();
        let mut right = Vector6::zeros();
        let mut changes = Vec::with_capacity(found.pairs.len());
        for (pair, displaced) in found.pairs.iter().zip(displaced) {
            let row = pair.jacobian_row(radius);
            let change =
                displaced[bias] - pair.origin.displaced[bias] - row.dot(&of_map(pair.origin.scan));
            matrix.ger(pair.weight, &row, &row, 1.0);
            right -= row * (pair.weight * change);
            changes.push((row, change));
        }
        // Pose in the observable directions
        let held = found.observability.onto_held();
        let free = Matrix6::identity() - held;
        let reduced = (free * matrix * free + held).cholesky();
        let pose = reduced.map_or_else(Vector6::zeros, |c| free * c.solve(&(free * right)));
        // Remaining changes, from which an unknown size is estimated
        if let Some(estimate) = self.estimates.get_mut(bias) {
            for (pair, (row, change)) in found.pairs.iter().zip(&changes) {
                let remaining = change + row.dot(&pose);
                estimate.squares += pair.weight * remaining * remaining;
                estimate.products += pair.weight * remaining * pair.distance;
            }
        }
        scaled(&pose, 1.0 / radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranges that are 1 mm too long displace a wall seen head-on by 1 mm away from the lidar; at 60 degrees, by half of
    /// it along the normal, and a bias by the squared tangent is three times as large there. Errors of a correction are functions of
    /// depth and incidence.
    #[test]
    fn a_bias_displaces_a_plane_by_the_cosine_of_the_incidence() {
        let normal = -Vector3::x();
        let head_on = displacements(&normal, &(Vector3::x() * 4.0), None);
        assert_eq!(head_on, [-1.0, 0.0, 0.0, 0.0]);
        let slanted = Vector3::new(1.0, 3.0_f64.sqrt(), 0.0) * 2.0;
        let errors = |depth: f64, incidence: f64| [1e-3 * depth, 1e-3 * incidence.to_degrees()];
        let [constant, by_tangent, first, second] = displacements(&normal, &slanted, Some(&errors));
        assert!((constant + 0.5).abs() < 1e-12 && (by_tangent + 1.5).abs() < 1e-12);
        assert!((first + 0.5 * 4e-3).abs() < 1e-12 && (second + 0.5 * 60e-3).abs() < 1e-12);
    }
}

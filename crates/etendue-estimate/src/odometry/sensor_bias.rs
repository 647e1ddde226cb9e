//! Effects of biases of the ranges on a trajectory.

use super::icp::IcpResult;
use super::replicates::{moved, scaled};
use nalgebra::{Matrix6, Vector3, Vector6};

/// Number of biases: one that all ranges have, and one in proportion to the squared tangent of the angle of incidence.
pub(super) const BIASES: usize = 2;

/// Smallest cosine of the angle of incidence: the bias is constant beyond 80 degrees.
const LEAST_COSINE: f64 = 0.17;

/// Displacements of a point of a plane along its normal by the biases of the ranges, per metre of bias. `offset` is the
/// vector from the lidar to the point, in the axes of the normal.
pub(super) fn displacements(normal: &Vector3<f64>, offset: &Vector3<f64>) -> [f64; BIASES] {
    let along = normal.dot(offset) / offset.norm();
    let cosine = along.abs().max(LEAST_COSINE);
    [along, along * (cosine.powi(-2) - 1.0)]
}

/// Trajectories as biases of the ranges would change them, to first order.
///
/// A bias displaces the points of a scan, and those of the map that were measured at another angle, by different
/// distances from a plane. The poses follow in part, and errors of the map pass on to later scans; the distances that
/// remain estimate the size of the bias by least squares over all scans. The effect of the estimated bias is a term of
/// the covariance of a pose; the poses are not corrected for it.
pub(super) struct BiasTrajectories {
    /// Change of the pose of each scan per metre of bias: translation at the origin of the world, and rotation.
    scans: Vec<[Vector6<f64>; BIASES]>,
    /// Sums of squares and products of the least-squares estimates.
    estimates: [BiasEstimate; BIASES],
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
            estimates: [BiasEstimate::default(); BIASES],
        }
    }

    /// Adds a scan at a position with its registration, if it has one. Returns the squares of the effects of the
    /// biases, at the lidar in world axes.
    pub fn add(&mut self, at: &Vector3<f64>, found: Option<&IcpResult>) -> Matrix6<f64> {
        let of_scan = match (self.scans.last(), found) {
            (None, _) => [Vector6::zeros(); BIASES],
            (Some(_), Some(found)) => std::array::from_fn(|bias| self.registered(bias, found, at)),
            (Some(last), None) => last.map(|change| moved(&change, at)),
        };
        self.scans.push(of_scan.map(|change| moved(&change, &-at)));
        let effects = of_scan.iter().zip(&self.estimates);
        effects
            .map(|(change, estimate)| change * estimate.size())
            .map(|effect| effect * effect.transpose())
            .sum()
    }

    /// Change of a registered pose per metre of a bias; the remaining distances add to its estimate.
    fn registered(&mut self, bias: usize, found: &IcpResult, at: &Vector3<f64>) -> Vector6<f64> {
        // Changes of the distances of the pairs
        let radius = found.radius;
        let of_map = |scan: u32| scaled(&moved(&self.scans[scan as usize][bias], at), radius);
        let mut matrix = Matrix6::zeros();
        let mut right = Vector6::zeros();
        let mut changes = Vec::with_capacity(found.pairs.len());
        for pair in &found.pairs {
            let row = pair.jacobian_row(radius);
            let displaced = displacements(&pair.normal, &pair.offset)[bias];
            let change =
                displaced - pair.origin.displaced[bias] - row.dot(&of_map(pair.origin.scan));
            matrix.ger(pair.weight, &row, &row, 1.0);
            right -= row * (pair.weight * change);
            changes.push((row, change));
        }
        // Pose in the observable directions
        let held = found.observability.onto_degenerate();
        let free = Matrix6::identity() - held;
        let reduced = (free * matrix * free + held).cholesky();
        let pose = reduced.map_or_else(Vector6::zeros, |c| free * c.solve(&(free * right)));
        // Remaining changes
        let estimate = &mut self.estimates[bias];
        for (pair, (row, change)) in found.pairs.iter().zip(&changes) {
            let remaining = change + row.dot(&pose);
            estimate.squares += pair.weight * remaining * remaining;
            estimate.products += pair.weight * remaining * pair.distance;
        }
        scaled(&pose, 1.0 / radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranges that are 1 mm too long displace a wall seen head-on by 1 mm away from the lidar; at 60 degrees, by half of
    /// it along the normal, and a bias by the squared tangent is three times as large there.
    #[test]
    fn a_bias_displaces_a_plane_by_the_cosine_of_the_incidence() {
        let normal = -Vector3::x();
        assert_eq!(displacements(&normal, &(Vector3::x() * 4.0)), [-1.0, 0.0]);
        let slanted = Vector3::new(1.0, 3.0_f64.sqrt(), 0.0) * 2.0;
        let [constant, by_tangent] = displacements(&normal, &slanted);
        assert!((constant + 0.5).abs() < 1e-12 && (by_tangent + 1.5).abs() < 1e-12);
    }
}

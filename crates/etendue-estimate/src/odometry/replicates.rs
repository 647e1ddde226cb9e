//! Covariance of a trajectory from replicates that leave out parts of the world.

use super::freedom::MotionFreedom;
use super::icp::{IcpResult, PlanePair, stacked};
use super::motion::{Prediction, both};
use super::sensor_bias::{BiasTrajectories, CorrectionErrors};
use crate::geometry::voxel_key;
use etendue_physics::{Purpose, Stream};
use nalgebra::{Isometry3, Matrix6, Vector3, Vector6};

/// Number of replicates, and of groups of patches.
pub(super) const REPLICATES: usize = 32;

/// Side of the patches of the world, m: square columns along the z axis of the world. A patch is larger than the neighbourhoods of
/// most plane fits, whose points have common errors, and contains an object of any height, whose points move together.
const PATCH: f64 = 2.0;

/// Share of the last change of the motion per scan that is the standard deviation of the pose: a velocity that is
/// wrong by the change displaces the points at both ends of a scan by half of it.
const OF_CHANGE: f64 = 0.25;

/// Smallest standard deviations of a pose per axis, m and rad: errors of deskewing by accelerations, and of planes by the
/// roughness of surfaces, that neither patches nor the last change show.
const LEAST: [f64; 2] = [1e-3, 1e-4];

/// Fewest degrees of freedom of a variance: one patch determines the deviation.
const LEAST_FREEDOM: f64 = 3.0;

/// Covariance of the poses of a trajectory by a delete-a-group jackknife (Kott 2001, Journal of Official Statistics
/// 17, 521-526; Shao and Tu 1995, "The Jackknife and Bootstrap", chapter 2), with the effects of biases of the sensor.
///
/// The world is divided into patches, and these at random into groups. A replicate is the trajectory without the
/// pairs of one group, to first order at the poses and pairs of the full trajectory: replicate $r$ deviates by
/// $\delta_k$ from the pose of scan $k$, with
/// $$\Big(\sum_{i \notin r} w_i J_i J_i^\top + \Lambda\Big) \delta_k =
/// \sum_{i \notin r} w_i J_i (J_i^\top \delta_{j(i)} - d_i) + \Lambda (\hat\delta_k - p_k),$$
/// where $j(i)$ is the scan that added the surfel of pair $i$ to the map, $d_i$ its distance, $p_k$ the step from
/// the prediction to the pose, $\hat\delta_k$ the predicted deviation, and $\Lambda$ the information of the
/// prediction. The errors of a patch are therefore common to all its points and to all scans, errors of the map
/// pass on to later scans, and a direction that depends on few patches has a large variance, which is itself uncertain:
/// it is increased to the intervals of Student's distribution. Along
/// degenerate directions, replicates keep their prediction, with a random change of velocity.
pub(super) struct TrajectoryReplicates {
    freedom: MotionFreedom,
    /// Deviations of each scan: translation (m) at the origin of the world, and rotation (rad), world axes.
    scans: Vec<Deviations>,
    biases: BiasTrajectories,
}

/// Deviations of the replicates: translation (m) and rotation (rad), or its product with a radius (m).
type Deviations = [Vector6<f64>; REPLICATES];

/// Group of the patch of a point of the world.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the number of groups is small"
)]
pub(super) fn group_of(position: &Vector3<f64>) -> u8 {
    let [x, y, _] = voxel_key(position, PATCH).map(i32::cast_unsigned);
    let mut draw = Stream::new(0, x, y, 0, Purpose::Search);
    (draw.bits() % REPLICATES as u32) as u8
}

impl TrajectoryReplicates {
    /// Replicates of a trajectory without scans.
    pub fn new(freedom: MotionFreedom) -> Self {
        Self {
            freedom,
            scans: Vec::new(),
            biases: BiasTrajectories::new(),
        }
    }

    /// Adds a scan with its predicted and final pose, its registration if it has one, the second moments of the change of
    /// the motion per scan (lidar axes, m² and rad²), and the errors of the correction of the ranges. Returns the covariance of
    /// the pose: translation of the lidar (m) and rotation (rad), world axes.
    pub fn add(
        &mut self,
        prediction: &Prediction,
        world_from_lidar: &Isometry3<f64>,
        found: Option<&IcpResult>,
        change: &Matrix6<f64>,
        correction: Option<&CorrectionErrors>,
    ) -> Matrix6<f64> {
        // Deviations of the replicates
        let at = world_from_lidar.translation.vector;
        let predicted = self.predicted(prediction, world_from_lidar);
        let deviations = match found {
            _ if self.scans.is_empty() => [Vector6::zeros(); REPLICATES],
            Some(found) => self.registered(found, &predicted, prediction, &at),
            None => predicted,
        };
        self.scans.push(deviations.map(|d| moved(&d, &-at)));
        // Their squares, and those of the effects of biases
        let squares: Matrix6<f64> = deviations.iter().map(|d| d * d.transpose()).sum();
        let student = student_factors(&deviations);
        let squares = squares.component_mul(&(student * student.transpose()));
        let biases = self.biases.add(&at, found, correction);
        if self.scans.len() == 1 {
            return Matrix6::zeros();
        }
        // Changes of velocity, and a least deviation
        let to_world = both(world_from_lidar.rotation.to_rotation_matrix().matrix());
        let change = to_world * change * to_world.transpose() * (OF_CHANGE * OF_CHANGE);
        let [position, rotation] = LEAST.map(|sd| Vector3::repeat(sd * sd));
        let sum = squares * ((REPLICATES as f64 - 1.0) / REPLICATES as f64)
            + biases
            + change
            + Matrix6::from_diagonal(&stacked(&position, &rotation));
        self.freedom.of(&sum)
    }

    /// Deviations that continue the motion of each replicate, with a random change of velocity, at the lidar.
    fn predicted(&self, prediction: &Prediction, world_from_lidar: &Isometry3<f64>) -> Deviations {
        let mut before = self.scans.iter().rev();
        let zero = [Vector6::zeros(); REPLICATES];
        let last = before.next().unwrap_or(&zero);
        let earlier = before.next().filter(|_| !prediction.given).unwrap_or(last);
        let scan = u32::try_from(self.scans.len()).unwrap_or(u32::MAX);
        // Each of the replicates contributes to the variance: share² times (n - 1) / n, n times.
        let share = 1.0 / (REPLICATES as f64 - 1.0).sqrt();
        let mut replicate = 0;
        std::array::from_fn(|r| {
            replicate += 1;
            let mut draw = Stream::new(1, 0, scan, replicate, Purpose::Search);
            let mut signed = |sd: f64| if draw.uniform() < 0.5 { -sd } else { sd };
            let change = prediction.change_sd.map(|sd| signed(share * sd));
            let continued = last[r] * 2.0 - earlier[r];
            moved(&continued, &world_from_lidar.translation.vector)
                + in_world(&change, world_from_lidar)
        })
    }

    /// Deviations of the registered replicates, at the lidar.
    fn registered(
        &self,
        found: &IcpResult,
        predicted: &Deviations,
        prediction: &Prediction,
        at: &Vector3<f64>,
    ) -> Deviations {
        let radius = found.radius;
        let sums = self.sums(&found.pairs, radius, at);
        // Information of the prediction
        let variance = prediction.covariance(radius).trace().max(f64::MIN_POSITIVE);
        let information = found.residual.powi(2) / variance;
        // Solve each replicate along the observable directions; the others keep their prediction
        let matrix: Matrix6<f64> = sums.matrices.iter().sum();
        let gradient: Vector6<f64> = sums.gradients.iter().sum();
        let held = found.observability.onto_held();
        let free = Matrix6::identity() - held;
        std::array::from_fn(|r| {
            let predicted = scaled(&predicted[r], radius);
            let of_prediction = predicted - found.from_prediction;
            let without = matrix - sums.matrices[r] + Matrix6::identity() * information;
            let right =
                sums.of_map[r] - (gradient - sums.gradients[r]) + of_prediction * information;
            let held_part = held * predicted;
            // The projection onto the held directions keeps the matrix regular
            let reduced = free * without * free + held;
            let right = free * (right - without * held_part);
            let solved = reduced
                .cholesky()
                .map_or(of_prediction, |c| c.solve(&right));
            scaled(&(free * solved + held_part), 1.0 / radius)
        })
    }

    /// Sums of the normal equations, with rotations times the radius about the lidar.
    fn sums(&self, pairs: &[PlanePair], radius: f64, at: &Vector3<f64>) -> Sums {
        // By scan of the map, whose deviations are needed at the lidar
        let mut by_scan: Vec<&PlanePair> = pairs.iter().collect();
        by_scan.sort_by_key(|pair| pair.origin.scan);
        let mut sums = Sums {
            matrices: [Matrix6::zeros(); REPLICATES],
            gradients: [Vector6::zeros(); REPLICATES],
            of_map: [Vector6::zeros(); REPLICATES],
        };
        for pairs in by_scan.chunk_by(|a, b| a.origin.scan == b.origin.scan) {
            // Sums of the groups
            let mut of_groups = [Matrix6::zeros(); REPLICATES];
            for pair in pairs {
                let row = pair.jacobian_row(radius);
                let group = usize::from(pair.origin.group);
                of_groups[group].ger(pair.weight, &row, &row, 1.0);
                sums.gradients[group] += row * (pair.weight * pair.distance);
            }
            let of_all: Matrix6<f64> = of_groups.iter().sum();
            // A replicate has those of the other groups
            let scan = &self.scans[pairs[0].origin.scan as usize];
            for (r, deviation) in scan.iter().enumerate() {
                let deviation = scaled(&moved(deviation, at), radius);
                sums.of_map[r] += (of_all - of_groups[r]) * deviation;
                sums.matrices[r] += of_groups[r];
            }
        }
        sums
    }
}

/// Factors on the standard deviation of each axis, by the effective degrees of freedom of its estimate.
///
/// With independent normal deviations $d_r$ of the variances $v_r$, $\mathrm{E}(\sum d_r^2)^2 = (\sum v_r)^2 + 2\sum v_r^2$ and
/// $\mathrm{E}\sum d_r^4 = 3\sum v_r^2$. The degrees of freedom $\nu = (\sum v_r)^2/\sum v_r^2$ of Satterthwaite (1946,
/// doi:10.2307/3002019) are therefore estimated by $3(\sum d_r^2)^2/\sum d_r^4 - 2$. An error in standard deviations is
/// then $t$-distributed: the factor makes an interval of three standard deviations that of 99.7 %,
/// $t \approx \sqrt{\nu\,(e^{9(\nu-3/2)/(\nu-1)^2} - 1)}$ (Gaver and Kafadar 1984, The American Statistician 38, 308-311).
fn student_factors(deviations: &Deviations) -> Vector6<f64> {
    Vector6::from_fn(|axis, _| {
        let squares = deviations.iter().map(|d| d[axis] * d[axis]);
        let [second, fourth] = squares.fold([0.0, 0.0], |[a, b], s| [a + s, b + s * s]);
        if fourth <= 0.0 {
            return 1.0;
        }
        let freedom = 3.0 * second * second / fourth - 2.0;
        let freedom = freedom.clamp(LEAST_FREEDOM, REPLICATES as f64 - 1.0);
        let exponent = 9.0 * (freedom - 1.5) / (freedom - 1.0).powi(2);
        (freedom * exponent.exp_m1()).sqrt() / 3.0
    })
}

/// Sums of the normal equations of a registration by groups of patches.
struct Sums {
    /// $\sum w J J^\top$ of each group.
    matrices: [Matrix6<f64>; REPLICATES],
    /// $\sum w J d$ of each group.
    gradients: [Vector6<f64>; REPLICATES],
    /// $\sum w J J^\top \delta_j$ of each replicate.
    of_map: [Vector6<f64>; REPLICATES],
}

/// Motion in lidar axes in the axes of the world.
fn in_world(motion: &Vector6<f64>, world_from_lidar: &Isometry3<f64>) -> Vector6<f64> {
    let rotation = world_from_lidar.rotation;
    let part = |first: usize| rotation * motion.fixed_rows::<3>(first);
    stacked(&part(0), &part(3))
}

/// Deviation at a point `offset` (m) from where it is given: translations add the rotation times the lever.
pub(super) fn moved(deviation: &Vector6<f64>, offset: &Vector3<f64>) -> Vector6<f64> {
    let rotation = deviation.fixed_rows::<3>(3).into_owned();
    let translation = deviation.fixed_rows::<3>(0) + rotation.cross(offset);
    stacked(&translation, &rotation)
}

/// The deviation with its rotation times a factor.
pub(super) fn scaled(deviation: &Vector6<f64>, factor: f64) -> Vector6<f64> {
    let rotation = deviation.fixed_rows::<3>(3) * factor;
    stacked(&deviation.fixed_rows::<3>(0).into_owned(), &rotation)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points above each other are in one group, and those of most pairs of neighbouring columns are not.
    #[test]
    fn an_object_of_any_height_is_in_one_group() {
        let group = |x: f64, z: f64| group_of(&Vector3::new(x, 0.5, z));
        let columns: Vec<f64> = (0..40).map(|i| 1.0 + 2.0 * f64::from(i)).collect();
        assert!(columns.iter().all(|&x| group(x, -0.6) == group(x, 7.5)));
        let pairs = columns.windows(2);
        let different = pairs.filter(|pair| group(pair[0], 0.0) != group(pair[1], 0.0));
        assert!(different.count() > 30);
    }

    /// Equal deviations have one degree of freedom fewer than replicates, a single one has the fewest, and eight of
    /// 32 have 3 x 8 - 2 = 22. Quantiles of 99.865 % of Student's distribution: 9.219, 3.370 and 3.251.
    #[test]
    fn few_patches_widen_the_distribution() {
        let with = |count: usize| -> Deviations {
            std::array::from_fn(|r| Vector6::repeat(if r < count { 1e-3 } else { 0.0 }))
        };
        assert_eq!(student_factors(&with(0))[0], 1.0);
        for (count, quantile) in [(1, 9.219), (8, 3.370), (REPLICATES, 3.251)] {
            let factor = student_factors(&with(count))[2];
            assert!((3.0 * factor / quantile - 1.0).abs() < 0.005, "{factor}");
        }
    }
}

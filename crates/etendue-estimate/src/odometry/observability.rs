//! Directions of motion that a registration determines, and those that it does not.

use super::freedom::MotionFreedom;
use super::icp::{MIN_PATCHES, PlanePair};
use super::replicates::REPLICATES;
use nalgebra::{Matrix6, SymmetricEigen, Vector6};

/// Information of a registration by direction: eigenvectors of $J^\top W J$ with rotations scaled by the
/// radius of the scan, so that all directions are in m (Zhang, Kaess, Singh 2016,
/// doi:10.1109/ICRA.2016.7487211).
///
/// A direction is degenerate if too few pairs determine a motion along it (Tuna et al. 2024,
/// doi:10.1109/TRO.2023.3335691). The motion displaces the point of a pair by $u$; the pair counts as
/// $(n \cdot u / |u|)^2$ if the angle between its plane and the displacement is above 10 degrees, and as
/// nothing below: errors of normals cause such angles along a bare corridor, and in great numbers they
/// would look like information.
#[derive(Clone, Debug)]
pub(super) struct Observability {
    /// Free directions, by ascending information.
    pub directions: Vec<MotionDirection>,
    /// Projection onto the directions that are not free.
    fixed: Matrix6<f64>,
}

/// Direction of motion and its information.
#[derive(Clone, Copy, Debug)]
pub(super) struct MotionDirection {
    /// Unit vector of translation and rotation times radius, in world axes.
    pub vector: Vector6<f64>,
    /// Information: the eigenvalue, in pairs with their normal along the direction.
    pub information: f64,
    /// Number of pairs that determine the direction, weighted by $(n \cdot u / |u|)^2$.
    pub clear_pairs: f64,
    /// Effective number of patches of the world with these pairs: $(\sum_g c_g)^2 / \sum_g c_g^2$ with the
    /// weighted number $c_g$ of a group of patches.
    pub patches: f64,
    /// Whether the registration does not determine the direction.
    pub degenerate: bool,
}

/// Deviation from a prediction, in standard deviations, that few patches do not justify.
const CONTRADICTION: f64 = 5.0;

/// Sine of the angle between a plane and the displacement of a point above which a pair counts, larger
/// than errors of normals (10 degrees).
const CLEAR: f64 = 0.17;

impl Observability {
    /// Free directions of the normal matrix of pairs, with rotations times `radius` (m); degenerate below
    /// the numbers of pairs and patches that determine them.
    pub fn new(
        matrix: &Matrix6<f64>,
        pairs: &[PlanePair],
        radius: f64,
        freedom: MotionFreedom,
        least: Least,
    ) -> Self {
        // Eigenvectors; those of the directions that are not free have the largest eigenvalues
        let free = freedom.projection();
        let fixed = Matrix6::identity() - free;
        let above_all = 1.0 + matrix.trace();
        let eigen = SymmetricEigen::new(freedom.of(matrix) + fixed * above_all);
        let mut order = [0, 1, 2, 3, 4, 5];
        order.sort_by(|&i, &j| eigen.eigenvalues[i].total_cmp(&eigen.eigenvalues[j]));
        // Free directions
        let direction = |i: usize| {
            let vector = free * eigen.eigenvectors.column(i);
            let by_group = clear_pairs(pairs, &vector, radius);
            let clear_pairs: f64 = by_group.iter().sum();
            let squares: f64 = by_group.iter().map(|count| count * count).sum();
            let patches = clear_pairs * clear_pairs / squares.max(f64::MIN_POSITIVE);
            MotionDirection {
                vector,
                information: eigen.eigenvalues[i],
                clear_pairs,
                patches,
                degenerate: clear_pairs < least.pairs || patches < least.patches,
            }
        };
        Self {
            directions: order[..freedom.count()]
                .iter()
                .map(|&i| direction(i))
                .collect(),
            fixed,
        }
    }

    /// Gauss-Newton step: along observable directions that of the gradient, along degenerate ones back to
    /// the prediction, from which the pose deviates by `from_prediction`.
    pub fn step(&self, gradient: &Vector6<f64>, from_prediction: &Vector6<f64>) -> Vector6<f64> {
        let along = |direction: &MotionDirection| {
            let vector = &direction.vector;
            let length = if direction.degenerate {
                -vector.dot(from_prediction)
            } else {
                -vector.dot(gradient) / direction.information
            };
            vector * length
        };
        self.directions.iter().map(along).sum()
    }

    /// Whether the pose deviates by more than [`CONTRADICTION`] standard deviations from a prediction with a
    /// covariance, along a direction that few patches determine.
    pub fn contradicts(&self, from_prediction: &Vector6<f64>, covariance: &Matrix6<f64>) -> bool {
        self.directions.iter().any(|d| {
            let variance = d.vector.dot(&(covariance * d.vector));
            let deviation = d.vector.dot(from_prediction);
            !d.degenerate
                && d.patches < MIN_PATCHES
                && deviation.powi(2) > CONTRADICTION.powi(2) * variance
        })
    }

    /// Degenerate directions.
    pub fn degenerate(&self) -> impl Iterator<Item = &MotionDirection> {
        self.directions.iter().filter(|d| d.degenerate)
    }

    /// Projection onto the directions in which the pose is held: degenerate ones, and those that are not free.
    pub fn onto_held(&self) -> Matrix6<f64> {
        let degenerate = self.degenerate().map(|d| d.vector * d.vector.transpose());
        self.fixed + degenerate.sum::<Matrix6<f64>>()
    }

    /// Covariance of the observable directions for distances with a standard deviation `sd`, m.
    pub fn covariance(&self, sd: f64) -> Matrix6<f64> {
        let observable = self.directions.iter().filter(|d| !d.degenerate);
        observable
            .map(|d| d.vector * d.vector.transpose() * (sd * sd / d.information))
            .sum()
    }
}

/// Smallest numbers of pairs, and of patches of the world, that determine a direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    pub pairs: f64,
    pub patches: f64,
}

/// Number of pairs that determine a motion (translation, rotation times `radius`) by the groups of their patches,
/// weighted by the squared sines of the angles between their planes and the displacements.
fn clear_pairs(pairs: &[PlanePair], motion: &Vector6<f64>, radius: f64) -> [f64; REPLICATES] {
    let translation = motion.fixed_rows::<3>(0).into_owned();
    let rotation = motion.fixed_rows::<3>(3) / radius;
    let mut counts = [0.0; REPLICATES];
    for pair in pairs {
        let displacement = translation + rotation.cross(&pair.offset);
        let squared_sine = pair.normal.dot(&displacement).powi(2) / displacement.norm_squared();
        if squared_sine > CLEAR * CLEAR {
            counts[usize::from(pair.origin.group)] += pair.weight * squared_sine;
        }
    }
    counts
}

//! Directions of motion that a registration determines, and those that it does not.

use super::freedom::MotionFreedom;
use super::icp::{MIN_PATCHES, PlanePair};
use super::replicates::REPLICATES;
use etendue_simd::{Isa, Vectorized};
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
    /// What determines a direction.
    least: Least,
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

/// Number of pairs below which a direction is weak: a few planes that fit leaves determine a wrong pose.
const FEW_PAIRS: f64 = 6.0;

/// Sine of the angle between a plane and the displacement of a point above which a pair counts, larger
/// than errors of normals (10 degrees).
const CLEAR: f64 = 0.17;

impl Observability {
    /// Free directions of the normal matrix of pairs, with rotations times `radius` (m); degenerate below
    /// the numbers of pairs and patches that determine them. The pairs count with their weights, or all with one.
    pub fn new(
        matrix: &Matrix6<f64>,
        pairs: &[PlanePair],
        weight: Option<f64>,
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
        // Numbers of pairs that determine the free directions
        let order = &order[..freedom.count()];
        let vectors: Vec<Vector6<f64>> = order
            .iter()
            .map(|&i| free * eigen.eigenvectors.column(i))
            .collect();
        let counts = ClearPairs::new(pairs, weight, &vectors, radius);
        let counts = Isa::detect().run(counts);
        let direction = |(lane, (&i, &vector)): (usize, (&usize, &Vector6<f64>))| {
            let by_group = counts.iter().map(|counts| counts[lane]);
            let clear_pairs: f64 = by_group.clone().sum();
            let squares: f64 = by_group.map(|count| count * count).sum();
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
            directions: order
                .iter()
                .zip(&vectors)
                .enumerate()
                .map(direction)
                .collect(),
            fixed,
            least,
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

    /// Directions that fewer than [`FEW_PAIRS`] determine, or that are degenerate for want of pairs. Those that are degenerate because few
    /// patches contradict the prediction are not among them.
    pub fn weak(&self) -> impl Iterator<Item = &MotionDirection> {
        self.directions.iter().filter(|d| {
            let contradicts = d.degenerate && d.clear_pairs >= self.least.pairs;
            d.clear_pairs < FEW_PAIRS.max(self.least.pairs) && !contradicts
        })
    }

    /// Smallest effective number of patches with pairs that determine a direction.
    pub fn patches(&self) -> f64 {
        let patches = self.directions.iter().map(|d| d.patches);
        patches.fold(f64::INFINITY, f64::min)
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

/// Count of the pairs that determine motions by the groups of their patches, weighted by the squared sines of the angles between
/// their planes and the displacements. The loops over arrays compile to vector instructions.
struct ClearPairs<'p> {
    pairs: &'p [PlanePair],
    /// Weight of all pairs; `None` for their own.
    weight: Option<f64>,
    /// Translations and rotations of the motions by axis.
    translations: [[f64; MOTIONS]; 3],
    rotations: [[f64; MOTIONS]; 3],
}

/// Number of motions that are counted together, at least that of the directions.
const MOTIONS: usize = 8;

impl<'p> ClearPairs<'p> {
    /// Count for motions of translation and rotation times `radius`.
    fn new(
        pairs: &'p [PlanePair],
        weight: Option<f64>,
        motions: &[Vector6<f64>],
        radius: f64,
    ) -> Self {
        let mut count = Self {
            pairs,
            weight,
            translations: [[0.0; MOTIONS]; 3],
            rotations: [[0.0; MOTIONS]; 3],
        };
        for (i, motion) in motions.iter().enumerate() {
            for axis in 0..3 {
                count.translations[axis][i] = motion[axis];
                count.rotations[axis][i] = motion[axis + 3] / radius;
            }
        }
        count
    }
}

impl Vectorized for ClearPairs<'_> {
    type Output = [[f64; MOTIONS]; REPLICATES];

    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    fn run(self) -> Self::Output {
        let [tx, ty, tz] = self.translations;
        let [rx, ry, rz] = self.rotations;
        let mut counts = [[0.0; MOTIONS]; REPLICATES];
        for pair in self.pairs {
            let weight = self.weight.unwrap_or(pair.weight);
            let [x, y, z] = pair.offset.into();
            let [normal_x, normal_y, normal_z] = pair.normal.into();
            let counts = &mut counts[usize::from(pair.origin.group)];
            for i in 0..MOTIONS {
                // Displacement
                let ux = tx[i] + (ry[i] * z - rz[i] * y);
                let uy = ty[i] + (rz[i] * x - rx[i] * z);
                let uz = tz[i] + (rx[i] * y - ry[i] * x);
                let along = normal_x * ux + normal_y * uy + normal_z * uz;
                let squared_sine = along * along / (ux * ux + uy * uy + uz * uz);
                let is_clear = squared_sine > CLEAR * CLEAR;
                counts[i] += if is_clear { weight * squared_sine } else { 0.0 };
            }
        }
        counts
    }
}

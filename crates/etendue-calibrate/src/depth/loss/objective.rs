//! Mean map-consistency loss as a function of the weights and the poses.

use super::corrected_points::{CorrectedPoints, corrected_poses};
use super::loss_kind::DepthLoss;
use super::pose_prior::{PosePenalty, PosePrior};
use super::robust::RobustLoss;
use super::sums::{Influence, Sums};
use super::unknowns::{DepthUnknowns, PoseFreedom};
use super::{neighbourhood, pair};
use crate::depth::error::DepthError;
use crate::depth::map::DepthMap;
use nalgebra::{DMatrix, Isometry3, Vector3};
use rayon::prelude::*;

/// The mean loss over a map (equation 14) as a function of [`DepthUnknowns`].
///
/// Sums are evaluated over fixed chunks of the map in a fixed order, so that they are bit-identical
/// for any number of threads.
pub struct DepthObjective<'a> {
    map: &'a DepthMap,
    loss: DepthLoss,
    robust: RobustLoss,
    freedom: PoseFreedom,
    penalty: Option<PosePenalty>,
}

/// Value, gradient and Gauss-Newton curvature of an objective.
pub(in crate::depth) struct Curvature {
    pub value: f64,
    pub gradient: Vec<f64>,
    pub matrix: DMatrix<f64>,
}

/// Derivatives of the weights with respect to errors of the measurements, by measurement and weight.
pub(in crate::depth) struct Influences {
    /// With respect to the depth.
    pub of_depth: Vec<f64>,
    /// Multiplied by the residual of the measurement.
    pub of_error: Vec<f64>,
}

/// Maximum number of chunks whose terms are summed separately.
const CHUNKS: usize = 32;

impl<'a> DepthObjective<'a> {
    /// The mean of a loss over a map.
    ///
    /// # Errors
    /// If the number of sequence indices differs from that of the poses, or the map has no term of the loss.
    pub fn new(
        map: &'a DepthMap,
        loss: DepthLoss,
        robust: RobustLoss,
        freedom: PoseFreedom,
    ) -> Result<Self, DepthError> {
        freedom.check(map.world_from_lidar.len())?;
        let objective = Self {
            map,
            loss,
            robust,
            freedom,
            penalty: None,
        };
        if objective.terms() == 0 {
            let points = map.measurements.len();
            return Err(DepthError::NothingSelected { points });
        }
        Ok(objective)
    }

    /// The same objective with a prior of the pose corrections. The loss $L$ of $M$ independent observations
    /// with the loss `noise` each is the log-likelihood $-M L / (2 L_{noise})$, so that the prior adds
    /// $L_{noise}/M$ times its chi-square. The points of a scan in a neighbourhood count as one observation,
    /// because their errors are correlated.
    #[must_use]
    pub fn with_prior(mut self, prior: PosePrior, noise: f64) -> Self {
        let factor = noise / self.observations();
        self.penalty = Some(PosePenalty { prior, factor });
        self
    }

    /// Number of independent observations: differences between the scans of disjoint neighbourhoods, at least
    /// one.
    fn observations(&self) -> f64 {
        if self.loss.is_of_pairs() {
            return self.map.pairs.len().max(1) as f64;
        }
        // Differences between scans, counted in overlapping neighbourhoods
        let differences = |members: &Vec<u32>| {
            let pose = |&member: &u32| self.map.measurements[member as usize].pose;
            let mut poses: Vec<usize> = members.iter().map(pose).collect();
            poses.sort_unstable();
            poses.dedup();
            poses.len() - 1
        };
        let neighbourhoods = &self.map.neighbourhoods;
        let all: usize = neighbourhoods.par_iter().map(differences).sum();
        // Share of the members that are counted once
        let members: usize = neighbourhoods.iter().map(Vec::len).sum();
        let share = self.map.used().filter(|used| *used).count() as f64 / members.max(1) as f64;
        (all as f64 * share).max(1.0)
    }

    /// Loss per unit of the chi-square of the pose corrections; `None` without a prior.
    pub(in crate::depth) fn penalty_factor(&self) -> Option<f64> {
        self.penalty.map(|penalty| penalty.factor)
    }

    /// The loss with the penalty of the pose corrections.
    pub fn value(&self, unknowns: &DepthUnknowns) -> f64 {
        self.data_loss(unknowns) + self.penalty_value(unknowns)
    }

    /// Penalty of the pose corrections; zero without a prior.
    pub(in crate::depth) fn penalty_value(&self, unknowns: &DepthUnknowns) -> f64 {
        self.penalty
            .map_or(0.0, |penalty| penalty.value(&unknowns.corrections))
    }

    /// The loss of the map, without the penalty.
    pub fn data_loss(&self, unknowns: &DepthUnknowns) -> f64 {
        let corrected = self.corrected_points(unknowns);
        let value = |term| self.term(&corrected, term, &mut |_, _, _| {});
        let chunks = self.map_chunks(|terms| terms.map(value).sum::<f64>());
        chunks.iter().sum()
    }

    /// The value and its derivatives with respect to the weights and the corrections, in the order of
    /// [`DepthUnknowns::moved`]. For a neighbourhood of $n$ points
    /// $\partial\lambda_1/\partial x_i = \frac{2}{n-1}\\,(u_1^\top(x_i-\bar x))\\,u_1$.
    pub fn gradient(&self, unknowns: &DepthUnknowns) -> (f64, Vec<f64>) {
        let corrected = self.corrected_points(unknowns);
        let chunks = self.map_chunks(|terms| {
            let mut gradient = vec![0.0; unknowns.dimension()];
            let mut value = 0.0;
            for term in terms {
                value += self.term(&corrected, term, &mut |point, force, torque| {
                    corrected.accumulate(
                        point,
                        force,
                        torque,
                        &mut gradient,
                        corrected.column(point),
                    );
                });
            }
            (value, gradient)
        });
        let start = (0.0, vec![0.0; unknowns.dimension()]);
        let mut sum = chunks
            .into_iter()
            .fold(start, |mut sum, (value, gradient)| {
                sum.0 += value;
                sum.1.iter_mut().zip(gradient).for_each(|(s, g)| *s += g);
                sum
            });

        // Penalty of the corrections
        if let Some(penalty) = &self.penalty {
            sum.0 += penalty.value(&unknowns.corrections);
            let weights = unknowns.model.weight_count();
            penalty.add_gradient(&unknowns.corrections, &mut sum.1[weights..]);
        }
        sum
    }

    /// Derivatives with respect to the corrected depth of each measurement.
    pub fn depth_gradient(&self, unknowns: &DepthUnknowns) -> Vec<f64> {
        let corrected = self.corrected_points(unknowns);
        let mut gradient = vec![0.0; corrected.positions.len()];
        for term in 0..self.terms() {
            self.term(&corrected, term, &mut |point, force, _| {
                gradient[point] += force.dot(&corrected.beams[point]);
            });
        }
        gradient
    }

    /// The corrected poses, world from lidar.
    pub fn poses(&self, unknowns: &DepthUnknowns) -> Vec<Isometry3<f64>> {
        corrected_poses(self.map, unknowns, &self.freedom)
    }

    /// The corrected points, in the world, m.
    pub fn points(&self, unknowns: &DepthUnknowns) -> Vec<Vector3<f64>> {
        self.corrected_points(unknowns).positions
    }

    /// Median of the measured depths, m.
    pub(in crate::depth) fn median_depth(&self) -> f64 {
        let mut depths: Vec<f64> = self.map.measurements.iter().map(|m| m.depth).collect();
        depths.sort_by(f64::total_cmp);
        depths[depths.len() / 2]
    }

    pub(in crate::depth) fn curvature(&self, unknowns: &DepthUnknowns) -> Curvature {
        let corrected = self.corrected_points(unknowns);
        let (value, gradient) = self.gradient(unknowns);
        let empty = || Sums::new(unknowns.dimension(), corrected.weights);
        let chunks = self.map_chunks(|terms| {
            let mut sums = empty();
            terms.for_each(|term| self.term_curvature(&corrected, term, &mut sums));
            sums
        });
        let mut matrix = chunks.iter().fold(empty(), Sums::plus).finished();
        if let Some(penalty) = &self.penalty {
            penalty.add_curvature(unknowns.model.weight_count(), &mut matrix);
        }
        Curvature {
            value,
            gradient,
            matrix,
        }
    }

    /// Influence of errors of the measurements on the weights, from the rows of the weights of the inverse
    /// curvature.
    pub(in crate::depth) fn influences(
        &self,
        unknowns: &DepthUnknowns,
        rows: &DMatrix<f64>,
    ) -> Influences {
        let corrected = self.corrected_points(unknowns);
        let mut influence = Influence::new(rows, corrected.positions.len());
        for term in 0..self.terms() {
            self.term_influence(&corrected, term, &mut influence);
        }
        Influences {
            of_depth: influence.of_depth,
            of_error: influence.of_error,
        }
    }

    /// The map.
    pub(in crate::depth) fn map(&self) -> &DepthMap {
        self.map
    }

    /// Mean increase of the loss per variance of the depths: the loss divided by it is the variance of the
    /// noise.
    pub(in crate::depth) fn noise_response(&self, unknowns: &DepthUnknowns) -> f64 {
        let corrected = self.corrected_points(unknowns);
        let chunks = self.map_chunks(|terms| {
            let response = |term| self.term_response(&corrected, term);
            terms.map(response).sum::<f64>()
        });
        chunks.iter().sum::<f64>() / self.terms() as f64
    }

    fn corrected_points(&self, unknowns: &DepthUnknowns) -> CorrectedPoints {
        CorrectedPoints::new(self.map, unknowns, &self.freedom)
    }

    /// Loss of each term, without the penalty.
    pub(in crate::depth) fn term_losses(&self, unknowns: &DepthUnknowns) -> Vec<f64> {
        let corrected = self.corrected_points(unknowns);
        let terms = self.terms() as f64;
        let value = |term| terms * self.term(&corrected, term, &mut |_, _, _| {});
        let chunks = self.map_chunks(|terms| terms.map(value).collect::<Vec<f64>>());
        chunks.concat()
    }

    /// Number of terms of the loss.
    fn terms(&self) -> usize {
        if self.loss.is_of_pairs() {
            self.map.pairs.len()
        } else {
            self.map.neighbourhoods.len()
        }
    }

    /// Evaluates the terms in fixed chunks in parallel; results in the order of the chunks.
    fn map_chunks<T: Send>(&self, chunk: impl Fn(std::ops::Range<usize>) -> T + Sync) -> Vec<T> {
        let terms = self.terms();
        let length = terms.div_ceil(CHUNKS).max(1);
        (0..terms.div_ceil(length))
            .into_par_iter()
            .map(|i| chunk(i * length..((i + 1) * length).min(terms)))
            .collect()
    }

    /// Contribution of one term to the mean. Its derivatives with respect to points are passed to `sink`.
    fn term(
        &self,
        corrected: &CorrectedPoints,
        term: usize,
        sink: &mut impl FnMut(usize, &Vector3<f64>, &Vector3<f64>),
    ) -> f64 {
        let term_weight = 1.0 / self.terms() as f64;
        if self.loss.is_of_pairs() {
            let pair = self.map.pairs[term];
            term_weight * pair::loss(corrected, pair, self.loss, self.robust, term_weight, sink)
        } else {
            let members = &self.map.neighbourhoods[term];
            term_weight
                * neighbourhood::loss(
                    corrected,
                    members,
                    self.loss,
                    self.robust,
                    term_weight,
                    sink,
                )
        }
    }

    fn term_curvature(&self, corrected: &CorrectedPoints, term: usize, sums: &mut Sums) {
        let term_weight = 1.0 / self.terms() as f64;
        if self.loss.is_of_pairs() {
            let pair = self.map.pairs[term];
            pair::curvature(corrected, pair, self.loss, self.robust, term_weight, sums);
        } else {
            let members = &self.map.neighbourhoods[term];
            neighbourhood::curvature(
                corrected,
                members,
                self.loss,
                self.robust,
                term_weight,
                sums,
            );
        }
    }

    fn term_influence(&self, corrected: &CorrectedPoints, term: usize, into: &mut Influence<'_>) {
        let term_weight = 1.0 / self.terms() as f64;
        if self.loss.is_of_pairs() {
            let pair = self.map.pairs[term];
            pair::influence(corrected, pair, self.loss, self.robust, term_weight, into);
        } else {
            let members = &self.map.neighbourhoods[term];
            neighbourhood::influence(
                corrected,
                members,
                self.loss,
                self.robust,
                term_weight,
                into,
            );
        }
    }

    fn term_response(&self, corrected: &CorrectedPoints, term: usize) -> f64 {
        if self.loss.is_of_pairs() {
            pair::noise_response(corrected, self.map.pairs[term], self.loss)
        } else {
            neighbourhood::noise_response(corrected, &self.map.neighbourhoods[term], self.loss)
        }
    }
}

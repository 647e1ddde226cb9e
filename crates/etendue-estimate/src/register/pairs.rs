//! Nearest-point correspondences.

use super::cloud::{NearPoint, SearchableCloud};
use super::rigid_motion::RigidMotion;
use crate::solve::{LeastSquares, Linearization, Loss, NormalEquations, Residuals};
use nalgebra::{DMatrix, DVector, SMatrix, SVector};
use rayon::prelude::*;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

/// Selection rule of correspondences.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairRule {
    /// Greatest distance of a pair, m.
    pub max_distance: f64,
    /// Fraction of the remaining pairs that is used, the nearest first.
    pub keep: f64,
}

/// Correspondence of a moved source point and its nearest target point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<const D: usize> {
    /// Index of the source point.
    pub source: usize,
    /// Index of the target point.
    pub target: usize,
    /// Vector from the target point to the moved source point, m.
    pub offset: SVector<f64, D>,
    /// Squared distance, m².
    squared: f64,
}

/// Search of the pairs of two clouds at successive motions.
pub(super) struct PairSearch<'a, const D: usize> {
    pub source: &'a SearchableCloud<D>,
    pub target: &'a SearchableCloud<D>,
    rule: PairRule,
    /// Last search of every source point.
    known: Mutex<Vec<Option<Search<D>>>>,
}

/// Target points near a position.
#[derive(Clone, Copy)]
struct Search<const D: usize> {
    position: SVector<f64, D>,
    /// Indices of the nearest target points; the last one is repeated where there are fewer.
    candidates: [u32; CANDIDATES],
    /// Lower bound of the distances of all other target points, m.
    others: f64,
}

/// Number of nearest target points that a search keeps. Searches of the next motions compare these; the first search keeps one, because its
/// motion is far from the result.
const CANDIDATES: usize = 8;

/// Ratio of the distance within which points are searched and the greatest one of a pair: points without a partner have none
/// after a small motion either.
const REACH: f64 = 1.5;

/// Factor on [`Search::others`] for rounding.
const ROUNDING: f64 = 1.0 - 1e-9;

impl<'a, const D: usize> PairSearch<'a, D> {
    /// Search without known pairs.
    pub(super) fn new(
        source: &'a SearchableCloud<D>,
        target: &'a SearchableCloud<D>,
        rule: PairRule,
    ) -> Self {
        Self {
            source,
            target,
            rule,
            known: Mutex::new(vec![None; source.len()]),
        }
    }

    /// Selected pairs at a motion, and the number of source points without a partner.
    pub(super) fn pairs<M: RigidMotion<D, K>, const K: usize>(
        &self,
        motion: &M,
    ) -> (Vec<Pair<D>>, usize) {
        // Pair every source point with its nearest target point.
        let limit = self.rule.max_distance * self.rule.max_distance;
        let (rotation, translation) = (motion.rotation(), motion.translation());
        let pair =
            |((index, point), known): ((usize, &SVector<f64, D>), &mut Option<Search<D>>)| {
                let moved: SVector<f64, D> = rotation * point + translation;
                let nearest = self.nearest(&moved, known)?;
                let offset = moved - self.target.points()[nearest];
                let squared = offset.norm_squared();
                (squared <= limit).then_some(Pair {
                    source: index,
                    target: nearest,
                    offset,
                    squared,
                })
            };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let points = self.source.points().par_iter().enumerate();
        let mut found: Vec<Pair<D>> = points.zip(&mut *known).filter_map(pair).collect();
        // Keep the nearest pairs.
        let missing = self.source.len() - found.len();
        trim(&mut found, self.rule.keep);
        (found, missing)
    }

    /// Index of the target point nearest to a position. The tree is searched only where the triangle inequality does not
    /// exclude the points that are not compared.
    fn nearest(&self, to: &SVector<f64, D>, known: &mut Option<Search<D>>) -> Option<usize> {
        let mut count = 1;
        if let Some(last) = known {
            // One of the candidates of the last search, where all others are farther away
            let (nearest, squared) = self.target.nearest_of(&last.candidates, to);
            let moved = (to - last.position).norm();
            if squared.sqrt() < ROUNDING * last.others - moved {
                return Some(nearest);
            }
            // One of the neighbours of that point, where all others are farther away
            if let Some(near) = self.target.nearest_around(nearest, to)
                && near.distance < ROUNDING * near.others
            {
                *known = Some(Search::new(to, &near));
                return Some(near.nearest);
            }
            // None, where all are farther away than pairs can be
            let farther = ROUNDING * last.others - moved;
            if squared.sqrt().min(farther) > self.rule.max_distance {
                return None;
            }
            count = CANDIDATES;
        }
        // Any point in reach
        let reach = REACH * self.rule.max_distance;
        let (mut candidates, mut squares) = ([0; CANDIDATES], [0.0; CANDIDATES]);
        let found = self.target.tree().nearest(
            to,
            reach * reach,
            &mut candidates[..count],
            &mut squares[..count],
        );
        let nearest = candidates[0];
        candidates[found..].fill(nearest);
        *known = Some(Search {
            position: *to,
            candidates,
            others: if found == count {
                squares[count - 1].sqrt()
            } else {
                reach
            },
        });
        (found > 0).then_some(nearest as usize)
    }
}

impl<const D: usize> Search<D> {
    /// Search that found one point.
    fn new(position: &SVector<f64, D>, near: &NearPoint) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "points are numbered by u32"
        )]
        let nearest = near.nearest as u32;
        Self {
            position: *position,
            candidates: [nearest; CANDIDATES],
            others: near.others,
        }
    }
}

/// Residuals of a pair, a block of `B` for motions `M` with `K` unknowns.
pub(super) trait PairResiduals<M, const D: usize, const K: usize, const B: usize> {
    /// Residuals of a pair and their Jacobian, at a rotation.
    fn block(
        search: &PairSearch<D>,
        rotation: &SMatrix<f64, D, D>,
        pair: &Pair<D>,
    ) -> (SVector<f64, B>, SMatrix<f64, B, K>);
}

/// Least-squares problem of the pairs of two clouds with residuals `R`.
pub(super) struct PairProblem<'a, R, M, const D: usize, const K: usize, const B: usize> {
    search: PairSearch<'a, D>,
    method: PhantomData<(R, M)>,
}

impl<'a, R, M, const D: usize, const K: usize, const B: usize> PairProblem<'a, R, M, D, K, B> {
    /// Problem of two clouds, with the normals that the residuals need.
    pub(super) fn new(
        source: &'a SearchableCloud<D>,
        target: &'a SearchableCloud<D>,
        rule: PairRule,
    ) -> Self {
        Self {
            search: PairSearch::new(source, target, rule),
            method: PhantomData,
        }
    }
}

impl<R, M, const D: usize, const K: usize, const B: usize> LeastSquares
    for PairProblem<'_, R, M, D, K, B>
where
    R: PairResiduals<M, D, K, B> + Sync,
    M: RigidMotion<D, K>,
{
    type State = M;

    fn residuals(&self, motion: &M) -> Residuals {
        self.linearize(motion).residuals
    }

    fn linearize(&self, motion: &M) -> Linearization {
        let (found, missing) = self.search.pairs(motion);
        let rotation = motion.rotation();
        stack(&found, missing, |pair| {
            R::block(&self.search, &rotation, pair)
        })
    }

    fn normal_equations(&self, motion: &M, loss: Loss) -> Option<(NormalEquations, Residuals)> {
        let (found, missing) = self.search.pairs(motion);
        let rotation = motion.rotation();
        let block = |pair: &Pair<D>| R::block(&self.search, &rotation, pair);
        Some(sum(&found, missing, loss, block))
    }
}

/// Removes all but the nearest fraction `keep` of the pairs.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a fraction in (0, 1] of a count"
)]
fn trim<const D: usize>(found: &mut Vec<Pair<D>>, keep: f64) {
    if keep < 1.0 {
        found.sort_by(|a, b| {
            a.squared
                .total_cmp(&b.squared)
                .then(a.source.cmp(&b.source))
        });
        found.truncate((keep * found.len() as f64).ceil() as usize);
    }
}

/// Linearization from one block of `B` residuals and their Jacobian per item, such as a pair.
pub(super) fn stack<T: Sync, const K: usize, const B: usize>(
    items: &[T],
    missing: usize,
    block: impl Fn(&T) -> (SVector<f64, B>, SMatrix<f64, B, K>) + Sync,
) -> Linearization {
    let mut values = vec![0.0; B * items.len()];
    let mut jacobian = vec![0.0; B * K * items.len()];
    let blocks = values
        .par_chunks_exact_mut(B)
        .zip(jacobian.par_chunks_exact_mut(B * K));
    blocks.zip(items).for_each(|((values, jacobian), item)| {
        let (residual, rows) = block(item);
        values.copy_from_slice(residual.as_slice());
        jacobian.copy_from_slice(rows.transpose().as_slice());
    });
    let residuals = Residuals {
        block: B,
        missing,
        ..Residuals::of(values)
    };
    Linearization::new(residuals, K, jacobian)
}

/// Number of items of a partial sum. It does not depend on the number of threads, and neither does the sum.
const PART: usize = 1024;

/// Normal equations from one block of `B` residuals and their Jacobian per item, as [`stack`], and the residuals.
fn sum<T: Sync, const K: usize, const B: usize>(
    items: &[T],
    missing: usize,
    loss: Loss,
    block: impl Fn(&T) -> (SVector<f64, B>, SMatrix<f64, B, K>) + Sync,
) -> (NormalEquations, Residuals) {
    // Sum parts of the items.
    let mut values = vec![0.0; B * items.len()];
    let part = |(values, items): (&mut [f64], &[T])| {
        let (mut matrix, mut gradient) =
            (SMatrix::<f64, K, K>::zeros(), SVector::<f64, K>::zeros());
        for (values, item) in values.chunks_exact_mut(B).zip(items) {
            let (residual, rows) = block(item);
            values.copy_from_slice(residual.as_slice());
            let weight = loss.weight(residual.norm_squared());
            for b in 0..B {
                for i in 0..K {
                    let scaled = weight * rows[(b, i)];
                    gradient[i] += scaled * residual[b];
                    for j in 0..=i {
                        matrix[(j, i)] += scaled * rows[(b, j)];
                    }
                }
            }
        }
        (matrix, gradient)
    };
    let parts: Vec<_> = values
        .par_chunks_mut(B * PART)
        .zip(items.par_chunks(PART))
        .map(part)
        .collect();
    // Add them in their order.
    let matrix: SMatrix<f64, K, K> = parts.iter().map(|(matrix, _)| matrix).sum();
    let gradient: SVector<f64, K> = parts.iter().map(|(_, gradient)| gradient).sum();
    let normal = NormalEquations {
        matrix: DMatrix::from_fn(K, K, |i, j| matrix[(i.min(j), i.max(j))]),
        gradient: DVector::from_column_slice(gradient.as_slice()),
    };
    let residuals = Residuals {
        block: B,
        missing,
        ..Residuals::of(values)
    };
    (normal, residuals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue_physics::{Purpose, Stream};
    use nalgebra::{Isometry3, Point3, Vector3};

    /// Random points of three walls.
    fn walls(seed: u64, count: usize) -> SearchableCloud<3> {
        let mut draw = Stream::new(seed, 0, 0, 0, Purpose::Search);
        let mut wall = |axis: usize| {
            let mut point = Point3::from(Vector3::from_fn(|_, _| 4.0 * draw.uniform()));
            point[axis] = 0.0;
            point
        };
        let points: Vec<_> = (0..count).map(|i| wall(i % 3)).collect();
        SearchableCloud::new(&points)
    }

    /// Motions that become smaller, as in a registration, with and without neighbours of the target points. Some source points are
    /// far from all walls.
    #[test]
    fn pairs_of_successive_motions_are_those_of_an_exhaustive_search() {
        for has_neighbours in [false, true] {
            let (source, mut target) = (walls(1, 200), walls(2, 1500));
            if has_neighbours {
                target.fit_normals::<Isometry3<f64>, 6>(10);
            }
            let rule = PairRule {
                max_distance: f64::INFINITY,
                keep: 1.0,
            };
            let search = PairSearch::new(&source, &target, rule);
            let mut size = 1.0;
            for number in 0..20 {
                let turn = Vector3::new(0.3, -0.2, 0.1) * size;
                let motion = Isometry3::new(Vector3::new(size, -0.5 * size, 0.2), turn);
                let (pairs, missing) = search.pairs(&motion);
                assert_eq!([pairs.len(), missing], [200, 0]);
                for pair in &pairs {
                    let moved =
                        motion.rotation * source.points()[pair.source] + motion.translation.vector;
                    let squared = target.points().iter().map(|p| (moved - p).norm_squared());
                    let least = squared.fold(f64::INFINITY, f64::min);
                    // The rotation of the pairs is a matrix
                    assert!((pair.squared - least).abs() < 1e-12, "{number}: {pair:?}");
                }
                size *= 0.6;
            }
        }
    }
}

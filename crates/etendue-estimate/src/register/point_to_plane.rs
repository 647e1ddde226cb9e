//! Point-to-plane ICP (Chen and Medioni 1992, doi:10.1016/0262-8856(92)90066-C).

use super::cloud::SearchableCloud;
use super::pairs::{PairRule, PairSearch, stack};
use super::rigid_motion::RigidMotion;
use crate::solve::{LeastSquares, Linearization, Residuals};
use nalgebra::SVector;
use std::marker::PhantomData;

/// Point-to-plane residuals $r = n \cdot (T p - q)$, m, with $q$ the target point nearest to $T p$
/// and $n$ the normal there.
pub(super) struct PointToPlane<'a, M, const D: usize, const K: usize> {
    search: PairSearch<'a, D>,
    motion: PhantomData<M>,
}

impl<'a, M, const D: usize, const K: usize> PointToPlane<'a, M, D, K> {
    /// Residuals of a cloud and a target with normals.
    pub(super) fn new(
        source: &'a SearchableCloud<D>,
        target: &'a SearchableCloud<D>,
        rule: PairRule,
    ) -> Self {
        Self {
            search: PairSearch::new(source, target, rule),
            motion: PhantomData,
        }
    }
}

impl<M: RigidMotion<D, K>, const D: usize, const K: usize> LeastSquares
    for PointToPlane<'_, M, D, K>
{
    type State = M;

    fn residuals(&self, motion: &M) -> Residuals {
        self.linearize(motion).residuals
    }

    fn linearize(&self, motion: &M) -> Linearization {
        let (found, missing) = self.search.pairs(motion);
        let rotation = motion.rotation();
        stack(&found, missing, |pair| {
            let normal = &self.search.target.normals()[pair.target];
            let point = &self.search.source.points()[pair.source];
            let distance = SVector::<f64, 1>::new(normal.dot(&pair.offset));
            (
                distance,
                normal.transpose() * M::derivative(&rotation, point),
            )
        })
    }
}

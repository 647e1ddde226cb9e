//! Point-to-plane ICP (Chen and Medioni 1992, doi:10.1016/0262-8856(92)90066-C).

use super::cloud::SearchableCloud;
use super::pairs::{Pair, PairRule, PairSearch, stack, sum};
use super::rigid_motion::RigidMotion;
use crate::solve::{LeastSquares, Linearization, Loss, NormalEquations, Residuals};
use nalgebra::{SMatrix, SVector};
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

impl<M: RigidMotion<D, K>, const D: usize, const K: usize> PointToPlane<'_, M, D, K> {
    /// Residuals of a pair and their Jacobian, at a rotation.
    fn block(
        &self,
        rotation: &SMatrix<f64, D, D>,
        pair: &Pair<D>,
    ) -> (SVector<f64, 1>, SMatrix<f64, 1, K>) {
        let normal = &self.search.target.normals()[pair.target];
        let point = &self.search.source.points()[pair.source];
        let distance = SVector::<f64, 1>::new(normal.dot(&pair.offset));
        (
            distance,
            normal.transpose() * M::derivative(rotation, point),
        )
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
        stack(&found, missing, |pair| self.block(&rotation, pair))
    }

    fn normal_equations(&self, motion: &M, loss: Loss) -> Option<(NormalEquations, Residuals)> {
        let (found, missing) = self.search.pairs(motion);
        let rotation = motion.rotation();
        Some(sum(&found, missing, loss, |pair| {
            self.block(&rotation, pair)
        }))
    }
}

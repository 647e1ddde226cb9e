//! Point-to-point ICP (Besl and McKay 1992, doi:10.1109/34.121791).

use super::cloud::SearchableCloud;
use super::pairs::{Pair, PairRule, PairSearch, stack, sum};
use super::rigid_motion::RigidMotion;
use crate::solve::{LeastSquares, Linearization, Loss, NormalEquations, Residuals};
use nalgebra::{SMatrix, SVector};
use std::marker::PhantomData;

/// Point-to-point residuals $r = T p - q$, m, with $q$ the target point nearest to $T p$.
pub(super) struct PointToPoint<'a, M, const D: usize, const K: usize> {
    search: PairSearch<'a, D>,
    motion: PhantomData<M>,
}

impl<'a, M, const D: usize, const K: usize> PointToPoint<'a, M, D, K> {
    /// Residuals of two clouds.
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

impl<M: RigidMotion<D, K>, const D: usize, const K: usize> PointToPoint<'_, M, D, K> {
    /// Residuals of a pair and their Jacobian, at a rotation.
    fn block(
        &self,
        rotation: &SMatrix<f64, D, D>,
        pair: &Pair<D>,
    ) -> (SVector<f64, D>, SMatrix<f64, D, K>) {
        let point = &self.search.source.points()[pair.source];
        (pair.offset, M::derivative(rotation, point))
    }
}

impl<M: RigidMotion<D, K>, const D: usize, const K: usize> LeastSquares
    for PointToPoint<'_, M, D, K>
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

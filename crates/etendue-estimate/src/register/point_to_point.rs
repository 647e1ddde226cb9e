//! Point-to-point ICP (Besl and McKay 1992, doi:10.1109/34.121791).

use super::pairs::{Pair, PairResiduals, PairSearch};
use super::rigid_motion::RigidMotion;
use nalgebra::{SMatrix, SVector};

/// Point-to-point residuals $r = T p - q$, m, with $q$ the target point nearest to $T p$.
pub(super) struct PointToPoint;

impl<M: RigidMotion<D, K>, const D: usize, const K: usize> PairResiduals<M, D, K, D>
    for PointToPoint
{
    fn block(
        search: &PairSearch<D>,
        rotation: &SMatrix<f64, D, D>,
        pair: &Pair<D>,
    ) -> (SVector<f64, D>, SMatrix<f64, D, K>) {
        let point = &search.source.points()[pair.source];
        (pair.offset, M::derivative(rotation, point))
    }
}

//! Point-to-plane ICP (Chen and Medioni 1992, doi:10.1016/0262-8856(92)90066-C).

use super::pairs::{Pair, PairResiduals, PairSearch};
use super::rigid_motion::RigidMotion;
use nalgebra::{SMatrix, SVector};

/// Point-to-plane residuals $r = n \cdot (T p - q)$, m, with $q$ the target point nearest to $T p$
/// and $n$ the normal there.
pub(super) struct PointToPlane;

impl<M: RigidMotion<D, K>, const D: usize, const K: usize> PairResiduals<M, D, K, 1>
    for PointToPlane
{
    fn block(
        search: &PairSearch<D>,
        rotation: &SMatrix<f64, D, D>,
        pair: &Pair<D>,
    ) -> (SVector<f64, 1>, SMatrix<f64, 1, K>) {
        let normal = &search.target.normals()[pair.target];
        let point = &search.source.points()[pair.source];
        let distance = SVector::<f64, 1>::new(normal.dot(&pair.offset));
        (
            distance,
            normal.transpose() * M::derivative(rotation, point),
        )
    }
}

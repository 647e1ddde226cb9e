//! Poses as manifolds: steps are body-fixed twists, $T \mapsto T \exp(\delta)$.

use super::space::Manifold;
use super::{se2, se3};
use etendue_physics::{Dual, DualParts};
use nalgebra::{DMatrix, Isometry2, Isometry3, Vector3, Vector6};

/// Steps are twists $(v_x, v_y, \omega)$ in the body frame (m, m, rad).
impl Manifold for Isometry2<f64> {
    fn dimension(&self) -> usize {
        3
    }

    fn retract(&self, tangent: &[f64]) -> Self {
        let mut pose = self * se2::exp(&Vector3::from_column_slice(tangent));
        pose.rotation.renormalize();
        pose
    }

    fn local(&self, other: &Self) -> Vec<f64> {
        se2::log(&(self.inverse() * other)).as_slice().to_vec()
    }

    fn right_jacobian(&self, tangent: &[f64]) -> DMatrix<f64> {
        let twist = Vector3::from_column_slice(tangent);
        let back = se2::exp(&-twist).cast::<Dual<3>>();
        let moved = Vector3::from_fn(|i, _| Dual::<3>::variable(twist[i], i));
        let step = se2::log(&(back * se2::exp(&moved)));
        DMatrix::from_fn(3, 3, |row, column| step[row].gradient()[column])
    }
}

/// Steps are twists $(v, \omega)$ in the body frame (m, rad).
impl Manifold for Isometry3<f64> {
    fn dimension(&self) -> usize {
        6
    }

    fn retract(&self, tangent: &[f64]) -> Self {
        let mut pose = self * se3::exp(&Vector6::from_column_slice(tangent));
        pose.rotation.renormalize();
        pose
    }

    fn local(&self, other: &Self) -> Vec<f64> {
        se3::log(&(self.inverse() * other)).as_slice().to_vec()
    }

    fn right_jacobian(&self, tangent: &[f64]) -> DMatrix<f64> {
        let twist = Vector6::from_column_slice(tangent);
        let back = se3::exp(&-twist).cast::<Dual<6>>();
        let moved = Vector6::from_fn(|i, _| Dual::<6>::variable(twist[i], i));
        let step = se3::log(&(back * se3::exp(&moved)));
        DMatrix::from_fn(6, 6, |row, column| step[row].gradient()[column])
    }
}

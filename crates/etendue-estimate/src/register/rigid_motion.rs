//! Rigid motions in the plane and in space.

use super::registration::{CloudPair, RegisterError, Registration, RegistrationResult};
use crate::geometry::EigenDecomposition;
use crate::manifold::Manifold;
use nalgebra::{
    Isometry2, Isometry3, Matrix2, Matrix2x3, Matrix3, Matrix3x6, Point, Point2, Point3, SMatrix,
    SVector, Translation2, Translation3,
};

/// Distance from the origin above which clouds are registered about a point of the target, m. Rotations about a distant
/// origin make the normal equations ill-conditioned.
const FAR: f64 = 1000.0;

/// Rigid motion of `D`-dimensional points, with `K` degrees of freedom.
pub trait RigidMotion<const D: usize, const K: usize>: Manifold + Copy + Sync {
    /// Rotation matrix.
    fn rotation(&self) -> SMatrix<f64, D, D>;

    /// Translation, m.
    fn translation(&self) -> SVector<f64, D>;

    /// This motion of points whose coordinates are relative to `point`.
    #[must_use]
    fn about(&self, point: &SVector<f64, D>) -> Self;

    /// Derivative of the image of a point by a body-fixed twist (m, rad), at a rotation.
    fn derivative(rotation: &SMatrix<f64, D, D>, point: &SVector<f64, D>) -> SMatrix<f64, D, K>;

    /// Eigenvalues and eigenvectors (columns) of a symmetric matrix.
    fn eigen(matrix: &SMatrix<f64, D, D>) -> (SVector<f64, D>, SMatrix<f64, D, D>);

    /// Unit eigenvector of the least eigenvalue of a symmetric matrix: the normal of the plane of points with this covariance.
    fn normal(matrix: &SMatrix<f64, D, D>) -> SVector<f64, D>;

    /// [`Registration::register_in_stages`] of this motion. The implementations are not generic, so that
    /// registration is compiled in this crate and not again in every crate that uses it.
    ///
    /// # Errors
    /// As [`Registration::register_in_stages`].
    fn register(
        stages: &[Registration],
        source: &[Point<f64, D>],
        target: &[Point<f64, D>],
        start: Self,
    ) -> Result<RegistrationResult<Self>, RegisterError>;
}

/// The point about which clouds are registered: one of the target if that is far from the origin, else the origin.
fn pivot<const D: usize>(target: &[Point<f64, D>]) -> SVector<f64, D> {
    let mut finite = target.iter().map(|point| point.coords);
    let first = finite.find(|point| point.iter().all(|coordinate| coordinate.is_finite()));
    first
        .filter(|point| point.amax() > FAR)
        .unwrap_or_else(SVector::zeros)
}

/// Registers clouds about the [`pivot`] of the target.
fn register_about_target<M: RigidMotion<D, K>, const D: usize, const K: usize>(
    stages: &[Registration],
    source: &[Point<f64, D>],
    target: &[Point<f64, D>],
    start: M,
) -> Result<RegistrationResult<M>, RegisterError> {
    // Register the points relative to the pivot.
    let pivot = pivot(target);
    let [source, target] = [source, target].map(|points| {
        let moved = points.iter().map(|point| point - pivot);
        moved.collect::<Vec<_>>()
    });
    let mut found = CloudPair::new(&source, &target).register(stages, start.about(&pivot))?;
    // Convert the motions to those of the given points.
    let origin = -pivot;
    found.target_from_source = found.target_from_source.about(&origin);
    for iteration in &mut found.log {
        iteration.state = iteration.state.about(&origin);
    }
    Ok(found)
}

impl RigidMotion<2, 3> for Isometry2<f64> {
    fn rotation(&self) -> Matrix2<f64> {
        *self.rotation.to_rotation_matrix().matrix()
    }

    fn translation(&self) -> SVector<f64, 2> {
        self.translation.vector
    }

    fn about(&self, point: &SVector<f64, 2>) -> Self {
        Translation2::from(-point) * self * Translation2::from(*point)
    }

    /// $R\\,[\\,I \mid (-y, x)^\top]$
    fn derivative(rotation: &Matrix2<f64>, point: &SVector<f64, 2>) -> Matrix2x3<f64> {
        rotation * Matrix2x3::new(1.0, 0.0, -point.y, 0.0, 1.0, point.x)
    }

    fn eigen(matrix: &Matrix2<f64>) -> (SVector<f64, 2>, Matrix2<f64>) {
        let eigen = matrix.symmetric_eigen();
        (eigen.eigenvalues, eigen.eigenvectors)
    }

    fn normal(matrix: &Matrix2<f64>) -> SVector<f64, 2> {
        let (values, vectors) = Self::eigen(matrix);
        vectors.column(values.imin()).into_owned()
    }

    fn register(
        stages: &[Registration],
        source: &[Point2<f64>],
        target: &[Point2<f64>],
        start: Self,
    ) -> Result<RegistrationResult<Self>, RegisterError> {
        register_about_target(stages, source, target, start)
    }
}

impl RigidMotion<3, 6> for Isometry3<f64> {
    fn rotation(&self) -> Matrix3<f64> {
        *self.rotation.to_rotation_matrix().matrix()
    }

    fn translation(&self) -> SVector<f64, 3> {
        self.translation.vector
    }

    fn about(&self, point: &SVector<f64, 3>) -> Self {
        Translation3::from(-point) * self * Translation3::from(*point)
    }

    /// $R\\,[\\,I \mid -\[p\]_\times]$
    fn derivative(rotation: &Matrix3<f64>, point: &SVector<f64, 3>) -> Matrix3x6<f64> {
        let mut derivative = Matrix3x6::zeros();
        derivative.fixed_columns_mut::<3>(0).copy_from(rotation);
        let by_rotation = -rotation * point.cross_matrix();
        derivative.fixed_columns_mut::<3>(3).copy_from(&by_rotation);
        derivative
    }

    fn eigen(matrix: &Matrix3<f64>) -> (SVector<f64, 3>, Matrix3<f64>) {
        let eigen = EigenDecomposition::of(matrix);
        (eigen.values.into(), Matrix3::from_columns(&eigen.vectors))
    }

    fn normal(matrix: &Matrix3<f64>) -> SVector<f64, 3> {
        EigenDecomposition::least_vector_of(matrix)
    }

    fn register(
        stages: &[Registration],
        source: &[Point3<f64>],
        target: &[Point3<f64>],
        start: Self,
    ) -> Result<RegistrationResult<Self>, RegisterError> {
        register_about_target(stages, source, target, start)
    }
}

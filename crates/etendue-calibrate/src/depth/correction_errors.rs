//! Independent errors of a depth correction.

use super::DepthModel;
use nalgebra::{DMatrix, DVector};

/// Incidences at which errors are compared, degrees.
const INCIDENCES_DEG: [f64; 18] = [
    0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0, 70.0, 75.0,
    80.0, 85.0,
];

/// The two largest independent errors of corrected depths, m, each with the size of one standard deviation, as a function of depth
/// (m) and incidence (rad). `covariance` is that of the weights of the model, `depth` (m) a typical one.
///
/// With the derivatives $S$ of the corrected depths over incidence by the weights, and the covariance $L L^\\top$ of the weights, the
/// errors are the columns of $S L V$ for the singular value decomposition $S L = U D V^\\top$. Where a model has more than
/// two weights, the two are increased so that the sum of their squares over incidence is that of all.
///
/// ```
/// use etendue_calibrate::depth::{DepthModel, LinearBias, correction_errors};
/// use nalgebra::{DMatrix, DVector};
/// // A bias whose constant term is known to 1 mm.
/// let model = DepthModel::Linear(LinearBias::default());
/// let covariance = DMatrix::from_diagonal(&DVector::from_vec(vec![0.0, 0.0, 1e-6]));
/// let errors = correction_errors(&model, &covariance, 4.0);
/// let [first, second] = errors(2.0, 0.5);
/// assert!((first.hypot(second) - 1e-3).abs() < 1e-9);
/// ```
pub fn correction_errors<'a>(
    model: &'a DepthModel,
    covariance: &DMatrix<f64>,
    depth: f64,
) -> impl Fn(f64, f64) -> [f64; 2] + 'a {
    let directions = directions(model, covariance, depth);
    move |depth, incidence| {
        let slopes = slopes(model, depth, incidence);
        directions.each_ref().map(|direction| slopes.dot(direction))
    }
}

/// Derivatives of a corrected depth by the weights.
fn slopes(model: &DepthModel, depth: f64, incidence: f64) -> DVector<f64> {
    let mut slopes = DVector::zeros(model.weight_count());
    model.correct_with_slopes(depth, incidence, slopes.as_mut_slice());
    slopes
}

/// Changes of the weights by the two errors.
fn directions(model: &DepthModel, covariance: &DMatrix<f64>, depth: f64) -> [DVector<f64>; 2] {
    // Root of the covariance of the weights, which can be singular.
    let eigen = covariance.clone().symmetric_eigen();
    let root = &eigen.eigenvectors
        * DMatrix::from_diagonal(&eigen.eigenvalues.map(|value| value.max(0.0).sqrt()));

    // Errors over incidence by independent changes of the weights, the largest first.
    let count = model.weight_count();
    let derivatives = DMatrix::from_fn(INCIDENCES_DEG.len(), count, |row, column| {
        slopes(model, depth, INCIDENCES_DEG[row].to_radians())[column]
    });
    let of_errors = (&derivatives * &root).svd(false, true);
    let Some(turned) = of_errors.v_t else {
        return [DVector::zeros(count), DVector::zeros(count)];
    };
    let mut order: Vec<usize> = (0..turned.nrows()).collect();
    let size = |number: &usize| of_errors.singular_values[*number];
    order.sort_by(|a, b| size(b).total_cmp(&size(a)));

    // The two largest, increased by what the others have.
    let squares = |numbers: &[usize]| numbers.iter().map(|n| size(n).powi(2)).sum::<f64>();
    let kept = squares(&order[..order.len().min(2)]);
    let factor = if kept > 0.0 {
        (squares(&order) / kept).sqrt()
    } else {
        0.0
    };
    [0, 1].map(|rank| {
        order.get(rank).map_or(DVector::zeros(count), |number| {
            &root * turned.row(*number).transpose() * factor
        })
    })
}

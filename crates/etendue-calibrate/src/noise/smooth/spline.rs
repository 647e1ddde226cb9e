//! Penalised splines.

use super::basis::SplineBasis;
use nalgebra::{DMatrix, DVector};

/// A weighted value at an incidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveObservation {
    /// Incidence, rad.
    pub x: f64,
    /// The value; for a probability, the observed fraction.
    pub y: f64,
    /// Its weight: the inverse variance; for a probability, the number of independent samples.
    pub weight: f64,
    /// Index of its fold in cross-validation.
    pub fold: usize,
}

/// Link function between the spline and the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkFunction {
    /// The value itself.
    Identity,
    /// The logit of a probability, with binomial likelihood.
    Logit,
}

/// A smooth curve over incidence.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothCurve {
    basis: SplineBasis,
    coefficients: Vec<f64>,
    link: LinkFunction,
    /// Inverse of the penalised normal matrix; only of curves with the identity as link.
    covariance: Option<DMatrix<f64>>,
    /// Penalty selected by cross-validation.
    pub penalty: f64,
    /// Cross-validation score relative to that of the stiffest curve; below 1 if the data require
    /// curvature.
    pub gain: f64,
}

/// Candidate penalties, relative to the weight of the data.
const PENALTIES: [f64; 9] = [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e5];

/// Least local weight of the penalty relative to its mean: bridges gaps in the data.
const LIGHTEST: f64 = 1e-6;

/// Independent samples added to each probability, half of them dropped: keeps the logit of certain
/// outcomes finite.
const PRIOR: f64 = 0.02;

impl SmoothCurve {
    /// Value at an incidence (rad); constant beyond the data.
    pub fn at(&self, x: f64) -> f64 {
        let value = self.basis.value(&self.coefficients, x);
        match self.link {
            LinkFunction::Identity => value,
            LinkFunction::Logit => logistic(value),
        }
    }

    /// Variance at an incidence (rad) for weights that are inverse variances of independent observations:
    /// $b^\top(B^\top WB+\lambda P)^{-1}b$ with the basis $b$ there, which includes the error by
    /// smoothing in the mean over the curve (Nychka 1988, doi:10.1080/01621459.1988.10478711). Zero for
    /// other links than the identity.
    pub fn variance(&self, x: f64) -> f64 {
        let Some(covariance) = &self.covariance else {
            return 0.0;
        };
        let (first, values) = self.basis.at(x);
        let mut sum = 0.0;
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                sum += a * b * covariance[(first + i, first + j)];
            }
        }
        sum
    }
}

/// Fits a P-spline (Eilers and Marx 1996, doi:10.1214/ss/1038425655) with the penalty that predicts
/// left-out folds best; `None` without observations. `piece` is the length of its pieces.
///
/// Folds should be regions of a panel instead of single beams, so that the curve contains only the
/// variation common to all regions, without dents.
pub fn fit_curve(
    observations: &[CurveObservation],
    piece: f64,
    link: LinkFunction,
) -> Option<SmoothCurve> {
    if observations.is_empty() {
        return None;
    }
    let x = || observations.iter().map(|o| o.x);
    let low = x().fold(f64::INFINITY, f64::min);
    let high = x().fold(f64::NEG_INFINITY, f64::max);
    let basis = SplineBasis::new(low, high.max(low + 1e-3), piece);

    // Select the penalty by cross-validation
    let folds = observations.iter().map(|o| o.fold).max().unwrap_or(0) + 1;
    let score = |penalty: f64| -> f64 {
        (0..folds)
            .map(|fold| fold_loss(observations, &basis, link, penalty, fold))
            .sum()
    };
    let scores = PENALTIES.map(score);
    let stiffest = scores[PENALTIES.len() - 1];
    let best = (0..PENALTIES.len()).min_by(|a, b| scores[*a].total_cmp(&scores[*b]))?;

    // Fit all observations
    let coefficients = coefficients(observations, &basis, link, PENALTIES[best])?;
    let covariance = match link {
        LinkFunction::Identity => {
            let (matrix, _) = normal_equations(observations, &basis, PENALTIES[best], None);
            matrix.cholesky().map(|cholesky| cholesky.inverse())
        }
        LinkFunction::Logit => None,
    };
    Some(SmoothCurve {
        basis,
        coefficients,
        link,
        covariance,
        penalty: PENALTIES[best],
        gain: scores[best] / stiffest.max(1e-300),
    })
}

/// Loss of the prediction of a fold by the others: weighted squares, or negative log-likelihood.
fn fold_loss(
    observations: &[CurveObservation],
    basis: &SplineBasis,
    link: LinkFunction,
    penalty: f64,
    fold: usize,
) -> f64 {
    let others = observations.iter().filter(|o| o.fold != fold);
    let others: Vec<CurveObservation> = others.copied().collect();
    let Some(coefficients) = coefficients(&others, basis, link, penalty) else {
        return 0.0;
    };
    let loss = |o: &CurveObservation| {
        let value = basis.value(&coefficients, o.x);
        match link {
            LinkFunction::Identity => o.weight * (o.y - value).powi(2),
            LinkFunction::Logit => {
                let p = logistic(value).clamp(1e-6, 1.0 - 1e-6);
                -o.weight * (o.y * p.ln() + (1.0 - o.y) * (1.0 - p).ln())
            }
        }
    };
    let fold = observations.iter().filter(|o| o.fold == fold);
    fold.map(loss).sum()
}

/// Coefficients of the splines for a link function and a penalty.
fn coefficients(
    observations: &[CurveObservation],
    basis: &SplineBasis,
    link: LinkFunction,
    penalty: f64,
) -> Option<Vec<f64>> {
    match link {
        LinkFunction::Identity => solve(observations, basis, penalty, None),
        LinkFunction::Logit => logit_coefficients(observations, basis, penalty),
    }
}

/// Penalised weighted least squares.
fn solve(
    observations: &[CurveObservation],
    basis: &SplineBasis,
    penalty: f64,
    ridge: Option<f64>,
) -> Option<Vec<f64>> {
    let (matrix, vector) = normal_equations(observations, basis, penalty, ridge);
    let solved = matrix.cholesky()?.solve(&vector);
    Some(solved.iter().copied().collect())
}

/// Matrix and vector of penalised weighted least squares. Without a ridge, the penalty is locally proportional to the weight of
/// the data, so that a region with a hundred times the noise, such as the end of a panel, has the same
/// flexibility (a spatially adaptive penalty; Ruppert and Carroll 2000, doi:10.1111/1467-842X.00119).
fn normal_equations(
    observations: &[CurveObservation],
    basis: &SplineBasis,
    penalty: f64,
    ridge: Option<f64>,
) -> (DMatrix<f64>, DVector<f64>) {
    // Normal equations
    let count = basis.count();
    let mut matrix: DMatrix<f64> = DMatrix::zeros(count, count);
    let mut vector = DVector::zeros(count);
    for observation in observations {
        let (first, values) = basis.at(observation.x);
        for (i, a) in values.iter().enumerate() {
            vector[first + i] += observation.weight * observation.y * a;
            for (j, b) in values.iter().enumerate() {
                matrix[(first + i, first + j)] += observation.weight * a * b;
            }
        }
    }

    // Penalty, scaled by the local or the mean weight of the data
    let scale = (matrix.trace() / count as f64).max(1e-300);
    let local_weight = |spline: usize| {
        let three = [spline - 1, spline, spline + 1].map(|at| matrix[(at, at)]);
        (three.iter().sum::<f64>() / 3.0).max(LIGHTEST * scale)
    };
    let stiffness = basis.penalty(|spline| match ridge {
        None => local_weight(spline),
        Some(_) => scale,
    });
    matrix += stiffness * penalty;
    for i in 0..count {
        matrix[(i, i)] += ridge.unwrap_or(1e-9) * scale;
    }
    (matrix, vector)
}

/// Iteratively reweighted least squares of a binomial model (McCullagh and Nelder 1989, "Generalized linear
/// models", section 2.5).
fn logit_coefficients(
    observations: &[CurveObservation],
    basis: &SplineBasis,
    penalty: f64,
) -> Option<Vec<f64>> {
    // Iterate weighted least squares.
    let fraction = |o: &CurveObservation| (o.y * o.weight + 0.5 * PRIOR) / (o.weight + PRIOR);
    let mut coefficients = vec![0.0; basis.count()];
    for _ in 0..12 {
        // Linearize the logistic function at the current curve.
        let working = |o: &CurveObservation| {
            let value = basis.value(&coefficients, o.x).clamp(-12.0, 12.0);
            let p = logistic(value);
            let variance = (p * (1.0 - p)).max(1e-5);
            CurveObservation {
                y: (value + (fraction(o) - p) / variance).clamp(-14.0, 14.0),
                weight: (o.weight + PRIOR) * variance,
                ..*o
            }
        };
        let working: Vec<CurveObservation> = observations.iter().map(working).collect();
        // Solve, until the coefficients change no more.
        let next = solve(&working, basis, penalty, Some(1e-6))?;
        let changes = next.iter().zip(&coefficients).map(|(a, b)| (a - b).abs());
        let greatest = changes.fold(0.0, f64::max);
        coefficients = next;
        if greatest < 1e-4 {
            break;
        }
    }
    Some(coefficients)
}

/// $1/(1+e^{-x})$.
fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

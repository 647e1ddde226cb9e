//! Penalised splines.

use super::Basis;
use nalgebra::{DMatrix, DVector};

/// A value with its weight, at an incidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Incidence, rad.
    pub x: f64,
    /// The value; of a probability, the share.
    pub y: f64,
    /// Its weight: one over its variance; of a probability, the number of independent samples.
    pub weight: f64,
    /// Which part it is left out with in cross-validation.
    pub fold: usize,
}

/// What the spline runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The value itself.
    Identity,
    /// The logit of a probability, with binomial likelihood.
    Logit,
}

/// A smooth curve over incidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    basis: Basis,
    coefficients: Vec<f64>,
    link: Link,
    /// The penalty that cross-validation chose.
    pub penalty: f64,
    /// Its score, relative to that of the stiffest curve: below 1, bending pays.
    pub gain: f64,
}

/// Penalties tried, relative to the data's weight.
const PENALTIES: [f64; 9] = [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e5];

/// Where fewer data lie, the penalty weighs this share of the usual at least: gaps are bridged.
const LIGHTEST: f64 = 1e-6;

/// Independent samples added to each probability, half of them dropped: keeps certain ones finite.
const PRIOR: f64 = 0.02;

impl Curve {
    /// The value at an incidence, rad; beyond the data, that at their edge.
    pub fn at(&self, x: f64) -> f64 {
        let value = self.basis.value(&self.coefficients, x);
        match self.link {
            Link::Identity => value,
            Link::Logit => logistic(value),
        }
    }
}

/// The curve through some observations whose stiffness predicts left-out folds best (P-splines,
/// Eilers and Marx 1996); none without observations.
///
/// Folds should be pieces of panel, not single beams: then what is kept is what other pieces share,
/// and one dent does not become the material.
pub fn fit_curve(observations: &[Observation], piece: f64, link: Link) -> Option<Curve> {
    let low = observations
        .iter()
        .map(|o| o.x)
        .fold(f64::INFINITY, f64::min);
    let high = observations
        .iter()
        .map(|o| o.x)
        .fold(f64::NEG_INFINITY, f64::max);
    if observations.is_empty() {
        return None;
    }
    let basis = Basis::new(low, high.max(low + 1e-3), piece);
    let folds = observations.iter().map(|o| o.fold).max().unwrap_or(0) + 1;
    let score = |penalty: f64| -> f64 {
        (0..folds)
            .map(|fold| left_out(observations, &basis, link, penalty, fold))
            .sum()
    };
    let scores = PENALTIES.map(score);
    let stiffest = scores[PENALTIES.len() - 1];
    let best = (0..PENALTIES.len()).min_by(|a, b| scores[*a].total_cmp(&scores[*b]))?;
    let coefficients = coefficients(observations, &basis, link, PENALTIES[best])?;
    Some(Curve {
        basis,
        coefficients,
        link,
        penalty: PENALTIES[best],
        gain: scores[best] / stiffest.max(1e-300),
    })
}

/// How badly a fold is predicted by the others.
fn left_out(
    observations: &[Observation],
    basis: &Basis,
    link: Link,
    penalty: f64,
    fold: usize,
) -> f64 {
    let others: Vec<Observation> = { observations.iter() }
        .filter(|o| o.fold != fold)
        .copied()
        .collect();
    let Some(coefficients) = coefficients(&others, basis, link, penalty) else {
        return 0.0;
    };
    let miss = |o: &Observation| {
        let value = basis.value(&coefficients, o.x);
        match link {
            Link::Identity => o.weight * (o.y - value).powi(2),
            Link::Logit => {
                let p = logistic(value).clamp(1e-6, 1.0 - 1e-6);
                -o.weight * (o.y * p.ln() + (1.0 - o.y) * (1.0 - p).ln())
            }
        }
    };
    { observations.iter().filter(|o| o.fold == fold) }
        .map(miss)
        .sum()
}

fn coefficients(
    observations: &[Observation],
    basis: &Basis,
    link: Link,
    penalty: f64,
) -> Option<Vec<f64>> {
    match link {
        Link::Identity => solve(observations, basis, penalty, None),
        Link::Logit => logit_coefficients(observations, basis, penalty),
    }
}

/// Weighted least squares with a penalty. Without a ridge, the curve is as stiff as the data about it
/// weigh: where noise is a hundred times that of elsewhere, as at the end of a panel, it bends as
/// easily, and is not held straight by a penalty that suits the rest (as spatially adaptive ones,
/// Ruppert and Carroll 2000, doi:10.1111/1467-842X.00119).
fn solve(
    observations: &[Observation],
    basis: &Basis,
    penalty: f64,
    ridge: Option<f64>,
) -> Option<Vec<f64>> {
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
    let scale = (matrix.trace() / count as f64).max(1e-300);
    let about = |spline: usize| {
        let three = [spline - 1, spline, spline + 1].map(|at| matrix[(at, at)]);
        (three.iter().sum::<f64>() / 3.0).max(LIGHTEST * scale)
    };
    let stiffness = basis.penalty(|spline| match ridge {
        None => about(spline),
        Some(_) => scale,
    });
    matrix += stiffness * penalty;
    for i in 0..count {
        matrix[(i, i)] += ridge.unwrap_or(1e-9) * scale;
    }
    let solved = matrix.cholesky()?.solve(&vector);
    Some(solved.iter().copied().collect())
}

/// Iteratively re-weighted least squares of a binomial model (McCullagh and Nelder 1989).
fn logit_coefficients(
    observations: &[Observation],
    basis: &Basis,
    penalty: f64,
) -> Option<Vec<f64>> {
    let share = |o: &Observation| (o.y * o.weight + 0.5 * PRIOR) / (o.weight + PRIOR);
    let mut coefficients = vec![0.0; basis.count()];
    for _ in 0..12 {
        let working = |o: &Observation| {
            let value = basis.value(&coefficients, o.x).clamp(-12.0, 12.0);
            let p = logistic(value);
            let variance = (p * (1.0 - p)).max(1e-5);
            Observation {
                y: (value + (share(o) - p) / variance).clamp(-14.0, 14.0),
                weight: (o.weight + PRIOR) * variance,
                ..*o
            }
        };
        let working: Vec<Observation> = observations.iter().map(working).collect();
        let next = solve(&working, basis, penalty, Some(1e-6))?;
        let moved = { next.iter().zip(&coefficients) }
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        coefficients = next;
        if moved < 1e-4 {
            break;
        }
    }
    Some(coefficients)
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

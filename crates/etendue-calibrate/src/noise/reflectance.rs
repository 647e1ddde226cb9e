//! Fit of the reflectance model for gaps and extrapolation.

use super::statistics::IncidenceBin;
use etendue_physics::profile::{DropOutModel, Facets, IntensityKind, ReflectanceModel};

/// A fitted reflectance model with its deviance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReflectanceFit {
    /// The model.
    pub model: ReflectanceModel,
    /// Deviance of the drop-out: twice the difference of log-likelihood to a model with a separate drop-out
    /// for each bin.
    pub deviance: f64,
    /// Whether it was fitted to intensities; otherwise to drop-outs.
    pub from_intensity: bool,
}

/// Greatest slope of the drop-out, per unit of ln P.
const STEEPEST: f64 = 60.0;

/// Fits slope of the facets, gloss and the logistic function of the drop-out to the bins of a panel.
///
/// The candidates are a grid of Oren-Nayar models, with and without GGX facets. For each, the logistic
/// function is fitted by Newton's method with a weak prior. For a continuous intensity, the best candidate
/// has the least misfit of its logarithm; otherwise the least deviance of the drop-out. Each parameter adds
/// a penalty of 2 (Akaike 1974, doi:10.1109/TAC.1974.1100705). A panel without drop-outs is Lambertian.
///
/// `drop_correlation` is the correlation of the drop-outs of one direction in bins that do not determine
/// it.
pub fn fit_reflectance(
    bins: &[IncidenceBin],
    intensity: IntensityKind,
    drop_correlation: f64,
) -> ReflectanceFit {
    let from_intensity = intensity == IntensityKind::Continuous;
    let mut best: Option<(f64, ReflectanceFit)> = None;
    for Candidate { parameters, shape } in candidates() {
        // Fit the drop-out over the power of the candidate
        let powers: Vec<f64> = bins.iter().map(|bin| shape.power(bin.incidence)).collect();
        let (drop_out, deviance) = fit_logistic(bins, &powers, drop_correlation);

        // Keep the candidate with the least penalised misfit
        let misfit = if from_intensity {
            intensity_misfit(bins, &powers)
        } else {
            deviance
        };
        let score = misfit + 2.0 * parameters;
        if best.is_none_or(|(least, _)| score < least - 1e-9) {
            let model = ReflectanceModel { drop_out, ..shape };
            let fit = ReflectanceFit {
                model,
                deviance,
                from_intensity,
            };
            best = Some((score, fit));
        }
    }
    best.map_or_else(
        || ReflectanceFit {
            model: ReflectanceModel::default(),
            deviance: 0.0,
            from_intensity,
        },
        |(_, fit)| fit,
    )
}

/// A candidate of the shape of the reflectance over incidence.
struct Candidate {
    /// Number of free parameters.
    parameters: f64,
    shape: ReflectanceModel,
}

/// The candidates of the shape.
fn candidates() -> Vec<Candidate> {
    let candidate = |parameters, slope_sd, facets| Candidate {
        parameters,
        shape: ReflectanceModel {
            slope_sd,
            facets,
            ..ReflectanceModel::default()
        },
    };
    let mut candidates = vec![candidate(0.0, 0.0, None)];
    for slope in [0.15, 0.3, 0.5, 0.7, 1.0] {
        candidates.push(candidate(1.0, slope, None));
    }
    for roughness in [0.2, 0.3, 0.4, 0.5, 0.65, 0.8] {
        for share in [0.5, 0.8, 0.95] {
            candidates.push(candidate(2.0, 0.3, Some(Facets { roughness, share })));
        }
    }
    candidates
}

/// Logistic function of ln P by Newton's method, and its deviance.
fn fit_logistic(
    bins: &[IncidenceBin],
    powers: &[f64],
    drop_correlation: f64,
) -> (DropOutModel, f64) {
    let dropped: f64 = bins.iter().map(|bin| bin.beams - bin.returned).sum();
    if dropped == 0.0 {
        return (ReflectanceModel::default().drop_out, 0.0);
    }
    let data: Vec<[f64; 3]> = bins
        .iter()
        .zip(powers)
        .map(|(bin, power)| {
            [
                -power.max(1e-30).ln(),
                bin.drop_out(),
                bin.effective_samples(drop_correlation),
            ]
        })
        .collect();
    let mut here = DropOutModel {
        logit: -3.0,
        slope: 1.0,
    };
    for _ in 0..60 {
        // Gradient and Hessian of the penalised log-likelihood
        let mut gradient = [-0.01 * here.logit, -0.002 * here.slope];
        let mut matrix = [0.01, 0.0, 0.002];
        for [x, dropped, samples] in &data {
            let p = logistic(here.logit + here.slope * x);
            let weight = samples * p * (1.0 - p);
            gradient[0] += samples * (dropped - p);
            gradient[1] += samples * (dropped - p) * x;
            matrix[0] += weight;
            matrix[1] += weight * x;
            matrix[2] += weight * x * x;
        }

        // Limited Newton step
        let determinant: f64 = matrix[0] * matrix[2] - matrix[1] * matrix[1];
        let step = [
            (matrix[2] * gradient[0] - matrix[1] * gradient[1]) / determinant,
            (matrix[0] * gradient[1] - matrix[1] * gradient[0]) / determinant,
        ];
        let length = step[0].abs().max(step[1].abs());
        let step_fraction = (2.0 / length.max(1e-12)).min(1.0);
        here.logit = (here.logit + step_fraction * step[0]).clamp(-40.0, 20.0);
        here.slope = (here.slope + step_fraction * step[1]).clamp(0.0, STEEPEST);
        if length < 1e-6 {
            break;
        }
    }
    let deviance = data
        .iter()
        .map(|[x, dropped, samples]| {
            2.0 * samples * divergence(*dropped, logistic(here.logit + here.slope * x))
        })
        .sum();
    (here, deviance)
}

/// Relative entropy of two Bernoulli distributions.
fn divergence(a: f64, b: f64) -> f64 {
    let term = |a: f64, b: f64| {
        if a > 0.0 {
            a * (a / b.max(1e-12)).ln()
        } else {
            0.0
        }
    };
    term(a, b) + term(1.0 - a, 1.0 - b)
}

/// $1/(1+e^{-x})$.
fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Squared misfit of the logarithm of the mean intensity in units of its standard error; the scale of the
/// intensity is free.
fn intensity_misfit(bins: &[IncidenceBin], powers: &[f64]) -> f64 {
    let values: Vec<(f64, f64)> = bins
        .iter()
        .zip(powers)
        .filter(|(bin, _)| bin.returned >= 3.0 && bin.intensity[0] > 0.0)
        .map(|(bin, power)| {
            let relative = (bin.intensity[1] / bin.intensity[0]).max(0.02);
            let weight = bin.effective_ranges().max(1.0) / (relative * relative);
            (bin.intensity[0].ln() - power.max(1e-30).ln(), weight)
        })
        .collect();
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    let mean = values
        .iter()
        .map(|(value, weight)| value * weight)
        .sum::<f64>()
        / total.max(1e-300);
    values
        .iter()
        .map(|(value, weight)| weight * (value - mean).powi(2))
        .sum()
}

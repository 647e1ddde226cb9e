//! The reflectance model that fills gaps.

use super::statistics::Bin;
use etendue_physics::profile::{DropOutModel, Facets, IntensityKind, ReflectanceModel};

/// A fitted reflectance model and how well it does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReflectanceFit {
    /// The model.
    pub model: ReflectanceModel,
    /// Twice the log-likelihood that it lacks against each bin having its own drop-out.
    pub deviance: f64,
    /// What it was fitted to: intensity, or only whether beams came back.
    pub from_intensity: bool,
}

/// Steepest drop-out looked for, per unit of ln P.
const STEEPEST: f64 = 60.0;

/// Fits facets' slope, gloss and the logistic of the drop-out to the bins of a panel.
///
/// Oren and Nayar's diffuse model, alone or with GGX facets, on a grid of shapes; for each the
/// logistic is fitted by Newton's method with a weak prior. Where the intensity has more than two
/// values, the shape is that which fits its logarithm; else that of the least deviance of the
/// drop-out, each further parameter being charged 2 (Akaike 1974, doi:10.1109/TAC.1974.1100705). A
/// panel of which no beam dropped tells no shape: it stays Lambertian.
pub fn fit_reflectance(bins: &[Bin], intensity: IntensityKind, usual: f64) -> ReflectanceFit {
    let from_intensity = intensity == IntensityKind::Continuous;
    let mut best: Option<(f64, ReflectanceFit)> = None;
    for (parameters, shape) in shapes() {
        let powers: Vec<f64> = bins.iter().map(|bin| shape.power(bin.incidence)).collect();
        let (drop_out, deviance) = fit_logistic(bins, &powers, usual);
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

/// The shapes tried, each with the number of its parameters.
fn shapes() -> Vec<(f64, ReflectanceModel)> {
    let model = |slope_sd: f64, facets| ReflectanceModel {
        slope_sd,
        facets,
        ..ReflectanceModel::default()
    };
    let mut shapes = vec![(0.0, model(0.0, None))];
    for slope in [0.15, 0.3, 0.5, 0.7, 1.0] {
        shapes.push((1.0, model(slope, None)));
    }
    for roughness in [0.2, 0.3, 0.4, 0.5, 0.65, 0.8] {
        for share in [0.5, 0.8, 0.95] {
            shapes.push((2.0, model(0.3, Some(Facets { roughness, share }))));
        }
    }
    shapes
}

/// The logistic in ln P, and its deviance.
fn fit_logistic(bins: &[Bin], powers: &[f64], usual: f64) -> (DropOutModel, f64) {
    let dropped: f64 = bins.iter().map(|bin| bin.beams - bin.returned).sum();
    if dropped == 0.0 {
        return (ReflectanceModel::default().drop_out, 0.0);
    }
    let data: Vec<[f64; 3]> = { bins.iter().zip(powers) }
        .map(|(bin, power)| {
            [
                -power.max(1e-30).ln(),
                bin.drop_out(),
                bin.effective_samples(usual),
            ]
        })
        .collect();
    let mut here = DropOutModel {
        logit: -3.0,
        slope: 1.0,
    };
    for _ in 0..60 {
        let (mut gradient, mut matrix) = (
            [-0.01 * here.logit, -0.002 * here.slope],
            [0.01, 0.0, 0.002],
        );
        for [x, share, samples] in &data {
            let p = logistic(here.logit + here.slope * x);
            let weight = samples * p * (1.0 - p);
            gradient[0] += samples * (share - p);
            gradient[1] += samples * (share - p) * x;
            matrix[0] += weight;
            matrix[1] += weight * x;
            matrix[2] += weight * x * x;
        }
        let determinant: f64 = matrix[0] * matrix[2] - matrix[1] * matrix[1];
        let step = [
            (matrix[2] * gradient[0] - matrix[1] * gradient[1]) / determinant,
            (matrix[0] * gradient[1] - matrix[1] * gradient[0]) / determinant,
        ];
        let length = step[0].abs().max(step[1].abs());
        let share = (2.0 / length.max(1e-12)).min(1.0);
        here.logit = (here.logit + share * step[0]).clamp(-40.0, 20.0);
        here.slope = (here.slope + share * step[1]).clamp(0.0, STEEPEST);
        if length < 1e-6 {
            break;
        }
    }
    let deviance = { data.iter() }
        .map(|[x, share, samples]| {
            2.0 * samples * divergence(*share, logistic(here.logit + here.slope * x))
        })
        .sum();
    (here, deviance)
}

/// Relative entropy of two probabilities.
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

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Squared misfit of the logarithm of the mean intensity, whose scale is free, in units of its
/// standard error.
fn intensity_misfit(bins: &[Bin], powers: &[f64]) -> f64 {
    let seen: Vec<(f64, f64)> = { bins.iter().zip(powers) }
        .filter(|(bin, _)| bin.returned >= 3.0 && bin.intensity[0] > 0.0)
        .map(|(bin, power)| {
            let relative = (bin.intensity[1] / bin.intensity[0]).max(0.02);
            let weight = bin.effective_ranges().max(1.0) / (relative * relative);
            (bin.intensity[0].ln() - power.max(1e-30).ln(), weight)
        })
        .collect();
    let total: f64 = seen.iter().map(|(_, weight)| weight).sum();
    let mean = seen
        .iter()
        .map(|(value, weight)| value * weight)
        .sum::<f64>()
        / total.max(1e-300);
    seen.iter()
        .map(|(value, weight)| weight * (value - mean).powi(2))
        .sum()
}

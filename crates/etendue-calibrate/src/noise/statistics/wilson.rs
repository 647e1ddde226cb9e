//! Confidence intervals of probabilities, and effective sample sizes.

/// Half width of the central 95 % of a normal distribution, in standard deviations.
const Z: f64 = 1.959_964;

/// 95 % confidence interval of a probability after `count` successes in `total` independent trials (Wilson
/// 1927, doi:10.1080/01621459.1927.10502953). Numbers may be fractions: for dependent trials, use the
/// [effective sample size](effective_sample_size).
///
/// ```
/// use etendue_calibrate::noise::statistics::wilson;
/// let [low, high] = wilson(0.0, 100.0);
/// assert!(low == 0.0 && (high - 0.0370).abs() < 1e-4);
/// ```
pub fn wilson(count: f64, total: f64) -> [f64; 2] {
    if total <= 0.0 {
        return [0.0, 1.0];
    }
    let proportion = count / total;
    let z2 = Z * Z / total;
    let middle = (proportion + 0.5 * z2) / (1.0 + z2);
    let half =
        Z * (proportion * (1.0 - proportion) / total + 0.25 * z2 / total).sqrt() / (1.0 + z2);
    let low = if proportion <= 0.0 {
        0.0
    } else {
        middle - half
    };
    let high = if proportion >= 1.0 {
        1.0
    } else {
        middle + half
    };
    [low.max(0.0), high.min(1.0)]
}

/// Effective number of independent samples among `total` samples $n$ in groups of `group` samples $m$ with
/// the intraclass correlation `within` $\rho$: $n/(1+(m-1)\rho)$ (Kish 1965, "Survey sampling", section
/// 5.4).
pub fn effective_sample_size(total: f64, group: f64, within: f64) -> f64 {
    total / (1.0 + (group - 1.0).max(0.0) * within.clamp(0.0, 1.0))
}

/// Overdispersion of the proportions of groups, each with its effective number of samples:
/// Pearson's statistic over its degrees of freedom (McCullagh and Nelder 1989, "Generalized linear
/// models", section 4.5), at least 1. It divides the effective number of samples of all groups
/// together: a patch of a panel on which most beams drop is one event, not hundreds.
///
/// ```
/// use etendue_calibrate::noise::statistics::dispersion;
/// assert_eq!(dispersion(&[[0.2, 100.0], [0.2, 50.0]]), 1.0);
/// assert!((dispersion(&[[0.0, 100.0], [0.4, 100.0]]) - 50.0).abs() < 1e-9);
/// ```
pub fn dispersion(groups: &[[f64; 2]]) -> f64 {
    let samples: f64 = groups.iter().map(|[_, samples]| samples).sum();
    let proportion = groups
        .iter()
        .map(|[proportion, samples]| proportion * samples)
        .sum::<f64>()
        / samples;
    let variance = proportion * (1.0 - proportion);
    if groups.len() < 2 || variance.is_nan() || variance <= 0.0 {
        return 1.0;
    }
    let pearson: f64 = groups
        .iter()
        .map(|[one, samples]| samples * (one - proportion).powi(2) / variance)
        .sum();
    (pearson / (groups.len() as f64 - 1.0)).max(1.0)
}

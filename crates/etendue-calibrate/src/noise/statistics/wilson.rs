//! Intervals of probabilities.

/// Half width of the central 95 % of a normal distribution, in standard deviations.
const Z: f64 = 1.959_964;

/// The 95 % confidence interval of a probability of which `count` of `total` independent trials
/// are known (Wilson 1927, doi:10.1080/01621459.1927.10502953). Numbers may be fractions: of trials
/// that are not independent, give how many independent ones they are worth.
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
    let share = count / total;
    let z2 = Z * Z / total;
    let middle = (share + 0.5 * z2) / (1.0 + z2);
    let half = Z * (share * (1.0 - share) / total + 0.25 * z2 / total).sqrt() / (1.0 + z2);
    let low = if share <= 0.0 { 0.0 } else { middle - half };
    let high = if share >= 1.0 { 1.0 } else { middle + half };
    [low.max(0.0), high.min(1.0)]
}

/// How many independent samples `total` samples in groups of `group` are worth, of which pairs within a
/// group correlate by `within`: $n/(1+(m-1)\rho)$ (Kish 1965, "Survey sampling", section 5.4).
pub fn independent_looks(total: f64, group: f64, within: f64) -> f64 {
    total / (1.0 + (group - 1.0).max(0.0) * within.clamp(0.0, 1.0))
}

/// How much more than by chance shares differ between groups, each a share and how many independent
/// samples it rests on: Pearson's statistic over its degrees of freedom (McCullagh and Nelder 1989,
/// "Generalized linear models", section 4.5), 1 at least. Looks at all groups together are worth so
/// many times fewer: a patch of a panel that drops most beams is one thing, not hundreds of beams.
///
/// ```
/// use etendue_calibrate::noise::statistics::dispersion;
/// assert_eq!(dispersion(&[[0.2, 100.0], [0.2, 50.0]]), 1.0);
/// assert!((dispersion(&[[0.0, 100.0], [0.4, 100.0]]) - 50.0).abs() < 1e-9);
/// ```
pub fn dispersion(groups: &[[f64; 2]]) -> f64 {
    let samples: f64 = groups.iter().map(|[_, samples]| samples).sum();
    let share = groups
        .iter()
        .map(|[share, samples]| share * samples)
        .sum::<f64>()
        / samples;
    let variance = share * (1.0 - share);
    if groups.len() < 2 || variance.is_nan() || variance <= 0.0 {
        return 1.0;
    }
    let pearson: f64 = { groups.iter() }
        .map(|[one, samples]| samples * (one - share).powi(2) / variance)
        .sum();
    (pearson / (groups.len() as f64 - 1.0)).max(1.0)
}

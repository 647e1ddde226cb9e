//! Uncertainty from the differences between clusters of data.

use etendue_physics::statistics::mean;
use std::collections::BTreeMap;

/// 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_985;

/// Ratio of the 97.5 % quantiles of Student's distribution of some degrees of freedom and of the normal
/// distribution (Abramowitz and Stegun 1964, equation 26.7.5): a standard deviation from few clusters times
/// this factor gives the intervals of a normal distribution. For one degree of freedom 6.48.
pub(super) fn student_factor(freedom: usize) -> f64 {
    let exact = [f64::INFINITY, 12.706_205, 4.302_653];
    if let Some(quantile) = exact.get(freedom) {
        return quantile / NORMAL;
    }
    let z = NORMAL;
    let n = freedom as f64;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    (z + first / n + second / n.powi(2) + third / n.powi(3)) / z
}

/// Standard deviation of the ratio $\sum a_i / \sum b_i$ over clusters of dependent terms,
/// $$s = \frac{1}{\sum b_i}\sqrt{\frac{G}{G-1}\sum_g \Bigl(\sum_{i \in g} a_i - R\\,b_i\Bigr)^2}$$
/// (Cochran 1977, "Sampling techniques", equation 6.13), times [`student_factor`]; infinite for one cluster.
pub(super) fn ratio_deviation<K: Ord>(terms: impl Iterator<Item = (K, [f64; 2])> + Clone) -> f64 {
    // Ratio of all terms
    let [all, base] = terms
        .clone()
        .fold([0.0; 2], |[a, b], (_, term)| [a + term[0], b + term[1]]);
    let ratio = all / base;

    // Squares of the sums of the clusters
    let mut clusters: BTreeMap<K, f64> = BTreeMap::new();
    for (key, [a, b]) in terms {
        *clusters.entry(key).or_default() += a - ratio * b;
    }
    let count = clusters.len();
    if count < 2 {
        return f64::INFINITY;
    }
    let squares: f64 = clusters.values().map(|sum| sum * sum).sum();
    let scale = count as f64 / (count - 1) as f64;
    (scale * squares).sqrt() / base * student_factor(count - 1)
}

/// Jackknife variance of a bias from those without one block each, raised for few blocks; zero for fewer than
/// two blocks.
pub(super) fn jackknife_variance(biases: &[f64]) -> f64 {
    let count = biases.len() as f64;
    if biases.len() < 2 {
        return 0.0;
    }
    let centre = mean(biases);
    let squares: f64 = biases.iter().map(|b| (b - centre).powi(2)).sum();
    (count - 1.0) / count * squares * student_factor(biases.len() - 1).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against tables of Student's distribution; the series errs by 0.7 % for three degrees of freedom.
    #[test]
    fn student_factors_are_those_of_the_tables() {
        for (freedom, quantile) in [(1, 12.706), (2, 4.303), (3, 3.182), (7, 2.365), (30, 2.042)] {
            let ratio = student_factor(freedom) * NORMAL / quantile;
            assert!((ratio - 1.0).abs() < 0.01, "{freedom}: {ratio}");
        }
        assert!((student_factor(1_000_000) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn dependent_terms_count_once() {
        let apart = [(0, [1.0, 2.0]), (1, [0.5, 2.0]), (2, [0.8, 2.0])];
        let doubled = apart.iter().flat_map(|term| [*term, *term]);
        let once = ratio_deviation(apart.iter().copied());
        let twice = ratio_deviation(doubled);
        assert!((once / twice - 1.0).abs() < 1e-12);
        assert_eq!(
            ratio_deviation([(0, [1.0, 1.0]); 5].into_iter()),
            f64::INFINITY
        );
    }
}

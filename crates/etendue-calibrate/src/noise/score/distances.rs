//! Distances between distributions.

/// Kolmogorov-Smirnov distance: the greatest difference between the empirical distribution functions of
/// two samples (Smirnov 1948, doi:10.1214/aoms/1177730256). Sorts both samples.
pub fn kolmogorov_smirnov(a: &mut [f64], b: &mut [f64]) -> f64 {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let mut i = 0;
    let mut j = 0;
    let mut greatest = 0.0_f64;
    while i < a.len() && j < b.len() {
        let value = a[i].min(b[j]);
        // Pass equal values (quantisation steps) together
        while i < a.len() && a[i] <= value {
            i += 1;
        }
        while j < b.len() && b[j] <= value {
            j += 1;
        }
        let difference = i as f64 / a.len() as f64 - j as f64 / b.len() as f64;
        greatest = greatest.max(difference.abs());
    }
    greatest
}

/// Probability of at least a Kolmogorov-Smirnov distance between two samples of one distribution, with the
/// given effective sample sizes (asymptotic form; Stephens 1970, "Use of the Kolmogorov-Smirnov,
/// Cramér-von Mises and related statistics without extensive tables").
///
/// ```
/// use etendue_calibrate::noise::score::kolmogorov_smirnov_p;
/// let p = kolmogorov_smirnov_p(0.1628, [200.0, 200.0]);
/// assert!((p - 0.0095).abs() < 0.002, "the 1 % point of two samples of 200: {p}");
/// ```
pub fn kolmogorov_smirnov_p(distance: f64, samples: [f64; 2]) -> f64 {
    let n = (samples[0] * samples[1] / (samples[0] + samples[1])).sqrt();
    let x = (n + 0.12 + 0.11 / n) * distance;
    if x < 0.2 {
        return 1.0;
    }
    let term = |k: i32| {
        let sign = if k % 2 == 1 { 1.0 } else { -1.0 };
        sign * (-2.0 * f64::from(k * k) * x * x).exp()
    };
    (2.0 * (1..=100).map(term).sum::<f64>()).clamp(0.0, 1.0)
}

/// Jensen-Shannon divergence of the histograms of two samples with cells of a width, bits: 0 for equal
/// distributions, 1 for disjoint ones (Lin 1991, doi:10.1109/18.61115).
pub fn jensen_shannon(a: &[f64], b: &[f64], width: f64) -> f64 {
    use std::collections::BTreeMap;
    let mut cells: BTreeMap<i64, [f64; 2]> = BTreeMap::new();
    for (which, sample) in [a, b].into_iter().enumerate() {
        for value in sample {
            #[expect(clippy::cast_possible_truncation, reason = "errors are few cells")]
            let cell = (value / width).round() as i64;
            cells.entry(cell).or_default()[which] += 1.0 / sample.len() as f64;
        }
    }
    let term = |p: f64, mean: f64| if p > 0.0 { p * (p / mean).log2() } else { 0.0 };
    cells
        .values()
        .map(|[p, q]| {
            let mean = 0.5 * (p + q);
            0.5 * (term(*p, mean) + term(*q, mean))
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_samples_have_distance_zero_and_disjoint_samples_distance_one() {
        let a = [1.0, 1.0, 2.0, 3.0];
        assert_eq!(kolmogorov_smirnov(&mut a.clone(), &mut a.clone()), 0.0);
        assert_eq!(jensen_shannon(&a, &a, 1.0), 0.0);
        let far = [11.0, 12.0];
        assert_eq!(kolmogorov_smirnov(&mut a.clone(), &mut far.clone()), 1.0);
        assert!((jensen_shannon(&a, &far, 1.0) - 1.0).abs() < 1e-12);
    }
}

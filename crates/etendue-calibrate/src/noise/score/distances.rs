//! Distances between distributions.

/// The greatest distance between two samples' distribution functions (Smirnov 1948). The order of
/// both changes.
pub fn kolmogorov_smirnov(a: &mut [f64], b: &mut [f64]) -> f64 {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let (mut i, mut j, mut greatest) = (0, 0, 0.0_f64);
    while i < a.len() && j < b.len() {
        let value = a[i].min(b[j]);
        // Equal values (steps of the device) are passed together.
        while i < a.len() && a[i] <= value {
            i += 1;
        }
        while j < b.len() && b[j] <= value {
            j += 1;
        }
        let apart = (i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs();
        greatest = greatest.max(apart);
    }
    greatest
}

/// The probability of at least that distance between samples worth `samples` independent samples each,
/// were they of one distribution (asymptotic form; Stephens 1970).
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

/// The Jensen-Shannon divergence of two samples over cells of a width, in bits: 0 for equal
/// distributions, 1 for such that never overlap (Lin 1991, doi:10.1109/18.61115).
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
    let part = |p: f64, mean: f64| if p > 0.0 { p * (p / mean).log2() } else { 0.0 };
    { cells.values() }
        .map(|[p, q]| {
            let mean = 0.5 * (p + q);
            0.5 * (part(*p, mean) + part(*q, mean))
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_samples_are_no_distance_apart_and_separate_ones_the_greatest() {
        let a = [1.0, 1.0, 2.0, 3.0];
        assert_eq!(kolmogorov_smirnov(&mut a.clone(), &mut a.clone()), 0.0);
        assert_eq!(jensen_shannon(&a, &a, 1.0), 0.0);
        let far = [11.0, 12.0];
        assert_eq!(kolmogorov_smirnov(&mut a.clone(), &mut far.clone()), 1.0);
        assert!((jensen_shannon(&a, &far, 1.0) - 1.0).abs() < 1e-12);
    }
}

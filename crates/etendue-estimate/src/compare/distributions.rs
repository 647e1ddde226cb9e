//! Statistical distances between two samples of one quantity.

/// Comparison of the distributions of two samples of one quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistributionComparison {
    /// Kolmogorov-Smirnov distance: the largest difference of the empirical distribution functions, in
    /// [0, 1].
    pub kolmogorov_smirnov: f64,
    /// Jensen-Shannon distance of the histograms, in [0, 1]: the square root of the divergence to
    /// base 2 (Lin 1991, doi:10.1109/18.61115).
    pub jensen_shannon: f64,
    /// Median of the second sample minus that of the first, in the unit of the quantity.
    pub median_shift: f64,
}

/// Number of bins of the histograms, from the least to the greatest value of both samples.
const BINS: usize = 50;

/// Compares two samples without their non-finite values; `None` where a sample has no finite value.
///
/// ```
/// use etendue_estimate::compare::compare_distributions;
/// let sample: Vec<f64> = (0..1000).map(f64::from).collect();
/// let shifted: Vec<f64> = sample.iter().map(|x| x + 100.0).collect();
/// let found = compare_distributions(&sample, &shifted).unwrap();
/// assert!((found.kolmogorov_smirnov - 0.1).abs() < 1e-12);
/// assert_eq!(found.median_shift, 100.0);
/// ```
pub fn compare_distributions(first: &[f64], second: &[f64]) -> Option<DistributionComparison> {
    let [first, second] = [first, second].map(sorted);
    let a = first.first()?;
    let b = second.first()?;
    let least = a.min(*b);
    let most = first[first.len() - 1].max(second[second.len() - 1]);
    Some(DistributionComparison {
        kolmogorov_smirnov: largest_gap(&first, &second),
        jensen_shannon: jensen_shannon(
            &histogram(&first, least, most),
            &histogram(&second, least, most),
        ),
        median_shift: second[second.len() / 2] - first[first.len() / 2],
    })
}

/// Finite values in ascending order.
fn sorted(sample: &[f64]) -> Vec<f64> {
    let mut finite: Vec<f64> = sample.iter().copied().filter(|x| x.is_finite()).collect();
    finite.sort_by(f64::total_cmp);
    finite
}

/// Largest difference of the empirical distribution functions of two sorted samples.
fn largest_gap(first: &[f64], second: &[f64]) -> f64 {
    let mut i = 0;
    let mut j = 0;
    let mut gap = 0.0_f64;
    while i < first.len() && j < second.len() {
        let at = first[i].min(second[j]);
        while i < first.len() && first[i] <= at {
            i += 1;
        }
        while j < second.len() && second[j] <= at {
            j += 1;
        }
        let one = i as f64 / first.len() as f64;
        let other = j as f64 / second.len() as f64;
        gap = gap.max((one - other).abs());
    }
    gap
}

/// Fraction of a sample in each bin.
fn histogram(sample: &[f64], least: f64, most: f64) -> Vec<f64> {
    let mut shares = vec![0.0; BINS];
    let scale = if most > least {
        BINS as f64 / (most - least)
    } else {
        0.0
    };
    for value in sample {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and limited to the last bin"
        )]
        let bin = (((value - least) * scale) as usize).min(BINS - 1);
        shares[bin] += 1.0 / sample.len() as f64;
    }
    shares
}

/// Jensen-Shannon distance $\sqrt{\tfrac12 D(p\|m) + \tfrac12 D(q\|m)}$ with $m = (p+q)/2$ and the
/// Kullback-Leibler divergence $D$ to base 2 (Lin 1991, doi:10.1109/18.61115).
fn jensen_shannon(p: &[f64], q: &[f64]) -> f64 {
    let divergence = |of: &[f64], other: &[f64]| {
        let terms = of.iter().zip(other).filter(|(a, _)| **a > 0.0);
        terms
            .map(|(a, b)| a * (2.0 * a / (a + b)).log2())
            .sum::<f64>()
    };
    (0.5 * (divergence(p, q) + divergence(q, p)))
        .max(0.0)
        .sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_samples_have_no_distance_and_disjoint_ones_the_largest() {
        let sample: Vec<f64> = (0..500).map(|i| f64::from(i).sin()).collect();
        let far: Vec<f64> = sample.iter().map(|x| x + 10.0).collect();
        let same = compare_distributions(&sample, &sample).expect("numbers");
        assert_eq!((same.kolmogorov_smirnov, same.jensen_shannon), (0.0, 0.0));
        let other = compare_distributions(&sample, &far).expect("numbers");
        assert!((other.kolmogorov_smirnov - 1.0).abs() < 1e-12);
        assert!((other.jensen_shannon - 1.0).abs() < 1e-9);
    }

    #[test]
    fn samples_of_one_number_and_of_none_do_not_panic() {
        assert!(compare_distributions(&[1.0], &[1.0, f64::NAN]).is_some());
        assert!(compare_distributions(&[f64::NAN], &[1.0]).is_none());
    }
}

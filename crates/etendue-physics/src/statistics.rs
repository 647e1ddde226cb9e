//! Summary statistics of samples.

/// Arithmetic mean; NaN for an empty sample.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Root mean square $\sqrt{\frac1n \sum x_i^2}$; NaN for an empty sample.
pub fn root_mean_square(values: &[f64]) -> f64 {
    (values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64).sqrt()
}

/// Median, the mean of the two middle values of an even sample; `None` for an empty sample. The
/// order of `values` changes.
pub fn median(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let upper = *upper;
    Some(if values.len() % 2 == 1 {
        upper
    } else {
        0.5 * (lower + upper)
    })
}

/// Quantile of an ascending sample, interpolated linearly between order statistics (type 7 of
/// Hyndman and Fan 1996, doi:10.2307/2684934); `None` for an empty sample.
///
/// `probability` in [0, 1].
///
/// ```
/// use etendue_physics::statistics::quantile;
/// assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), Some(3.0));
/// ```
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the position is between 0 and the last index"
)]
pub fn quantile(sorted: &[f64], probability: f64) -> Option<f64> {
    let position = probability * sorted.len().checked_sub(1)? as f64;
    let below = position.floor();
    let low = sorted[below as usize];
    let high = sorted[position.ceil() as usize];
    Some(low + (high - low) * (position - below))
}

/// Quantile of an ascending sample, rounded to the nearest order statistic: always one of the
/// values; `None` for an empty sample.
///
/// `probability` in [0, 1]; at 0.5 it is the upper median `sorted[sorted.len() / 2]`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the position is between 0 and the last index"
)]
pub fn nearest_quantile<T: Copy>(sorted: &[T], probability: f64) -> Option<T> {
    let position = probability * sorted.len().checked_sub(1)? as f64;
    sorted.get(position.round() as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_sample_is_the_mean_of_the_middle_values() {
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&mut [5.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&mut []), None);
    }

    #[test]
    fn the_nearest_quantile_at_a_half_is_the_upper_median() {
        for count in 1..20_usize {
            let sorted: Vec<usize> = (0..count).collect();
            assert_eq!(nearest_quantile(&sorted, 0.5), Some(count / 2));
        }
        assert_eq!(nearest_quantile::<f64>(&[], 0.5), None);
    }
}

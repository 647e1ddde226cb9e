//! Allan deviation.

use nalgebra::{DMatrix, DVector};

/// One point of an Allan curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllanPoint {
    /// Averaging time, s.
    pub time: f64,
    /// Allan deviation, in the unit of the samples.
    pub deviation: f64,
    /// Number of independent differences $n$: the relative error of the deviation is about
    /// $1/\sqrt{2n}$.
    pub independent: f64,
}

/// Averaging times from one sample to a ninth of the record, eight per decade, without duplicates,
/// s.
pub fn allan_times(samples: usize, interval: f64) -> Vec<f64> {
    let longest = samples / 9;
    // Twenty decades are longer than any record.
    let mut lengths: Vec<usize> = (0..160)
        .map(|i| 10.0_f64.powf(f64::from(i) / 8.0).round())
        .take_while(|length| *length <= longest as f64)
        .map(whole)
        .collect();
    lengths.dedup();
    lengths
        .into_iter()
        .map(|length| length as f64 * interval)
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a length of a record"
)]
fn whole(length: f64) -> usize {
    length.max(0.0) as usize
}

/// Overlapping Allan deviation of evenly spaced samples at the given averaging times.
///
/// With $\theta$ the sum of the samples times their interval and $\tau = m\\,dt$:
/// $\sigma^2(\tau) = \frac{1}{2\tau^2(N-2m)}\sum_k(\theta_{k+2m}-2\theta_{k+m}+\theta_k)^2$ (IEEE
/// Std 952-1997, C.1). Times that the record is too short for are left out.
///
/// ```
/// use etendue_physics::inertial::allan_deviation;
/// use etendue_physics::{Purpose, Stream};
/// // White noise of density 0.1 /√Hz, sampled at 100 Hz: 0.1 / sqrt(tau).
/// let mut stream = Stream::new(1, 0, 0, 0, Purpose::Gyroscope);
/// let samples: Vec<f64> = stream.normals().take(40_000).map(|n| 0.1 * 10.0 * n).collect();
/// let curve = allan_deviation(&samples, 0.01, &[0.1, 1.0]);
/// assert!((curve[0].deviation / 0.316 - 1.0).abs() < 0.03);
/// assert!((curve[1].deviation / 0.1 - 1.0).abs() < 0.1);
/// ```
pub fn allan_deviation(samples: &[f64], interval: f64, times: &[f64]) -> Vec<AllanPoint> {
    let mut angle = vec![0.0];
    let mut sum = 0.0;
    for sample in samples {
        sum += sample * interval;
        angle.push(sum);
    }
    times
        .iter()
        .map(|time| whole((time / interval).round()).max(1))
        .filter(|length| 2 * length < angle.len())
        .map(|length| point(&angle, length, interval))
        .collect()
}

fn point(angle: &[f64], length: usize, interval: f64) -> AllanPoint {
    let time = length as f64 * interval;
    let count = angle.len() - 2 * length;
    let squares: f64 = (0..count)
        .map(|k| (angle[k + 2 * length] - 2.0 * angle[k + length] + angle[k]).powi(2))
        .sum();
    AllanPoint {
        time,
        deviation: (squares / (2.0 * time * time * count as f64)).sqrt(),
        independent: count as f64 / length as f64,
    }
}

/// Noise coefficients fitted to an Allan curve, each zero where the record does not determine it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllanFit {
    /// White noise density $N$ (angle or velocity random walk), u/√Hz.
    pub density: f64,
    /// Bias instability $B$ (the flat part is $0.664\\,B$), u.
    pub instability: f64,
    /// Rate random walk $K$, u √Hz.
    pub random_walk: f64,
}

/// $\sqrt{2\ln 2/\pi}$ squared.
const FLAT: f64 = 0.441_271_200_305_303_2;

impl AllanFit {
    /// Fits $\sigma^2(\tau) = N^2/\tau + \frac{2\ln 2}{\pi}B^2 + K^2\tau/3$ by least squares of the
    /// relative errors, each point weighted by its independent differences. Terms that would be
    /// negative are left out.
    ///
    /// `None` for fewer than three points, and for deviations of zero, which have no relative errors, or that are not
    /// finite.
    pub fn of(curve: &[AllanPoint]) -> Option<Self> {
        let is_positive = |point: &AllanPoint| point.deviation > 0.0 && point.deviation.is_finite();
        if curve.len() < 3 || !curve.iter().all(is_positive) {
            return None;
        }
        let mut kept = vec![0, 1, 2];
        loop {
            let squares = solve(curve, &kept)?;
            let worst = (0..kept.len()).min_by(|a, b| squares[*a].total_cmp(&squares[*b]))?;
            if squares[worst] >= 0.0 {
                let of = |term: usize| {
                    let place = kept.iter().position(|kept| *kept == term);
                    place.map_or(0.0, |place| squares[place].sqrt())
                };
                return Some(Self {
                    density: of(0),
                    instability: of(1),
                    random_walk: of(2),
                });
            }
            kept.remove(worst);
        }
    }
}

fn term(number: usize, tau: f64) -> f64 {
    match number {
        0 => 1.0 / tau,
        1 => FLAT,
        _ => tau / 3.0,
    }
}

fn solve(curve: &[AllanPoint], kept: &[usize]) -> Option<DVector<f64>> {
    let weight = |point: &AllanPoint| point.independent.sqrt() / point.deviation.powi(2);
    let matrix = DMatrix::from_fn(curve.len(), kept.len(), |row, column| {
        weight(&curve[row]) * term(kept[column], curve[row].time)
    });
    let right = DVector::from_fn(curve.len(), |row, _| {
        weight(&curve[row]) * curve[row].deviation.powi(2)
    });
    // Scale the columns, which differ by many powers of ten
    let lengths: Vec<f64> = matrix.column_iter().map(|column| column.norm()).collect();
    let scaled = DMatrix::from_fn(matrix.nrows(), matrix.ncols(), |row, column| {
        matrix[(row, column)] / lengths[column]
    });
    let solved = scaled.svd(true, true).solve(&right, 1e-12).ok()?;
    Some(DVector::from_fn(kept.len(), |i, _| solved[i] / lengths[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_recovers_the_coefficients_of_a_curve() {
        let mut curve: Vec<AllanPoint> = (0..40)
            .map(|i| 0.01 * 1.4_f64.powi(i))
            .map(|time| AllanPoint {
                time,
                deviation: (4e-6 / time + FLAT * 9e-8 + 1e-10 * time / 3.0).sqrt(),
                independent: 1e5 / time,
            })
            .collect();
        let fit = AllanFit::of(&curve).expect("enough points");
        assert!((fit.density / 2e-3 - 1.0).abs() < 1e-6, "{fit:?}");
        assert!((fit.instability / 3e-4 - 1.0).abs() < 1e-6, "{fit:?}");
        assert!((fit.random_walk / 1e-5 - 1.0).abs() < 1e-6, "{fit:?}");
        assert_eq!(AllanFit::of(&curve[..2]), None);
        // The deviation of a constant record is zero, and the decomposition of a matrix with NaN does not end
        curve[3].deviation = 0.0;
        assert_eq!(AllanFit::of(&curve), None);
    }

    #[test]
    fn a_fit_to_white_noise_has_no_other_significant_term() {
        let curve: Vec<AllanPoint> = (0..30)
            .map(|i| 0.01 * 1.3_f64.powi(i))
            .map(|time| AllanPoint {
                time,
                deviation: 0.1 / time.sqrt(),
                independent: 1e4 / time,
            })
            .collect();
        let fit = AllanFit::of(&curve).expect("enough points");
        assert!((fit.density - 0.1).abs() < 1e-9, "{fit:?}");
        assert!(fit.instability < 1e-4 && fit.random_walk < 1e-4, "{fit:?}");
    }

    #[test]
    fn times_are_distinct_and_within_the_record() {
        let times = allan_times(9000, 0.01);
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(times.first(), Some(&0.01));
        assert_eq!(times.last(), Some(&10.0));
    }
}

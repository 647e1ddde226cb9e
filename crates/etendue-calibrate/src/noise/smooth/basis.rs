//! Cubic B-splines on uniform knots.

use nalgebra::DMatrix;

/// Cubic B-splines on uniform knots over an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct SplineBasis {
    low: f64,
    step: f64,
    /// Number of splines.
    count: usize,
}

impl SplineBasis {
    /// Basis over `[low, high]` with pieces of about the length `piece`.
    pub fn new(low: f64, high: f64, piece: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a quarter turn has few pieces"
        )]
        let pieces = (((high - low) / piece).ceil() as usize).clamp(1, 60);
        Self {
            low,
            step: ((high - low) / pieces as f64).max(1e-9),
            count: pieces + 3,
        }
    }

    /// Number of splines.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Index of the first spline that is not zero at `x`, and the values of this spline and its three
    /// successors (de Boor 1978, "A practical guide to splines").
    pub fn at(&self, x: f64) -> (usize, [f64; 4]) {
        let pieces = (self.count - 3) as f64;
        let position = ((x - self.low) / self.step).clamp(0.0, pieces - 1e-9);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to the pieces"
        )]
        let first = position as usize;
        let t = position - first as f64;
        let s = 1.0 - t;
        let values = [
            s.powi(3) / 6.0,
            (3.0 * t.powi(3) - 6.0 * t * t + 4.0) / 6.0,
            (3.0 * s.powi(3) - 6.0 * s * s + 4.0) / 6.0,
            t.powi(3) / 6.0,
        ];
        (first, values)
    }

    /// Sum of the splines with these coefficients at `x`.
    pub fn value(&self, coefficients: &[f64], x: f64) -> f64 {
        let (first, values) = self.at(x);
        values
            .iter()
            .zip(&coefficients[first..])
            .map(|(value, coefficient)| value * coefficient)
            .sum()
    }

    /// Penalty matrix $D^\top V D$ of second differences (Eilers and Marx 1996,
    /// doi:10.1214/ss/1038425655). `weight` is the weight of a difference by the index of its middle spline.
    pub fn penalty(&self, weight: impl Fn(usize) -> f64) -> DMatrix<f64> {
        let mut penalty = DMatrix::zeros(self.count, self.count);
        for row in 0..self.count.saturating_sub(2) {
            let weight = weight(row + 1);
            for (i, a) in [1.0, -2.0, 1.0].iter().enumerate() {
                for (j, b) in [1.0, -2.0, 1.0].iter().enumerate() {
                    penalty[(row + i, row + j)] += weight * a * b;
                }
            }
        }
        penalty
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splines_sum_to_one_and_reproduce_lines() {
        let basis = SplineBasis::new(0.0, 1.0, 0.1);
        let line: Vec<f64> = (0..basis.count()).map(|i| i as f64 * 0.1 - 0.1).collect();
        for x in [0.0, 0.13, 0.5, 0.999, 1.0] {
            let (_, values) = basis.at(x);
            assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!((basis.value(&line, x) - x).abs() < 1e-9, "{x}");
        }
    }
}

//! Whether a normal number lies in a tail.

use crate::normal;
use crate::profile::reflectance::logistic;

/// The table's step, and how far it goes.
const STEP: f64 = 1.0 / 64.0;
const REACH: f64 = 8.6;

/// How far the table may be off, several times over: measured 3.0e-5.
const MARGIN: f64 = 1e-4;

/// Tells whether standard normal numbers $z$ lie in the lower tails of given probabilities: whether
/// $\mathrm{logit}\\,\Phi(z) < \mathrm{logit}\\,p$. A table tells, but where both are nearer to each
/// other than it is exact, which is once in tens of thousands of times: there the probabilities do.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    /// $\mathrm{logit}\\,\Phi$ at even steps, and how much more at the next.
    logits: Vec<[f64; 2]>,
}

impl Edge {
    pub fn new() -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "some hundreds"
        )]
        let steps = (2.0 * REACH / STEP).ceil() as u32 + 1;
        let at = |step: u32| logit_of(f64::from(step) * STEP - REACH);
        let step = |step| [at(step), at(step + 1) - at(step)];
        Self {
            logits: (0..steps).map(step).collect(),
        }
    }

    /// Which of some numbers lie outside of the tails whose probabilities have these logits.
    #[expect(
        clippy::inline_always,
        reason = "loops over lanes become the caller's vector instructions"
    )]
    #[inline(always)]
    pub fn above<const N: usize>(&self, draws: &[f64; N], logits: &[f64; N]) -> [bool; N] {
        let mut gaps = [0.0; N];
        let mut near = false;
        for i in 0..N {
            gaps[i] = self.logit(draws[i]) - logits[i];
            near |= gaps[i].abs() < MARGIN;
        }
        let mut above = [false; N];
        for i in 0..N {
            above[i] = gaps[i] >= 0.0;
        }
        if near {
            for i in 0..N {
                if gaps[i].abs() < MARGIN {
                    above[i] = normal::probability(draws[i]) >= logistic(logits[i]);
                }
            }
        }
        above
    }

    #[expect(clippy::inline_always, reason = "one lane of a loop")]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the table"
    )]
    #[inline(always)]
    fn logit(&self, z: f64) -> f64 {
        let steps = (z.clamp(-REACH, REACH) + REACH) * (1.0 / STEP);
        let place = (steps as usize).min(self.logits.len() - 1);
        let [logit, more] = self.logits[place];
        logit + (steps - place as f64) * more
    }
}

/// $\ln\frac{\Phi(z)}{1-\Phi(z)}$, as exact in the upper tail as in the lower.
fn logit_of(z: f64) -> f64 {
    let lower = normal::probability(-z.abs());
    -z.signum() * (lower / (1.0 - lower)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_exact_to_a_third_of_its_margin() {
        let edge = Edge::new();
        let worst = (-85_900..=85_900)
            .map(|i| 1e-4 * f64::from(i))
            .map(|z| (edge.logit(z) - logit_of(z)).abs())
            .fold(0.0, f64::max);
        assert!(worst < 0.4 * MARGIN, "{worst:e}");
    }

    #[test]
    fn what_lies_in_a_tail_is_told_as_by_probabilities() {
        let edge = Edge::new();
        for probability in [1e-4_f64, 1.34e-3, 0.0227, 0.158, 0.499, 0.9, 0.9999] {
            let logit = (probability / (1.0 - probability)).ln();
            for draw in (-5000..5000).map(|i| f64::from(i) * 1e-3) {
                let plain = normal::probability(draw) >= logistic(logit);
                assert_eq!(
                    edge.above(&[draw], &[logit]),
                    [plain],
                    "{draw} {probability}"
                );
            }
        }
        for draw in [-8.5, 0.0, 8.5] {
            assert_eq!(edge.above(&[draw], &[f64::NEG_INFINITY]), [true]);
            assert_eq!(edge.above(&[draw], &[f64::INFINITY]), [false]);
        }
    }
}

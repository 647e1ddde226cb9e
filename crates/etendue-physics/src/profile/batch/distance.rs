//! Scaling of the expected returns of a batch with distance.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over a batch are compiled for the caller's target features"
)]

use super::distributions::ReturnDistributions;
use crate::profile::DistanceLaw;
use crate::series::{exp, ln};

impl<const N: usize> ReturnDistributions<N> {
    /// Scales bias, spread and drop-out to `ratio` times the measured distance: the batched form of
    /// [`DistanceLaw::spread`], [`DistanceLaw::bias`] and [`DistanceLaw::power_exponent`]. `slope` is the
    /// slope of the drop-out's logit over $-\ln P$ of the received power $P$.
    #[inline(always)]
    pub fn scale(&mut self, law: &DistanceLaw, ratio: &[f64; N], slope: f64) {
        // Scale bias and spread.
        match *law {
            DistanceLaw::Triangulation => {
                for i in 0..N {
                    self.bias[i] *= ratio[i];
                    self.spread[i] *= ratio[i] * ratio[i];
                }
            }
            DistanceLaw::SignalToNoise { floor } => {
                for i in 0..N {
                    let floor = floor.min(self.spread[i]);
                    let fixed = floor * floor;
                    let square = ratio[i] * ratio[i];
                    let scaled = self.spread[i] * self.spread[i] - fixed;
                    self.spread[i] = (fixed + scaled * (square * square)).sqrt();
                }
            }
            DistanceLaw::Fitted { spread, bias, .. } => {
                for i in 0..N {
                    let log = ln(ratio[i].max(f64::MIN_POSITIVE));
                    self.bias[i] *= exp(bias * log);
                    self.spread[i] *= exp(spread * log);
                }
            }
        }
        // Scale the drop-out.
        scale_drop_out(&mut self.logit, ratio, slope * law.power_exponent());
    }
}

/// Adds `slope` $\ln r$ to the logits of drop-outs at distance ratios $r$.
#[inline(always)]
fn scale_drop_out<const N: usize>(logit: &mut [f64; N], ratio: &[f64; N], slope: f64) {
    /// Logit above which the logistic function rounds to 1.
    const CERTAIN: f64 = 36.8;
    if slope == 0.0 {
        return;
    }
    for i in 0..N {
        let shifted = logit[i].clamp(-30.0, 30.0) + slope * ln(ratio[i].max(1e-6));
        logit[i] = if logit[i] < CERTAIN {
            shifted
        } else {
            f64::INFINITY
        };
    }
}

//! Scaling of noise with distance.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over a batch are compiled for the caller's target features"
)]

use super::batch::Expectation;
use crate::series::{exp, ln};

/// Scaling of a profile from its measured distance $d_0$ to another distance $d$.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum DistanceLaw {
    /// Triangulation: a fixed error of the spot's position gives $\sigma\propto d^2$; the bias is
    /// proportional to $d$. The drop-out over incidence does not depend on distance: at short range
    /// the inverse-square loss does not decide on detection.
    #[default]
    Triangulation,
    /// Time of flight, from the signal-to-noise ratio $\propto d^{-2}$:
    /// $\sigma^2 = \sigma_f^2 + (\sigma_0^2-\sigma_f^2)(d/d_0)^4$. The bias is constant; the drop-out
    /// follows the received power.
    SignalToNoise {
        /// Noise floor $\sigma_f$, m.
        floor: f64,
    },
    /// Exponents fitted to recordings at several distances.
    Fitted {
        /// Exponent of the spread.
        spread: f64,
        /// Exponent of the bias.
        bias: f64,
        /// Exponent of the fall of the received power, as it affects the drop-out.
        power: f64,
    },
}

impl DistanceLaw {
    /// The spread at `ratio` times the distance at which it is `spread`, m.
    pub fn spread(&self, spread: f64, ratio: f64) -> f64 {
        match *self {
            Self::Triangulation => spread * ratio * ratio,
            Self::SignalToNoise { floor } => {
                let floor = floor.min(spread);
                (floor * floor + (spread * spread - floor * floor) * ratio.powi(4)).sqrt()
            }
            Self::Fitted {
                spread: exponent, ..
            } => spread * ratio.powf(exponent),
        }
    }

    /// The bias at `ratio` times the distance at which it is `bias`, m.
    pub fn bias(&self, bias: f64, ratio: f64) -> f64 {
        match *self {
            Self::Triangulation => bias * ratio,
            Self::SignalToNoise { .. } => bias,
            Self::Fitted { bias: exponent, .. } => bias * ratio.powf(exponent),
        }
    }

    /// Shift of a glare centred at `centre` (rad) at `ratio` times the distance, rad: the baseline of
    /// a triangulating sensor places the specular reflection of its emitter at an angle $\propto 1/d$.
    /// For other sensors the angle is constant.
    pub fn glare_shift(&self, centre: f64, ratio: f64) -> f64 {
        match *self {
            Self::Triangulation => centre * (1.0 / ratio.max(1e-3) - 1.0),
            Self::SignalToNoise { .. } | Self::Fitted { .. } => 0.0,
        }
    }

    /// Exponent of the fall with distance of the power that decides on drop-outs.
    pub fn power_exponent(&self) -> f64 {
        match *self {
            Self::Triangulation => 0.0,
            Self::SignalToNoise { .. } => 2.0,
            Self::Fitted { power, .. } => power,
        }
    }

    /// Scales bias, spread and drop-out of a batch of expected returns to `ratio` times the distance:
    /// the batched form of [`spread`](Self::spread), [`bias`](Self::bias) and
    /// [`power_exponent`](Self::power_exponent). `slope` is that of the drop-out over $\ln P$.
    #[inline(always)]
    pub(super) fn scale_batch<const N: usize>(
        &self,
        here: &mut Expectation<N>,
        ratio: &[f64; N],
        slope: f64,
    ) {
        match *self {
            Self::Triangulation => {
                for i in 0..N {
                    here.bias[i] *= ratio[i];
                    here.spread[i] *= ratio[i] * ratio[i];
                }
            }
            Self::SignalToNoise { floor } => {
                for i in 0..N {
                    let floor = floor.min(here.spread[i]);
                    let fixed = floor * floor;
                    let square = ratio[i] * ratio[i];
                    let scaled = here.spread[i] * here.spread[i] - fixed;
                    here.spread[i] = (fixed + scaled * (square * square)).sqrt();
                }
            }
            Self::Fitted { spread, bias, .. } => {
                for i in 0..N {
                    let log = ln(ratio[i].max(f64::MIN_POSITIVE));
                    here.bias[i] *= exp(bias * log);
                    here.spread[i] *= exp(spread * log);
                }
            }
        }
        scale_drop_out(&mut here.logit, ratio, slope * self.power_exponent());
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

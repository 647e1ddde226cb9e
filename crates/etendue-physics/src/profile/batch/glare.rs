//! Precomputed interpolation of a profile's glare.
#![expect(
    clippy::inline_always,
    reason = "loops over a batch are compiled for the caller's target features"
)]

use super::distributions::ReturnDistributions;
use super::lookup::Lookup;
use crate::profile::{Glare, IntensityKind, Profile};
use crate::series::{exp, ln};

/// The batched form of [`Glare::at`](crate::profile::Glare::at): precomputed coefficients of each segment.
#[derive(Clone, Debug)]
pub(super) struct GlareCurve {
    /// Centre, rad, positive left of the normal.
    centre: f64,
    /// Largest angle from the normal with glare, rad.
    reach: f64,
    lookup: Lookup,
    /// Signed incidences of the first and the last knot, rad.
    ends: [f64; 2],
    segments: Vec<Segment>,
    /// Upper limit of the mean intensity.
    highest: f64,
}

/// A segment between two knots: the value at the first and the difference to the second.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: f64,
    /// Inverse width, 1/rad.
    per_width: f64,
    bias: [f64; 2],
    spread_ratio: [f64; 2],
    drop_out: [f64; 2],
    intensity: [f64; 2],
}

/// Values of a glare at one incidence.
#[derive(Clone, Copy, Debug, PartialEq)]
struct GlareValues {
    bias: f64,
    spread_ratio: f64,
    drop_out: f64,
    intensity: f64,
}

impl GlareCurve {
    /// Precomputes the glare of a profile; `None` if it has no glare of at least two knots.
    pub fn new(profile: &Profile) -> Option<Self> {
        // Precompute the segments.
        let glare: &Glare = profile.glare.as_ref()?;
        let [first, .., last] = &glare.knots[..] else {
            return None;
        };
        let more = |a: f64, b: f64| [a, b - a];
        let segments = glare.knots.windows(2).map(|two| {
            let a = &two[0];
            let b = &two[1];
            Segment {
                start: a.incidence,
                per_width: 1.0 / (b.incidence - a.incidence),
                bias: more(a.bias, b.bias),
                spread_ratio: more(a.spread_ratio, b.spread_ratio),
                drop_out: more(a.drop_out, b.drop_out),
                intensity: more(a.intensity, b.intensity),
            }
        });
        // Precompute the search and the limits.
        let nodes: Vec<f64> = glare.knots.iter().map(|knot| knot.incidence).collect();
        Some(Self {
            centre: glare.centre,
            reach: glare.reach(),
            lookup: Lookup::new(&nodes),
            ends: [first.incidence, last.incidence],
            segments: segments.collect(),
            highest: match profile.intensity {
                IntensityKind::TwoValued { .. } => 1.0,
                _ => f64::INFINITY,
            },
        })
    }

    /// Adds the glare to the expected returns of a batch. `ratio` is the distance over the measured one;
    /// `side` gives [`Aspect::side`](crate::profile::Aspect::side) by the index in the batch.
    #[inline(always)]
    pub fn add<const N: usize>(
        &self,
        here: &mut ReturnDistributions<N>,
        profile: &Profile,
        incidence: &[f64; N],
        ratio: &[f64; N],
        mask: &[bool; N],
        side: impl Fn(usize) -> f64,
    ) {
        // Skip batches out of reach: above half the measured distance, the shift is at most the centre's angle.
        let reach = self.reach + self.centre.abs();
        let mut may_reach = false;
        for i in 0..N {
            may_reach |= mask[i] && (incidence[i] <= reach || ratio[i] < 0.5);
        }
        if !may_reach {
            return;
        }
        // Find the beams within reach of the shifted glare.
        let mut shift = [0.0; N];
        let mut reached = [false; N];
        for i in 0..N {
            shift[i] = profile.law.glare_shift(self.centre, ratio[i]);
            reached[i] = mask[i] && incidence[i] <= self.reach + shift[i].abs();
        }
        if !reached.contains(&true) {
            return;
        }
        // Apply the glare to them.
        here.is_uniform = false;
        let mut drop_out = [0.0; N];
        for i in 0..N {
            if reached[i] {
                let excess = self.excess(incidence[i], shift[i], side(i));
                drop_out[i] = excess.drop_out;
                here.bias[i] += excess.bias;
                here.spread[i] *= excess.spread_ratio;
                let ratio = excess.spread_ratio;
                here.fixed_pattern[i] /= (ratio * ratio).max(1.0);
                let intensity = here.intensity[i] + excess.intensity;
                here.intensity[i] = intensity.max(0.0).min(self.highest);
            }
        }
        if drop_out.iter().any(|lost| *lost > 0.0) {
            drop_shares(&mut here.logit, &drop_out);
        }
    }

    /// Mean of both sides of the normal, weighted by the side of the beam.
    #[inline(always)]
    fn excess(&self, incidence: f64, shift: f64, side: f64) -> GlareValues {
        let right = self.at(-incidence - shift);
        let left = self.at(incidence - shift);
        let share = 0.5 * (1.0 + side.clamp(-1.0, 1.0));
        let mix = |a: f64, b: f64| a + share * (b - a);
        GlareValues {
            bias: mix(right.bias, left.bias),
            spread_ratio: mix(right.spread_ratio, left.spread_ratio),
            drop_out: mix(right.drop_out, left.drop_out),
            intensity: mix(right.intensity, left.intensity),
        }
    }

    /// The glare at a signed incidence (rad).
    #[inline(always)]
    fn at(&self, incidence: f64) -> GlareValues {
        if !(incidence >= self.ends[0] && incidence < self.ends[1]) {
            return GlareValues {
                bias: 0.0,
                spread_ratio: 1.0,
                drop_out: 0.0,
                intensity: 0.0,
            };
        }
        let segment = &self.segments[self.lookup.segment(incidence)];
        let share = (incidence - segment.start) * segment.per_width;
        let mix = |[value, more]: [f64; 2]| value + share * more;
        GlareValues {
            bias: mix(segment.bias),
            spread_ratio: mix(segment.spread_ratio),
            drop_out: mix(segment.drop_out),
            intensity: mix(segment.intensity),
        }
    }
}

/// Adds drop-outs of a share $s$ of the beams that would return: the odds $e$ of a drop-out become
/// $(e + s)/(1 - s)$.
#[inline(always)]
fn drop_shares<const N: usize>(logit: &mut [f64; N], shares: &[f64; N]) {
    /// Logit above which the logistic function rounds to 1.
    const CERTAIN: f64 = 36.8;
    for i in 0..N {
        let odds =
            (exp(logit[i].min(CERTAIN)) + shares[i]) / (1.0 - shares[i]).max(f64::MIN_POSITIVE);
        if shares[i] > 0.0 && logit[i] < CERTAIN {
            logit[i] = if shares[i] < 1.0 {
                ln(odds)
            } else {
                f64::INFINITY
            };
        }
    }
}

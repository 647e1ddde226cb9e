//! A profile's glare, made ready.
#![expect(
    clippy::inline_always,
    reason = "loops over lanes become the caller's vector instructions"
)]

use super::Expectation;
use super::lookup::Lookup;
use crate::profile::{Glare, IntensityKind, Profile};
use crate::series::{exp, ln};

/// What [`Glare::at`](crate::profile::Glare::at) says, with the numbers of each segment worked out.
#[derive(Clone, Debug)]
pub(super) struct GlareCurve {
    centre: f64,
    reach: f64,
    lookup: Lookup,
    ends: [f64; 2],
    segments: Vec<Segment>,
    /// The highest mean intensity.
    highest: f64,
}

/// Between two knots: the value at the first and the difference to the second.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: f64,
    /// One over its width, 1/rad.
    per_width: f64,
    bias: [f64; 2],
    spread_ratio: [f64; 2],
    drop_out: [f64; 2],
    intensity: [f64; 2],
}

/// A glare's values in one place.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Excess {
    bias: f64,
    spread_ratio: f64,
    drop_out: f64,
    intensity: f64,
}

impl GlareCurve {
    /// None without a glare of two knots.
    pub fn new(profile: &Profile) -> Option<Self> {
        let glare: &Glare = profile.glare.as_ref()?;
        let [first, .., last] = &glare.knots[..] else {
            return None;
        };
        let more = |a: f64, b: f64| [a, b - a];
        let segments = glare.knots.windows(2).map(|two| {
            let [a, b] = [&two[0], &two[1]];
            Segment {
                start: a.incidence,
                per_width: 1.0 / (b.incidence - a.incidence),
                bias: more(a.bias, b.bias),
                spread_ratio: more(a.spread_ratio, b.spread_ratio),
                drop_out: more(a.drop_out, b.drop_out),
                intensity: more(a.intensity, b.intensity),
            }
        });
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

    /// Adds it to what is expected without it of some beams: `ratio` is how many times as far as the
    /// panel was they are, `side` tells on which side of the normal one lies.
    #[inline(always)]
    pub fn add<const N: usize>(
        &self,
        here: &mut Expectation<N>,
        profile: &Profile,
        (incidence, ratio, wanted): (&[f64; N], &[f64; N], &[bool; N]),
        side: impl Fn(usize) -> f64,
    ) {
        // Nearer than at half the distance it may lie farther off the normal than its centre does twice.
        let reach = self.reach + self.centre.abs();
        let mut any = false;
        for i in 0..N {
            any |= wanted[i] && (incidence[i] <= reach || ratio[i] < 0.5);
        }
        if !any {
            return;
        }
        let mut shift = [0.0; N];
        let mut reached = [false; N];
        for i in 0..N {
            shift[i] = profile.law.glare_shift(self.centre, ratio[i]);
            reached[i] = wanted[i] && incidence[i] <= self.reach + shift[i].abs();
        }
        if !reached.contains(&true) {
            return;
        }
        here.even = false;
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
            lose(&mut here.logit, &drop_out);
        }
    }

    /// The mean of both sides of the normal, weighted by where the beam lies.
    #[inline(always)]
    fn excess(&self, incidence: f64, shift: f64, side: f64) -> Excess {
        let right = self.at(-incidence - shift);
        let left = self.at(incidence - shift);
        let share = 0.5 * (1.0 + side.clamp(-1.0, 1.0));
        let mix = |a: f64, b: f64| a + share * (b - a);
        Excess {
            bias: mix(right.bias, left.bias),
            spread_ratio: mix(right.spread_ratio, left.spread_ratio),
            drop_out: mix(right.drop_out, left.drop_out),
            intensity: mix(right.intensity, left.intensity),
        }
    }

    #[inline(always)]
    fn at(&self, incidence: f64) -> Excess {
        if !(incidence >= self.ends[0] && incidence < self.ends[1]) {
            return Excess {
                bias: 0.0,
                spread_ratio: 1.0,
                drop_out: 0.0,
                intensity: 0.0,
            };
        }
        let segment = &self.segments[self.lookup.segment(incidence)];
        let share = (incidence - segment.start) * segment.per_width;
        let mix = |[value, more]: [f64; 2]| value + share * more;
        Excess {
            bias: mix(segment.bias),
            spread_ratio: mix(segment.spread_ratio),
            drop_out: mix(segment.drop_out),
            intensity: mix(segment.intensity),
        }
    }
}

/// Loses shares $s$ of the beams that would return: of the odds $e$ to drop out is made
/// $(e + s)/(1 - s)$.
#[inline(always)]
fn lose<const N: usize>(logit: &mut [f64; N], shares: &[f64; N]) {
    /// Of numbers above this the logistic is 1.
    const ALL: f64 = 36.8;
    for i in 0..N {
        let odds = (exp(logit[i].min(ALL)) + shares[i]) / (1.0 - shares[i]).max(f64::MIN_POSITIVE);
        if shares[i] > 0.0 && logit[i] < ALL {
            logit[i] = if shares[i] < 1.0 {
                ln(odds)
            } else {
                f64::INFINITY
            };
        }
    }
}

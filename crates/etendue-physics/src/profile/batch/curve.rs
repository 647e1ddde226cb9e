//! Precomputed interpolation of a profile's knots.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over a batch are compiled for the caller's target features"
)]

use super::distributions::ReturnDistributions;
use super::lookup::Lookup;
use crate::profile::reflectance::logit;
use crate::profile::{IntensityKind, Knot, Profile};
use crate::series::{acos, exp};
use std::f64::consts::FRAC_PI_2;

/// Least cosine of incidence of the table of the reflectance model.
const LEAST_COS: f64 = 1e-6;

/// Binary logarithm of the steps per octave of the extrapolation table: leading mantissa bits of the
/// cosine that select a step.
const STEP_BITS: u32 = 7;

/// The expected return over incidence at the measured distance, without the glare: the batched form of
/// that part of [`Profile::at`](crate::profile::Profile::at). It holds linear coefficients of each segment
/// between knots, and a table of the reflectance model beyond the last knot.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    lookup: Lookup,
    /// Incidences of the first and the last knot, rad.
    ends: [f64; 2],
    segments: Vec<Segment>,
    /// Mean intensity and its spread over the same segments, if the intensity varies.
    intensities: Vec<[[f64; 2]; 2]>,
    beyond: Extrapolation,
}

/// Interpolated values of a batch of beams.
#[repr(align(64))]
pub(super) struct CurveRows<const N: usize> {
    /// Incidence, rad.
    pub incidence: [f64; N],
    /// Incidence clamped to the knots, rad.
    within: [f64; N],
    /// Index of the segment.
    places: [usize; N],
    /// Values as in [`Segment::values`].
    values: [[f64; 4]; N],
}

impl<const N: usize> CurveRows<N> {
    pub const ZERO: Self = Self {
        incidence: [0.0; N],
        within: [0.0; N],
        places: [0; N],
        values: [[0.0; 4]; N],
    };
}

/// A segment between two knots, in which four quantities are linear in the incidence.
///
/// The quantities are the bias (m), a spread $\sigma$ (m), the logarithm of a factor $f$ of the spread,
/// and the logit of the drop-out. The interpolated spread is $\sigma f$. It is linear in its logarithm
/// ($\sigma$ constant) if the spreads of both knots are positive, and linear ($f = 1$) otherwise.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Segment {
    /// The quantities at the first knot.
    values: [f64; 4],
    /// Their slopes, 1/rad.
    slopes: [f64; 4],
    /// Incidence of the first knot, rad.
    start: f64,
}

/// Extrapolation beyond the last knot: a table of $F = -\ln(P/P_0)$ over the cosine of the incidence.
///
/// $P$ is the power of the reflectance model and $P_0$ that at the last knot. The table has 128 equal
/// steps per octave of the cosine: the exponent and the leading mantissa bits of the cosine are the index.
#[derive(Clone, Debug)]
struct Extrapolation {
    /// Cosine of the incidence of the last knot.
    cos: f64,
    /// Index of the least cosine.
    first: usize,
    /// For each step: $F$ at its least cosine, the difference of $F$ at its greatest, its least cosine,
    /// and its inverse width.
    steps: Vec<[f64; 4]>,
    /// Logit of the drop-out at the last knot.
    logit: f64,
    /// Slope of the logit over $F$.
    slope: f64,
}

impl Curve {
    /// Precomputes the coefficients of a profile's knots and the table of its reflectance model.
    pub fn new(profile: &Profile) -> Self {
        // Extend the knots to at least two.
        let knots = match &profile.knots[..] {
            [] => vec![Self::nothing(); 2],
            [only] => vec![*only; 2],
            several => several.to_vec(),
        };
        let mut nodes: Vec<f64> = knots.iter().map(|knot| knot.incidence).collect();
        if profile.knots.len() < 2 {
            nodes[1] = FRAC_PI_2;
        }
        // Precompute the segments.
        let scales = profile.law.power_exponent() != 0.0;
        let spans = || knots.windows(2).zip(nodes.windows(2));
        let varies = matches!(
            profile.intensity,
            IntensityKind::TwoValued { .. } | IntensityKind::Continuous
        );
        Self {
            ends: [nodes[0], nodes[nodes.len() - 1]],
            segments: spans()
                .map(|(two, nodes)| Segment::between(&two[0], &two[1], nodes, scales))
                .collect(),
            intensities: spans()
                .filter(|_| varies)
                .map(|(two, nodes)| intensity_between(&two[0], &two[1], nodes))
                .collect(),
            lookup: Lookup::new(&nodes),
            beyond: Extrapolation::new(profile, &knots[knots.len() - 1], nodes[nodes.len() - 1]),
        }
    }

    /// The knot of a profile without knots: drop-out with certainty.
    fn nothing() -> Knot {
        Knot {
            drop_out: 1.0,
            ..Knot::default()
        }
    }

    /// Interpolates between knots for beams with the given cosines of incidence.
    #[inline(always)]
    pub fn look_up<const N: usize>(&self, cos: &[f64; N], rows: &mut CurveRows<N>) {
        for i in 0..N {
            rows.incidence[i] = acos(cos[i]);
        }
        for i in 0..N {
            rows.within[i] = rows.incidence[i].max(self.ends[0]).min(self.ends[1]);
        }
        for i in 0..N {
            let place = self.lookup.segment(rows.within[i]);
            let segment = &self.segments[place];
            let more = rows.within[i] - segment.start;
            rows.places[i] = place;
            for k in 0..4 {
                rows.values[i][k] = segment.values[k] + more * segment.slopes[k];
            }
        }
    }

    /// Expected returns at the measured distance, from the interpolated `rows`, extrapolated beyond the
    /// last knot.
    #[inline(always)]
    pub fn at<const N: usize>(
        &self,
        cos: &[f64; N],
        rows: &CurveRows<N>,
        fixed_pattern: f64,
    ) -> ReturnDistributions<N> {
        // Transpose the interpolated rows.
        let mut here = ReturnDistributions::new(fixed_pattern);
        let mut log_spread = [0.0; N];
        let CurveRows {
            within,
            places,
            values,
            ..
        } = rows;
        for i in 0..N {
            here.bias[i] = values[i][0];
            here.spread[i] = values[i][1];
            log_spread[i] = values[i][2];
            here.logit[i] = values[i][3];
        }
        // Interpolate the intensity, if it varies.
        if !self.intensities.is_empty() {
            for i in 0..N {
                let more = within[i] - self.segments[places[i]].start;
                let [mean, spread] = &self.intensities[places[i]];
                here.intensity[i] = mean[0] + more * mean[1];
                here.intensity_spread[i] = spread[0] + more * spread[1];
            }
        }
        // Extrapolate spread and drop-out, and apply the factor of the spread.
        self.beyond
            .extrapolate(cos, &mut log_spread, &mut here.logit);
        for i in 0..N {
            here.spread[i] *= exp(log_spread[i]);
        }
        here
    }
}

impl Segment {
    /// The segment between two knots at the incidences `nodes` (rad). A drop-out of zero at both has the
    /// logit $-\infty$, or -30 if the drop-out depends on the distance (`scales`).
    fn between(a: &Knot, b: &Knot, nodes: &[f64], scales: bool) -> Self {
        let more = |a: f64, b: f64| rising(a, b, nodes);
        let (spread, log_spread) = if a.spread > 0.0 && b.spread > 0.0 {
            ([a.spread, 0.0], more(0.0, (b.spread / a.spread).ln()))
        } else {
            (more(a.spread, b.spread), [0.0; 2])
        };
        let alike = a.drop_out == b.drop_out;
        let logit = match a.drop_out {
            p if alike && p <= 0.0 && !scales => [f64::NEG_INFINITY, 0.0],
            p if alike && p >= 1.0 => [f64::INFINITY, 0.0],
            p => more(logit(p), logit(b.drop_out)),
        };
        let [bias, spread, log_spread, logit] = [more(a.bias, b.bias), spread, log_spread, logit];
        Self {
            values: [bias[0], spread[0], log_spread[0], logit[0]],
            slopes: [bias[1], spread[1], log_spread[1], logit[1]],
            start: nodes[0],
        }
    }
}

/// Value and slope of the mean intensity, and of its spread, between two knots.
fn intensity_between(a: &Knot, b: &Knot, nodes: &[f64]) -> [[f64; 2]; 2] {
    [
        rising(a.intensity, b.intensity, nodes),
        rising(a.intensity_spread, b.intensity_spread, nodes),
    ]
}

/// Value and slope of the line through `a` at the first node and `b` at the second.
fn rising(a: f64, b: f64, nodes: &[f64]) -> [f64; 2] {
    let width = nodes[1] - nodes[0];
    [a, if width > 0.0 { (b - a) / width } else { 0.0 }]
}

impl Extrapolation {
    /// Tabulates the power of a profile's reflectance model beyond its last knot, at the incidence `last`
    /// (rad).
    fn new(profile: &Profile, knot: &Knot, last: f64) -> Self {
        let model = &profile.reflectance;
        let cos = last.cos().max(LEAST_COS);
        let at_last = model.power(last);
        let fall = |at: f64| {
            let power = model.power(at.min(1.0).acos()) / at_last;
            -power.max(1e-30).ln()
        };
        let first = place(LEAST_COS);
        let begin = |place: usize| f64::from_bits((place as u64) << (52 - STEP_BITS));
        let steps = (first..=place(cos)).map(|place| {
            let [from, to] = [begin(place), begin(place + 1)];
            let falls = [from, to].map(fall);
            [falls[0], falls[1] - falls[0], from, 1.0 / (to - from)]
        });
        Self {
            cos,
            first,
            steps: steps.collect(),
            logit: logit(knot.drop_out),
            slope: model.drop_out.slope,
        }
    }

    /// Extrapolates spread and drop-out of the beams beyond the last knot: the spread is proportional to
    /// $P^{-1/2}$, at most 1000 times that of the last knot, the logit linear in $\ln P$.
    #[inline(always)]
    fn extrapolate<const N: usize>(
        &self,
        cos: &[f64; N],
        log_spread: &mut [f64; N],
        logit: &mut [f64; N],
    ) {
        let mut any = false;
        for i in 0..N {
            any |= cos[i] < self.cos;
        }
        if !any {
            return;
        }
        let most = 1e3_f64.ln();
        for i in 0..N {
            if cos[i] < self.cos {
                let fall = self.fall(cos[i].max(LEAST_COS));
                log_spread[i] += (0.5 * fall).min(most);
                logit[i] = self.logit + self.slope * fall;
            }
        }
    }

    /// $F$ at a cosine of incidence, linear within each step of the table.
    #[inline(always)]
    fn fall(&self, cos: f64) -> f64 {
        let [fall, more, from, per_width] = self.steps[place(cos) - self.first];
        fall + (cos - from) * per_width * more
    }
}

/// Index of a cosine in the table of all octaves.
#[inline(always)]
fn place(cos: f64) -> usize {
    (cos.to_bits() >> (52 - STEP_BITS)) as usize
}

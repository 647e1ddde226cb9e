//! A profile's knots, made ready.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes become the caller's vector instructions"
)]

use super::Expectation;
use super::lookup::Lookup;
use crate::profile::reflectance::logit;
use crate::profile::{IntensityKind, Knot, Profile};
use crate::series::{acos, exp};
use std::f64::consts::FRAC_PI_2;

/// The least cosine of an incidence that the reflectance model tells apart.
const LEAST_COS: f64 = 1e-6;

/// Steps of an octave of the table of what lies beyond the last knot: so many of the bits after the
/// cosine's exponent name one.
const STEP_BITS: u32 = 7;

/// What [`Profile::at`](crate::profile::Profile::at) says between and beyond knots, without the law and
/// the glare: with the numbers of each segment worked out, and a table of the reflectance model.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    lookup: Lookup,
    /// The first and the last knot.
    ends: [f64; 2],
    segments: Vec<Segment>,
    /// The mean intensity and its spread, of the same segments, where the device has more than one.
    intensities: Vec<[[f64; 2]; 2]>,
    beyond: Beyond,
}

/// What the segments say of beams.
#[repr(align(64))]
pub(super) struct Between<const N: usize> {
    /// rad.
    pub incidence: [f64; N],
    /// The same between the first and the last knot.
    within: [f64; N],
    /// Of the segments.
    places: [usize; N],
    /// As in a [`Segment`], beam by beam.
    rows: [[f64; 4]; N],
}

impl<const N: usize> Between<N> {
    pub const NONE: Self = Self {
        incidence: [0.0; N],
        within: [0.0; N],
        places: [0; N],
        rows: [[0.0; 4]; N],
    };
}

/// Between two knots: values at the first, and how much more there is per radian.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Segment {
    /// Bias, spread, logarithm of a factor of the spread, so that it is linear or its logarithm is, and
    /// logit of the drop-out.
    values: [f64; 4],
    slopes: [f64; 4],
    start: f64,
}

/// How far the reflectance model's power falls beyond the last knot: $-\ln P$ of its power there. The
/// table has 128 even steps for each octave of the cosine, so that its place stands in the bits of the
/// cosine itself.
#[derive(Clone, Debug)]
struct Beyond {
    cos: f64,
    /// Place of the least cosine.
    first: usize,
    /// The fall at the least cosine of each step and the difference to its greatest, and that cosine
    /// and one over the width.
    steps: Vec<[f64; 4]>,
    /// Logit of the drop-out at the last knot.
    logit: f64,
    /// How much it grows with the fall.
    slope: f64,
}

impl Curve {
    pub fn new(profile: &Profile) -> Self {
        let knots = match &profile.knots[..] {
            [] => vec![Self::nothing(); 2],
            [only] => vec![*only; 2],
            several => several.to_vec(),
        };
        let mut nodes: Vec<f64> = knots.iter().map(|knot| knot.incidence).collect();
        if profile.knots.len() < 2 {
            nodes[1] = FRAC_PI_2;
        }
        let carried = profile.law.power_exponent() != 0.0;
        let spans = || knots.windows(2).zip(nodes.windows(2));
        let varies = matches!(
            profile.intensity,
            IntensityKind::TwoValued { .. } | IntensityKind::Continuous
        );
        Self {
            ends: [nodes[0], nodes[nodes.len() - 1]],
            segments: spans()
                .map(|(two, nodes)| Segment::between(&two[0], &two[1], nodes, carried))
                .collect(),
            intensities: spans()
                .filter(|_| varies)
                .map(|(two, nodes)| intensity_between(&two[0], &two[1], nodes))
                .collect(),
            lookup: Lookup::new(&nodes),
            beyond: Beyond::new(profile, &knots[knots.len() - 1], nodes[nodes.len() - 1]),
        }
    }

    /// Of a profile that says nothing: all is lost.
    fn nothing() -> Knot {
        Knot {
            drop_out: 1.0,
            ..Knot::default()
        }
    }

    /// What the segments say of beams of which the cosines of the incidences are given.
    #[inline(always)]
    pub fn between<const N: usize>(&self, cos: &[f64; N], between: &mut Between<N>) {
        for i in 0..N {
            between.incidence[i] = acos(cos[i]);
        }
        for i in 0..N {
            between.within[i] = between.incidence[i].max(self.ends[0]).min(self.ends[1]);
        }
        for i in 0..N {
            let place = self.lookup.segment(between.within[i]);
            let segment = &self.segments[place];
            let more = between.within[i] - segment.start;
            between.places[i] = place;
            for k in 0..4 {
                between.rows[i][k] = segment.values[k] + more * segment.slopes[k];
            }
        }
    }

    /// What to expect of the beams.
    #[inline(always)]
    pub fn at<const N: usize>(
        &self,
        cos: &[f64; N],
        between: &Between<N>,
        fixed_pattern: f64,
    ) -> Expectation<N> {
        let mut here = Expectation::new(fixed_pattern);
        let mut log_spread = [0.0; N];
        let Between {
            within,
            places,
            rows,
            ..
        } = between;
        for i in 0..N {
            here.bias[i] = rows[i][0];
            here.spread[i] = rows[i][1];
            log_spread[i] = rows[i][2];
            here.logit[i] = rows[i][3];
        }
        if !self.intensities.is_empty() {
            for i in 0..N {
                let more = within[i] - self.segments[places[i]].start;
                let [mean, spread] = &self.intensities[places[i]];
                here.intensity[i] = mean[0] + more * mean[1];
                here.intensity_spread[i] = spread[0] + more * spread[1];
            }
        }
        self.beyond.add(cos, &mut log_spread, &mut here.logit);
        for i in 0..N {
            here.spread[i] *= exp(log_spread[i]);
        }
        here
    }
}

impl Segment {
    /// Where drop-outs are carried to other distances, none at all is a logit of -30.
    fn between(a: &Knot, b: &Knot, nodes: &[f64], carried: bool) -> Self {
        let more = |a: f64, b: f64| rising(a, b, nodes);
        let (spread, log_spread) = if a.spread > 0.0 && b.spread > 0.0 {
            ([a.spread, 0.0], more(0.0, (b.spread / a.spread).ln()))
        } else {
            (more(a.spread, b.spread), [0.0; 2])
        };
        let alike = a.drop_out == b.drop_out;
        let logit = match a.drop_out {
            p if alike && p <= 0.0 && !carried => [f64::NEG_INFINITY, 0.0],
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

fn intensity_between(a: &Knot, b: &Knot, nodes: &[f64]) -> [[f64; 2]; 2] {
    [
        rising(a.intensity, b.intensity, nodes),
        rising(a.intensity_spread, b.intensity_spread, nodes),
    ]
}

/// The first of two values, and the slope to the second.
fn rising(a: f64, b: f64, nodes: &[f64]) -> [f64; 2] {
    let width = nodes[1] - nodes[0];
    [a, if width > 0.0 { (b - a) / width } else { 0.0 }]
}

impl Beyond {
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

    /// Lets spread and drop-out go on beyond the last knot.
    #[inline(always)]
    fn add<const N: usize>(&self, cos: &[f64; N], log_spread: &mut [f64; N], logit: &mut [f64; N]) {
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

    #[inline(always)]
    fn fall(&self, cos: f64) -> f64 {
        let [fall, more, from, per_width] = self.steps[place(cos) - self.first];
        fall + (cos - from) * per_width * more
    }
}

/// The place of a cosine in the table of all octaves.
#[inline(always)]
fn place(cos: f64) -> usize {
    (cos.to_bits() >> (52 - STEP_BITS)) as usize
}

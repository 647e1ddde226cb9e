//! Random measurements of batches of beams.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over a batch are compiled for the caller's target features"
)]

use super::curve::{Curve, CurveRows};
use super::expectation::Expectation;
use super::glare::GlareCurve;
use super::tail;
use crate::profile::Profile;
use crate::profile::draw::{Address, Drawn};
use crate::profile::intensity::IntensityKind;
use crate::profile::noise_cache::NoiseCache;
use crate::profile::steps::Rounding;
use crate::{Draws, Purpose};
use std::sync::Arc;

/// Batched form of [`Profile::draw`]: draws one beam or up to 64 consecutive beams, bit-equal for any
/// batch size.
///
/// The coefficients between knots are computed once. Beyond the knots the logarithm of the reflectance
/// model's power is tabulated: spreads there are within 2e-5 of those of [`Profile::at`], logits of
/// drop-outs within 1e-4. All else is equal up to rounding (1e-11).
#[derive(Clone, Debug)]
pub struct ProfileSampler {
    pub(super) profile: Arc<Profile>,
    pub(super) curve: Curve,
    glare: Option<GlareCurve>,
    rounding: Rounding,
    /// Inverse of the distance that the profile was measured at, 1/m.
    per_distance: f64,
}

/// Consecutive beams that are incident on a material.
#[derive(Clone, Debug)]
pub struct IncidentBatch<'a, const N: usize> {
    /// Whether each beam is: values of the others are undefined.
    pub wanted: [bool; N],
    /// Range, m.
    pub range: &'a [f64; N],
    /// Cosine of the incidence, in [0, 1].
    pub cos_incidence: &'a [f64; N],
}

/// Measurements of consecutive beams.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct DrawnBatch<const N: usize> {
    /// Whether each beam returned: values of the others are undefined.
    pub returned: [bool; N],
    /// Reported ranges, m.
    pub range: [f64; N],
    /// Reported intensities, if the device reports any.
    pub intensity: Option<[f64; N]>,
}

impl ProfileSampler {
    /// Computes the coefficients that all draws share.
    pub fn new(profile: Arc<Profile>) -> Self {
        Self {
            curve: Curve::new(&profile),
            glare: GlareCurve::new(&profile),
            rounding: profile.steps.rounding(),
            per_distance: 1.0 / profile.distance,
            profile,
        }
    }

    /// The profile.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// A random measurement of a surface at `range` (m) under an incidence with the given cosine;
    /// `None` for a drop-out. `side` ([`Aspect::side`](crate::profile::Aspect::side)) is evaluated only
    /// within the reach of a glare.
    pub fn draw(
        &self,
        range: f64,
        cos_incidence: f64,
        side: impl Fn() -> f64,
        beam: &Address,
        noise_cache: &mut NoiseCache,
    ) -> Option<Drawn> {
        let incident = IncidentBatch {
            wanted: [true],
            range: &[range],
            cos_incidence: &[cos_incidence],
        };
        let drawn = self.draw_batch(&incident, |_| side(), beam, noise_cache);
        drawn.returned[0].then_some(Drawn {
            range: drawn.range[0],
            intensity: drawn.intensity.map(|[intensity]| intensity),
        })
    }

    /// Random measurements of N consecutive beams, at most 64, starting with `first`; `side` is the side
    /// of a beam by its index in the batch.
    #[inline(always)]
    pub fn draw_batch<const N: usize>(
        &self,
        incident: &IncidentBatch<'_, N>,
        side: impl Fn(usize) -> f64,
        first: &Address,
        noise_cache: &mut NoiseCache,
    ) -> DrawnBatch<N> {
        // Look up the segments; drawing the temporal noise hides the latency
        let mut rows = CurveRows::ZERO;
        self.curve.look_up(incident.cos_incidence, &mut rows);
        let temporal = noise_cache.temporal::<N>(first, &self.profile.correlation);

        // Evaluate the expected returns and add correlated noise
        let here = self.expect(incident, &rows, side);
        let [error, loss] = self.normalised(&here, &temporal, first, noise_cache);
        let above = tail::above(&loss, &here.logit);
        let mut returned = [false; N];
        let mut range = [0.0; N];
        for i in 0..N {
            returned[i] = incident.wanted[i] && above[i];
            range[i] = incident.range[i] + here.bias[i] + here.spread[i] * error[i];
        }
        self.rounding.round(&mut range);
        DrawnBatch {
            returned,
            range,
            intensity: self.intensity(&here, first),
        }
    }

    /// Expected returns at the beams' ranges and incidences.
    #[inline(always)]
    pub(super) fn expect<const N: usize>(
        &self,
        incident: &IncidentBatch<'_, N>,
        rows: &CurveRows<N>,
        side: impl Fn(usize) -> f64,
    ) -> Expectation<N> {
        let profile = &*self.profile;
        let fixed_pattern = profile.correlation.fixed_pattern();
        let mut here = self.curve.at(incident.cos_incidence, rows, fixed_pattern);
        let mut ratio = [0.0; N];
        for i in 0..N {
            ratio[i] = incident.range[i] * incident.cos_incidence[i] * self.per_distance;
        }
        if let Some(glare) = &self.glare {
            glare.add(
                &mut here,
                profile,
                &rows.incidence,
                &ratio,
                &incident.wanted,
                side,
            );
        }
        here.scale(&profile.law, &ratio, profile.reflectance.drop_out.slope);
        here
    }

    /// Two standard normal numbers of each beam, for the range and for the drop-out, correlated between
    /// neighbours and between sweeps.
    #[inline(always)]
    fn normalised<const N: usize>(
        &self,
        here: &Expectation<N>,
        [range, drop]: &[[f64; N]; 2],
        first: &Address,
        noise_cache: &mut NoiseCache,
    ) -> [[f64; N]; 2] {
        let correlation = &self.profile.correlation;
        let (fixed_pattern, fixed_pattern_drop) = (
            correlation.fixed_pattern(),
            correlation.fixed_pattern_drop(),
        );
        let mut sums = [[0.0; N]; 2];
        let mut roots = [(1.0 - fixed_pattern).sqrt(); N];
        if !here.is_uniform {
            for i in 0..N {
                roots[i] = (1.0 - here.fixed_pattern[i]).sqrt();
            }
        }
        add(
            &mut sums,
            [range, drop],
            &roots,
            (1.0 - fixed_pattern_drop).sqrt(),
        );
        if fixed_pattern > 0.0 || fixed_pattern_drop > 0.0 {
            let numbers = noise_cache.fixed_pattern::<N>(first, correlation);
            let mut roots = [fixed_pattern.sqrt(); N];
            if !here.is_uniform {
                for i in 0..N {
                    roots[i] = here.fixed_pattern[i].sqrt();
                }
            }
            add(&mut sums, numbers, &roots, fixed_pattern_drop.sqrt());
        }
        sums
    }

    #[inline(always)]
    fn intensity<const N: usize>(
        &self,
        here: &Expectation<N>,
        first: &Address,
    ) -> Option<[f64; N]> {
        let draws = Draws {
            seed: first.seed,
            sensor: first.sensor,
            sweep: first.sweep,
            purpose: Purpose::ProfileIntensity,
        };
        let mut beams = [first.beam; N];
        for (beam, offset) in beams.iter_mut().zip(0..) {
            *beam = beam.wrapping_add(offset);
        }
        let mut intensity = [0.0; N];
        match self.profile.intensity {
            IntensityKind::None => return None,
            IntensityKind::Constant(value) => intensity = [value; N],
            IntensityKind::TwoValued { low, high } => {
                let uniforms = draws.uniforms(&beams);
                for i in 0..N {
                    let is_high = uniforms[i] < here.intensity[i];
                    intensity[i] = if is_high { high } else { low };
                }
            }
            IntensityKind::Continuous => {
                let [normals, _] = draws.normal_pairs(&beams);
                for i in 0..N {
                    let drawn = here.intensity[i] + here.intensity_spread[i] * normals[i];
                    intensity[i] = drawn.max(0.0);
                }
            }
        }
        Some(intensity)
    }
}

/// Adds numbers times the square roots of their variance shares, per beam for the range.
#[inline(always)]
fn add<T: Copy + Into<f64>, const N: usize>(
    sums: &mut [[f64; N]; 2],
    [range, drop]: [&[T; N]; 2],
    range_root: &[f64; N],
    drop_root: f64,
) {
    for i in 0..N {
        sums[0][i] += range_root[i] * range[i].into();
        sums[1][i] += drop_root * drop[i].into();
    }
}

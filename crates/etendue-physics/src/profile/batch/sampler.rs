//! Random measurements of batches of beams from a noise profile.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over a batch are compiled for the caller's target features"
)]

use super::curve::{Curve, CurveRows};
use super::distributions::ReturnDistributions;
use super::glare::GlareCurve;
use super::tail;
use crate::profile::Profile;
use crate::profile::draw::{BeamAddress, DrawnReturn};
use crate::profile::intensity::IntensityKind;
use crate::profile::noise_cache::NoiseCache;
use crate::profile::steps::Rounding;
use crate::{Draws, Purpose};
use std::sync::Arc;

/// Sampler of a noise profile: the batched form of [`Profile::draw`] for up to 64 consecutive beams.
///
/// A beam's draw has the same bits in a batch of any size. It equals that of [`Profile::draw`] up to
/// errors of approximation:
/// - Between knots, precomputed coefficients agree with [`Profile::at`] up to rounding.
/// - Beyond the last knot, the logarithm of the reflectance model's power is tabulated: relative errors of
///   spreads are less than 2e-5, errors of the drop-out's logit less than 1e-4.
/// - Fixed-pattern noise is cached in single precision (relative error 6e-8).
///
/// The ranges and drop-outs of a few beams near a rounding limit may differ as a result.
#[derive(Clone, Debug)]
pub struct ProfileSampler {
    pub(super) profile: Arc<Profile>,
    pub(super) curve: Curve,
    glare: Option<GlareCurve>,
    rounding: Rounding,
    /// Inverse of the profile's reference distance, 1/m.
    per_distance: f64,
}

/// Ranges and incidences of N consecutive beams on a material.
#[derive(Clone, Debug)]
pub struct IncidentBatch<'a, const N: usize> {
    /// Mask of the beams that hit the material; the values of the others are ignored.
    pub mask: [bool; N],
    /// True range, m.
    pub range: &'a [f64; N],
    /// Cosine of the angle of incidence, in [0, 1].
    pub cos_incidence: &'a [f64; N],
}

/// Random measurements of N consecutive beams.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct DrawnBatch<const N: usize> {
    /// Whether each beam returned; the other fields of beams that did not are unspecified.
    pub returned: [bool; N],
    /// Reported ranges, m.
    pub range: [f64; N],
    /// Reported intensities, if the device reports any.
    pub intensity: Option<[f64; N]>,
}

impl ProfileSampler {
    /// Precomputes the tables of a profile.
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

    /// A random measurement of a surface at `range` (m) and an incidence of the given cosine; `None` for a
    /// drop-out. `side` ([`Aspect::side`](crate::profile::Aspect::side)) is evaluated only within the reach
    /// of a glare.
    pub fn draw(
        &self,
        range: f64,
        cos_incidence: f64,
        side: impl Fn() -> f64,
        beam: &BeamAddress,
        noise_cache: &mut NoiseCache,
    ) -> Option<DrawnReturn> {
        let incident = IncidentBatch {
            mask: [true],
            range: &[range],
            cos_incidence: &[cos_incidence],
        };
        let drawn = self.draw_batch(&incident, |_| side(), beam, noise_cache);
        drawn.returned[0].then_some(DrawnReturn {
            range: drawn.range[0],
            intensity: drawn.intensity.map(|[intensity]| intensity),
        })
    }

    /// Random measurements of N consecutive beams (at most 64), of which `first` is the address of the
    /// first; `side` gives [`Aspect::side`](crate::profile::Aspect::side) by the index in the batch.
    #[inline(always)]
    pub fn draw_batch<const N: usize>(
        &self,
        incident: &IncidentBatch<'_, N>,
        side: impl Fn(usize) -> f64,
        first: &BeamAddress,
        noise_cache: &mut NoiseCache,
    ) -> DrawnBatch<N> {
        // Look up the segments; drawing the temporal noise hides the latency.
        let mut rows = CurveRows::ZERO;
        self.curve.look_up(incident.cos_incidence, &mut rows);
        let temporal = noise_cache.temporal::<N>(first, &self.profile.correlation);

        // Evaluate the expected returns.
        let here = self.expect(incident, &rows, side);
        // Add correlated noise to the range; compare that of the drop-out with its probability.
        let [error, loss] = self.normalised(&here, &temporal, first, noise_cache);
        let above = tail::above(&loss, &here.logit);
        let mut returned = [false; N];
        let mut range = [0.0; N];
        for i in 0..N {
            returned[i] = incident.mask[i] && above[i];
            range[i] = incident.range[i] + here.bias[i] + here.spread[i] * error[i];
        }
        self.rounding.round(&mut range);
        DrawnBatch {
            returned,
            range,
            intensity: self.intensity(&here, first),
        }
    }

    /// Expected returns at the ranges and incidences of the beams: the batched form of [`Profile::at`].
    #[inline(always)]
    pub(super) fn expect<const N: usize>(
        &self,
        incident: &IncidentBatch<'_, N>,
        rows: &CurveRows<N>,
        side: impl Fn(usize) -> f64,
    ) -> ReturnDistributions<N> {
        // Interpolate at the measured distance.
        let profile = &*self.profile;
        let fixed_pattern = profile.correlation.fixed_pattern();
        let mut here = self.curve.at(incident.cos_incidence, rows, fixed_pattern);
        // Ratio of the distance of the surface's plane to that of the panel.
        let mut ratio = [0.0; N];
        for i in 0..N {
            ratio[i] = incident.range[i] * incident.cos_incidence[i] * self.per_distance;
        }
        // Add the glare, then scale to the distance.
        if let Some(glare) = &self.glare {
            glare.add(
                &mut here,
                profile,
                &rows.incidence,
                &ratio,
                &incident.mask,
                side,
            );
        }
        here.scale(&profile.law, &ratio, profile.reflectance.drop_out.slope);
        here
    }

    /// Two standard normal numbers of each beam, for the range error and for the drop-out, correlated
    /// between neighbouring beams and between sweeps, from those of temporal noise (`range`, `drop`).
    #[inline(always)]
    fn normalised<const N: usize>(
        &self,
        here: &ReturnDistributions<N>,
        [range, drop]: &[[f64; N]; 2],
        first: &BeamAddress,
        noise_cache: &mut NoiseCache,
    ) -> [[f64; N]; 2] {
        let correlation = &self.profile.correlation;
        let fixed_pattern = correlation.fixed_pattern();
        let fixed_pattern_drop = correlation.fixed_pattern_drop();
        // Add the temporal noise.
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
        // Add the fixed-pattern noise.
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

    /// Reported intensities of the beams, if the device reports any.
    #[inline(always)]
    fn intensity<const N: usize>(
        &self,
        here: &ReturnDistributions<N>,
        first: &BeamAddress,
    ) -> Option<[f64; N]> {
        // The random numbers of the beams.
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
        // Draw from the distribution of the intensity kind.
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
                let [normals, _] = draws.normal_pairs(&beams, 0);
                for i in 0..N {
                    let drawn = here.intensity[i] + here.intensity_spread[i] * normals[i];
                    intensity[i] = drawn.max(0.0);
                }
            }
        }
        Some(intensity)
    }
}

/// Adds normal numbers, each times the square root of its share of the variance; the shares of the range
/// error differ by beam.
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

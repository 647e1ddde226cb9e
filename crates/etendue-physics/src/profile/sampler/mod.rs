//! Many measurements drawn from a profile.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over lanes become the caller's vector instructions"
)]

mod curve;
mod edge;
mod glare;
mod lookup;

use super::steps::Rounding;
use super::{Address, DistanceLaw, Drawn, IntensityKind, NoiseCache, Profile};
use crate::series::{exp, ln};
use crate::{Draws, Purpose};
use curve::{Between, Curve};
use glare::GlareCurve;
use std::sync::Arc;

/// A profile made ready to be drawn from: draws what [`Profile::draw`] does, sooner, for one beam or for
/// up to 64 that follow each other, to the last bit the same for either.
///
/// What lies between two knots is worked out with the profile. Beyond them the logarithm of the
/// reflectance model's power is a table: spreads there are within 2e-5 of
/// [`Profile::at`]'s, and drop-outs' logits within 1e-4. All else is exact but for rounding (1e-11).
#[derive(Clone, Debug)]
pub struct ProfileSampler {
    profile: Arc<Profile>,
    curve: Curve,
    glare: Option<GlareCurve>,
    rounding: Rounding,
    /// One over the distance that the profile was measured at, 1/m.
    per_distance: f64,
}

/// How beams that follow each other meet a material.
#[derive(Clone, Debug)]
pub struct IncidentBatch<'a, const N: usize> {
    /// Which do: the numbers of the others mean nothing.
    pub wanted: [bool; N],
    /// Range, m.
    pub range: &'a [f64; N],
    /// Cosine of the incidence, in [0, 1].
    pub cos_incidence: &'a [f64; N],
}

/// Measurements of beams that follow each other.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct DrawnBatch<const N: usize> {
    /// Which there are: the numbers of the others mean nothing.
    pub returned: [bool; N],
    /// The ranges as the device reports them, m.
    pub range: [f64; N],
    /// The intensities, if the device gives any.
    pub intensity: Option<[f64; N]>,
}

/// What to expect of beams.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Expectation<const N: usize> {
    bias: [f64; N],
    spread: [f64; N],
    fixed_pattern: [f64; N],
    /// Whether what stands still is the same of all.
    even: bool,
    /// Of the drop-out.
    logit: [f64; N],
    intensity: [f64; N],
    intensity_spread: [f64; N],
}

impl<const N: usize> Expectation<N> {
    fn new(fixed_pattern: f64) -> Self {
        Self {
            bias: [0.0; N],
            spread: [0.0; N],
            fixed_pattern: [fixed_pattern; N],
            even: true,
            logit: [0.0; N],
            intensity: [0.0; N],
            intensity_spread: [0.0; N],
        }
    }
}

impl ProfileSampler {
    /// Works out what all draws share.
    pub fn new(profile: Arc<Profile>) -> Self {
        Self {
            curve: Curve::new(&profile),
            glare: GlareCurve::new(&profile),
            rounding: profile.steps.rounding(),
            per_distance: 1.0 / profile.distance,
            profile,
        }
    }

    /// What it draws from.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// What the device reports of a surface at `range` (m) that it meets at an incidence of which the
    /// cosine is given, or none where the beam drops. `side` is asked where a glare reaches:
    /// [`Aspect::side`](super::Aspect::side).
    pub fn draw(
        &self,
        range: f64,
        cos_incidence: f64,
        side: impl Fn() -> f64,
        beam: &Address,
        noise_cache: &mut NoiseCache,
    ) -> Option<Drawn> {
        let met = IncidentBatch {
            wanted: [true],
            range: &[range],
            cos_incidence: &[cos_incidence],
        };
        let drawn = self.draw_batch(&met, |_| side(), beam, noise_cache);
        drawn.returned[0].then_some(Drawn {
            range: drawn.range[0],
            intensity: drawn.intensity.map(|[intensity]| intensity),
        })
    }

    /// Draws of beams that follow each other, at most 64, from `first` on; `side` is asked by lane.
    /// Loops for the vector instructions of the caller.
    #[inline(always)]
    pub fn draw_batch<const N: usize>(
        &self,
        met: &IncidentBatch<'_, N>,
        side: impl Fn(usize) -> f64,
        first: &Address,
        noise_cache: &mut NoiseCache,
    ) -> DrawnBatch<N> {
        // Numbers are drawn while what the segments say is still on its way to memory.
        let mut between = Between::NONE;
        self.curve.between(met.cos_incidence, &mut between);
        let temporal = noise_cache.temporal::<N>(first, &self.profile.correlation);
        let here = self.expect(met, &between, side);
        let [error, loss] = self.normalised(&here, &temporal, first, noise_cache);
        let above = edge::above(&loss, &here.logit);
        let mut returned = [false; N];
        let mut range = [0.0; N];
        for i in 0..N {
            returned[i] = met.wanted[i] && above[i];
            range[i] = met.range[i] + here.bias[i] + here.spread[i] * error[i];
        }
        self.rounding.round(&mut range);
        DrawnBatch {
            returned,
            range,
            intensity: self.intensity(&here, first),
        }
    }

    #[inline(always)]
    fn expect<const N: usize>(
        &self,
        met: &IncidentBatch<'_, N>,
        between: &Between<N>,
        side: impl Fn(usize) -> f64,
    ) -> Expectation<N> {
        let profile = &*self.profile;
        let fixed_pattern = profile.correlation.fixed_pattern();
        let mut here = self.curve.at(met.cos_incidence, between, fixed_pattern);
        let mut ratio = [0.0; N];
        for i in 0..N {
            ratio[i] = met.range[i] * met.cos_incidence[i] * self.per_distance;
        }
        if let Some(glare) = &self.glare {
            glare.add(
                &mut here,
                profile,
                (&between.incidence, &ratio, &met.wanted),
                side,
            );
        }
        self.carry(&mut here, &ratio);
        here
    }

    /// Carries what is expected to other distances, by the law.
    #[inline(always)]
    fn carry<const N: usize>(&self, here: &mut Expectation<N>, ratio: &[f64; N]) {
        match self.profile.law {
            DistanceLaw::Triangulation => {
                for i in 0..N {
                    here.bias[i] *= ratio[i];
                    here.spread[i] *= ratio[i] * ratio[i];
                }
            }
            DistanceLaw::SignalToNoise { floor } => {
                for i in 0..N {
                    let floor = floor.min(here.spread[i]);
                    let (fixed, square) = (floor * floor, ratio[i] * ratio[i]);
                    let carried = here.spread[i] * here.spread[i] - fixed;
                    here.spread[i] = (fixed + carried * (square * square)).sqrt();
                }
            }
            DistanceLaw::Fitted { spread, bias, .. } => {
                for i in 0..N {
                    let log = ln(ratio[i].max(f64::MIN_POSITIVE));
                    here.bias[i] *= exp(bias * log);
                    here.spread[i] *= exp(spread * log);
                }
            }
        }
        self.carry_drop_out(here, ratio);
    }

    #[inline(always)]
    fn carry_drop_out<const N: usize>(&self, here: &mut Expectation<N>, ratio: &[f64; N]) {
        /// Of numbers above this the logistic is 1.
        const ALL: f64 = 36.8;
        let slope = self.profile.reflectance.drop_out.slope * self.profile.law.power_exponent();
        if slope == 0.0 {
            return;
        }
        for i in 0..N {
            let shifted = here.logit[i].clamp(-30.0, 30.0) + slope * ln(ratio[i].max(1e-6));
            here.logit[i] = if here.logit[i] < ALL {
                shifted
            } else {
                f64::INFINITY
            };
        }
    }

    /// Two standard normal numbers of each beam, alike between neighbours and between sweeps: of the
    /// range, of whose variance a share stands still, and of the drop-out.
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
        if !here.even {
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
            if !here.even {
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
        for (beam, lane) in beams.iter_mut().zip(0..) {
            *beam = beam.wrapping_add(lane);
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

/// Adds numbers times the roots of their shares: of the range by beam, of the drop-out.
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

#[cfg(test)]
mod tests;

//! Random measurements of a noise profile.

use super::aspect::Aspect;
use super::distribution::ReturnDistribution;
use super::intensity::IntensityKind;
use super::noise_profile::Profile;
use crate::{Purpose, Stream, normal};

/// Counter of the random number generator: identifies a beam of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BeamAddress {
    /// Seed of the run.
    pub seed: u64,
    /// Index of the sensor.
    pub sensor: u32,
    /// Index of the sweep.
    pub sweep: u32,
    /// Index of the beam in its sweep.
    pub beam: u32,
    /// Index difference of neighbours in azimuth: 1 for a planar sensor, the number of channels for a
    /// sensor that fires them in sequence.
    pub stride: u32,
}

/// Random measurement of a beam that returned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnReturn {
    /// Reported range, rounded to the device's steps, m.
    pub range: f64,
    /// Reported intensity, if the device reports any.
    pub intensity: Option<f64>,
}

/// Sweep index of the random numbers of fixed-pattern noise, which is the same in all sweeps.
pub(super) const FIXED_PATTERN_SWEEP: u32 = u32::MAX;

impl Profile {
    /// A random measurement of a surface at `range` (m) and an incidence (rad, or an [`Aspect`] with its
    /// side); `None` for a drop-out.
    ///
    /// With the expected values of [`Profile::at`], the range $r + b + \sigma x$ of the true range $r$,
    /// bias $b$, spread $\sigma$ and standard normal error $x$ is rounded to the [`steps`](Profile::steps).
    /// The beam drops out with the probability $p$ if $\Phi(y) < p$ for a second standard normal number
    /// $y$. [`Correlation`](super::Correlation) defines the correlation of $x$ and of $y$ between beams and
    /// sweeps.
    ///
    /// A pure function of its arguments: results do not depend on the order of draws. A
    /// [`ProfileSampler`](super::ProfileSampler) is the batched form: it uses the same random numbers, and
    /// its results are equal up to the errors of its tables and of single-precision fixed-pattern noise.
    ///
    /// ```
    /// use etendue_physics::profile::{BeamAddress, Knot, Profile};
    /// # let knot = |incidence, drop_out| Knot { incidence, drop_out, spread: 1e-3, ..Knot::default() };
    /// # let profile = Profile {
    /// #     sensor: String::new(), material: String::new(), wavelength: None, distance: 1.0,
    /// #     law: Default::default(), steps: Default::default(), correlation: Default::default(),
    /// #     intensity: Default::default(), reflectance: Default::default(),
    /// #     knots: vec![knot(0.0, 0.25), knot(1.0, 0.25)], glare: None, extrapolated: false,
    /// # };
    /// let beams = (0..4000).map(|beam| BeamAddress { beam, stride: 1, ..BeamAddress::default() });
    /// let dropped = beams.filter(|beam| profile.draw(1.0, 0.3, beam).is_none()).count();
    /// assert!((950..1050).contains(&dropped), "a quarter drops, once: {dropped}");
    /// ```
    pub fn draw(
        &self,
        range: f64,
        aspect: impl Into<Aspect>,
        beam: &BeamAddress,
    ) -> Option<DrawnReturn> {
        let here = self.at(aspect, range);
        if here.drop_out >= 1.0 {
            return None;
        }
        let [error, loss] = self.normalised(here.fixed_pattern, beam);
        if normal::probability(loss) < here.drop_out {
            return None;
        }
        Some(DrawnReturn {
            range: self.steps.round(range + here.bias + here.spread * error),
            intensity: self.draw_intensity(&here, beam),
        })
    }

    /// Two standard normal numbers of a beam, for the range error and for the drop-out, correlated between
    /// neighbouring beams and between sweeps ([`Correlation`](super::Correlation)). `fixed_pattern` is the
    /// fixed-pattern share of the variance of the range error.
    fn normalised(&self, fixed_pattern: f64, beam: &BeamAddress) -> [f64; 2] {
        let fixed_pattern_drop = self.correlation.fixed_pattern_drop();
        let temporal_weights = self.correlation.temporal_weights().weights();
        let fixed_pattern_weights = self.correlation.fixed_pattern_weights().weights();
        // A moving average over the beam and its predecessors in one sweep.
        let mut sums = [0.0; 2];
        let mut add = |sweep: u32, weights: &[f64], share: [f64; 2]| {
            let share = share.map(f64::sqrt);
            for (back, weight) in (0..).zip(weights) {
                let neighbour = beam.beam.wrapping_sub(back * beam.stride);
                let purpose = Purpose::ProfileNoise;
                let mut stream = Stream::new(beam.seed, beam.sensor, sweep, neighbour, purpose);
                let draws = stream.normal_pair();
                sums[0] += weight * share[0] * draws[0];
                sums[1] += weight * share[1] * draws[1];
            }
        };
        // Temporal noise, and fixed-pattern noise if it has any share.
        add(
            beam.sweep,
            temporal_weights,
            [1.0 - fixed_pattern, 1.0 - fixed_pattern_drop],
        );
        if fixed_pattern > 0.0 || fixed_pattern_drop > 0.0 {
            add(
                FIXED_PATTERN_SWEEP,
                fixed_pattern_weights,
                [fixed_pattern, fixed_pattern_drop],
            );
        }
        sums
    }

    /// The reported intensity of a beam that returned, if the device reports any.
    fn draw_intensity(&self, here: &ReturnDistribution, beam: &BeamAddress) -> Option<f64> {
        let stream = || {
            Stream::new(
                beam.seed,
                beam.sensor,
                beam.sweep,
                beam.beam,
                Purpose::ProfileIntensity,
            )
        };
        match self.intensity {
            IntensityKind::None => None,
            IntensityKind::Constant(value) => Some(value),
            IntensityKind::TwoValued { low, high } => {
                let is_high = stream().uniform() < here.intensity;
                Some(if is_high { high } else { low })
            }
            IntensityKind::Continuous => {
                let draw = here.intensity + here.intensity_spread * stream().normal();
                Some(draw.max(0.0))
            }
        }
    }
}

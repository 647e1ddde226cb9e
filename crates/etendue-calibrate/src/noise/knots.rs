//! From smooth curves to the knots of a profile.

use super::calibrate::CalibrationOptions;
use super::curves::Curves;
use super::smooth::Curve;
use super::statistics::{Bin, wilson};
use etendue_physics::profile::{IntensityKind, Knot, ReflectanceModel};

impl Curves {
    /// The profile's knots: from normal incidence to the widest at which beams were counted.
    pub fn knots(
        &self,
        [bins, about]: [&[Bin]; 2],
        options: &CalibrationOptions,
        usual: f64,
        model: &ReflectanceModel,
        intensity: IntensityKind,
    ) -> Vec<Knot> {
        let widest = bins.iter().map(|bin| bin.incidence).fold(0.0, f64::max);
        let first = bins.iter().map(|bin| bin.incidence).fold(widest, f64::min);
        let returned = { bins.iter().filter(|bin| bin.error.is_some()) }
            .map(|bin| bin.incidence)
            .fold(0.0, f64::max);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a quarter turn has few knots"
        )]
        let count = ((widest / options.knot).round() as usize).max(1);
        let at = |number: usize| number as f64 * widest / count as f64;
        let place = Place {
            bins,
            about,
            width: 1.5 * options.knot.max(options.bin),
            usual,
            returned,
        };
        (0..=count)
            .map(|number| self.knot(at(number), &place, intensity))
            .map(|knot| {
                if knot.incidence + options.bin < first {
                    // Nobody looked there: the reflectance model goes on inwards.
                    let there = model.drop_out(knot.incidence).min(knot.drop_out);
                    return Knot {
                        drop_out: there,
                        extrapolated: true,
                        ..knot
                    };
                }
                knot
            })
            .collect()
    }

    fn knot(&self, incidence: f64, place: &Place, intensity: IntensityKind) -> Knot {
        let value = |curve: &Option<Curve>, x: f64| curve.as_ref().map_or(0.0, |c| c.at(x));
        let near = place.near(incidence);
        let seen = incidence.min(place.returned);
        let spread = value(&self.log_spread, seen).exp();
        let drop_out = value(&self.drop_out, incidence).clamp(0.0, 1.0);
        let is_constant = matches!(intensity, IntensityKind::Constant(_));
        let many = intensity == IntensityKind::Continuous;
        Knot {
            incidence,
            count: near.beams,
            bias: value(&self.bias, seen),
            bias_error: spread / near.effective_ranges.max(1.0).sqrt(),
            spread,
            spread_error: spread / (2.0 * near.effective_ranges.max(1.0)).sqrt(),
            drop_out,
            drop_out_interval: wilson(near.dropped_looks, near.samples),
            intensity: if is_constant {
                near.intensity
            } else {
                value(&self.intensity, seen)
            },
            intensity_spread: if many {
                value(&self.intensity_spread, seen).max(0.0)
            } else {
                0.0
            },
            extrapolated: near.beams == 0.0,
        }
    }
}

/// Where a knot's counts come from.
struct Place<'a> {
    bins: &'a [Bin],
    /// Bins of the spread.
    about: &'a [Bin],
    width: f64,
    usual: f64,
    /// The widest incidence with ranges.
    returned: f64,
}

/// What was counted near a knot.
#[derive(Default)]
struct Near {
    beams: f64,
    samples: f64,
    dropped_looks: f64,
    effective_ranges: f64,
    intensity: f64,
}

impl Place<'_> {
    fn near(&self, incidence: f64) -> Near {
        let near =
            { self.bins.iter() }.filter(|bin| (bin.incidence - incidence).abs() <= self.width);
        let wide = (2.0 * self.width).max(1e-6);
        let effective_ranges = { self.about.iter() }
            .filter(|bin| (bin.incidence - incidence).abs() <= wide)
            .map(Bin::effective_ranges)
            .sum();
        let start = Near {
            effective_ranges,
            ..Near::default()
        };
        near.fold(start, |mut sum, bin| {
            let samples = bin.effective_samples(self.usual);
            sum.beams += bin.beams;
            sum.samples += samples;
            sum.dropped_looks += samples * bin.drop_out();
            sum.intensity = sum.intensity.max(bin.brightest);
            sum
        })
    }
}

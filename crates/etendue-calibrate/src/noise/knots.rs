//! Knots of a profile, sampled from smooth curves.

use super::curve_settings::CurveSettings;
use super::curves::Curves;
use super::options::CalibrationOptions;
use super::smooth::SmoothCurve;
use super::statistics::{IncidenceBin, wilson};
use etendue_physics::profile::{IntensityKind, Knot, ReflectanceModel};

impl Curves {
    /// Knots of the profile, from normal incidence to the widest bin. `residuals` are the bins of the
    /// errors about the bias curve.
    pub fn knots(
        &self,
        bins: &[IncidenceBin],
        residuals: &[IncidenceBin],
        options: &CalibrationOptions,
        settings: &CurveSettings,
        model: &ReflectanceModel,
    ) -> Vec<Knot> {
        // Determine the span of incidence
        let incidences = || bins.iter().map(|bin| bin.incidence);
        let widest = incidences().fold(0.0, f64::max);
        let narrowest = incidences().fold(widest, f64::min);
        let with_ranges = bins.iter().filter(|bin| bin.error.is_some());
        let widest_range = with_ranges.map(|bin| bin.incidence).fold(0.0, f64::max);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a quarter turn has few knots"
        )]
        let count = ((widest / options.knot).round() as usize).max(1);

        // Sample the curves; extrapolate the drop-out below the narrowest bin by the reflectance model
        let counts = KnotCounts {
            bins,
            residuals,
            width: 1.5 * options.knot.max(options.bin),
            drop_correlation: settings.drop_correlation,
        };
        (0..=count)
            .map(|number| {
                let incidence = number as f64 * widest / count as f64;
                let knot = self.knot(incidence, widest_range, &counts, settings.intensity);
                if incidence + options.bin >= narrowest {
                    return knot;
                }
                Knot {
                    drop_out: model.drop_out(incidence).min(knot.drop_out),
                    extrapolated: true,
                    ..knot
                }
            })
            .collect()
    }

    /// One knot. Beyond `widest_range`, the widest incidence with ranges (rad), bias and spread are
    /// constant.
    fn knot(
        &self,
        incidence: f64,
        widest_range: f64,
        counts: &KnotCounts,
        intensity: IntensityKind,
    ) -> Knot {
        // Beams near the incidence, and the spread of their ranges.
        let value = |curve: &Option<SmoothCurve>, x: f64| curve.as_ref().map_or(0.0, |c| c.at(x));
        let near = counts.near(incidence);
        let within = incidence.min(widest_range);
        let spread = value(&self.log_spread, within).exp();
        let ranges = near.effective_ranges.max(1.0);
        // Curves and standard errors at the incidence.
        Knot {
            incidence,
            count: near.beams,
            bias: value(&self.bias, within),
            bias_error: spread / ranges.sqrt(),
            spread,
            spread_error: spread / (2.0 * ranges).sqrt(),
            drop_out: value(&self.drop_out, incidence).clamp(0.0, 1.0),
            drop_out_interval: wilson(near.dropped_samples, near.samples),
            intensity: match intensity {
                IntensityKind::Constant(_) => near.max_intensity,
                _ => value(&self.intensity, within),
            },
            intensity_spread: match intensity {
                IntensityKind::Continuous => value(&self.intensity_spread, within).max(0.0),
                _ => 0.0,
            },
            extrapolated: near.beams == 0.0,
        }
    }
}

/// Bins that give the counts of knots.
struct KnotCounts<'a> {
    bins: &'a [IncidenceBin],
    /// Bins of the errors about the bias curve.
    residuals: &'a [IncidenceBin],
    /// Half width of the neighbourhood of a knot, rad.
    width: f64,
    drop_correlation: f64,
}

/// Sums over the bins near a knot.
#[derive(Default)]
struct NearCounts {
    beams: f64,
    /// Independent samples of the drop-out.
    samples: f64,
    /// Independent samples that dropped.
    dropped_samples: f64,
    /// Independent samples of the range.
    effective_ranges: f64,
    max_intensity: f64,
}

impl KnotCounts<'_> {
    fn near(&self, incidence: f64) -> NearCounts {
        let within = |bin: &&IncidenceBin, width| (bin.incidence - incidence).abs() <= width;
        let wide = (2.0 * self.width).max(1e-6);
        let residuals = self.residuals.iter().filter(|bin| within(bin, wide));
        let mut sum = NearCounts {
            effective_ranges: residuals.map(IncidenceBin::effective_ranges).sum(),
            ..NearCounts::default()
        };
        for bin in self.bins.iter().filter(|bin| within(bin, self.width)) {
            let samples = bin.effective_samples(self.drop_correlation);
            sum.beams += bin.beams;
            sum.samples += samples;
            sum.dropped_samples += samples * bin.drop_out();
            sum.max_intensity = sum.max_intensity.max(bin.max_intensity);
        }
        sum
    }
}

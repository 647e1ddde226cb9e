//! Smooth curves over incidence of the quantities of a profile.

use super::beams::PanelBeams;
use super::curve_settings::CurveSettings;
use super::glare::{CommonCurves, GlareCurves};
use super::smooth::{CurveObservation, LinkFunction, SmoothCurve, fit_curve};
use super::statistics::{IncidenceBin, effective_sample_size};
use etendue_physics::profile::{DistanceLaw, Glare};

/// Length of the pieces of the splines over incidence, rad.
pub(super) const PIECE: f64 = 2.5 * std::f64::consts::PI / 180.0;

/// Smooth curves over incidence.
pub(super) struct Curves {
    pub bias: Option<SmoothCurve>,
    pub log_spread: Option<SmoothCurve>,
    pub drop_out: Option<SmoothCurve>,
    pub intensity: Option<SmoothCurve>,
    pub intensity_spread: Option<SmoothCurve>,
    glare: Option<GlareCurves>,
}

/// Fixed-pattern share above which a bin keeps its own: differences between its directions dominate, as of dents or of
/// another surface.
const UNEVEN: f64 = 0.6;

/// Fixed-pattern fraction of the variance of the range, over all bins.
pub(super) fn fixed_pattern_fraction(bins: &[IncidenceBin]) -> f64 {
    let weight: f64 = bins.iter().map(|bin| bin.ranges).sum();
    bins.iter()
        .map(|bin| bin.fixed_pattern * bin.ranges)
        .sum::<f64>()
        / weight.max(1.0)
}

/// Bins at or above an incidence (rad).
fn bins_from(bins: &[IncidenceBin], incidence: f64) -> Vec<IncidenceBin> {
    bins.iter()
        .filter(|bin| bin.incidence >= incidence)
        .cloned()
        .collect()
}

impl Curves {
    /// Fits bias, drop-out and intensity; [`Curves::fit_spread`] fits the spread.
    pub fn fit(bins: &[IncidenceBin], settings: &CurveSettings) -> Self {
        // Smooth curve through a value of the bins.
        let curve = |value: &dyn Fn(&IncidenceBin) -> Option<(f64, f64)>, link| {
            let observation = |bin: &IncidenceBin| {
                let (y, weight) = value(bin)?;
                Some(CurveObservation {
                    x: bin.incidence,
                    y,
                    weight,
                    fold: bin.cross_validation_fold(),
                })
            };
            let observations: Vec<CurveObservation> = bins.iter().filter_map(observation).collect();
            fit_curve(&observations, PIECE, link)
        };
        // Value and weight of each quantity in a bin.
        let bias = |bin: &IncidenceBin| {
            let variance = bin.mean_variance()? + settings.between_bins;
            Some((bin.error?.mean, 1.0 / variance))
        };
        let drop_out = |bin: &IncidenceBin| {
            let samples = bin.effective_samples(settings.drop_correlation);
            Some((bin.drop_out(), samples))
        };
        let intensity = |bin: &IncidenceBin| {
            (bin.returned >= 1.0).then(|| (settings.intensity_of(bin), bin.returned))
        };
        let intensity_spread =
            |bin: &IncidenceBin| (bin.returned >= 3.0).then(|| (bin.intensity[1], bin.returned));
        // Fit all curves.
        Self {
            bias: curve(&bias, LinkFunction::Identity),
            log_spread: None,
            drop_out: curve(&drop_out, LinkFunction::Logit),
            intensity: curve(&intensity, LinkFunction::Identity),
            intensity_spread: curve(&intensity_spread, LinkFunction::Identity),
            glare: None,
        }
    }

    /// Curves common to both sides of the normal from the bins beyond a glare of the given extent (rad),
    /// with the glare from bins near the normal. The same curves if the glare cannot be fitted.
    pub fn with_glare(
        self,
        bins: &[IncidenceBin],
        near_normal: Vec<IncidenceBin>,
        extent: f64,
        settings: &CurveSettings,
    ) -> Self {
        // Curves beyond the glare.
        let common = Self::fit(&bins_from(bins, extent), settings);
        // Glare on top of them.
        let value =
            |curve: &Option<SmoothCurve>, x: f64| curve.as_ref().map_or(0.0, |curve| curve.at(x));
        let glare = GlareCurves::fit(
            near_normal,
            extent,
            settings,
            &CommonCurves {
                bias: &|x| value(&common.bias, x),
                drop_out: &|x| value(&common.drop_out, x),
                intensity: &|x| value(&common.intensity, x),
                intensity_of: &|bin| settings.intensity_of(bin),
            },
        );
        // Keep the former curves without a glare.
        if glare.is_none() {
            return self;
        }
        Self { glare, ..common }
    }

    /// Bins beyond the glare; all bins without a glare.
    pub fn beyond_glare(&self, bins: &[IncidenceBin]) -> Vec<IncidenceBin> {
        bins_from(bins, self.glare_extent())
    }

    /// Extent of the glare, rad; zero without a glare.
    fn glare_extent(&self) -> f64 {
        self.glare.as_ref().map_or(0.0, GlareCurves::extent)
    }

    /// The glare of the profile.
    pub fn glare(&self, settings: &CurveSettings) -> Option<Glare> {
        let drop_out = |x: f64| self.drop_out.as_ref().map_or(0.0, |curve| curve.at(x));
        let glare = self.glare.as_ref();
        glare.map(|glare| glare.glare(settings, drop_out))
    }

    /// Beams whose expected range includes the fitted bias, so that their errors are residuals. `ratio` is
    /// the distance of the panel over the reference distance.
    pub fn with_expected_bias(
        &self,
        beams: &PanelBeams,
        law: DistanceLaw,
        ratio: f64,
    ) -> PanelBeams {
        let mut beams = beams.clone();
        for beam in &mut beams.beams {
            let curve = self.bias.as_ref();
            let common = curve.map_or(0.0, |curve| curve.at(beam.incidence));
            let glare = self.glare.as_ref();
            let glare = glare.map_or(0.0, |glare| glare.bias(beam.incidence * beam.side));
            beam.expected += law.bias(common + glare, ratio);
        }
        beams
    }

    /// Fits the spread about the bias curve to bins of residuals that are separate for both sides of the
    /// normal: temporal noise and fixed-pattern differences between directions. Within a glare, the bins
    /// near the normal give the ratio to that spread.
    pub fn fit_spread(&mut self, bins: &[IncidenceBin], near_normal: &[IncidenceBin]) {
        // The share of the fixed pattern of all bins weights them: a bin with more of it by chance has a larger
        // spread, and its own share would give it less weight
        let common = fixed_pattern_fraction(bins);
        let weight = |bin: &IncidenceBin| {
            let group = bin.ranges / bin.directions.max(1.0);
            let share = if bin.fixed_pattern > UNEVEN {
                bin.fixed_pattern.max(common)
            } else {
                common
            };
            2.0 * effective_sample_size(bin.ranges, group, share).max(1.0)
        };

        // Curve beyond the glare, and the ratio within
        let extent = self.glare_extent();
        let observation = |bin: &IncidenceBin| {
            let error = bin.error?;
            let spread = error.sd.hypot(error.mean).max(bin.quantisation_floor);
            Some(CurveObservation {
                x: bin.incidence,
                y: spread.max(1e-6).ln(),
                weight: weight(bin),
                fold: bin.cross_validation_fold(),
            })
        };
        let beyond = bins.iter().filter(|bin| bin.incidence >= extent);
        let observations: Vec<CurveObservation> = beyond.filter_map(observation).collect();
        self.log_spread = fit_curve(&observations, PIECE, LinkFunction::Identity);
        if let (Some(glare), Some(spread)) = (&mut self.glare, &self.log_spread) {
            glare.fit_spread(near_normal, |x| spread.at(x).exp());
        }
    }

    /// Penalties of bias, logarithm of spread and drop-out; NaN for a curve without observations.
    pub fn penalties(&self) -> [f64; 3] {
        [&self.bias, &self.log_spread, &self.drop_out]
            .map(|curve| curve.as_ref().map_or(f64::NAN, |curve| curve.penalty))
    }
}

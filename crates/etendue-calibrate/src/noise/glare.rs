//! Glare: differences between the two sides of the normal, near normal incidence.

use super::beams::PanelBeams;
use super::curve_settings::CurveSettings;
use super::smooth::{CurveObservation, LinkFunction, SmoothCurve, fit_curve};
use super::statistics::{IncidenceBin, between_bin_variance, wilson};
use etendue_physics::profile::{Glare, GlareKnot, IntensityKind};

/// Width of the bins of a glare, and spacing of its knots, rad: half the angular step of an RPLIDAR A1.
pub(super) const BIN: f64 = 0.5 * DEGREE;

/// Length of the pieces of the splines over signed incidence, rad.
const PIECE: f64 = DEGREE;

/// Incidence below which bins are tested for a glare, rad.
const INNER: f64 = 3.0 * DEGREE;

/// Incidences that give the reference deviation of the panel, rad.
const OUTER: [f64; 2] = [10.0 * DEGREE, 40.0 * DEGREE];

/// Greatest extent of a glare, degrees.
const WIDEST: u32 = 12;

/// Least ratio of the mean square deviation of the bins near the normal from the common curve to that of
/// the other bins: Snedecor's F at 0.1 % for 6 and 24 independent bins.
const LEAST_RATIO: f64 = 5.55;

/// Greatest ratio of the mean square deviation of a ring of two degrees beyond a glare to that of the
/// other bins: for 4 bins it is exceeded by chance in 1 of 60.
const GREATEST_RING_RATIO: f64 = 3.0;

/// Width of the transition at the end of a glare, rad.
const FADE: f64 = DEGREE;

/// Width of the rings, rad.
const RING: f64 = 2.0 * DEGREE;

/// Ratios of spreads below this are not significant.
const LEAST_SPREAD_RATIO: f64 = 1.25;

/// Least lateral component of beams that distinguish left and right.
const LEAST_LATERAL: f64 = 0.7;

const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// Extent of a glare from the normal, rad; `None` if one curve describes both sides. The glare must be
/// significant on every panel that was measured on both sides. `panels` are the bins of the panels, of
/// the given width (rad); `piece` is the length of the pieces of the splines (rad).
pub(super) fn extent(panels: &[Vec<IncidenceBin>], width: f64, piece: f64) -> Option<f64> {
    let of_panel = |bins: &Vec<IncidenceBin>| {
        let between_bins = between_bin_variance(std::iter::once(&bins[..]), width);
        extent_of_panel(bins, between_bins, piece)
    };
    let both_sides = panels.iter().filter(|bins| covers_both_sides(bins));
    both_sides
        .map(of_panel)
        .reduce(|widest, other| widest.zip(other).map(|(a, b)| a.max(b)))
        .flatten()
}

/// Whether there are at least two bins with ranges on either side near the normal.
fn covers_both_sides(bins: &[IncidenceBin]) -> bool {
    [true, false].into_iter().all(|left| {
        let is_inner = |bin: &&IncidenceBin| bin.left == left && bin.incidence < INNER;
        let inner = bins.iter().filter(is_inner);
        inner.filter(|bin| bin.error.is_some()).count() >= 2
    })
}

/// Extent of a glare on one panel, rad.
///
/// The null hypothesis is one curve for both sides. Its residuals contain noise, the variance between bins
/// (`between_bins`, m²), and deviations of panel and device over more than a bin, whose size is
/// estimated from the residuals away from the normal.
fn extent_of_panel(bins: &[IncidenceBin], between_bins: f64, piece: f64) -> Option<f64> {
    let deviation = |curve: &SmoothCurve, from: f64, to: f64| {
        mean_square_deviation(bins, curve, between_bins, from, to)
    };

    // Test the bins near the normal against the common curve
    let all: Vec<CurveObservation> = bias_observations(bins, between_bins).collect();
    let common = fit_curve(&all, piece, LinkFunction::Identity)?;
    let reference = deviation(&common, OUTER[0], OUTER[1])?.max(1.0);
    if deviation(&common, 0.0, INNER)? < LEAST_RATIO * reference {
        return None;
    }

    // Find the smallest extent beyond which no ring deviates from the curve of the bins beyond it
    let ends_at = |extent: f64| {
        let beyond: Vec<CurveObservation> = bias_observations(bins, between_bins)
            .filter(|observation| observation.x >= extent)
            .collect();
        let curve = fit_curve(&beyond, piece, LinkFunction::Identity)?;
        let reference = deviation(&curve, extent.max(OUTER[0]), OUTER[1])?.max(1.0);
        let starts = (0..).map(|ring| extent + f64::from(ring) * DEGREE);
        let mut starts = starts.take_while(|from| *from < f64::from(WIDEST) * DEGREE);
        let is_quiet = |from: f64| {
            deviation(&curve, from, from + RING)
                .is_none_or(|ring| ring < GREATEST_RING_RATIO * reference)
        };
        starts.all(is_quiet).then_some(extent)
    };
    let end = (2..=WIDEST).find_map(|degrees| ends_at(f64::from(degrees) * DEGREE))?;
    Some(end + FADE)
}

/// Mean errors of bins, weighted by the inverse sum of the variances of their own noise and between bins.
fn bias_observations(
    bins: &[IncidenceBin],
    between_bins: f64,
) -> impl Iterator<Item = CurveObservation> {
    bins.iter().filter_map(move |bin| {
        Some(CurveObservation {
            x: bin.incidence,
            y: bin.error?.mean,
            weight: 1.0 / (bin.mean_variance()? + between_bins),
            fold: bin.cross_validation_fold(),
        })
    })
}

/// Mean squared deviation of bins from a curve over a span of incidence (rad), in units of their own
/// noise; `None` without bins.
fn mean_square_deviation(
    bins: &[IncidenceBin],
    curve: &SmoothCurve,
    between_bins: f64,
    from: f64,
    to: f64,
) -> Option<f64> {
    let squares: Vec<f64> = bias_observations(bins, between_bins)
        .filter(|observation| (from..to).contains(&observation.x))
        .map(|observation| observation.weight * (observation.y - curve.at(observation.x)).powi(2))
        .collect();
    (!squares.is_empty()).then(|| squares.iter().sum::<f64>() / squares.len() as f64)
}

/// Curves over signed incidence that are added to the curves over incidence.
pub(super) struct GlareCurves {
    /// Extent from the normal, rad.
    extent: f64,
    between_bins: f64,
    bins: Vec<IncidenceBin>,
    bias: SmoothCurve,
    log_spread_ratio: Option<SmoothCurve>,
    drop_out: Option<SmoothCurve>,
    intensity: Option<SmoothCurve>,
}

/// Curves over incidence that both sides of the normal have in common.
pub(super) struct CommonCurves<'a> {
    pub bias: &'a dyn Fn(f64) -> f64,
    pub drop_out: &'a dyn Fn(f64) -> f64,
    pub intensity: &'a dyn Fn(f64) -> f64,
    /// Intensity of a bin, comparable to the curve.
    pub intensity_of: &'a dyn Fn(&IncidenceBin) -> f64,
}

impl GlareCurves {
    /// Fits narrow bins near the normal, relative to the common curves.
    pub fn fit(
        bins: Vec<IncidenceBin>,
        extent: f64,
        settings: &CurveSettings,
        common: &CommonCurves,
    ) -> Option<Self> {
        let bins: Vec<IncidenceBin> = bins
            .into_iter()
            .filter(|bin| bin.incidence < extent)
            .collect();
        let curve = |value: &dyn Fn(&IncidenceBin) -> Option<(f64, f64)>, link| {
            fit_curve(&signed_observations(&bins, value), PIECE, link)
        };

        // Added bias
        let added_bias = |bin: &IncidenceBin| {
            let variance = bin.mean_variance()? + settings.between_bins;
            let bias = bin.error?.mean - (common.bias)(bin.incidence);
            Some((bias, 1.0 / variance))
        };
        let bias = curve(&added_bias, LinkFunction::Identity)?;

        // Probability of loss, of beams that would return without glare
        let loss = |bin: &IncidenceBin| {
            let returning = (1.0 - (common.drop_out)(bin.incidence)).max(1e-6);
            let loss = (1.0 - (1.0 - bin.drop_out()) / returning).clamp(0.0, 1.0);
            Some((loss, bin.effective_samples(settings.drop_correlation)))
        };
        let has_drop_outs = bins.iter().any(|bin| bin.drop_out() > 0.0);
        let drop_out = has_drop_outs
            .then(|| curve(&loss, LinkFunction::Logit))
            .flatten();

        // Added intensity
        let added_intensity = |bin: &IncidenceBin| {
            let added = (common.intensity_of)(bin) - (common.intensity)(bin.incidence);
            (bin.returned >= 1.0).then_some((added, bin.returned))
        };
        let intensity = curve(&added_intensity, LinkFunction::Identity);
        Some(Self {
            extent,
            between_bins: settings.between_bins,
            bias,
            log_spread_ratio: None,
            drop_out,
            intensity,
            bins,
        })
    }

    /// Extent from the normal, rad.
    pub fn extent(&self) -> f64 {
        self.extent
    }

    /// Added bias at a signed incidence (rad), m.
    pub fn bias(&self, signed: f64) -> f64 {
        self.faded(signed, |s| self.bias.at(s))
    }

    /// A value that fades linearly to zero over the last degree of the glare.
    fn faded(&self, signed: f64, value: impl Fn(f64) -> f64) -> f64 {
        let weight = (self.extent - signed.abs()) / FADE;
        if weight > 0.0 {
            weight.min(1.0) * value(signed)
        } else {
            0.0
        }
    }

    /// Fits the ratio of the spread of residuals to the `spread` that both sides have in common.
    pub fn fit_spread(&mut self, residuals: &[IncidenceBin], spread: impl Fn(f64) -> f64) {
        let inside: Vec<IncidenceBin> = residuals
            .iter()
            .filter(|bin| bin.incidence < self.extent)
            .cloned()
            .collect();
        let observations = signed_observations(&inside, &|bin| {
            let error = bin.error?;
            let samples = bin.effective_ranges().max(1.0);
            let own = error.sd.hypot(error.mean) * (0.5 * log_variance_bias(samples)).exp();
            let own = own.max(bin.quantisation_floor).max(1e-6);
            let ratio = own / spread(bin.incidence).max(1e-6);
            Some((ratio.ln(), 2.0 * samples))
        });
        self.log_spread_ratio = fit_curve(&observations, PIECE, LinkFunction::Identity);
    }

    /// The glare of a profile; `common_drop_out` is the drop-out that both sides have in common.
    pub fn glare(&self, settings: &CurveSettings, common_drop_out: impl Fn(f64) -> f64) -> Glare {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "ten degrees have few knots"
        )]
        let count = (self.extent / BIN).round() as i32;
        let mut knots: Vec<GlareKnot> = (-count..=count)
            .map(|number| {
                let signed = f64::from(number) * self.extent / f64::from(count);
                self.knot(signed, settings)
            })
            .collect();
        for knot in &mut knots {
            let returning = 1.0 - common_drop_out(knot.incidence.abs());
            let loss = |total: f64| (1.0 - (1.0 - total) / returning.max(1e-6)).clamp(0.0, 1.0);
            knot.drop_out_interval = knot.drop_out_interval.map(loss);
        }
        Glare {
            centre: centre(&knots),
            knots,
        }
    }

    /// The knot at a signed incidence (rad), with the interval of the total drop-out.
    fn knot(&self, signed: f64, settings: &CurveSettings) -> GlareKnot {
        let near = |width: f64| {
            let is_near =
                move |bin: &&IncidenceBin| (signed_incidence(bin) - signed).abs() <= width;
            self.bins.iter().filter(is_near)
        };
        let value = |curve: &SmoothCurve| self.faded(signed, |s| curve.at(s));
        let optional = |curve: &Option<SmoothCurve>| curve.as_ref().map_or(0.0, value);

        // Sum the weights and independent samples of the neighbouring bins
        let weight: f64 = near(1.5 * BIN)
            .filter_map(|bin| Some(1.0 / (bin.mean_variance()? + self.between_bins)))
            .sum();
        let effective_ranges: f64 = near(1.5 * BIN).map(IncidenceBin::effective_ranges).sum();
        let samples = |bin: &IncidenceBin| bin.effective_samples(settings.drop_correlation);
        let total: f64 = near(1.5 * BIN).map(samples).sum();
        let dropped: f64 = near(1.5 * BIN)
            .map(|bin| samples(bin) * bin.drop_out())
            .sum();

        // Evaluate the curves
        let spread_ratio = optional(&self.log_spread_ratio).exp();
        GlareKnot {
            incidence: signed,
            count: near(BIN).map(|bin| bin.beams).sum(),
            bias: value(&self.bias),
            bias_error: 1.0 / weight.max(1e-300).sqrt(),
            spread_ratio,
            spread_ratio_error: spread_ratio / (2.0 * effective_ranges.max(1.0)).sqrt(),
            drop_out: optional(&self.drop_out).clamp(0.0, 1.0),
            drop_out_interval: wilson(dropped, total),
            intensity: match settings.intensity {
                IntensityKind::None | IntensityKind::Constant(_) => 0.0,
                _ => optional(&self.intensity),
            },
        }
    }
}

/// Bias of the mean logarithm of a variance of `samples` samples $k$, $\\ln(k/2)-\\psi(k/2)$ (Bartlett and
/// Kendall 1946, doi:10.2307/2983618), to 5 %: bins of half a degree contain few directions.
fn log_variance_bias(samples: f64) -> f64 {
    1.0 / samples + 1.0 / (3.0 * samples * samples)
}

/// Centre of a glare, rad: the mean incidence weighted by loss and added spread. If both are small (a sum
/// below 0.5 over all knots), weighted by the magnitude of the added bias.
fn centre(knots: &[GlareKnot]) -> f64 {
    let total_and_mean = |weight: &dyn Fn(&GlareKnot) -> f64| {
        let total: f64 = knots.iter().map(weight).sum();
        let moment: f64 = knots.iter().map(|k| weight(k) * k.incidence).sum();
        [total, moment / total.max(1e-12)]
    };
    let saturation =
        |knot: &GlareKnot| knot.drop_out + (knot.spread_ratio - LEAST_SPREAD_RATIO).max(0.0);
    let [total, mean] = total_and_mean(&saturation);
    if total > 0.5 {
        mean
    } else {
        total_and_mean(&|knot| knot.bias.abs())[1]
    }
}

/// Incidence of a bin, rad, positive left of the normal.
fn signed_incidence(bin: &IncidenceBin) -> f64 {
    if bin.left {
        bin.incidence
    } else {
        -bin.incidence
    }
}

/// Values of bins over signed incidence, in five cross-validation folds of interleaved half degrees.
fn signed_observations(
    bins: &[IncidenceBin],
    value: &dyn Fn(&IncidenceBin) -> Option<(f64, f64)>,
) -> Vec<CurveObservation> {
    let observation = |bin: &IncidenceBin| {
        let (y, weight) = value(bin)?;
        let x = signed_incidence(bin);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a remainder from zero to four"
        )]
        let fold = (x / BIN).floor().rem_euclid(5.0) as usize;
        Some(CurveObservation { x, y, weight, fold })
    };
    bins.iter().filter_map(observation).collect()
}

/// The beams with a significant lateral component.
pub(super) fn lateral_beams(beams: &PanelBeams) -> PanelBeams {
    let lateral = beams
        .beams
        .iter()
        .filter(|beam| beam.side.abs() >= LEAST_LATERAL);
    PanelBeams {
        beams: lateral.copied().collect(),
        ..*beams
    }
}

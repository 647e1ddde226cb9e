//! Calibration: from recordings of one material to its noise profile.

use super::beams::PanelBeams;
use super::curve_settings::CurveSettings;
use super::curves::{Curves, PIECE, fixed_pattern_fraction};
use super::distance_law::{fit_distance_law, scaled_to_distance};
use super::error::NoiseError;
use super::errors::{ErrorSources, asymmetry, pooled, set_errors};
use super::glare;
use super::options::CalibrationOptions;
use super::panel::PanelHint;
use super::panel_report::PanelReport;
use super::plane_errors::plane_errors;
use super::quantisation::detect_steps;
use super::recording::PanelRecording;
use super::reflectance::{ReflectanceFit, fit_reflectance};
use super::statistics::{
    IncidenceBin, NeighbourCorrelation, between_bin_variance, bins, neighbour_correlation,
    wide_bins,
};
use super::warnings::add_warnings;
use etendue_physics::profile::{Correlation, DistanceLaw, IntensityKind, Profile, Steps};
use etendue_physics::statistics::nearest_quantile;

/// A noise profile with the data that it is based on.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseCalibration {
    /// The profile.
    pub profile: Profile,
    /// The panels, one per recording.
    pub panels: Vec<PanelReport>,
    /// Statistics of narrow bins, at the distance of the profile.
    pub bins: Vec<IncidenceBin>,
    /// Correlation of the errors of neighbouring beams.
    pub neighbour_correlation: NeighbourCorrelation,
    /// The fitted reflectance model.
    pub reflectance: ReflectanceFit,
    /// Whether the recordings contain the beams without a return. If not, the drop-out is not determined: it is zero in the
    /// recorded part of the profile, with the interval from 0 to 1.
    pub has_drop_outs: bool,
    /// Penalties selected by cross-validation: of bias, logarithm of spread, and drop-out.
    pub penalties: [f64; 3],
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// Width of the bins of the spread relative to the other bins: fixed-pattern noise is observable over
/// several directions only.
const SPREAD_BIN_RATIO: f64 = 3.0;

/// The noise profile of one material from recordings of panels, each with its declared panel.
///
/// # Errors
/// If a recording is unusable, or a panel has too few beams.
pub fn calibrate(
    recordings: &[(&PanelRecording, PanelHint)],
    options: &CalibrationOptions,
) -> Result<NoiseCalibration, NoiseError> {
    let panels = recordings
        .iter()
        .map(|(recording, hint)| PanelReport::new(recording, hint, options))
        .collect::<Result<Vec<_>, _>>()?;
    let mut calibration = calibrate_panels(recordings, panels, options)?;
    if !calibration.has_drop_outs {
        set_unknown_drop_out(&mut calibration.profile);
    }
    Ok(calibration)
}

/// Binning function: beams, quantisation steps and width of the bins (rad).
type BinBeams = fn(&PanelBeams, &Steps, f64) -> Vec<IncidenceBin>;

/// The noise profile of panels that were found in recordings.
fn calibrate_panels(
    recordings: &[(&PanelRecording, PanelHint)],
    mut panels: Vec<PanelReport>,
    options: &CalibrationOptions,
) -> Result<NoiseCalibration, NoiseError> {
    let mut warnings = Vec::new();

    // Choose the reference distance and detect the quantisation steps
    let Some(distance) = median_distance(&panels) else {
        return Err(NoiseError::Empty {
            recording: options.material.clone(),
        });
    };
    let steps = detect_steps(reported_ranges(recordings));

    // Bin each panel over incidence, fit the law of distance, and scale the bins to the reference distance
    let bins_by_panel: Vec<Vec<IncidenceBin>> = panels
        .iter()
        .map(|panel| bins(&panel.beams, &steps, options.bin))
        .collect();
    let law = fit_distance_law(&panels, &bins_by_panel, options, &mut warnings);
    let reference = ReferenceDistance {
        panels: &panels,
        distance,
        law,
    };
    let by_panel = reference.scaled_by_panel(&bins_by_panel);
    let mut all_bins = by_panel.concat();
    all_bins.sort_by(|a, b| a.incidence.total_cmp(&b.incidence));

    // Fit bias, drop-out and intensity over incidence, with a glare near the normal
    let settings = CurveSettings {
        intensity: intensity_kind(recordings, &panels),
        drop_correlation: mean_drop_correlation(&all_bins),
        between_bins: between_bin_variance(by_panel.iter().map(Vec::as_slice), options.bin),
    };
    let mut curves = Curves::fit(&all_bins, &settings);
    if let Some(extent) = glare::extent(&by_panel, options.bin, PIECE) {
        let near_normal = reference
            .scaled(|panel, _| bins(&glare::lateral_beams(&panel.beams), &steps, glare::BIN));
        curves = curves.with_glare(&all_bins, near_normal, extent, &settings);
    }

    // Fit the spread of the errors about the bias curve
    let residual_bins = |bin_beams: BinBeams, width: f64| {
        reference.scaled(|panel, ratio| {
            let beams = curves.with_expected_bias(&panel.beams, law, ratio);
            bin_beams(&beams, &steps, width)
        })
    };
    let width = SPREAD_BIN_RATIO * options.bin;
    let residuals = residual_bins(wide_bins, width);
    let residuals_by_side = residual_bins(bins, width);
    let residuals_near_normal = residual_bins(bins, glare::BIN);
    curves.fit_spread(&residuals_by_side, &residuals_near_normal);

    // Fit the reflectance model, and sample the curves at the knots
    let reflectance = fit_reflectance(&all_bins, settings.intensity, settings.drop_correlation);
    let knots = curves.knots(
        &all_bins,
        &residuals,
        options,
        &settings,
        &reflectance.model,
    );
    let mut profile = Profile {
        sensor: options.sensor.clone(),
        material: options.material.clone(),
        wavelength: options.wavelength,
        distance,
        law,
        steps,
        correlation: Correlation::default(),
        intensity: settings.intensity,
        reflectance: reflectance.model,
        knots,
        glare: curves.glare(&settings),
        extrapolated: false,
    };

    // Estimate the correlation of neighbouring beams and of successive scans
    let correlation = correlation_of(&panels, &profile);
    let [temporal, fixed_pattern] = correlation.neighbours;
    let fraction = fixed_pattern_fraction(&curves.beyond_glare(&residuals));
    profile.correlation = Correlation::new(temporal, fraction, settings.drop_correlation)
        .with_fixed_pattern_neighbour(fixed_pattern);

    // Estimate the standard errors of planes and knots
    let errors: Vec<[f64; 2]> = panels.iter().map(|p| plane_errors(p, &profile)).collect();
    set_errors(
        &mut profile,
        &ErrorSources {
            bins: &all_bins,
            residuals: &residuals,
            bias: curves.bias.as_ref(),
            between_bins: settings.between_bins,
            width: 1.5 * options.knot.max(options.bin),
            drop_correlation: settings.drop_correlation,
            asymmetry: asymmetry(&all_bins),
            plane: pooled(&errors),
        },
    );
    for (report, [distance, bearing]) in panels.iter_mut().zip(errors) {
        report.panel.distance_error = distance;
        report.panel.bearing_error = bearing;
    }

    add_warnings(&panels, &profile, &mut warnings);
    Ok(NoiseCalibration {
        profile,
        panels,
        bins: all_bins,
        neighbour_correlation: correlation,
        reflectance,
        has_drop_outs: recordings.iter().all(|(one, _)| one.has_drop_outs),
        penalties: curves.penalties(),
        warnings,
    })
}

/// Sets the intervals of the drop-out to those of an unknown probability.
fn set_unknown_drop_out(profile: &mut Profile) {
    for knot in &mut profile.knots {
        knot.drop_out_interval = [0.0, 1.0];
    }
    for knot in profile.glare.iter_mut().flat_map(|glare| &mut glare.knots) {
        knot.drop_out_interval = [0.0, 1.0];
    }
}

/// Panels with the reference distance of their profile.
struct ReferenceDistance<'a> {
    panels: &'a [PanelReport],
    /// Reference distance, m.
    distance: f64,
    law: DistanceLaw,
}

impl ReferenceDistance<'_> {
    /// Bins of each panel, scaled to the reference distance.
    fn scaled_by_panel(&self, bins_by_panel: &[Vec<IncidenceBin>]) -> Vec<Vec<IncidenceBin>> {
        let panels = self.panels.iter().zip(bins_by_panel);
        panels
            .map(|(panel, bins)| {
                let ratio = self.distance / panel.distance();
                bins.iter()
                    .map(|bin| scaled_to_distance(bin, self.law, ratio))
                    .collect()
            })
            .collect()
    }

    /// Bins of all panels, scaled to the reference distance. The arguments of `bins_of` are a panel and
    /// its distance relative to the reference distance.
    fn scaled(
        &self,
        bins_of: impl Fn(&PanelReport, f64) -> Vec<IncidenceBin>,
    ) -> Vec<IncidenceBin> {
        let mut scaled = Vec::new();
        for panel in self.panels {
            let ratio = panel.distance() / self.distance;
            let bins = bins_of(panel, ratio).into_iter();
            scaled.extend(bins.map(|bin| scaled_to_distance(&bin, self.law, 1.0 / ratio)));
        }
        scaled
    }
}

/// All reported ranges, m.
fn reported_ranges(recordings: &[(&PanelRecording, PanelHint)]) -> impl Iterator<Item = f64> {
    recordings
        .iter()
        .flat_map(|(recording, _)| &recording.cells)
        .flat_map(|cell| &cell.samples)
        .filter_map(|sample| sample.range)
}

/// Median distance of the panels, m.
fn median_distance(panels: &[PanelReport]) -> Option<f64> {
    let mut distances: Vec<f64> = panels.iter().map(PanelReport::distance).collect();
    distances.sort_by(f64::total_cmp);
    nearest_quantile(&distances, 0.5)
}

/// Kind of the intensity of returned beams, from the number of distinct values.
fn intensity_kind(
    recordings: &[(&PanelRecording, PanelHint)],
    panels: &[PanelReport],
) -> IntensityKind {
    // Distinct intensities of the returned beams.
    if !recordings
        .iter()
        .any(|(recording, _)| recording.has_intensity)
    {
        return IntensityKind::None;
    }
    let mut values: Vec<f32> = panels
        .iter()
        .flat_map(|panel| &panel.beams.beams)
        .filter(|beam| beam.returned())
        .map(|beam| beam.intensity)
        .collect();
    values.sort_by(f32::total_cmp);
    values.dedup();
    // Kind by their number.
    match values[..] {
        [] => IntensityKind::None,
        [value] => IntensityKind::Constant(f64::from(value)),
        [low, high] => IntensityKind::TwoValued {
            low: f64::from(low),
            high: f64::from(high),
        },
        _ => IntensityKind::Continuous,
    }
}

/// Mean correlation of the drop-outs of one direction, over the bins in which it is determined.
fn mean_drop_correlation(bins: &[IncidenceBin]) -> f64 {
    let determined = || {
        bins.iter()
            .filter_map(|bin| bin.drop_correlation.map(|s| (s, bin.beams)))
    };
    let weight: f64 = determined().map(|(_, weight)| weight).sum();
    if weight == 0.0 {
        return 0.0;
    }
    determined()
        .map(|(fraction, weight)| fraction * weight)
        .sum::<f64>()
        / weight
}

/// Correlation of the errors of neighbouring beams, of the panel with the most pairs.
fn correlation_of(panels: &[PanelReport], profile: &Profile) -> NeighbourCorrelation {
    let by_panel = panels.iter().map(|panel| {
        neighbour_correlation(&panel.beams, |error, aspect| {
            let range = panel.distance() / aspect.incidence.cos();
            let expected = profile.at(aspect, range);
            let step = profile.steps.at(range);
            let variance = expected.spread.powi(2) + step * step / 12.0;
            (error - expected.bias) / variance.sqrt().max(1e-9)
        })
    });
    by_panel
        .max_by_key(|correlation| correlation.pairs)
        .unwrap_or_default()
}

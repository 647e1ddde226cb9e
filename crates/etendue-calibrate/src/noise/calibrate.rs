//! From recordings of one material to its profile.

use super::bias_hypotheses::{BiasHypothesis, fit_bias_hypotheses};
use super::curves::{Curves, PIECE};
use super::glare;
use super::law::{carried, law};
use super::panel::{Panel, PanelHint, PanelSearch, find_panel};
use super::reflectance::{ReflectanceFit, fit_reflectance};
use super::statistics::{
    Bin, NeighbourCorrelation, between_bin_variance, bins, detect_steps, neighbour_correlation,
    wide_bins,
};
use super::warnings::add_warnings;
use super::{NoiseError, PanelBeams, Recording};
use etendue_physics::profile::{Correlation, IntensityKind, Profile, Steps};
use etendue_physics::statistics::nearest_quantile;

/// Ranging principle: determines the law of distance where one distance was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SensorKind {
    /// A line of pixels beside the laser.
    #[default]
    Triangulating,
    /// Pulsed or continuous-wave time of flight.
    TimeOfFlight,
}

/// Settings of a calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationOptions {
    /// The sensor's name.
    pub sensor: String,
    /// The material's name.
    pub material: String,
    /// Its kind.
    pub kind: SensorKind,
    /// Wavelength, m, if known.
    pub wavelength: Option<f64>,
    /// Criteria of the panel search.
    pub search: PanelSearch,
    /// Width of the bins of incidence, rad.
    pub bin: f64,
    /// Distance between knots, rad.
    pub knot: f64,
}

impl Default for CalibrationOptions {
    fn default() -> Self {
        Self {
            sensor: "sensor".into(),
            material: "material".into(),
            kind: SensorKind::default(),
            wavelength: None,
            search: PanelSearch::default(),
            bin: 1.0_f64.to_radians(),
            knot: 1.0_f64.to_radians(),
        }
    }
}

/// Panel of one recording.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelReport {
    /// The recording.
    pub recording: String,
    /// The panel.
    pub panel: Panel,
    /// Its beams.
    pub beams: PanelBeams,
    /// Hypotheses about its bias.
    pub bias_hypotheses: Vec<BiasHypothesis>,
}

/// A noise profile with the data that it is based on.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The profile.
    pub profile: Profile,
    /// The panels, one a recording.
    pub panels: Vec<PanelReport>,
    /// Statistics of narrow bins, at the profile's distance.
    pub bins: Vec<Bin>,
    /// Correlation of neighbours.
    pub neighbour_correlation: NeighbourCorrelation,
    /// The reflectance fit.
    pub reflectance: ReflectanceFit,
    /// Penalties that cross-validation chose: of bias, logarithm of spread, drop-out.
    pub penalties: [f64; 3],
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// Beams on panels that statistics take at least.
const LEAST_BEAMS: usize = 200;

/// Incidences that they fill at least, rad.
const LEAST_SPAN: f64 = 4.0 * std::f64::consts::PI / 180.0;

/// Width of the bins of the spread relative to the other bins: fixed-pattern noise is observable over
/// several directions only.
const WIDE: f64 = 3.0;

/// The profile of one material from recordings of panels of it, each with what was declared.
///
/// # Errors
/// Where a recording is unusable, or there is too little on the panels.
pub fn calibrate(
    recordings: &[(&Recording, PanelHint)],
    options: &CalibrationOptions,
) -> Result<Calibration, NoiseError> {
    let panels = { recordings.iter() }
        .map(|(recording, hint)| report(recording, hint, options))
        .collect::<Result<Vec<_>, _>>()?;
    from_panels(recordings, panels, options)
}

fn report(
    recording: &Recording,
    hint: &PanelHint,
    options: &CalibrationOptions,
) -> Result<PanelReport, NoiseError> {
    let panel = find_panel(recording, hint, &options.search)?;
    let beams = PanelBeams::of(recording, &panel);
    let incidences = || {
        { beams.beams.iter() }
            .filter(|beam| beam.returned())
            .map(|beam| beam.incidence)
    };
    let widest = incidences().fold(0.0, f64::max);
    let span = widest - incidences().fold(widest, f64::min);
    if beams.beams.len() < LEAST_BEAMS || span < LEAST_SPAN {
        return Err(NoiseError::TooLittle {
            recording: recording.name.clone(),
            beams: beams.beams.len(),
            span_deg: span.to_degrees(),
            needed: LEAST_BEAMS,
        });
    }
    Ok(PanelReport {
        recording: recording.name.clone(),
        bias_hypotheses: fit_bias_hypotheses(recording, &panel, 75.0_f64.to_radians()),
        panel,
        beams,
    })
}

fn from_panels(
    recordings: &[(&Recording, PanelHint)],
    panels: Vec<PanelReport>,
    options: &CalibrationOptions,
) -> Result<Calibration, NoiseError> {
    let Some(distance) = middle_distance(&panels) else {
        return Err(NoiseError::Empty {
            recording: options.material.clone(),
        });
    };
    let steps = detect_steps(
        { recordings.iter() }
            .flat_map(|(recording, _)| &recording.cells)
            .flat_map(|cell| &cell.samples)
            .filter_map(|sample| sample.range),
    );
    let mut warnings = Vec::new();
    let binned: Vec<Vec<Bin>> = { panels.iter() }
        .map(|panel| bins(&panel.beams, &steps, options.bin))
        .collect();
    let law = law(&panels, &binned, options, &mut warnings);
    let by_panel: Vec<Vec<Bin>> = { panels.iter().zip(&binned) }
        .map(|(panel, bins)| {
            let ratio = distance / panel.panel.plane.distance;
            bins.iter().map(|bin| carried(bin, law, ratio)).collect()
        })
        .collect();
    let places = between_bin_variance(by_panel.iter().map(Vec::as_slice), options.bin);
    let mut all = by_panel.concat();
    all.sort_by(|a, b| a.incidence.total_cmp(&b.incidence));
    let intensity = intensity_kind(recordings, &panels);
    let usual = mean_drop_correlation(&all);
    let binned = |of: &dyn Fn(&PanelReport, f64) -> Vec<Bin>| -> Vec<Bin> {
        let of_panel = |panel: &PanelReport| {
            let ratio = panel.panel.plane.distance / distance;
            let bins = of(panel, ratio).into_iter();
            bins.map(move |bin| carried(&bin, law, 1.0 / ratio))
        };
        panels.iter().flat_map(of_panel).collect()
    };
    let mut curves = Curves::fit(&all, intensity, usual, places);
    if let Some(reach) = glare::reach(&by_panel, options.bin, PIECE) {
        let near =
            |panel: &PanelReport, _| bins(&glare::sideways(&panel.beams), &steps, glare::BIN);
        curves = curves.with_glare(&all, binned(&near), reach, (intensity, usual, places));
    }
    let about = |of: fn(&PanelBeams, &Steps, f64) -> Vec<Bin>, width: f64| {
        binned(&|panel, ratio| of(&curves.about_bias(&panel.beams, law, ratio), &steps, width))
    };
    let wide = WIDE * options.bin;
    let (about, by_side, near) = (
        about(wide_bins, wide),
        about(bins, wide),
        about(bins, glare::BIN),
    );
    curves.fit_spread(&by_side, &near);
    let reflectance = fit_reflectance(&all, intensity, usual);
    let knots = curves.knots(
        [&all, &about],
        options,
        usual,
        &reflectance.model,
        intensity,
    );
    let mut profile = Profile {
        sensor: options.sensor.clone(),
        material: options.material.clone(),
        wavelength: options.wavelength,
        distance,
        law,
        steps,
        correlation: Correlation::default(),
        intensity,
        reflectance: reflectance.model,
        knots,
        glare: curves.glare(intensity, usual),
        extrapolated: false,
    };
    let neighbour_correlation = correlation_of(&panels, &profile);
    let [temporal, fixed_pattern] = neighbour_correlation.neighbours;
    let beyond = curves.beyond(&about);
    profile.correlation = Correlation::new(temporal, fixed_pattern_share(&beyond), usual)
        .with_fixed_pattern_neighbour(fixed_pattern);
    add_warnings(&panels, &profile, &mut warnings);
    Ok(Calibration {
        profile,
        panels,
        bins: all,
        neighbour_correlation,
        reflectance,
        penalties: curves.penalties(),
        warnings,
    })
}

/// The middle one of the panels' distances.
fn middle_distance(panels: &[PanelReport]) -> Option<f64> {
    let mut distances: Vec<f64> = panels.iter().map(|p| p.panel.plane.distance).collect();
    distances.sort_by(f64::total_cmp);
    nearest_quantile(&distances, 0.5)
}

/// What the intensity of returned beams is.
fn intensity_kind(recordings: &[(&Recording, PanelHint)], panels: &[PanelReport]) -> IntensityKind {
    if !recordings
        .iter()
        .any(|(recording, _)| recording.has_intensity)
    {
        return IntensityKind::None;
    }
    let mut values: Vec<f32> = { panels.iter() }
        .flat_map(|panel| &panel.beams.beams)
        .filter(|beam| beam.returned())
        .map(|beam| beam.intensity)
        .collect();
    values.sort_by(f32::total_cmp);
    values.dedup();
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

/// The usual neighbour_correlation of drop-outs of one direction: the mean over bins that tell it.
fn mean_drop_correlation(bins: &[Bin]) -> f64 {
    let told = || {
        bins.iter()
            .filter_map(|bin| bin.drop_correlation.map(|s| (s, bin.beams)))
    };
    let weight: f64 = told().map(|(_, weight)| weight).sum();
    if weight == 0.0 {
        return 0.0;
    }
    told().map(|(share, weight)| share * weight).sum::<f64>() / weight
}

/// Fixed-pattern share of the variance of the range, over all bins.
fn fixed_pattern_share(bins: &[Bin]) -> f64 {
    let weight: f64 = bins.iter().map(|bin| bin.ranges).sum();
    bins.iter()
        .map(|bin| bin.standing * bin.ranges)
        .sum::<f64>()
        / weight.max(1.0)
}

fn correlation_of(panels: &[PanelReport], profile: &Profile) -> NeighbourCorrelation {
    let found = panels.iter().map(|panel| {
        neighbour_correlation(&panel.beams, |error, aspect| {
            let range = panel.panel.plane.distance / aspect.incidence.cos();
            let here = profile.at(aspect, range);
            let step = profile.steps.at(range);
            (error - here.bias) / (here.spread.powi(2) + step * step / 12.0).sqrt().max(1e-9)
        })
    });
    found
        .max_by_key(|neighbour_correlation| neighbour_correlation.pairs)
        .unwrap_or_default()
}

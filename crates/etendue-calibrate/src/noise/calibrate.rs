//! From recordings of one material to its profile.

use super::explain::{Explanation, explain};
use super::glare::{self, Alike, GlareCurves};
use super::panel::{Panel, PanelHint, PanelSearch, find_panel};
use super::reflectance::{ReflectanceFit, fit_reflectance};
use super::smooth::{Curve, Link, Observation, fit_curve};
use super::statistics::{Bin, Likeness, bins, detect_steps, likeness, place_to_place, wide_bins};
use super::{NoiseError, PanelBeams, Recording};
use etendue_physics::profile::{
    Correlation, DistanceLaw, Glare, IntensityKind, Knot, Profile, ReflectanceModel, Steps,
};

/// What kind of sensor it is: sets the law of distance where one distance was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SensorKind {
    /// A line of pixels beside the laser.
    #[default]
    Triangulating,
    /// Pulsed or continuous-wave time of flight.
    TimeOfFlight,
}

/// What is known beforehand, and how fine the profile is.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The sensor's name.
    pub sensor: String,
    /// The material's name.
    pub material: String,
    /// Its kind.
    pub kind: SensorKind,
    /// Wavelength, m, if known.
    pub wavelength: Option<f64>,
    /// What a panel has to be like.
    pub search: PanelSearch,
    /// Width of the bins of incidence, rad.
    pub bin: f64,
    /// Distance between knots, rad.
    pub knot: f64,
}

impl Default for Options {
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

/// What was found in one recording.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelReport {
    /// The recording.
    pub recording: String,
    /// The panel.
    pub panel: Panel,
    /// Its beams.
    pub beams: PanelBeams,
    /// Readings of its bias.
    pub explanations: Vec<Explanation>,
}

/// A profile and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The profile.
    pub profile: Profile,
    /// The panels, one a recording.
    pub panels: Vec<PanelReport>,
    /// Statistics of narrow bins, at the profile's distance.
    pub bins: Vec<Bin>,
    /// Likeness of neighbours.
    pub likeness: Likeness,
    /// The reflectance fit.
    pub reflectance: ReflectanceFit,
    /// Penalties that cross-validation chose: of bias, logarithm of spread, drop-out.
    pub penalties: [f64; 3],
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Beams on panels that statistics take at least.
const LEAST_BEAMS: usize = 200;

/// Incidences that they fill at least, rad.
const LEAST_SPAN: f64 = 4.0 * std::f64::consts::PI / 180.0;

/// Bins of the spread are so many times as wide as those of everything else: it takes several
/// places on the panel to see what stands still.
const WIDE: f64 = 3.0;

/// Pieces of the splines over incidence, rad.
const PIECE: f64 = 2.5 * std::f64::consts::PI / 180.0;

/// The profile of one material from recordings of panels of it, each with what was declared.
///
/// # Errors
/// Where a recording is unusable, or there is too little on the panels.
pub fn calibrate(
    recordings: &[(&Recording, PanelHint)],
    options: &Options,
) -> Result<Calibration, NoiseError> {
    let panels = { recordings.iter() }
        .map(|(recording, hint)| report(recording, hint, options))
        .collect::<Result<Vec<_>, _>>()?;
    from_panels(recordings, panels, options)
}

fn report(
    recording: &Recording,
    hint: &PanelHint,
    options: &Options,
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
        explanations: explain(recording, &panel, 75.0_f64.to_radians()),
        panel,
        beams,
    })
}

fn from_panels(
    recordings: &[(&Recording, PanelHint)],
    panels: Vec<PanelReport>,
    options: &Options,
) -> Result<Calibration, NoiseError> {
    let Some(distance) = middle_distance(&panels) else {
        return Err(NoiseError::Empty {
            recording: options.material.clone(),
        });
    };
    let steps = detect_steps(
        { recordings.iter() }
            .flat_map(|(recording, _)| &recording.cells)
            .flat_map(|cell| &cell.looks)
            .filter_map(|look| look.range),
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
    let places = place_to_place(by_panel.iter().map(Vec::as_slice), options.bin);
    let mut all = by_panel.concat();
    all.sort_by(|a, b| a.incidence.total_cmp(&b.incidence));
    let intensity = intensity_kind(recordings, &panels);
    let usual = usual_standing(&all);
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
    let likeness = likeness_of(&panels, &profile);
    let [moving, still] = likeness.neighbours;
    let beyond = curves.beyond(&about);
    profile.correlation =
        Correlation::new(moving, standing(&beyond), usual).with_standing_neighbour(still);
    remarks(&panels, &profile, &mut warnings);
    Ok(Calibration {
        profile,
        panels,
        bins: all,
        likeness,
        reflectance,
        penalties: curves.penalties(),
        warnings,
    })
}

/// The middle one of the panels' distances.
fn middle_distance(panels: &[PanelReport]) -> Option<f64> {
    let mut distances: Vec<f64> = panels.iter().map(|p| p.panel.plane.distance).collect();
    distances.sort_by(f64::total_cmp);
    distances.get(distances.len() / 2).copied()
}

/// The law of distance: fitted where panels stand at distances that differ by a half or more, else
/// that of the sensor's kind.
fn law(
    panels: &[PanelReport],
    binned: &[Vec<Bin>],
    options: &Options,
    warnings: &mut Vec<String>,
) -> DistanceLaw {
    let usual = match options.kind {
        SensorKind::Triangulating => DistanceLaw::Triangulation,
        SensorKind::TimeOfFlight => DistanceLaw::SignalToNoise {
            floor: least_spread(binned),
        },
    };
    let spreads: Vec<[f64; 2]> = { panels.iter().zip(binned) }
        .filter_map(|(panel, bins)| Some([panel.panel.plane.distance.ln(), mean_log_spread(bins)?]))
        .collect();
    let reach = |values: &[[f64; 2]]| {
        let all = values.iter().map(|v| v[0]);
        all.clone().fold(f64::NEG_INFINITY, f64::max) - all.fold(f64::INFINITY, f64::min)
    };
    if spreads.len() < 2 || reach(&spreads) < 1.5_f64.ln() {
        warnings.push(format!(
            "recorded at one distance: the law of distance is that of {} sensors, not measured",
            match options.kind {
                SensorKind::Triangulating => "triangulating",
                SensorKind::TimeOfFlight => "time-of-flight",
            }
        ));
        return usual;
    }
    DistanceLaw::Fitted {
        spread: slope(&spreads),
        bias: match options.kind {
            SensorKind::Triangulating => 1.0,
            SensorKind::TimeOfFlight => 0.0,
        },
        power: usual.power_exponent(),
    }
}

fn slope(points: &[[f64; 2]]) -> f64 {
    let n = points.len() as f64;
    let mean = |i: usize| points.iter().map(|p| p[i]).sum::<f64>() / n;
    let (x, y) = (mean(0), mean(1));
    let up: f64 = points.iter().map(|p| (p[0] - x) * (p[1] - y)).sum();
    let across: f64 = points.iter().map(|p| (p[0] - x).powi(2)).sum();
    up / across.max(1e-12)
}

fn mean_log_spread(bins: &[Bin]) -> Option<f64> {
    let core = bins.iter().filter(|bin| bin.incidence < 0.6);
    let spreads: Vec<f64> = core
        .filter_map(|bin| bin.error.map(|e| e.sd.ln()))
        .collect();
    (!spreads.is_empty()).then(|| spreads.iter().sum::<f64>() / spreads.len() as f64)
}

fn least_spread(binned: &[Vec<Bin>]) -> f64 {
    let spreads = binned.iter().flatten().filter_map(|bin| bin.error);
    0.5 * spreads
        .map(|error| error.sd)
        .fold(f64::INFINITY, f64::min)
        .min(1.0)
}

/// A bin carried to the profile's distance.
fn carried(bin: &Bin, law: DistanceLaw, ratio: f64) -> Bin {
    let mut bin = bin.clone();
    if let Some(error) = &mut bin.error {
        error.mean = law.bias(error.mean, ratio);
        error.sd = law.spread(error.sd, ratio);
    }
    bin
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

/// The usual likeness of drop-outs of one direction: the mean over bins that tell it.
fn usual_standing(bins: &[Bin]) -> f64 {
    let told = || {
        bins.iter()
            .filter_map(|bin| bin.standing_drop.map(|s| (s, bin.beams)))
    };
    let weight: f64 = told().map(|(_, weight)| weight).sum();
    if weight == 0.0 {
        return 0.0;
    }
    told().map(|(share, weight)| share * weight).sum::<f64>() / weight
}

/// The share of the range's variance that stands still, over all bins.
fn standing(bins: &[Bin]) -> f64 {
    let weight: f64 = bins.iter().map(|bin| bin.ranges).sum();
    bins.iter()
        .map(|bin| bin.standing * bin.ranges)
        .sum::<f64>()
        / weight.max(1.0)
}

fn likeness_of(panels: &[PanelReport], profile: &Profile) -> Likeness {
    let found = panels.iter().map(|panel| {
        likeness(&panel.beams, |error, aspect| {
            let range = panel.panel.plane.distance / aspect.incidence.cos();
            let here = profile.at(aspect, range);
            let step = profile.steps.at(range);
            (error - here.bias) / (here.spread.powi(2) + step * step / 12.0).sqrt().max(1e-9)
        })
    });
    found
        .max_by_key(|likeness| likeness.pairs)
        .unwrap_or_default()
}

/// What the user should know about the fit.
fn remarks(panels: &[PanelReport], profile: &Profile, warnings: &mut Vec<String>) {
    for report in panels {
        let of = |remark: &String| format!("{}: {remark}", report.recording);
        warnings.extend(report.panel.remarks.iter().map(of));
        if report.beams.strays > 0 {
            warnings.push(format!(
                "{}: {} ranges in directions of the panel are of something else and left out",
                report.recording, report.beams.strays
            ));
        }
        if report.beams.at_edge() > 0 {
            warnings.push(format!(
                "{}: {} of {} ranges lie within two degrees of where returns end; part of the spot \
                 comes back there: they count as returned, not for bias and spread",
                report.recording,
                report.beams.at_edge(),
                report.beams.returned()
            ));
        }
        warnings.extend(ambiguous(report));
    }
    if let IntensityKind::Constant(value) = profile.intensity {
        warnings.push(format!(
            "the intensity is {value} for every beam that returned: it tells nothing of reflectance"
        ));
    }
}

/// What explains a panel is no offset of a device's ranges where it takes more of the distance.
const LARGEST_OFFSET: f64 = 0.2;

/// Whether an offset and a growth with incidence explain a panel's bias alike.
fn ambiguous(report: &PanelReport) -> Option<String> {
    let [plane, offset, growth] = &report.explanations[..] else {
        return None;
    };
    let better = offset.rms.min(growth.rms);
    let is_one = offset.coefficient.abs() < LARGEST_OFFSET * report.panel.plane.distance;
    let both_help = is_one && offset.rms.max(growth.rms) < 0.5 * plane.rms;
    (both_help && offset.rms.max(growth.rms) < 2.0 * better).then(|| {
        format!(
            "{}: an offset of {:+.1} mm (rms {:.2} mm) and a growth with incidence, w = {:.4} \
             (rms {:.2} mm), explain the panel about alike (plane alone: {:.2} mm): \
             record a second distance to tell them apart",
            report.recording,
            1e3 * offset.coefficient,
            1e3 * offset.rms,
            growth.coefficient,
            1e3 * growth.rms,
            1e3 * plane.rms
        )
    })
}

/// What is left out together: one side of the normal, in blocks of five degrees.
pub(super) fn fold(bin: &Bin) -> usize {
    let block = (bin.incidence.to_degrees() / 5.0).floor() % 2.0;
    2 * usize::from(bin.left) + usize::from(block > 0.5)
}

/// Bins of an incidence and more, rad.
fn beyond(bins: &[Bin], incidence: f64) -> Vec<Bin> {
    { bins.iter() }
        .filter(|bin| bin.incidence >= incidence)
        .cloned()
        .collect()
}

/// Smooth curves over incidence.
struct Curves {
    bias: Option<Curve>,
    log_spread: Option<Curve>,
    drop_out: Option<Curve>,
    intensity: Option<Curve>,
    intensity_spread: Option<Curve>,
    glare: Option<GlareCurves>,
}

/// Of the intensity what is fitted: of a two-valued one, the share of the higher.
fn intensity_of(bin: &Bin, kind: IntensityKind) -> f64 {
    match kind {
        IntensityKind::TwoValued { low, high } => (bin.intensity[0] - low) / (high - low),
        _ => bin.intensity[0],
    }
}

impl Curves {
    fn fit(bins: &[Bin], intensity: IntensityKind, usual: f64, places: f64) -> Self {
        let curve = |value: &dyn Fn(&Bin) -> Option<(f64, f64)>, link| {
            let observations: Vec<Observation> = { bins.iter() }
                .filter_map(|bin| {
                    let (y, weight) = value(bin)?;
                    let (x, fold) = (bin.incidence, fold(bin));
                    Some(Observation { x, y, weight, fold })
                })
                .collect();
            fit_curve(&observations, PIECE, link)
        };
        Self {
            bias: curve(
                &|bin| {
                    let variance = bin.mean_variance()? + places;
                    Some((bin.error?.mean, 1.0 / variance))
                },
                Link::Identity,
            ),
            log_spread: None,
            drop_out: curve(&|bin| Some((bin.drop_out(), bin.looks(usual))), Link::Logit),
            intensity: curve(
                &|bin| (bin.returned >= 1.0).then(|| (intensity_of(bin, intensity), bin.returned)),
                Link::Identity,
            ),
            intensity_spread: curve(
                &|bin| (bin.returned >= 3.0).then(|| (bin.intensity[1], bin.returned)),
                Link::Identity,
            ),
            glare: None,
        }
    }

    /// The curves of what lies beyond a glare, which both sides have alike, and the glare's from `near`
    /// bins. The same curves where it cannot be fitted.
    fn with_glare(
        self,
        bins: &[Bin],
        near: Vec<Bin>,
        reach: f64,
        (intensity, usual, places): (IntensityKind, f64, f64),
    ) -> Self {
        let beyond = beyond(bins, reach);
        let alike = Self::fit(&beyond, intensity, usual, places);
        let value = |curve: &Option<Curve>, x: f64| curve.as_ref().map_or(0.0, |curve| curve.at(x));
        let found = GlareCurves::fit(
            near,
            reach,
            places,
            usual,
            &Alike {
                bias: &|x| value(&alike.bias, x),
                drop_out: &|x| value(&alike.drop_out, x),
                intensity: &|x| value(&alike.intensity, x),
                of_bin: &|bin| intensity_of(bin, intensity),
            },
        );
        if found.is_none() {
            return self;
        }
        Self {
            glare: found,
            ..alike
        }
    }

    /// Bins beyond the glare; all where there is none.
    fn beyond(&self, bins: &[Bin]) -> Vec<Bin> {
        beyond(bins, self.glare.as_ref().map_or(0.0, GlareCurves::reach))
    }

    /// The glare of the profile.
    fn glare(&self, intensity: IntensityKind, usual: f64) -> Option<Glare> {
        let dropped = |x: f64| self.drop_out.as_ref().map_or(0.0, |curve| curve.at(x));
        let glare = self.glare.as_ref();
        glare.map(|glare| glare.glare(intensity, usual, dropped))
    }

    /// Beams with the bias added to what is expected of them.
    fn about_bias(&self, beams: &PanelBeams, law: DistanceLaw, ratio: f64) -> PanelBeams {
        let mut beams = beams.clone();
        for beam in &mut beams.beams {
            let alike = self.bias.as_ref();
            let alike = alike.map_or(0.0, |curve| curve.at(beam.incidence));
            let glare = self.glare.as_ref();
            let glare = glare.map_or(0.0, |glare| glare.bias(beam.incidence * beam.side));
            let bias = alike + glare;
            beam.expected += law.bias(bias, ratio);
        }
        beams
    }

    /// The spread about the smooth bias, one side of the normal by itself: noise, and what stands
    /// still from place to place. What both sides show is kept. Within a glare, `near` bins tell how
    /// much more it is.
    fn fit_spread(&mut self, bins: &[Bin], near: &[Bin]) {
        let reach = self.glare.as_ref().map_or(0.0, GlareCurves::reach);
        let observation = |bin: &Bin| {
            let error = bin.error?;
            Some(Observation {
                x: bin.incidence,
                y: error.sd.hypot(error.mean).max(bin.hidden).max(1e-6).ln(),
                weight: 2.0 * bin.range_looks().max(1.0),
                fold: fold(bin),
            })
        };
        let beyond = bins.iter().filter(|bin| bin.incidence >= reach);
        let observations: Vec<Observation> = beyond.filter_map(observation).collect();
        self.log_spread = fit_curve(&observations, PIECE, Link::Identity);
        if let (Some(glare), Some(spread)) = (&mut self.glare, &self.log_spread) {
            glare.fit_spread(near, |x| spread.at(x).exp());
        }
    }

    fn penalties(&self) -> [f64; 3] {
        [&self.bias, &self.log_spread, &self.drop_out]
            .map(|curve| curve.as_ref().map_or(f64::NAN, |curve| curve.penalty))
    }

    /// The profile's knots: from normal incidence to the widest at which beams were counted.
    fn knots(
        &self,
        [bins, about]: [&[Bin]; 2],
        options: &Options,
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
            bias_error: spread / near.range_looks.max(1.0).sqrt(),
            spread,
            spread_error: spread / (2.0 * near.range_looks.max(1.0)).sqrt(),
            drop_out,
            drop_out_interval: super::statistics::wilson(near.dropped_looks, near.looks),
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
    looks: f64,
    dropped_looks: f64,
    range_looks: f64,
    intensity: f64,
}

impl Place<'_> {
    fn near(&self, incidence: f64) -> Near {
        let near =
            { self.bins.iter() }.filter(|bin| (bin.incidence - incidence).abs() <= self.width);
        let wide = (2.0 * self.width).max(1e-6);
        let range_looks = { self.about.iter() }
            .filter(|bin| (bin.incidence - incidence).abs() <= wide)
            .map(Bin::range_looks)
            .sum();
        let start = Near {
            range_looks,
            ..Near::default()
        };
        near.fold(start, |mut sum, bin| {
            let looks = bin.looks(self.usual);
            sum.beams += bin.beams;
            sum.looks += looks;
            sum.dropped_looks += looks * bin.drop_out();
            sum.intensity = sum.intensity.max(bin.brightest);
            sum
        })
    }
}

/// The steps of a recording.
impl Recording {
    /// The steps of its ranges.
    pub fn steps(&self) -> Steps {
        let looks = self.cells.iter().flat_map(|cell| &cell.looks);
        detect_steps(looks.filter_map(|look| look.range))
    }
}

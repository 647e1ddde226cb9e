//! Pictures of calibrations.

use crate::failure::Failure;
use crate::folder::Folder;
use etendue::calibrate::noise::score::HoldOut;
use etendue::calibrate::noise::statistics::{Bin, bins, wide_bins};
use etendue::calibrate::noise::{Calibration, Panel, PanelBeams, Recording, replay};
use etendue::physics::profile::{Aspect, Glare, IntensityKind, Profile};
use etendue_plot::Drawing;
use etendue_plot::curve_chart::{self, Curve, CurveChart};
use etendue_plot::panel_view::{Beam, PanelView};

/// Adds what was seen from above and the curves of one material.
pub fn add(
    folder: &mut Folder,
    name: &str,
    calibration: &Calibration,
    recording: &Recording,
) -> Result<(), Failure> {
    let title = format!(
        "{}: share of beams that returned",
        calibration.profile.material
    );
    let panel = &calibration.panels[0].panel;
    folder.picture(
        &format!("{name}-above"),
        &from_above(recording, panel, &title),
    )?;
    let mut charts: Vec<CurveChart> = { QUANTITIES.iter() }
        .map(|quantity| quantity.chart(calibration, quantity.name.into()))
        .collect();
    charts.push(normal_chart(calibration, "bias beside the normal".into()));
    let title = format!(
        "{}: recorded, and simulated from the profile",
        calibration.profile.material
    );
    folder.picture(
        &format!("{name}-curves"),
        &curve_chart::draw(&title, &charts),
    )
}

/// Adds one picture a quantity, one chart a material, as figures 5.1 to 5.6 of kepets-2024.
pub fn add_overview(folder: &mut Folder, calibrations: &[Calibration]) -> Result<(), Failure> {
    for quantity in &QUANTITIES {
        let charts: Vec<CurveChart> = { calibrations.iter() }
            .map(|calibration| quantity.chart(calibration, calibration.profile.material.clone()))
            .collect();
        let drawing = curve_chart::draw(quantity.name, &charts);
        folder.picture(&format!("all-{}", quantity.file), &drawing)?;
    }
    let charts: Vec<CurveChart> = { calibrations.iter() }
        .map(|calibration| normal_chart(calibration, calibration.profile.material.clone()))
        .collect();
    let title = "bias of the range beside the normal";
    folder.picture("all-normal", &curve_chart::draw(title, &charts))?;
    let charts: Vec<CurveChart> = calibrations.iter().map(reflectance_chart).collect();
    let title = "share of beams that return: recorded, profile, reflectance model alone";
    folder.picture("all-reflectance", &curve_chart::draw(title, &charts))
}

/// Adds the transform's histogram and the drop-out's calibration.
pub fn add_hold_out(folder: &mut Folder, name: &str, hold_out: &HoldOut) -> Result<(), Failure> {
    let scores = &hold_out.scores[0].1;
    let classes = (0..).zip(&scores.transform);
    let transform = classes.map(|(class, share)| [0.05 + 0.1 * f64::from(class), *share]);
    let calibrated = scores
        .calibration
        .iter()
        .map(|class| [class.predicted, class.seen]);
    let charts = [
        CurveChart {
            title: "probability integral transform".into(),
            x: "class".into(),
            y: "share of held-out ranges".into(),
            limits: Some([0.0, 0.3]),
            curves: vec![
                curve("held out", transform.collect(), true),
                curve("ideal", vec![[0.0, 0.1], [1.0, 0.1]], true),
            ],
        },
        CurveChart {
            title: "drop-out".into(),
            x: "predicted".into(),
            y: "seen".into(),
            limits: Some([0.0, 1.0]),
            curves: vec![
                curve("held out", calibrated.collect(), true),
                curve("ideal", vec![[0.0, 0.0], [1.0, 1.0]], true),
            ],
        },
    ];
    let title = format!("{name}: held-out beams");
    folder.picture(
        &format!("{name}-holdout"),
        &curve_chart::draw(&title, &charts),
    )
}

fn curve(name: &'static str, points: Vec<[f64; 2]>, joined: bool) -> Curve {
    Curve {
        name,
        points,
        interval: Vec::new(),
        joined,
    }
}

/// A panel and everything else that was seen, from above.
pub fn from_above(recording: &Recording, panel: &Panel, title: &str) -> Drawing {
    let met = |cell: usize| {
        let direction = recording.cells[cell].direction;
        let at = direction * panel.plane.range(&direction);
        [at.x, at.y]
    };
    let seen = |cell: &etendue::calibrate::noise::Cell| {
        let at = cell.direction * cell.median()?;
        Some([at.x, at.y])
    };
    let cells = &panel.sector.cells;
    let ends = [cells.first(), cells.last()].map(|end| end.map_or([0.0; 2], |end| met(*end)));
    PanelView {
        title,
        legend: "beams returned",
        ends: ["all", "none"],
        beams: { cells.iter() }
            .map(|cell| Beam {
                at: met(*cell),
                share: recording.cells[*cell].returned(),
            })
            .collect(),
        panel: ends,
        others: recording.cells.iter().filter_map(seen).collect(),
    }
    .draw()
}

/// A profile's panel from above, drawn from the profile alone.
pub fn profile_from_above(
    profile: &Profile,
    legend: &str,
    ends: [&str; 2],
    share: impl Fn(Aspect) -> f64,
) -> Drawing {
    let widest = profile.knots.last().map_or(1.0, |knot| knot.incidence);
    let beams: Vec<Beam> = (-90..=90)
        .map(|degree| f64::from(degree).to_radians())
        .filter(|angle| angle.abs() <= widest)
        .map(|angle| Beam {
            at: [-profile.distance * angle.tan(), profile.distance],
            share: share(Aspect::signed(angle)),
        })
        .collect();
    let ends_at = [beams.first(), beams.last()].map(|beam| beam.map_or([0.0; 2], |b| b.at));
    PanelView {
        title: &format!("{} on {}", profile.sensor, profile.material),
        legend,
        ends,
        beams,
        panel: ends_at,
        others: Vec::new(),
    }
    .draw()
}

/// Something that goes with incidence.
struct Quantity {
    name: &'static str,
    file: &'static str,
    unit: &'static str,
    /// Limits of its axis, if fixed.
    limits: Option<[f64; 2]>,
    /// Of a bin, with half its interval; none where it is not known.
    of_bin: fn(&Bin, &Profile) -> Option<[f64; 2]>,
    /// Of the profile at an incidence.
    of_profile: fn(&Profile, f64) -> f64,
}

/// Mean intensity as kepets-2024 counts it, dropped beams as zero: the only one that shows
/// anything where returned beams all have the same.
#[expect(
    clippy::unnecessary_wraps,
    reason = "other measures have none in some bins"
)]
fn counted_intensity(bin: &Bin, _: &Profile) -> Option<[f64; 2]> {
    Some([bin.intensity[0] * (1.0 - bin.drop_out()), 0.0])
}

fn counted_spread(mean: f64, sd: f64, drop_out: f64) -> f64 {
    let square = (1.0 - drop_out) * (sd * sd + mean * mean);
    let total = (1.0 - drop_out) * mean;
    (square - total * total).max(0.0).sqrt()
}

/// Mean and standard deviation of a returned beam's intensity.
fn intensity_at(profile: &Profile, incidence: f64) -> [f64; 2] {
    let here = at(profile, incidence);
    match profile.intensity {
        IntensityKind::TwoValued { low, high } => {
            let p = here.intensity;
            [
                low + p * (high - low),
                (high - low) * (p * (1.0 - p)).sqrt(),
            ]
        }
        _ => [here.intensity, here.intensity_spread],
    }
}

fn at(profile: &Profile, incidence: f64) -> etendue::physics::profile::Expected {
    profile.at(incidence, profile.distance / incidence.cos())
}

const QUANTITIES: [Quantity; 5] = [
    Quantity {
        name: "mean intensity (dropped: 0)",
        file: "intensity",
        unit: "intensity, counts",
        limits: None,
        of_bin: counted_intensity,
        of_profile: |profile, x| (1.0 - at(profile, x).drop_out) * intensity_at(profile, x)[0],
    },
    Quantity {
        name: "sd of intensity (dropped: 0)",
        file: "intensity-spread",
        unit: "standard deviation, counts",
        limits: None,
        of_bin: |bin, _| {
            Some([
                counted_spread(bin.intensity[0], bin.intensity[1], bin.drop_out()),
                0.0,
            ])
        },
        of_profile: |profile, x| {
            let [mean, sd] = intensity_at(profile, x);
            counted_spread(mean, sd, at(profile, x).drop_out)
        },
    },
    Quantity {
        name: "drop-out",
        file: "drop-out",
        unit: "probability of a drop-out",
        limits: Some([-0.03, 1.03]),
        of_bin: |bin, profile| {
            let [low, high] = bin.drop_out_interval(profile.correlation.fixed_pattern_drop());
            Some([bin.drop_out(), 0.5 * (high - low)])
        },
        of_profile: |profile, x| at(profile, x).drop_out,
    },
    Quantity {
        name: "spread of the range",
        file: "spread",
        unit: "standard deviation, mm",
        limits: None,
        of_bin: |bin, _| {
            let sd = bin.error?.sd;
            Some([
                1e3 * sd,
                1.96e3 * sd / (2.0 * bin.range_looks().max(1.0)).sqrt(),
            ])
        },
        of_profile: |profile, x| 1e3 * at(profile, x).spread,
    },
    Quantity {
        name: "bias of the range",
        file: "bias",
        unit: "measured less true, mm",
        limits: None,
        of_bin: |bin, _| {
            let error = bin.error?;
            Some([
                1e3 * error.mean,
                1.96e3 * error.sd / bin.range_looks().max(1.0).sqrt(),
            ])
        },
        of_profile: |profile, x| 1e3 * at(profile, x).bias,
    },
];

impl Quantity {
    /// Recorded bins, bins simulated from the profile, and the profile itself.
    fn chart(&self, calibration: &Calibration, title: String) -> CurveChart {
        let profile = &calibration.profile;
        let binned = |of: &dyn Fn(&PanelBeams) -> PanelBeams| -> Vec<Bin> {
            let panels = calibration.panels.iter();
            panels
                .flat_map(|panel| self.bins(&of(&panel.beams), profile))
                .collect()
        };
        let recorded = binned(&PanelBeams::clone);
        let simulated = binned(&|beams| replay(beams, profile, 1));
        CurveChart {
            title,
            x: "incidence, degrees".into(),
            y: self.unit.into(),
            limits: self.limits,
            curves: vec![
                self.dots("recorded", &recorded, profile),
                self.dots("simulated", &simulated, profile),
                self.line(profile),
            ],
        }
    }

    /// Bins of one degree and one side; of the spread, of three degrees and both sides, so that they
    /// hold what differs from place to place on the panel.
    fn bins(&self, beams: &PanelBeams, profile: &Profile) -> Vec<Bin> {
        let degree = 1.0_f64.to_radians();
        if self.file == "spread" {
            wide_bins(beams, &profile.steps, 3.0 * degree)
        } else {
            bins(beams, &profile.steps, degree)
        }
    }

    fn dots(&self, name: &'static str, bins: &[Bin], profile: &Profile) -> Curve {
        let seen: Vec<[f64; 3]> = { bins.iter() }
            .filter_map(|bin| {
                let [value, half] = (self.of_bin)(bin, profile)?;
                Some([bin.incidence.to_degrees(), value, half])
            })
            .collect();
        Curve {
            name,
            points: seen.iter().map(|[x, y, _]| [*x, *y]).collect(),
            interval: { seen.iter() }
                .filter(|[_, _, half]| *half > 0.0)
                .map(|[x, y, half]| [*x, y - half, y + half])
                .collect(),
            joined: false,
        }
    }

    fn line(&self, profile: &Profile) -> Curve {
        let points =
            { incidences(profile) }.map(|x| [x.to_degrees(), (self.of_profile)(profile, x)]);
        curve("profile", points.collect(), true)
    }
}

fn incidences(profile: &Profile) -> impl Iterator<Item = f64> {
    let widest = profile.knots.last().map_or(1.0, |knot| knot.incidence);
    (0..=160).map(move |i| f64::from(i) / 160.0 * widest)
}

/// Within so much of the normal both sides are drawn by themselves, degrees.
const BESIDE: f64 = 12.0;

/// The bias on both sides of the normal, recorded and simulated by half degrees, and the profile's.
fn normal_chart(calibration: &Calibration, title: String) -> CurveChart {
    let profile = &calibration.profile;
    let dots = |name, of: &dyn Fn(&PanelBeams) -> PanelBeams| {
        let half_degree = 0.5_f64.to_radians();
        let binned = { calibration.panels.iter() }
            .flat_map(|panel| bins(&of(&panel.beams), &profile.steps, half_degree));
        let seen = binned.filter_map(|bin| {
            let side = if bin.left { 1.0 } else { -1.0 };
            let error = bin.error?;
            Some([side * bin.incidence.to_degrees(), 1e3 * error.mean])
        });
        curve(
            name,
            seen.filter(|[x, _]| x.abs() < BESIDE).collect(),
            false,
        )
    };
    CurveChart {
        title,
        x: "incidence, degrees; positive: left of the normal".into(),
        y: "measured less true, mm".into(),
        limits: None,
        curves: vec![
            dots("recorded", &PanelBeams::clone),
            dots("simulated", &|beams| replay(beams, profile, 1)),
            beside_the_normal(profile),
        ],
    }
}

/// A profile's bias on both sides of the normal.
fn beside_the_normal(profile: &Profile) -> Curve {
    let at = |degrees: f64| {
        let aspect = Aspect::signed(degrees.to_radians());
        let range = profile.distance / aspect.incidence.cos();
        [degrees, 1e3 * profile.at(aspect, range).bias]
    };
    let tenths = (-10 * 12..=10 * 12).map(|tenth| 0.1 * f64::from(tenth));
    curve("profile", tenths.map(at).collect(), true)
}

/// A profile's glare, with the intervals of its knots.
fn glare_chart(profile: &Profile) -> Option<CurveChart> {
    let glare = profile.glare.as_ref()?;
    let mut line = beside_the_normal(profile);
    let interval = |knot: &etendue::physics::profile::GlareKnot| {
        let aspect = Aspect::signed(knot.incidence);
        let bias = profile
            .at(aspect, profile.distance / knot.incidence.cos())
            .bias;
        let [low, high] = [-1.96, 1.96].map(|z| 1e3 * (bias + z * knot.bias_error));
        [knot.incidence.to_degrees(), low, high]
    };
    line.interval = glare.knots.iter().map(interval).collect();
    Some(CurveChart {
        title: "bias beside the normal".into(),
        x: "incidence, degrees; positive: left of the normal".into(),
        y: "measured less true, mm".into(),
        limits: None,
        curves: vec![line],
    })
}

/// Curves of a profile alone, with the intervals of its knots.
pub fn profile_curves(profile: &Profile) -> Drawing {
    let chart = |quantity: &Quantity| {
        let mut line = quantity.line(profile);
        // Within a glare the knots are not all: its own chart has the intervals there.
        let beyond = match quantity.file {
            "drop-out" => 0.0,
            _ => profile.glare.as_ref().map_or(0.0, Glare::reach),
        };
        let errors =
            |value: &dyn Fn(&etendue::physics::profile::Knot) -> [f64; 2]| -> Vec<[f64; 3]> {
                { profile.knots.iter() }
                    .filter(|knot| knot.incidence >= beyond)
                    .map(|knot| {
                        let [low, high] = value(knot);
                        [knot.incidence.to_degrees(), low, high]
                    })
                    .collect()
            };
        line.interval = match quantity.file {
            "drop-out" => errors(&|knot| knot.drop_out_interval),
            "spread" => {
                errors(&|knot| [-1.96, 1.96].map(|z| 1e3 * (knot.spread + z * knot.spread_error)))
            }
            "bias" => {
                errors(&|knot| [-1.96, 1.96].map(|z| 1e3 * (knot.bias + z * knot.bias_error)))
            }
            _ => Vec::new(),
        };
        CurveChart {
            title: quantity.name.into(),
            x: "incidence, degrees".into(),
            y: quantity.unit.into(),
            limits: quantity.limits,
            curves: vec![line],
        }
    };
    let mut charts: Vec<CurveChart> = QUANTITIES.iter().map(chart).collect();
    charts.extend(glare_chart(profile));
    let title = format!("{} on {}", profile.sensor, profile.material);
    curve_chart::draw(&title, &charts)
}

/// What figures 5.5 and 5.6 of kepets-2024 show: beams that return as recorded, by the profile, by
/// the fitted reflectance model with its logistic, and by the model's power as it is.
fn reflectance_chart(calibration: &Calibration) -> CurveChart {
    let profile = &calibration.profile;
    let recorded =
        { calibration.bins.iter() }.map(|bin| [bin.incidence.to_degrees(), 1.0 - bin.drop_out()]);
    let model = profile.reflectance;
    let wide = || (0..=170).map(|half| (f64::from(half) / 2.0).to_radians());
    let line = |name, value: &dyn Fn(f64) -> f64| {
        curve(
            name,
            wide().map(|x| [x.to_degrees(), value(x)]).collect(),
            true,
        )
    };
    CurveChart {
        title: profile.material.clone(),
        x: "incidence, degrees".into(),
        y: "share that returns".into(),
        limits: Some([-0.03, 1.03]),
        curves: vec![
            curve("recorded", recorded.collect(), false),
            line("profile, extrapolated beyond the recording", &|x| {
                1.0 - at(profile, x).drop_out
            }),
            line("fitted reflectance, logistic in its power", &|x| {
                1.0 - model.drop_out(x)
            }),
            line("fitted reflectance, its power as it is", &|x| {
                model.power(x)
            }),
        ],
    }
}

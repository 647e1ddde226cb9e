//! Pictures of calibrations.

use super::panel_view::{PanelBeam, PanelView};
use super::quantity::{
    NORMAL_95, PLOT_SIZE, QUANTITIES, expected_at, of_profile, of_truth, plot_over_incidence,
    recorded, simulated,
};
use crate::failure::Failure;
use crate::folder::Folder;
use etendue::calibrate::noise::score::HoldOutScores;
use etendue::calibrate::noise::statistics::bins;
use etendue::calibrate::noise::truth::Truth;
use etendue::calibrate::noise::{
    DirectionCell, NoiseCalibration, Panel, PanelBeams, PanelRecording, replay,
};
use etendue::physics::profile::{Aspect, GlareKnot, Profile};
use etendue_plot::{Axis, Drawing, Figure, Plot, Point, Series, Stroke, palette};

/// Limits of an axis of probabilities.
const PROBABILITY: [f64; 2] = [-0.03, 1.03];

/// Largest incidence of the plots of the bias near the normal, degrees.
const NEAR_NORMAL: i32 = 12;

/// Adds the panel from above and the curves of one material.
pub fn add(
    folder: &mut Folder,
    name: &str,
    calibration: &NoiseCalibration,
    recording: &PanelRecording,
    truth: Option<&Truth>,
) -> Result<(), Failure> {
    let material = &calibration.profile.material;
    let title = format!("{material}: fraction of beams that returned");
    let panel = &calibration.panels[0].panel;
    let view = from_above(recording, panel, &title);
    folder.picture(&format!("{name}-above"), &view)?;

    let quantities = QUANTITIES.iter();
    let mut plots: Vec<Plot> = quantities
        .map(|quantity| quantity.plot(calibration, quantity.name, truth))
        .collect();
    plots.push(bias_near_normal(calibration, "bias near the normal", truth));
    let title = format!("{material}: recorded, and simulated from the profile");
    folder.picture(&format!("{name}-curves"), &page(title, plots))
}

/// Adds one picture per quantity with one plot per material, as figures 5.1 to 5.6 of kepets-2024.
pub fn add_overview(folder: &mut Folder, calibrations: &[NoiseCalibration]) -> Result<(), Failure> {
    for quantity in &QUANTITIES {
        let plots = calibrations
            .iter()
            .map(|calibration| quantity.plot(calibration, &calibration.profile.material, None));
        let drawing = page(quantity.name, plots.collect());
        folder.picture(&format!("all-{}", quantity.file), &drawing)?;
    }
    let plots = calibrations
        .iter()
        .map(|calibration| bias_near_normal(calibration, &calibration.profile.material, None));
    let drawing = page("bias of the range near the normal", plots.collect());
    folder.picture("all-normal", &drawing)?;
    let plots = calibrations.iter().map(reflectance_plot);
    let title = "fraction of beams that return: recorded, profile, reflectance model";
    folder.picture("all-reflectance", &page(title, plots.collect()))
}

/// Adds the histogram of the probability integral transform and the calibration of the drop-out.
pub fn add_hold_out(
    folder: &mut Folder,
    name: &str,
    hold_out: &HoldOutScores,
) -> Result<(), Failure> {
    let scores = &hold_out.scores[0].1;
    let held_out = recorded();
    let ideal = simulated();

    // Histogram of the transform
    let y = Axis::new("fraction of held-out ranges").with_limits([0.0, 0.3]);
    let mut transform = Plot::new(Axis::new("class"), y)
        .with_title("probability integral transform")
        .with_size(PLOT_SIZE);
    let classes = (0..).zip(&scores.transform);
    let fractions = classes.map(|(class, fraction)| [0.05 + 0.1 * f64::from(class), *fraction]);
    transform.add_curve("held out", fractions.collect(), held_out);
    transform.add_curve("ideal", vec![[0.0, 0.1], [1.0, 0.1]], ideal);

    // Drop-out, predicted and observed
    let y = Axis::new("observed").with_limits([0.0, 1.0]);
    let mut drop_out = Plot::new(Axis::new("predicted"), y)
        .with_title("drop-out")
        .with_size(PLOT_SIZE);
    let classes = scores.calibration.iter();
    let points = classes.map(|class| [class.predicted, class.observed]);
    drop_out.add_curve("held out", points.collect(), held_out);
    drop_out.add_curve("ideal", vec![[0.0, 0.0], [1.0, 1.0]], ideal);

    let drawing = page(format!("{name}: held-out beams"), vec![transform, drop_out]);
    folder.picture(&format!("{name}-holdout"), &drawing)
}

/// Panel and all other points of a recording from above.
pub fn from_above(recording: &PanelRecording, panel: &Panel, title: &str) -> Drawing {
    let hit = |cell: usize| -> Point {
        let direction = recording.cells[cell].direction;
        let at = direction * panel.plane.range(&direction);
        [at.x, at.y]
    };
    let measured = |cell: &DirectionCell| -> Option<Point> {
        let at = cell.direction * cell.median()?;
        Some([at.x, at.y])
    };
    let cells = &panel.sector.cells;
    let beams = cells.iter().map(|cell| PanelBeam {
        at: hit(*cell),
        fraction: recording.cells[*cell].returned(),
    });
    PanelView {
        title,
        legend: "beams returned",
        ends: ["all", "none"],
        beams: beams.collect(),
        panel: [cells.first(), cells.last()].map(|end| end.map_or([0.0; 2], |end| hit(*end))),
        others: recording.cells.iter().filter_map(measured).collect(),
    }
    .draw()
}

/// Panel of a profile from above, in one degree steps of incidence.
pub fn profile_from_above(
    profile: &Profile,
    legend: &str,
    ends: [&str; 2],
    fraction: impl Fn(Aspect) -> f64,
) -> Drawing {
    // One beam per degree, up to the widest incidence of the profile
    let widest = profile.knots.last().map_or(1.0, |knot| knot.incidence);
    let angles = (-90..=90).map(|degree| f64::from(degree).to_radians());
    let beams: Vec<PanelBeam> = angles
        .filter(|angle| angle.abs() <= widest)
        .map(|angle| PanelBeam {
            at: [-profile.distance * angle.tan(), profile.distance],
            fraction: fraction(Aspect::signed(angle)),
        })
        .collect();

    // Draw the panel between the outermost beams
    let panel = [beams.first(), beams.last()].map(|beam| beam.map_or([0.0; 2], |b| b.at));
    PanelView {
        title: &format!("{} on {}", profile.sensor, profile.material),
        legend,
        ends,
        beams,
        panel,
        others: Vec::new(),
    }
    .draw()
}

/// Curves of a profile with the intervals of its knots.
pub fn profile_curves(profile: &Profile) -> Drawing {
    let quantities = QUANTITIES.iter();
    let mut plots: Vec<Plot> = quantities.map(|q| q.profile_plot(profile)).collect();
    plots.extend(glare_plot(profile));
    page(format!("{} on {}", profile.sensor, profile.material), plots)
}

/// Page of plots, three in a row.
fn page(title: impl Into<String>, plots: Vec<Plot>) -> Drawing {
    let figure = Figure::new(title).with_columns(plots.len().clamp(1, 3));
    plots.into_iter().fold(figure, Figure::with_plot).draw()
}

fn signed_incidence_plot(title: &str) -> Plot {
    let x = Axis::new("incidence, degrees; positive: left of the normal");
    Plot::new(x, Axis::new("measured - true, mm"))
        .with_title(title)
        .with_size(PLOT_SIZE)
}

/// Bias on both sides of the normal: recorded and simulated in half-degree bins, the profile, and the known profile of a
/// simulated panel.
fn bias_near_normal(calibration: &NoiseCalibration, title: &str, truth: Option<&Truth>) -> Plot {
    let profile = &calibration.profile;
    let mut plot = signed_incidence_plot(title);
    let binned = |transform: &dyn Fn(&PanelBeams) -> PanelBeams| -> Vec<Point> {
        let half_degree = 0.5_f64.to_radians();
        let panels = calibration.panels.iter();
        let bins = panels.flat_map(|panel| {
            let beams = transform(&panel.beams);
            bins(&beams, &profile.steps, half_degree)
        });
        let points = bins.filter_map(|bin| {
            let side = if bin.left { 1.0 } else { -1.0 };
            let error = bin.error?;
            Some([side * bin.incidence.to_degrees(), 1e3 * error.mean])
        });
        let near = points.filter(|[x, _]| x.abs() < f64::from(NEAR_NORMAL));
        near.collect()
    };
    plot.add_dots("recorded", binned(&PanelBeams::clone), recorded());
    let replayed = binned(&|beams| replay(beams, profile, 1));
    plot.add_dots("simulated", replayed, simulated());
    plot.add_curve("profile", bias_curve_near_normal(profile), of_profile());
    if let Some(truth) = truth {
        let bias = |degrees: f64| [degrees, 1e3 * truth.bias(degrees.to_radians())];
        plot.add_curve(
            "truth",
            angles_near_normal().map(bias).collect(),
            of_truth(),
        );
    }
    plot
}

/// Angles on both sides of the normal in steps of 0.1 degrees.
fn angles_near_normal() -> impl Iterator<Item = f64> {
    let tenths = -10 * NEAR_NORMAL..=10 * NEAR_NORMAL;
    tenths.map(|tenth| 0.1 * f64::from(tenth))
}

/// Bias of a profile at these angles: degrees and mm.
fn bias_curve_near_normal(profile: &Profile) -> Vec<Point> {
    let bias = |degrees: f64| {
        let aspect = Aspect::signed(degrees.to_radians());
        let range = profile.distance / aspect.incidence.cos();
        1e3 * profile.at(aspect, range).bias
    };
    angles_near_normal().map(|x| [x, bias(x)]).collect()
}

/// Glare of a profile, with the intervals of its knots.
fn glare_plot(profile: &Profile) -> Option<Plot> {
    let glare = profile.glare.as_ref()?;
    let stroke = recorded();
    let mut plot = signed_incidence_plot("bias near the normal");
    let interval = |knot: &GlareKnot| {
        let aspect = Aspect::signed(knot.incidence);
        let range = profile.distance / knot.incidence.cos();
        let bias = profile.at(aspect, range).bias;
        let [low, high] = [-NORMAL_95, NORMAL_95].map(|z| 1e3 * (bias + z * knot.bias_error));
        [knot.incidence.to_degrees(), low, high]
    };
    plot.add(Series::Band {
        intervals: glare.knots.iter().map(interval).collect(),
        fill: stroke.color.fade(0.18),
    });
    plot.add_curve("profile", bias_curve_near_normal(profile), stroke);
    Some(plot)
}

/// Fraction of returned beams, as in figures 5.5 and 5.6 of kepets-2024: recorded, of the profile,
/// of the fitted reflectance model with its logistic function, and the relative power of the model.
fn reflectance_plot(calibration: &NoiseCalibration) -> Plot {
    let profile = &calibration.profile;
    let model = profile.reflectance;
    let y = Axis::new("fraction that returns").with_limits(PROBABILITY);
    let mut plot = plot_over_incidence(&profile.material, y);

    // Recorded fraction of returned beams
    let bins = calibration.bins.iter();
    let points = bins.map(|bin| [bin.incidence.to_degrees(), 1.0 - bin.drop_out()]);
    plot.add_dots("recorded", points.collect(), recorded());

    // Curves of the profile and of the reflectance model
    let mut add = |name: &str, stroke: Stroke, value: &dyn Fn(f64) -> f64| {
        let degrees = (0..=170).map(|half| f64::from(half) / 2.0);
        let points = degrees.map(|x| [x, value(x.to_radians())]);
        plot.add_curve(name, points.collect(), stroke);
    };
    add(
        "profile, extrapolated beyond the recording",
        palette::category(1, 2.2),
        &|x| 1.0 - expected_at(profile, x).drop_out,
    );
    add(
        "fitted reflectance, logistic function of its power",
        palette::category(2, 2.2),
        &|x| 1.0 - model.drop_out(x),
    );
    add(
        "fitted reflectance, relative power",
        palette::category(3, 2.2),
        &|x| model.power(x),
    );
    plot
}

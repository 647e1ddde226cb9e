//! Quantities of a noise profile over incidence: recorded, simulated and of the profile.

use etendue::calibrate::noise::statistics::{IncidenceBin, bins, wide_bins};
use etendue::calibrate::noise::truth::Truth;
use etendue::calibrate::noise::{NoiseCalibration, PanelBeams, replay};
use etendue::physics::profile::{Glare, IntensityKind, Knot, Profile, ReturnDistribution};
use etendue_plot::{Axis, Plot, Point, Series, Stroke, palette};

/// Size of a plot among several on a page, page units.
pub const PLOT_SIZE: Point = [330.0, 220.0];

/// Number of standard deviations of an interval with 95 % probability.
pub const NORMAL_95: f64 = 1.96;

/// Stroke of recorded data.
pub fn recorded() -> Stroke {
    palette::category(0, 2.2)
}

/// Stroke of data simulated from a profile.
pub fn simulated() -> Stroke {
    palette::category(1, 2.2)
}

/// Stroke of the known profile of a simulated panel.
pub fn of_truth() -> Stroke {
    palette::category(3, 2.2)
}

/// Stroke of a profile.
pub fn of_profile() -> Stroke {
    palette::category(2, 2.2)
}

/// Empty plot over incidence.
pub fn plot_over_incidence(title: impl Into<String>, y: Axis) -> Plot {
    Plot::new(Axis::new("incidence, degrees"), y)
        .with_title(title)
        .with_size(PLOT_SIZE)
}

/// Expected measurement at an incidence (rad), at the distance of the recorded panel.
pub fn expected_at(profile: &Profile, incidence: f64) -> ReturnDistribution {
    profile.at(incidence, profile.distance / incidence.cos())
}

/// Quantity as a function of incidence.
pub struct Quantity {
    /// Heading of its plot.
    pub name: &'static str,
    /// Name of its file.
    pub file: &'static str,
    unit: &'static str,
    /// Limits of its axis, if fixed.
    limits: Option<[f64; 2]>,
    /// Value of a bin and half the width of its 95 % interval; `None` for a bin without a value.
    of_bin: fn(&IncidenceBin, &Profile) -> Option<[f64; 2]>,
    /// Value of the profile at an incidence, rad.
    of_profile: fn(&Profile, f64) -> f64,
    /// 95 % interval at a knot of the profile, where it has one.
    interval: Option<fn(&Knot) -> [f64; 2]>,
    /// Value of the known profile of a simulated panel at an incidence (rad), in the unit of the plot, where it is comparable.
    of_truth: fn(&Truth, f64) -> Option<f64>,
}

/// Quantities in the order of their plots.
pub const QUANTITIES: [Quantity; 5] = [
    Quantity {
        name: "mean intensity (dropped: 0)",
        file: "intensity",
        unit: "intensity, as recorded",
        limits: None,
        of_bin: mean_counted_intensity,
        of_profile: |profile, x| {
            (1.0 - expected_at(profile, x).drop_out) * intensity_at(profile, x)[0]
        },
        interval: None,
        of_truth: |_, _| None,
    },
    Quantity {
        name: "sd of intensity (dropped: 0)",
        file: "intensity-spread",
        unit: "standard deviation, as recorded",
        limits: None,
        of_bin: deviation_of_counted_intensity,
        of_profile: |profile, x| {
            let [mean, sd] = intensity_at(profile, x);
            deviation_with_zeros(mean, sd, expected_at(profile, x).drop_out)
        },
        interval: None,
        of_truth: |_, _| None,
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
        of_profile: |profile, x| expected_at(profile, x).drop_out,
        interval: Some(|knot| knot.drop_out_interval),
        of_truth: |truth, x| Some(truth.at(x).drop_out),
    },
    Quantity {
        name: "spread of the range",
        file: "spread",
        unit: "standard deviation, mm",
        limits: None,
        of_bin: |bin, _| with_interval(bin.spread()),
        of_profile: |profile, x| 1e3 * expected_at(profile, x).spread,
        interval: Some(|knot| normal_interval(knot.spread, knot.spread_error)),
        of_truth: |truth, x| Some(1e3 * truth.at(x).spread),
    },
    Quantity {
        name: "bias of the range",
        file: "bias",
        unit: "measured - true, mm",
        limits: None,
        of_bin: |bin, _| with_interval(bin.bias()),
        of_profile: |profile, x| 1e3 * expected_at(profile, x).bias,
        interval: Some(|knot| normal_interval(knot.bias, knot.bias_error)),
        of_truth: |truth, x| Some(1e3 * truth.bias_at_incidence(x)?),
    },
];

/// Incidences from the normal to the widest of a profile, rad.
fn incidences(profile: &Profile) -> impl Iterator<Item = f64> {
    let widest = profile.knots.last().map_or(1.0, |knot| knot.incidence);
    (0..=160).map(move |i| f64::from(i) / 160.0 * widest)
}

/// A length and half the width of its 95 % interval, mm, of the length and its standard error, m.
fn with_interval(estimate: Option<[f64; 2]>) -> Option<[f64; 2]> {
    let [value, error] = estimate?;
    Some([1e3 * value, 1e3 * NORMAL_95 * error])
}

/// 95 % interval of a length with its standard error, both m, in mm.
fn normal_interval(value: f64, error: f64) -> [f64; 2] {
    [-NORMAL_95, NORMAL_95].map(|z| 1e3 * (value + z * error))
}

/// Mean intensity with dropped beams counted as zero, as in kepets-2024: the only mean that changes
/// with incidence where all returned beams have one intensity.
#[expect(
    clippy::unnecessary_wraps,
    reason = "other quantities have no value in some bins"
)]
fn mean_counted_intensity(bin: &IncidenceBin, _: &Profile) -> Option<[f64; 2]> {
    Some([bin.intensity[0] * (1.0 - bin.drop_out()), 0.0])
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "other quantities have no value in some bins"
)]
fn deviation_of_counted_intensity(bin: &IncidenceBin, _: &Profile) -> Option<[f64; 2]> {
    let [mean, sd] = bin.intensity;
    Some([deviation_with_zeros(mean, sd, bin.drop_out()), 0.0])
}

/// Standard deviation of a mixture of zeros with probability `drop_out` and values with `mean` and
/// `sd`.
fn deviation_with_zeros(mean: f64, sd: f64, drop_out: f64) -> f64 {
    let second_moment = (1.0 - drop_out) * (sd * sd + mean * mean);
    let mixture_mean = (1.0 - drop_out) * mean;
    (second_moment - mixture_mean * mixture_mean)
        .max(0.0)
        .sqrt()
}

/// Mean and standard deviation of the intensity of a returned beam.
fn intensity_at(profile: &Profile, incidence: f64) -> [f64; 2] {
    let expected = expected_at(profile, incidence);
    match profile.intensity {
        IntensityKind::TwoValued { low, high } => {
            let p = expected.intensity;
            let step = high - low;
            [low + p * step, step * (p * (1.0 - p)).sqrt()]
        }
        _ => [expected.intensity, expected.intensity_spread],
    }
}

impl Quantity {
    /// Plot of recorded bins, of bins simulated from the profile, of the profile itself, and of the known profile of a
    /// simulated panel.
    pub fn plot(&self, calibration: &NoiseCalibration, title: &str, truth: Option<&Truth>) -> Plot {
        let profile = &calibration.profile;
        let mut plot = self.axes(title);
        let bins = self.bins_of(calibration, PanelBeams::clone);
        self.add_bins(&mut plot, "recorded", &bins, profile, recorded());
        let bins = self.bins_of(calibration, |beams| replay(beams, profile, 1));
        self.add_bins(&mut plot, "simulated", &bins, profile, simulated());
        plot.add_curve("profile", self.curve(profile), of_profile());
        let known = |x: f64| Some([x.to_degrees(), (self.of_truth)(truth?, x)?]);
        let curve: Vec<Point> = incidences(profile).filter_map(known).collect();
        if !curve.is_empty() {
            plot.add_curve("truth", curve, of_truth());
        }
        plot
    }

    /// Plot of a profile with the intervals of its knots.
    pub fn profile_plot(&self, profile: &Profile) -> Plot {
        let mut plot = self.axes(self.name);
        let stroke = recorded();
        if let Some(interval) = self.interval {
            // The plot of the glare shows the intervals within its reach
            let beyond = match self.file {
                "drop-out" => 0.0,
                _ => profile.glare.as_ref().map_or(0.0, Glare::reach),
            };
            let knots = profile.knots.iter();
            let knots = knots.filter(|knot| knot.incidence >= beyond);
            let intervals = knots.map(|knot| {
                let [low, high] = interval(knot);
                [knot.incidence.to_degrees(), low, high]
            });
            plot.add(Series::Band {
                intervals: intervals.collect(),
                fill: stroke.color.fade(0.18),
            });
        }
        plot.add_curve("profile", self.curve(profile), stroke);
        plot
    }

    fn axes(&self, title: &str) -> Plot {
        let mut y = Axis::new(self.unit);
        y.limits = self.limits;
        plot_over_incidence(title, y)
    }

    /// Bins of all panels of a calibration, after a transform of their beams.
    fn bins_of(
        &self,
        calibration: &NoiseCalibration,
        transform: impl Fn(&PanelBeams) -> PanelBeams,
    ) -> Vec<IncidenceBin> {
        let panels = calibration.panels.iter();
        let beams = panels.map(|panel| transform(&panel.beams));
        beams
            .flat_map(|beams| self.bins(&beams, &calibration.profile))
            .collect()
    }

    /// Bins of one degree on one side of the normal; for the spread, of three degrees on both sides,
    /// so that they include the variation over the panel.
    fn bins(&self, beams: &PanelBeams, profile: &Profile) -> Vec<IncidenceBin> {
        let degree = 1.0_f64.to_radians();
        if self.file == "spread" {
            wide_bins(beams, &profile.steps, 3.0 * degree)
        } else {
            bins(beams, &profile.steps, degree)
        }
    }

    /// Adds bins as dots with their intervals.
    fn add_bins(
        &self,
        plot: &mut Plot,
        name: &str,
        bins: &[IncidenceBin],
        profile: &Profile,
        stroke: Stroke,
    ) {
        // Collect the bins that have a value
        let mut points = Vec::new();
        let mut intervals = Vec::new();
        for bin in bins {
            let Some([value, half]) = (self.of_bin)(bin, profile) else {
                continue;
            };
            let incidence = bin.incidence.to_degrees();
            points.push([incidence, value]);
            if half > 0.0 {
                intervals.push([incidence, value - half, value + half]);
            }
        }

        // Draw the intervals below the dots
        plot.add(Series::ErrorBars {
            intervals,
            stroke: Stroke::new(stroke.color.fade(0.45), 1.2),
        });
        plot.add_dots(name, points, stroke);
    }

    /// Values of a profile from the normal to its widest incidence.
    fn curve(&self, profile: &Profile) -> Vec<Point> {
        incidences(profile)
            .map(|x| [x.to_degrees(), (self.of_profile)(profile, x)])
            .collect()
    }
}

//! A noise profile over incidence.

use etendue::config::profile::{KnotsFile, ProfileFile};
use etendue::physics::profile::{Knot, Profile};
use serde::Serialize;

/// Factor between the standard error and half the 95 % interval of a normal distribution.
const NORMAL_95: f64 = 1.96;

/// Curves and knots of a profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProfileAnswer {
    sensor: String,
    material: String,
    /// Distance of the recorded panel, m.
    distance: f64,
    /// Incidence to which the recording reaches, degrees.
    recorded_to_deg: f64,
    /// Whether the whole profile is extrapolated from another material's recording.
    is_extrapolated: bool,
    /// Incidence of the knots, degrees.
    knots_deg: Vec<f64>,
    /// Limitations that the file states.
    warnings: Vec<String>,
    /// The quantities of the plots.
    quantities: Vec<QuantityAnswer>,
}

/// A quantity over incidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct QuantityAnswer {
    name: &'static str,
    unit: &'static str,
    /// Incidence of the values, degrees.
    incidence_deg: Vec<f64>,
    /// Values as sweeps use them.
    values: Vec<f64>,
    /// 95 % interval at the nearest knot; empty where the profile has none.
    low: Vec<f64>,
    high: Vec<f64>,
    /// Key of the column of the file, which has one value per knot.
    column: &'static str,
    /// Values of the knots, as in the file.
    knots: Vec<f64>,
}

/// The 95 % interval of a quantity at a knot.
type Interval<'a> = Option<&'a dyn Fn(&Knot) -> [f64; 2]>;

/// The curves of a profile at the distance of its panel.
pub fn profile(file: &ProfileFile, profile: &Profile) -> ProfileAnswer {
    let end = profile.knots.last().map_or(0.0, |knot| knot.incidence);
    let recorded_to_deg = profile.recorded_to().to_degrees();
    let quantity = |(name, unit), column, value: &dyn Fn(f64) -> f64, interval: Interval| {
        let incidence_deg: Vec<f64> = (0_u8..180)
            .map(|half| 0.5 * f64::from(half))
            .take_while(|degrees| degrees.to_radians() <= end)
            .collect();
        let values = incidence_deg
            .iter()
            .map(|degrees| value(degrees.to_radians()))
            .collect();
        let bounds = incidence_deg
            .iter()
            .filter_map(|degrees| Some(interval?(nearest(profile, degrees.to_radians())?)));
        let bounds: Vec<[f64; 2]> = bounds.collect();
        QuantityAnswer {
            name,
            unit,
            values,
            low: bounds.iter().map(|bound| bound[0]).collect(),
            high: bounds.iter().map(|bound| bound[1]).collect(),
            incidence_deg,
            column,
            knots: column_of(&file.knots, column).to_vec(),
        }
    };
    let at = |incidence: f64| profile.at(incidence, profile.distance / incidence.cos());
    let normal = |value: f64, error: f64| {
        [value - NORMAL_95 * error, value + NORMAL_95 * error].map(|bound| 1e3 * bound)
    };
    ProfileAnswer {
        sensor: profile.sensor.clone(),
        material: profile.material.clone(),
        distance: profile.distance,
        recorded_to_deg,
        is_extrapolated: profile.extrapolated,
        knots_deg: file.knots.incidence_deg.clone(),
        warnings: file.warnings.clone(),
        quantities: vec![
            quantity(
                ("bias", "mm"),
                "bias_mm",
                &|x| 1e3 * at(x).bias,
                Some(&|knot| normal(knot.bias, knot.bias_error)),
            ),
            quantity(
                ("spread", "mm"),
                "spread_mm",
                &|x| 1e3 * at(x).spread,
                Some(&|knot| normal(knot.spread, knot.spread_error)),
            ),
            quantity(
                ("drop-out", ""),
                "drop_out",
                &|x| at(x).drop_out,
                Some(&|knot| knot.drop_out_interval),
            ),
            quantity(
                ("intensity", "counts"),
                "intensity",
                &|x| at(x).intensity,
                None,
            ),
        ],
    }
}

/// A column of a file.
fn column_of<'a>(knots: &'a KnotsFile, column: &str) -> &'a [f64] {
    match column {
        "bias_mm" => &knots.bias_mm,
        "spread_mm" => &knots.spread_mm,
        "drop_out" => &knots.drop_out,
        _ => &knots.intensity,
    }
}

/// The knot nearest to an incidence, rad.
fn nearest(profile: &Profile, incidence: f64) -> Option<&Knot> {
    let away = |knot: &&Knot| (knot.incidence - incidence).abs();
    profile
        .knots
        .iter()
        .min_by(|a, b| away(a).total_cmp(&away(b)))
}

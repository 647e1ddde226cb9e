//! Scaling of bias and spread with distance.

use super::options::{CalibrationOptions, RangingPrinciple};
use super::panel_report::PanelReport;
use super::statistics::IncidenceBin;
use etendue_physics::profile::DistanceLaw;

/// Least ratio of the largest to the smallest distance for which the law is fitted.
const LEAST_DISTANCE_RATIO: f64 = 1.5;

/// Incidence below which bins determine the spread of a panel, rad.
const CORE: f64 = 0.6;

/// The law of distance: fitted if the distances of the panels differ by a factor of 1.5 or more,
/// otherwise that of the ranging principle.
pub(super) fn fit_distance_law(
    panels: &[PanelReport],
    bins_by_panel: &[Vec<IncidenceBin>],
    options: &CalibrationOptions,
    warnings: &mut Vec<String>,
) -> DistanceLaw {
    // Law of the ranging principle
    let theoretical = match options.principle {
        RangingPrinciple::Triangulating => DistanceLaw::Triangulation,
        RangingPrinciple::TimeOfFlight => DistanceLaw::SignalToNoise {
            floor: noise_floor(bins_by_panel),
        },
    };

    // Logarithms of distance and spread of each panel
    let spreads: Vec<[f64; 2]> = panels
        .iter()
        .zip(bins_by_panel)
        .filter_map(|(panel, bins)| Some([panel.distance().ln(), mean_log_spread(bins)?]))
        .collect();
    let distances = || spreads.iter().map(|point| point[0]);
    let span =
        distances().fold(f64::NEG_INFINITY, f64::max) - distances().fold(f64::INFINITY, f64::min);
    if spreads.len() < 2 || span < LEAST_DISTANCE_RATIO.ln() {
        let sensors = match options.principle {
            RangingPrinciple::Triangulating => "triangulating",
            RangingPrinciple::TimeOfFlight => "time-of-flight",
        };
        warnings.push(format!(
            "recorded at one distance: the law of distance is that of {sensors} sensors, not measured"
        ));
        return theoretical;
    }

    // Exponent of the spread by linear regression
    DistanceLaw::Fitted {
        spread: slope(&spreads),
        bias: match options.principle {
            RangingPrinciple::Triangulating => 1.0,
            RangingPrinciple::TimeOfFlight => 0.0,
        },
        power: theoretical.power_exponent(),
    }
}

/// Slope of the least-squares line through points.
fn slope(points: &[[f64; 2]]) -> f64 {
    let n = points.len() as f64;
    let mean = |i: usize| points.iter().map(|p| p[i]).sum::<f64>() / n;
    let x = mean(0);
    let y = mean(1);
    let covariance: f64 = points.iter().map(|p| (p[0] - x) * (p[1] - y)).sum();
    let variance: f64 = points.iter().map(|p| (p[0] - x).powi(2)).sum();
    covariance / variance.max(1e-12)
}

/// Mean logarithm of the spread near normal incidence.
fn mean_log_spread(bins: &[IncidenceBin]) -> Option<f64> {
    let core = bins.iter().filter(|bin| bin.incidence < CORE);
    let spreads: Vec<f64> = core
        .filter_map(|bin| bin.error.map(|e| e.sd.ln()))
        .collect();
    (!spreads.is_empty()).then(|| spreads.iter().sum::<f64>() / spreads.len() as f64)
}

/// Noise floor of a time-of-flight sensor, m: half of the smallest spread.
fn noise_floor(bins_by_panel: &[Vec<IncidenceBin>]) -> f64 {
    let errors = bins_by_panel.iter().flatten().filter_map(|bin| bin.error);
    0.5 * errors
        .map(|error| error.sd)
        .fold(f64::INFINITY, f64::min)
        .min(1.0)
}

/// A bin with bias and spread scaled to `ratio` times its distance.
pub(super) fn scaled_to_distance(bin: &IncidenceBin, law: DistanceLaw, ratio: f64) -> IncidenceBin {
    let mut bin = bin.clone();
    if let Some(error) = &mut bin.error {
        error.mean = law.bias(error.mean, ratio);
        error.sd = law.spread(error.sd, ratio);
    }
    bin
}

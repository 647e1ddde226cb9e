//! How bias and spread go with distance.

use super::calibrate::{CalibrationOptions, PanelReport, SensorKind};
use super::statistics::Bin;
use etendue_physics::profile::DistanceLaw;

/// The law of distance: fitted where panels stand at distances that differ by a half or more, else
/// that of the sensor's kind.
pub(super) fn law(
    panels: &[PanelReport],
    binned: &[Vec<Bin>],
    options: &CalibrationOptions,
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
pub(super) fn carried(bin: &Bin, law: DistanceLaw, ratio: f64) -> Bin {
    let mut bin = bin.clone();
    if let Some(error) = &mut bin.error {
        error.mean = law.bias(error.mean, ratio);
        error.sd = law.spread(error.sd, ratio);
    }
    bin
}

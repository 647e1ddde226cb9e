//! Flatness of the panel, agreement of its sides, and size of the bias.

use super::Check;
use crate::noise::panel_report::PanelReport;
use crate::noise::statistics::{IncidenceBin, bins};
use etendue_physics::profile::{Aspect, Profile};

/// Deviations from a plane over the limit: doubtful, refused.
const OVER_LIMIT: [f64; 2] = [1.0, 4.0];

/// Deviation from a plane that a flat panel can have, relative to the distance.
const FLAT: f64 = 0.003;

/// The same in standard deviations of one range.
const FLAT_OVER_NOISE: f64 = 3.0;

/// Deviation from a plane that a flat panel has at most, beyond one standard deviation of the range, relative to
/// the distance.
const FLAT_AT_MOST: f64 = 0.01;

/// Largest plausible bias relative to the distance: at the normal, and per fourth power of the incidence (2.6 %
/// is the largest known, of a triangulating sensor on acrylic).
const PLAUSIBLE: [f64; 2] = [0.01, 0.04];

/// Bias that a sensor can have at any distance, m.
const OFFSET: f64 = 0.01;

/// Width of the bins of the two sides, rad.
const BIN: f64 = 5.0 * std::f64::consts::PI / 180.0;

/// Limit of the deviations of ranges from a plane at an incidence (rad), m: a quantisation step with three standard
/// deviations of one range and 0.3 % of the distance, or with one standard deviation and 1 %, whichever is less.
/// The standard deviation is that of successive scans, without the fixed pattern: deviations of the surface would
/// increase it.
fn limit(profile: &Profile, distance: f64, incidence: f64) -> f64 {
    let range = distance / incidence.cos();
    let temporal = (1.0 - profile.correlation.fixed_pattern()).max(0.0).sqrt();
    let spread = temporal * profile.at(incidence, range).spread;
    let flat = FLAT_OVER_NOISE * spread + FLAT * distance;
    flat.min(spread + FLAT_AT_MOST * distance) + profile.steps.at(range)
}

/// Check of the deviations of the panel from its plane compared with the noise.
pub(super) fn flatness_check(report: &PanelReport, profile: &Profile) -> Check {
    let limit = limit(profile, report.distance(), 20.0_f64.to_radians());
    Check {
        name: "deviations of the panel from a plane over those of a flat one",
        value: report.panel.rms / limit,
        limits: OVER_LIMIT,
        finding: format!(
            "{}: the surface is not flat: {:.1} mm (root mean square) from its plane, a flat one has less than {:.1} mm with \
             this noise",
            report.recording,
            1e3 * report.panel.rms,
            1e3 * limit
        ),
    }
}

/// Check of the difference of the bias between the two sides of the normal, beyond a glare; `None` if only
/// one side was recorded.
pub(super) fn sides_check(report: &PanelReport, profile: &Profile) -> Option<Check> {
    let glare = profile
        .glare
        .as_ref()
        .map_or(0.0, etendue_physics::profile::Glare::reach);
    let bins = bins(&report.beams, &profile.steps, BIN);
    let side = |left: bool| bins.iter().filter(move |bin| bin.left == left);
    let mut worst: Option<[f64; 3]> = None;
    for right in side(false).filter(|bin| bin.incidence > glare) {
        let near = |bin: &&IncidenceBin| (bin.incidence - right.incidence).abs() < 0.5 * BIN;
        let Some(left) = side(true).find(near) else {
            continue;
        };
        let (Some(a), Some(b)) = (left.error, right.error) else {
            continue;
        };
        let noise = left.mean_variance().unwrap_or(0.0) + right.mean_variance().unwrap_or(0.0);
        let limit = limit(profile, report.distance(), right.incidence) + 4.0 * noise.sqrt();
        let ratio = (a.mean - b.mean).abs() / limit;
        if worst.is_none_or(|[worst, ..]| ratio > worst) {
            worst = Some([ratio, right.incidence, a.mean - b.mean]);
        }
    }
    worst.map(|[ratio, incidence, difference]| Check {
        name: "difference of the bias between the sides of the normal over its limit",
        value: ratio,
        limits: OVER_LIMIT,
        finding: format!(
            "{}: at {:.0} degrees the bias left and right of the normal differs by {:+.1} mm: the surface is \
             not flat, or not one surface",
            report.recording,
            incidence.to_degrees(),
            1e3 * difference
        ),
    })
}

/// Check of the size of the bias: that of a surface that is not the panel is larger than any known bias of a
/// sensor.
pub(super) fn bias_check(profile: &Profile) -> Check {
    let recorded = profile.knots.iter().filter(|knot| !knot.extrapolated);
    let ratio = |incidence: f64| {
        let range = profile.distance / incidence.cos();
        let bias = profile.at(Aspect::from(incidence), range).bias;
        let relative = PLAUSIBLE[0] + PLAUSIBLE[1] * incidence.powi(4);
        let plausible = relative * profile.distance + OFFSET;
        [bias.abs() * incidence.cos() / plausible, bias]
    };
    let worst = recorded
        .map(|knot| (ratio(knot.incidence), knot.incidence))
        .fold(([0.0; 2], 0.0), |a, b| if b.0[0] > a.0[0] { b } else { a });
    let ([value, bias], incidence) = worst;
    Check {
        name: "bias over the largest plausible one",
        value,
        limits: OVER_LIMIT,
        finding: format!(
            "the bias of {:+.0} mm at {:.0} degrees is larger than that of known sensors",
            1e3 * bias,
            incidence.to_degrees()
        ),
    }
}

//! Other objects before the panel, and motion of the panel.

use super::Check;
use crate::noise::panel_report::PanelReport;

/// Fractions of the beams between the edges of a panel on other objects: doubtful, refused.
const OBJECTS: [f64; 2] = [0.4, 0.8];

/// Motion of a panel in units of 3 degrees or 3 % of its distance: doubtful, refused.
const MOTION: [f64; 2] = [1.0, 3.3];

/// Unit of the rotation, degrees.
const TURN_DEG: f64 = 3.0;

/// Unit of the change of the distance, relative to the distance.
const SHIFT: f64 = 0.03;

/// Check of the fraction of the beams between the edges of the panel that see other objects.
pub(super) fn objects_check(report: &PanelReport, scans: usize) -> Check {
    let rejected = report.panel.sector.rejected.len() * scans;
    let objects = (rejected + report.beams.strays) as f64;
    let all = objects + report.beams.beams.len() as f64;
    let value = objects / all.max(1.0);
    Check {
        name: "fraction of beams on other objects",
        value,
        limits: OBJECTS,
        finding: format!(
            "{}: {:.0} % of the beams between the edges of the panel see other objects",
            report.recording,
            1e2 * value
        ),
    }
}

/// Check of the size of the panel relative to the largest surface that faces the sensor; `None` if it is the largest, or
/// was selected by declared values.
pub(super) fn larger_surface_check(report: &PanelReport) -> Option<Check> {
    let larger = report.panel.larger?;
    Some(Check {
        name: "directions of a larger surface over those of the panel",
        value: larger.directions as f64 / report.panel.sector.cells.len().max(1) as f64,
        limits: [1.0, f64::INFINITY],
        finding: format!(
            "{}: another flat surface, {:.3} m away at a bearing of {:.0} degrees, is larger ({} directions): declare which \
             of the two is the panel (--bearing or --distance)",
            report.recording,
            larger.distance,
            larger.bearing.to_degrees(),
            larger.directions
        ),
    })
}

/// Check of the motion of the panel.
pub(super) fn motion_check(report: &PanelReport) -> Check {
    let extent = report
        .panel
        .motion
        .as_ref()
        .map(|motion| motion.extent(&report.panel.plane));
    let [turn, shift] = extent.map_or([0.0; 2], |[turn, distance]| {
        [turn[1] - turn[0], distance[1] - distance[0]]
    });
    let turned = turn.to_degrees() / TURN_DEG;
    let shifted = shift / report.distance() / SHIFT;
    Check {
        name: "motion of the panel, in 3 degrees or 3 % of the distance",
        value: turned.max(shifted),
        limits: MOTION,
        finding: format!(
            "{}: the panel turned by {:.1} degrees and moved by {:.0} mm relative to the sensor during the recording",
            report.recording,
            turn.to_degrees(),
            1e3 * shift
        ),
    }
}

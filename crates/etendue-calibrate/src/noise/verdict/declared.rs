//! Declared values that the recording contradicts.

use super::Check;
use crate::noise::panel_report::PanelReport;
use crate::noise::recording::PanelRecording;

/// Declared width over that between the detected edges: doubtful, refused. A part of a panel drops (a wall at grazing
/// incidence: 2.5), but returns of a tenth of it do not show where it ends.
const WIDTH: [f64; 2] = [4.0, 10.0];

/// Factor between the declared distance and the one found: doubtful, refused.
const DISTANCE: [f64; 2] = [3.0, 10.0];

/// Angle between the declared bearing and the panel, degrees: doubtful, refused.
const BEARING_DEG: [f64; 2] = [5.0, 30.0];

/// Checks of the declared width, distance and bearing of a panel against those found in its recording.
pub(super) fn declared_checks(
    report: &PanelReport,
    recording: &PanelRecording,
) -> impl Iterator<Item = Check> {
    let panel = &report.panel;
    let name = &report.recording;
    let width = panel.declared.width.filter(|_| recording.planar);
    let width = width.map(|declared| {
        let seen = panel.detected_width();
        Check {
            name: "declared width over that between the detected edges",
            value: declared / seen,
            limits: WIDTH,
            finding: format!(
                "{name}: the declared width is {declared} m, but only {seen:.2} m return: correct --width (width_m in a setup \
                 file), in metres"
            ),
        }
    });
    let distance = panel.declared.distance.map(|declared| {
        let found = panel.plane.distance;
        Check {
            name: "factor between the declared distance and the one found",
            value: (declared / found).max(found / declared),
            limits: DISTANCE,
            finding: format!(
                "{name}: the declared distance is {declared} m, but the panel found is {found:.3} m away: correct --distance \
                 (distance_m in a setup file), in metres"
            ),
        }
    });
    let bearing = panel.declared.bearing.map(|declared| {
        let apart = panel.angle_to(declared, recording).to_degrees();
        Check {
            name: "angle between the declared bearing and the panel, degrees",
            value: apart,
            limits: BEARING_DEG,
            finding: format!(
                "{name}: the declared bearing is {:.0} degrees, but the panel found is {apart:.0} degrees from there, with its \
                 normal at {:.0} degrees: correct --bearing (bearing_deg in a setup file), anticlockwise from the x axis of the \
                 sensor",
                declared.to_degrees(),
                panel.bearing().to_degrees()
            ),
        }
    });
    [width, distance, bearing].into_iter().flatten()
}

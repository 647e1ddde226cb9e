//! What the user should know about a calibration.

use super::calibrate::PanelReport;
use etendue_physics::profile::{IntensityKind, Profile};

/// What the user should know about the fit.
pub(super) fn add_warnings(panels: &[PanelReport], profile: &Profile, warnings: &mut Vec<String>) {
    for report in panels {
        let of = |warning: &String| format!("{}: {warning}", report.recording);
        warnings.extend(report.panel.warnings.iter().map(of));
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
    let [plane, offset, growth] = &report.bias_hypotheses[..] else {
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

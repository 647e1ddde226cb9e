//! Warnings of a calibration.

use super::panel_report::PanelReport;
use etendue_physics::profile::{IntensityKind, Profile};

/// Adds the warnings about the panels and the intensity.
pub(super) fn add_warnings(panels: &[PanelReport], profile: &Profile, warnings: &mut Vec<String>) {
    // Panels: strays, edges, ambiguous positions.
    for report in panels {
        let of = |warning: &String| format!("{}: {warning}", report.recording);
        warnings.extend(report.panel.warnings.iter().map(of));
        if report.beams.strays > 0 {
            warnings.push(format!(
                "{}: {} ranges in directions of the panel belong to other objects and are ignored",
                report.recording, report.beams.strays
            ));
        }
        if report.beams.at_edge() > 0 {
            warnings.push(format!(
                "{}: {} of {} ranges are within two degrees of an edge, where only part of the spot \
                 returns: they count as returned, but not for bias and spread",
                report.recording,
                report.beams.at_edge(),
                report.beams.returned()
            ));
        }
        warnings.extend(ambiguous(report));
    }
    // Profile: constant intensity.
    if let IntensityKind::Constant(value) = profile.intensity {
        warnings.push(format!(
            "the intensity is {value} for every returned beam: it contains no information on reflectance"
        ));
    }
}

/// Greatest plausible offset of the ranges of a device, relative to the distance of the panel.
const LARGEST_OFFSET: f64 = 0.2;

/// Warning if an offset and a growth with incidence explain the bias of a panel equally well.
fn ambiguous(report: &PanelReport) -> Option<String> {
    let [plane, offset, growth] = &report.bias_hypotheses[..] else {
        return None;
    };
    let better = offset.rms.min(growth.rms);
    let is_plausible = offset.coefficient.abs() < LARGEST_OFFSET * report.distance();
    let both_improve = is_plausible && offset.rms.max(growth.rms) < 0.5 * plane.rms;
    (both_improve && offset.rms.max(growth.rms) < 2.0 * better).then(|| {
        format!(
            "{}: an offset of {:+.1} mm (rms {:.2} mm) and a growth with incidence, w = {:.4} \
             (rms {:.2} mm), explain the panel about equally well (plane alone: {:.2} mm): \
             record a second distance to separate them",
            report.recording,
            1e3 * offset.coefficient,
            1e3 * offset.rms,
            growth.coefficient,
            1e3 * growth.rms,
            1e3 * plane.rms
        )
    })
}

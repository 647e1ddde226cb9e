//! Application of declared values to a panel, and warnings where they disagree with the recording.

use super::find::FACING_DEG;
use super::hint::PanelHint;
use super::panel_struct::Panel;
use super::placement::Placement;
use super::sector::PanelSector;
use super::select::DISCREPANCY;
use super::sight::Sight;
use crate::noise::recording::PanelRecording;

/// Warning about a panel that moved.
pub(super) fn motion_warning(panel: &Panel) -> Option<String> {
    let [turn, distance] = panel.motion.as_ref()?.extent(&panel.plane);
    Some(format!(
        "the panel or the sensor moved during the recording (turned by {:.2} degrees, {:.1} mm \
         between the nearest and the farthest scan): its plane is fitted to each scan, so that the \
         motion does not count as noise",
        (turn[1] - turn[0]).to_degrees(),
        1e3 * (distance[1] - distance[0])
    ))
}

/// Applies the declared width, and adds warnings where declared values and recording disagree.
pub(super) fn apply_hint(
    panel: &mut Panel,
    hint: &PanelHint,
    recording: &PanelRecording,
    sights: &[Sight],
) {
    panel.declared = *hint;
    // Compare the declared distance with the fitted one.
    if let Some(declared) = hint.distance {
        let found = panel.plane.distance;
        if (found / declared - 1.0).abs() > DISCREPANCY {
            panel.warnings.push(format!(
                "declared distance {declared} m, found {found:.4} m: {:.0} mm {}; the fitted distance is used",
                1e3 * (found - declared).abs(),
                if found < declared { "nearer" } else { "farther" }
            ));
        }
    }
    // Limit the sector of a planar scan to the declared width.
    if !recording.planar {
        return;
    }
    let detected = panel.sector.detected;
    if let Some(width) = hint.width {
        let placement = Placement::new(&panel.plane, width, hint.bearing, detected);
        panel.warnings.extend(placement.warning);
        let sector = PanelSector::between_ends(sights, &panel.plane, placement.edges, detected);
        panel.sector = sector.within(recording, &panel.plane, hint.sector);
        if panel.sector.trimmed > 0.0 {
            panel.warnings.push(format!(
                "declared width {width} m runs past the edge of the panel by {:.1} degrees: trimmed to {:.1} to {:.1} \
                 degrees about its normal",
                panel.sector.trimmed.to_degrees(),
                panel.sector.edges[0].to_degrees(),
                panel.sector.edges[1].to_degrees()
            ));
        }
    } else {
        panel.warnings.push(format!(
            "detected from {:.1} to {:.1} degrees about its normal; drop-outs beyond are not counted: \
             declare the width to include those on the panel",
            panel.sector.edges[0].to_degrees(),
            panel.sector.edges[1].to_degrees()
        ));
    }
    // Report directions with other objects.
    if !panel.sector.rejected.is_empty() {
        panel.warnings.push(format!(
            "{} directions between the edges of the panel contain other objects, or are next to them, and are ignored",
            panel.sector.rejected.len()
        ));
    }
    let cells = panel.sector.cells.iter();
    let incidences = cells.map(|cell| panel.plane.incidence(&recording.cells[*cell].direction));
    let squarest = incidences.fold(f64::INFINITY, f64::min).to_degrees();
    if squarest > FACING_DEG {
        panel.warnings.push(format!(
            "no direction is perpendicular to the panel: the least incidence is {squarest:.1} degrees"
        ));
    }
}

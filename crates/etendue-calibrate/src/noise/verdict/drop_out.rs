//! Whether recordings determine the drop-out.

use super::Check;
use crate::noise::recording::PanelRecording;

/// Checks that the beams without a return are in the recordings: without them the drop-out of a profile is unknown, which is a
/// doubt.
pub(super) fn drop_out_checks(recordings: &[&PanelRecording]) -> impl Iterator<Item = Check> {
    recordings.iter().map(|recording| Check {
        name: "recordings without the beams that did not return",
        value: f64::from(u8::from(!recording.has_drop_outs)),
        limits: [0.5, 2.0],
        finding: format!(
            "{}: the drop-out is not determined: the points are in other directions in each scan, so that beams without a return \
             cannot be counted: where the directions of a lidar repeat, record all its beams (a scan log, LaserScan messages, or \
             `etendue simulate -o NAME-beams.csv`); where they do not (Livox), the profile has no drop-out",
            recording.name
        ),
    })
}

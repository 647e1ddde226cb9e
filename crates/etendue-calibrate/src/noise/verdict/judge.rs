//! The verdict from all checks.

use super::Verdict;
use super::declared::declared_checks;
use super::drop_out::drop_out_checks;
use super::flatness::{bias_check, flatness_check, sides_check};
use super::held_out::held_out_check;
use super::objects::{larger_surface_check, motion_check, objects_check};
use super::span::span_checks;
use super::stability::stability_checks;
use super::steps::step_check;
use crate::noise::calibrate::NoiseCalibration;
use crate::noise::error::NoiseError;
use crate::noise::recording::PanelRecording;
use crate::noise::score::HoldOutScores;

/// Verdict on a calibration of recordings from its [hold-out test](crate::noise::score::hold_out) and from
/// the data of the fit:
///
/// - Held-out scans are consistent with the profile, band by band.
/// - Bias and drop-out are those of the first and of the second half of the recording.
/// - Declared width, distance and bearing are roughly those of the panel.
/// - Few beams see other objects; the panel moves little; no larger surface was recorded, unless one is declared.
/// - The panel is flat compared with the noise, without a step, and its two sides have one bias.
/// - The bias is plausible, and the incidences are enough for a profile.
/// - The beams without a return are in the recordings.
///
/// A hold-out test that fails is a finding, too.
pub fn judge(
    recordings: &[&PanelRecording],
    calibration: &NoiseCalibration,
    hold_out: &Result<HoldOutScores, NoiseError>,
) -> Verdict {
    let mut checks = vec![held_out_check(hold_out)];
    for (report, recording) in calibration.panels.iter().zip(recordings) {
        checks.extend(stability_checks(
            report,
            &calibration.profile,
            recording.scans,
        ));
        checks.push(objects_check(report, recording.scans));
        checks.push(motion_check(report));
        checks.extend(larger_surface_check(report));
        checks.extend(declared_checks(report, recording));
        checks.push(flatness_check(report, &calibration.profile));
        checks.extend(sides_check(report, &calibration.profile));
        // The directions of a cloud have no order
        if recording.planar {
            checks.extend(step_check(report));
        }
    }
    checks.extend(drop_out_checks(recordings));
    checks.push(bias_check(&calibration.profile));
    checks.extend(span_checks(&calibration.profile));
    Verdict { checks }
}

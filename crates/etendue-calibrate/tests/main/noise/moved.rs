//! Panels that are moved while they are recorded.

use super::{address, azimuths, known, options, reading};
use etendue_calibrate::noise::score::hold_out;
use etendue_calibrate::noise::{PanelHint, Recording, calibrate};
use etendue_sensors::{RangeReading, Scan};
use std::sync::Arc;

/// Sixty scans of a board at 0.5 m that is turned by `turn` degrees altogether, slowly at first and
/// then at once, noise of the known profile.
fn recorded(turn: f64) -> Recording {
    let (profile, azimuths) = (known(), azimuths(720));
    let scan = |sweep: u32| {
        let share = if sweep < 40 {
            f64::from(sweep) / 80.0
        } else {
            1.0
        };
        let bearing = (turn * share).to_radians();
        let reading = |(beam, azimuth): (u32, &f64)| {
            let off = azimuth - bearing;
            // The board ends at 50 degrees.
            if off.abs() > 50.0_f64.to_radians() {
                return RangeReading::NoReturn;
            }
            let address = address(8, sweep, beam);
            let drawn = profile.draw(0.5 / off.cos(), off.abs(), &address);
            reading(drawn.map(|drawn| drawn.range))
        };
        Scan {
            time: f64::from(sweep),
            azimuths: Arc::clone(&azimuths),
            readings: (0..).zip(azimuths.iter()).map(reading).collect(),
            intensities: Vec::new(),
            odom_from_robot: None,
        }
    };
    let scans: Vec<Scan> = (0..60).map(scan).collect();
    Recording::from_scans("turned", &scans).unwrap()
}

/// A board turned by two degrees, which moves ranges at 45 degrees by 12 mm a degree, twice the true
/// spread: followed, the spread is the true one within 12 %, and a warning says so.
#[test]
fn a_motion_is_followed_and_not_taken_for_noise() {
    let recording = recorded(2.0);
    let found = calibrate(&[(&recording, PanelHint::default())], &options()).unwrap();
    let warning = found
        .warnings
        .iter()
        .find(|text| text.contains("moved while"));
    assert!(warning.unwrap().contains("turned by 2."), "{warning:?}");
    let truth = known();
    for degrees in [10.0_f64, 25.0, 45.0] {
        let (incidence, range) = (degrees.to_radians(), 0.5 / degrees.to_radians().cos());
        let ratio = found.profile.at(incidence, range).spread / truth.at(incidence, range).spread;
        assert!((ratio - 1.0).abs() < 0.12, "{degrees}: {ratio}");
    }
    let scores = hold_out(&[(&recording, PanelHint::default())], &options()).unwrap();
    assert!(
        scores.scores[0]
            .1
            .bands
            .iter()
            .all(|band| band.probability > 1e-3)
    );
}

/// No motion is fitted to the noise of a stationary panel.
#[test]
fn a_board_that_stands_still_is_not_followed() {
    let found = calibrate(&[(&recorded(0.0), PanelHint::default())], &options()).unwrap();
    assert!(found.panels[0].panel.motion.is_none());
    assert!(!found.warnings.iter().any(|text| text.contains("moved")));
}

/// Bias of zero, a plane alone: on a board that turned by two degrees, the hypotheses leave what they
/// leave of one that stood still.
#[test]
fn bias_hypotheses_follow_a_panel_that_moved() {
    let left = |turn: f64| {
        let found = calibrate(&[(&recorded(turn), PanelHint::default())], &options()).unwrap();
        found.panels[0].bias_hypotheses[0].rms
    };
    let (still, moved) = (left(0.0), left(2.0));
    assert!((moved / still - 1.0).abs() < 0.2, "{moved} and {still}");
}

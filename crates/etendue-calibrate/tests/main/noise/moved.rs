//! Panels that move during the recording.

use super::{address, azimuths, known, options, reading};
use etendue_calibrate::noise::score::hold_out;
use etendue_calibrate::noise::{PanelHint, PanelRecording, calibrate};
use etendue_sensors::{RangeReading, Scan};
use std::sync::Arc;

/// Sixty scans of a board at 0.5 m that rotates by `rotation` degrees in total, first slowly and then
/// abruptly, with the noise of the known profile.
fn recorded(rotation: f64) -> PanelRecording {
    let profile = known();
    let azimuths = azimuths(720);
    let scan = |sweep: u32| {
        let fraction = if sweep < 40 {
            f64::from(sweep) / 80.0
        } else {
            1.0
        };
        let bearing = (rotation * fraction).to_radians();
        let reading = |(beam, azimuth): (u32, &f64)| {
            let angle = azimuth - bearing;
            // The edge of the board is at 50 degrees
            if angle.abs() > 50.0_f64.to_radians() {
                return RangeReading::NoReturn;
            }
            let address = address(8, sweep, beam);
            let drawn = profile.draw(0.5 / angle.cos(), angle.abs(), &address);
            reading(drawn.map(|drawn| drawn.range))
        };
        Scan {
            time: f64::from(sweep),
            beam_interval: 0.0,
            azimuths: Arc::clone(&azimuths),
            elevations: [].into(),
            readings: (0..).zip(azimuths.iter()).map(reading).collect(),
            intensities: Vec::new(),
            odom_from_robot: None,
        }
    };
    let scans: Vec<Scan> = (0..60).map(scan).collect();
    PanelRecording::from_scans("turned", &scans).unwrap()
}

/// A board rotates by two degrees, which changes the ranges at 45 degrees by 12 mm per degree, twice the
/// true spread: with motion compensation the spread is recovered within 12 %, and a warning is given.
#[test]
fn a_motion_is_compensated_and_not_attributed_to_noise() {
    let recording = recorded(2.0);
    let found = calibrate(&[(&recording, PanelHint::default())], &options()).unwrap();
    let warning = found
        .warnings
        .iter()
        .find(|text| text.contains("moved during the recording"));
    assert!(warning.unwrap().contains("turned by 2."), "{warning:?}");
    let truth = known();
    for degrees in [10.0_f64, 25.0, 45.0] {
        let incidence = degrees.to_radians();
        let range = 0.5 / degrees.to_radians().cos();
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

#[test]
fn no_motion_is_fitted_to_the_noise_of_a_stationary_board() {
    let found = calibrate(&[(&recorded(0.0), PanelHint::default())], &options()).unwrap();
    assert!(found.panels[0].panel.motion.is_none());
    assert!(!found.warnings.iter().any(|text| text.contains("moved")));
}

/// The residual of the hypothesis of zero bias is the same for a board that rotates by two degrees and
/// for a stationary one.
#[test]
fn bias_hypotheses_include_the_motion_of_the_panel() {
    let residual = |rotation: f64| {
        let found = calibrate(&[(&recorded(rotation), PanelHint::default())], &options()).unwrap();
        found.panels[0].bias_hypotheses[0].rms
    };
    let stationary = residual(0.0);
    let moved = residual(2.0);
    assert!(
        (moved / stationary - 1.0).abs() < 0.2,
        "{moved} and {stationary}"
    );
}

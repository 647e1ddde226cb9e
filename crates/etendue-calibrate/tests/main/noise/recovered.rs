//! Calibration recovers the profile of simulated recordings.

use super::{ONE, address, assert_same_noise, drawn, known, options, reading, recording, scans};
use etendue_calibrate::noise::panel::find_panel;
use etendue_calibrate::noise::score::{hold_out, monte_carlo_test};
use etendue_calibrate::noise::{
    Calibration, PanelBeams, PanelHint, PanelSearch, Recording, calibrate, identify,
};
use etendue_physics::profile::Profile;

fn recorded(profile: &Profile, sweeps: u32) -> Recording {
    let scans = scans(&ONE, sweeps, |sweep, beam, range, incidence| {
        let address = address(3, sweep, beam);
        let drawn = profile.draw(range, incidence, &address);
        reading(drawn.map(|drawn| drawn.range))
    });
    recording(&scans)
}

fn calibrated(recording: &Recording) -> Calibration {
    let hint = PanelHint {
        width: Some(1.2),
        ..PanelHint::default()
    };
    calibrate(&[(recording, hint)], &options()).unwrap()
}

/// 60 scans drawn from a known profile determine its bias, spread and drop-out. The distance of the
/// plane and the bias at normal incidence are not separable: the test compares the bias minus that at
/// normal incidence.
#[test]
fn a_known_profile_is_recovered() {
    let truth = known();
    let found = calibrated(&recorded(&truth, 60)).profile;
    let shift = found.at(0.0, 0.5).bias - truth.at(0.0, 0.5).bias;
    let mut compared = 0;
    for degrees in [5.0_f64, 15.0, 25.0, 35.0, 45.0] {
        let incidence = degrees.to_radians();
        let range = 0.5 / incidence.cos();
        let (a, b) = (found.at(incidence, range), truth.at(incidence, range));
        let plane = shift / incidence.cos();
        assert!(
            (a.bias - b.bias - plane).abs() < 0.6e-3,
            "{degrees}: bias {} and {}",
            a.bias,
            b.bias
        );
        assert_same_noise(&a, &b, degrees);
        compared += 1;
    }
    assert_eq!(compared, 5);
    assert_eq!(found.steps.at(0.5), 1e-3);
}

/// The fitted profile predicts held-out beams better than every baseline.
#[test]
fn held_out_beams_are_predicted_better_than_by_the_baselines() {
    let recording = recorded(&known(), 40);
    let scores = hold_out(&[(&recording, PanelHint::default())], &options())
        .unwrap()
        .scores;
    let [(_, profile), baselines @ ..] = &scores[..] else {
        panic!("no scores");
    };
    assert_eq!(baselines.len(), 3);
    for (name, baseline) in baselines {
        assert!(
            profile.negative_log_likelihood < baseline.negative_log_likelihood,
            "{name}: {} and {}",
            profile.negative_log_likelihood,
            baseline.negative_log_likelihood
        );
    }
}

/// Simulations of the set-up with the profile do not differ from the recording at a level of 1 %; with
/// twice the spread they differ in every band.
#[test]
fn a_recording_differs_only_from_simulations_of_another_profile() {
    let recording = recorded(&known(), 16);
    let calibration = calibrated(&recording);
    let beams = &calibration.panels[0].beams;
    let bands = monte_carlo_test(beams, &calibration.profile);
    assert!(bands.len() >= 5);
    for band in &bands {
        assert!(band.probability >= 0.01, "{band:?}");
    }
    let mut rough = calibration.profile.clone();
    for knot in &mut rough.knots {
        knot.spread *= 2.0;
    }
    for band in monte_carlo_test(beams, &rough) {
        assert!(band.probability < 0.01, "{band:?}");
    }
}

/// Within 1.5 degrees of the end of a board every range is 20 mm too short, as if only part of the spot
/// were on it: bias and spread there are those of the beams further in, and the drop-out includes all.
#[test]
fn ranges_at_a_panels_end_are_not_the_materials() {
    let truth = known();
    let bent = |shift: f64| {
        let scans = scans(&ONE, 20, |sweep, beam, range, incidence| {
            let address = address(3, sweep, beam);
            let end = if incidence.to_degrees() > 48.6 {
                shift
            } else {
                0.0
            };
            let drawn = truth.draw(range, incidence, &address);
            reading(drawn.map(|drawn| drawn.range - end))
        });
        calibrated(&recording(&scans))
    };
    let (straight, bent) = (bent(0.0), bent(0.02));
    let beams = &bent.panels[0].beams;
    assert!(beams.at_edge() > 30, "{}", beams.at_edge());
    assert!(
        bent.warnings
            .iter()
            .any(|text| text.contains("part of the spot"))
    );
    let at = |found: &Calibration| found.profile.at(0.83, 0.5 / 0.83_f64.cos());
    let (a, b) = (at(&straight), at(&bent));
    assert!((a.bias - b.bias).abs() < 1e-4 && (a.spread - b.spread).abs() < 1e-4);
    assert!((a.drop_out - b.drop_out).abs() < 1e-9);
    assert!(
        beams
            .beams
            .iter()
            .any(|beam| beam.at_edge && beam.returned())
    );
}

/// Drop-out is counted once: drawn beams drop as often as recorded ones, to a third of a percent.
#[test]
fn drop_out_is_counted_once() {
    let recording = recorded(&known(), 60);
    let calibration = calibrated(&recording);
    let beams = &calibration.panels[0].beams;
    let share = |beams: &PanelBeams| 1.0 - beams.returned() as f64 / beams.beams.len() as f64;
    let again = drawn(beams, &calibration.profile);
    assert!(share(beams) > 0.02);
    assert!(
        (share(beams) - share(&again)).abs() < 0.0035,
        "{} {}",
        share(beams),
        share(&again)
    );
}

#[test]
fn a_material_is_told_from_one_that_spreads_twice_as_much() {
    let mut rough = known();
    for knot in &mut rough.knots {
        knot.spread *= 2.0;
    }
    let (plain, rough) = (known(), rough);
    let recording = recorded(&rough, 4);
    let panel = find_panel(&recording, &PanelHint::default(), &PanelSearch::default()).unwrap();
    let beams = PanelBeams::of(&recording, &panel);
    let found = identify(&beams, &[&plain, &rough]).unwrap();
    assert_eq!(found[0].profile, 1);
    assert!(found[0].probability > 0.99, "{found:?}");
}

/// Panels at 0.5 and 1.5 m: the exponent of the spread is fitted (true value 2), within 0.15.
#[test]
fn the_law_of_distance_is_fitted_to_two_distances() {
    use super::Board;
    use etendue_physics::profile::DistanceLaw;
    let truth = known();
    let at = |distance: f64| {
        let board = Board {
            distance,
            bearing: 0.0,
            width: 1.2 * distance,
        };
        recording(&scans(&[board], 40, |sweep, beam, range, incidence| {
            let address = address(3, sweep, beam);
            let drawn = truth.draw(range, incidence, &address);
            reading(drawn.map(|drawn| drawn.range))
        }))
    };
    let (near, far) = (at(0.5), at(1.5));
    let hint = PanelHint::default();
    let found = calibrate(&[(&near, hint), (&far, hint)], &options()).unwrap();
    let DistanceLaw::Fitted { spread, .. } = found.profile.law else {
        panic!("{:?}", found.profile.law);
    };
    assert!((spread - 2.0).abs() < 0.15, "{spread}");
}

//! Noise calibration of simulated recordings recovers their profile.

use super::{ONE, address, assert_same_noise, drawn, known, options, reading, recording, scans};
use etendue_calibrate::noise::panel::find_panel;
use etendue_calibrate::noise::score::{hold_out, monte_carlo_test};
use etendue_calibrate::noise::{
    NoiseCalibration, PanelBeams, PanelHint, PanelRecording, PanelSearch, calibrate, identify,
};
use etendue_physics::profile::Profile;

fn recorded(profile: &Profile, sweeps: u32) -> PanelRecording {
    let scans = scans(&ONE, sweeps, |sweep, beam, range, incidence| {
        let address = address(3, sweep, beam);
        let drawn = profile.draw(range, incidence, &address);
        reading(drawn.map(|drawn| drawn.range))
    });
    recording(&scans)
}

fn calibrated(recording: &PanelRecording) -> NoiseCalibration {
    let hint = PanelHint {
        width: Some(1.2),
        ..PanelHint::default()
    };
    calibrate(&[(recording, hint)], &options()).unwrap()
}

/// Bias, spread and drop-out are recovered from 60 scans drawn from a known profile. The distance of the
/// plane and the bias at normal incidence are not separable: the bias relative to that at normal
/// incidence is compared.
#[test]
fn a_known_profile_is_recovered() {
    let truth = known();
    let found = calibrated(&recorded(&truth, 60)).profile;
    let shift = found.at(0.0, 0.5).bias - truth.at(0.0, 0.5).bias;
    let mut compared = 0;
    for degrees in [5.0_f64, 15.0, 25.0, 35.0, 45.0] {
        let incidence = degrees.to_radians();
        let range = 0.5 / incidence.cos();
        let a = found.at(incidence, range);
        let b = truth.at(incidence, range);
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

/// At the 1 % level, the Monte-Carlo test accepts the true profile in every band of incidence and rejects
/// a profile of twice the spread in every band.
#[test]
fn the_monte_carlo_test_rejects_only_the_wrong_profile() {
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

/// Within 1.5 degrees of the edge of a board every range is 20 mm too short, as where only part of the
/// spot returns: bias and spread exclude these beams, the drop-out rate counts all beams.
#[test]
fn ranges_at_the_edge_of_a_panel_are_excluded_from_bias_and_spread() {
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
    let straight = bent(0.0);
    let bent = bent(0.02);
    let beams = &bent.panels[0].beams;
    assert!(beams.at_edge() > 30, "{}", beams.at_edge());
    assert!(
        bent.warnings
            .iter()
            .any(|text| text.contains("part of the spot"))
    );
    let at = |found: &NoiseCalibration| found.profile.at(0.83, 0.5 / 0.83_f64.cos());
    let a = at(&straight);
    let b = at(&bent);
    assert!((a.bias - b.bias).abs() < 1e-4 && (a.spread - b.spread).abs() < 1e-4);
    assert!((a.drop_out - b.drop_out).abs() < 1e-9);
    assert!(
        beams
            .beams
            .iter()
            .any(|beam| beam.at_edge && beam.returned())
    );
}

/// Beams drawn from the profile drop as often as the recorded ones, within 0.35 %.
#[test]
fn drop_out_is_counted_once() {
    let recording = recorded(&known(), 60);
    let calibration = calibrated(&recording);
    let beams = &calibration.panels[0].beams;
    let drop_out_rate =
        |beams: &PanelBeams| 1.0 - beams.returned() as f64 / beams.beams.len() as f64;
    let again = drawn(beams, &calibration.profile);
    assert!(drop_out_rate(beams) > 0.02);
    assert!(
        (drop_out_rate(beams) - drop_out_rate(&again)).abs() < 0.0035,
        "{} {}",
        drop_out_rate(beams),
        drop_out_rate(&again)
    );
}

#[test]
fn a_material_is_identified_by_its_spread() {
    let mut rough = known();
    for knot in &mut rough.knots {
        knot.spread *= 2.0;
    }
    let plain = known();
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
    let near = at(0.5);
    let far = at(1.5);
    let hint = PanelHint::default();
    let found = calibrate(&[(&near, hint), (&far, hint)], &options()).unwrap();
    let DistanceLaw::Fitted { spread, .. } = found.profile.law else {
        panic!("{:?}", found.profile.law);
    };
    assert!((spread - 2.0).abs() < 0.15, "{spread}");
}

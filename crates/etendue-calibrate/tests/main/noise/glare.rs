//! Noise calibration of a glare (specular peak) beside the normal.

use super::{ONE, address, azimuths, known, options, reading, recording, scans};
use etendue_calibrate::noise::score::monte_carlo_test;
use etendue_calibrate::noise::{NoiseCalibration, PanelHint, calibrate};
use etendue_physics::profile::{Aspect, Glare, GlareKnot, Profile};

/// The known profile with a dip of 3 mm and a loss of 30 % a degree right of the normal.
fn glaring() -> Profile {
    let knot = |half_degrees: i32| {
        let degrees = 0.5 * f64::from(half_degrees);
        let bell = (-0.5 * ((degrees + 1.0) / 1.2).powi(2)).exp();
        GlareKnot {
            incidence: degrees.to_radians(),
            bias: -3e-3 * bell,
            spread_ratio: 1.0 + 0.5 * bell,
            drop_out: 0.3 * bell,
            ..GlareKnot::default()
        }
    };
    Profile {
        glare: Some(Glare {
            centre: (-1.0_f64).to_radians(),
            knots: (-10..=8).map(knot).collect(),
        }),
        ..known()
    }
}

/// Calibration from scans of a board with beams drawn from a profile; `shape` is the deviation of the
/// board from a plane by azimuth, m.
fn calibrated(
    profile: &Profile,
    seed: u64,
    sign: f64,
    shape: impl Fn(f64) -> f64,
) -> NoiseCalibration {
    calibrated_in(60, profile, seed, sign, shape)
}

fn calibrated_in(
    sweeps: u32,
    profile: &Profile,
    seed: u64,
    sign: f64,
    shape: impl Fn(f64) -> f64,
) -> NoiseCalibration {
    let azimuths = azimuths(720);
    let scans = scans(&ONE, sweeps, |sweep, beam, range, _| {
        let address = address(seed, sweep, beam);
        let azimuth = azimuths[beam as usize];
        let drawn = profile.draw(range, Aspect::signed(sign * azimuth), &address);
        reading(drawn.map(|drawn| drawn.range + shape(azimuth)))
    });
    let hint = PanelHint {
        width: Some(1.2),
        ..PanelHint::default()
    };
    calibrate(&[(&recording(&scans), hint)], &options()).unwrap()
}

/// Bias, spread and drop-out on both sides of the normal are recovered within the confidence intervals of
/// the profile: of the 17 knots within 4 degrees (three adjacent knots share beams) at most a
/// quarter are outside (1 in 20 by chance), none by more than 4.5 standard errors.
#[test]
fn a_glare_is_recovered_on_its_side_of_the_normal() {
    let truth = glaring();
    let found = calibrated(&truth, 3, 1.0, |_| 0.0).profile;
    let expected = |profile: &Profile, degrees: f64| {
        let aspect = Aspect::signed(degrees.to_radians());
        profile.at(aspect, 0.5 / aspect.incidence.cos())
    };
    // Component of the bias that the fitted plane absorbs
    let plane = |degrees: f64| {
        let difference = expected(&found, degrees).bias - expected(&truth, degrees).bias;
        difference * degrees.to_radians().cos()
    };
    let shift = (8..30)
        .map(|degrees| plane(f64::from(degrees)))
        .sum::<f64>()
        / 22.0;
    let glare = found.glare.as_ref().unwrap();
    let (mut outside, mut total, mut worst) = ([0; 3], 0, 0.0_f64);
    for knot in glare
        .knots
        .iter()
        .filter(|knot| knot.incidence.abs() < 0.071)
    {
        let degrees = knot.incidence.to_degrees();
        let here = expected(&found, degrees);
        let there = expected(&truth, degrees);
        let bias = (here.bias - there.bias - shift) / knot.bias_error;
        let alike = here.spread / knot.spread_ratio;
        let spread = (here.spread - there.spread) / (alike * knot.spread_ratio_error);
        let [low, high] = knot.drop_out_interval;
        let lost = truth.glare.as_ref().unwrap().at(knot.incidence).drop_out;
        outside[0] += usize::from(bias.abs() > 1.96);
        outside[1] += usize::from(spread.abs() > 1.96);
        outside[2] += usize::from(!(low..=high).contains(&lost));
        worst = worst.max(bias.abs()).max(spread.abs());
        total += 1;
    }
    assert!(total >= 15);
    assert!(
        outside.iter().all(|count| 4 * count <= total),
        "{outside:?}"
    );
    assert!(worst < 4.5, "{worst}");
    assert!(
        (-1.6..-0.4).contains(&glare.centre.to_degrees()),
        "{}",
        glare.centre.to_degrees()
    );
}

/// The glare of a sensor mounted upside down is on the other side of the normal.
#[test]
fn a_mirrored_set_up_mirrors_the_glare() {
    let centre = |sign: f64| {
        let found = calibrated(&glaring(), 4, sign, |_| 0.0).profile;
        found.glare.unwrap().centre.to_degrees()
    };
    let upright = centre(1.0);
    let mirrored = centre(-1.0);
    assert!((upright + mirrored).abs() < 0.3, "{upright} {mirrored}");
    assert!(upright < -0.4, "{upright}");
}

/// No glare is fitted to 16 boards without one: plane boards, and boards with waves of half a millimetre
/// in different phases.
#[test]
fn no_glare_is_fitted_to_diffuse_boards() {
    for seed in 0..8 {
        let plain = calibrated(&known(), seed, 1.0, |_| 0.0);
        assert!(plain.profile.glare.is_none(), "{seed}");
        let phase = 0.8 * seed as f64;
        let wavy = calibrated(&known(), seed, 1.0, |azimuth| {
            5e-4 * (30.0 * azimuth + phase).sin()
        });
        assert!(wavy.profile.glare.is_none(), "{seed}");
    }
}

/// At the 1 % level, the Monte-Carlo test accepts the profile with its glare in the band at the normal,
/// and rejects it without the glare.
#[test]
fn the_monte_carlo_test_rejects_a_profile_without_the_glare() {
    let calibration = calibrated_in(12, &glaring(), 5, 1.0, |_| 0.0);
    let beams = &calibration.panels[0].beams;
    let near = |profile: &Profile| monte_carlo_test(beams, profile)[0].probability;
    let with = near(&calibration.profile);
    let without = near(&Profile {
        glare: None,
        ..calibration.profile.clone()
    });
    assert!(with >= 0.01, "{with}");
    assert!(without < 0.01, "{without}");
}

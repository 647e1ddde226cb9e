//! The panels of kepets-2024.

use super::{PANELS, apollosim, behind, options};
use etendue_calibrate::noise::panel::find_panel;
use etendue_calibrate::noise::score::{IncidenceBand, MonteCarloBand, hold_out};
use etendue_calibrate::noise::statistics::{dispersion, wilson};
use etendue_calibrate::noise::{
    BeamOutcome, NoiseError, PanelBeam, PanelBeams, PanelHint, PanelSearch, calibrate,
    fit_bias_hypotheses, identify,
};
use etendue_physics::profile::{GlareKnot, Profile};

/// Distance (m), tilt (degrees), and rms below 40 degrees (mm) in the specification.
const TABLE: [(f64, f64, f64); 5] = [
    (0.3845, 0.43, 0.70),
    (0.3131, 0.27, 0.73),
    (0.2250, 1.41, 0.94),
    (0.1214, -0.68, 1.04),
    (0.1645, 1.49, 0.69),
];

/// Distance within 1 mm and tilt within 0.1 degrees, without declared values.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn the_panels_are_at_the_places_of_the_table() {
    for ((material, _), (distance, tilt, rms)) in PANELS.into_iter().zip(TABLE) {
        let recording = apollosim(material);
        let panel = find_panel(&recording, &behind(None), &PanelSearch::default()).unwrap();
        let found = (
            panel.plane.distance,
            panel.tilt().to_degrees(),
            panel.rms * 1e3,
        );
        println!("{material}: {found:.4?}");
        assert!((found.0 - distance).abs() < 1e-3, "{material}: {found:?}");
        assert!((found.1 - tilt).abs() < 0.1, "{material}: {found:?}");
        assert!((found.2 - rms).abs() < 0.05, "{material}: {found:?}");
    }
}

/// The recording of the metal panel contains a second flat object, 0.121 m in front of it.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn two_planes_in_one_recording_are_reported() {
    let recording = apollosim("metal");
    let error = find_panel(&recording, &PanelHint::default(), &PanelSearch::default()).unwrap_err();
    assert!(matches!(error, NoiseError::SeveralPanels { .. }), "{error}");
}

/// The drop-out per band in the specification is within the interval for independent observations.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn drop_out_per_band_is_that_of_the_table() {
    // Another test covers acrylic from 60 to 70 degrees.
    let table: [(&str, f64, f64, f64); 8] = [
        ("wall", 20.0, 30.0, 0.016),
        ("wall", 30.0, 40.0, 0.72),
        ("wall", 40.0, 50.0, 1.0),
        ("wood", 0.0, 50.0, 0.0),
        ("wood", 50.0, 58.0, 0.27),
        ("metal", 0.0, 46.0, 0.0),
        ("metal2", 0.0, 10.0, 0.026),
        ("acrylic", 50.0, 60.0, 0.004),
    ];
    for (material, from, to, expected) in table {
        let recording = apollosim(material);
        let width = PANELS.iter().find(|(name, _)| *name == material).unwrap().1;
        let found = calibrate(&[(&recording, behind(Some(width)))], &options(material)).unwrap();
        let inside: Vec<_> = { found.bins.iter() }
            .filter(|bin| (from..to).contains(&bin.incidence.to_degrees()))
            .collect();
        let beams: f64 = inside.iter().map(|bin| bin.beams).sum();
        let dropped: f64 = inside.iter().map(|bin| bin.beams - bin.returned).sum();
        let usual = found.profile.correlation.fixed_pattern_drop();
        let looks: f64 = inside.iter().map(|bin| bin.effective_samples(usual)).sum();
        let [low, high] = wilson(dropped / beams * looks, looks);
        println!(
            "{material} {from}-{to}: {:.4} [{low:.4}, {high:.4}]",
            dropped / beams
        );
        assert!(beams > 500.0);
        assert!(
            low <= expected && expected <= high,
            "{material} {from}-{to}: {low} {high}"
        );
    }
}

/// Acrylic from 60 to 70 degrees: the specification states 26 %. Counting by bearing instead of
/// incidence, and any tilt up to 2 degrees, gives 20 to 25 %, because the incidence is not the
/// cause. A patch 65 to 71 degrees to the right of the normal drops four of five beams, and a
/// person occluded the left side in the last three scans (from 68 degrees on in four). All other
/// beams return (except 0.3 %). The dispersion between the bins of the band makes its interval so
/// wide that it contains 26 %.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn a_patch_drops_the_beams_of_the_acrylic_panel() {
    let recording = apollosim("acrylic");
    let hint = behind(Some(1.25));
    let found = calibrate(&[(&recording, hint)], &options("acrylic")).unwrap();
    let usual = found.profile.correlation.fixed_pattern_drop();
    let groups: Vec<[f64; 2]> = { found.bins.iter() }
        .filter(|bin| (60.0..70.0).contains(&bin.incidence.to_degrees()))
        .map(|bin| [bin.drop_out(), bin.effective_samples(usual)])
        .collect();
    let beams = &found.panels[0].beams.beams;
    let share = |keep: &dyn Fn(&PanelBeam) -> bool| {
        let inside = beams
            .iter()
            .filter(|beam| (60.0..70.0).contains(&beam.incidence.to_degrees()) && keep(beam));
        let (total, dropped) = inside.fold((0.0, 0.0), |(total, dropped), beam| {
            let drop = f64::from(u8::from(beam.outcome == BeamOutcome::Dropped));
            (total + 1.0, dropped + drop)
        });
        assert!(total > 50.0);
        dropped / total
    };
    let all = share(&|_| true);
    let many = dispersion(&groups);
    let looks = groups.iter().map(|[_, looks]| looks).sum::<f64>() / many;
    let [low, high] = wilson(all * looks, looks);
    println!("{all:.3} [{low:.3}, {high:.3}], dispersion {many:.1}");
    assert!((0.20..0.255).contains(&all), "{all}");
    assert!(low < 0.26 && 0.26 < high, "{low} {high}");
    let is_patch = |beam: &PanelBeam| !beam.left() && beam.incidence.to_degrees() > 64.0;
    let is_late = |beam: &PanelBeam| beam.left() && beam.scan >= 57;
    let patch = share(&is_patch);
    let late = share(&is_late);
    let rest = share(&|beam| !is_patch(beam) && !is_late(beam));
    println!("patch {patch:.3}, last scans {late:.3}, rest {rest:.4}");
    assert!(patch > 0.6 && late > 0.8 && rest < 0.01);
}

/// Held-out blocks of five scans: the profile outperforms no noise, one Gaussian and the
/// reflectance model alone, in likelihood and in the range score, for all five panels. In 33 bands
/// of ten degrees, a Kolmogorov-Smirnov test with the number of independent observations
/// distinguishes samples from recorded ranges at 1 % in none (p of 0.17 at least), nor does the
/// stricter test of whether the recording is among simulations of the setup (p of 0.05 at least).
/// The three plates have a glare near the normal. Two of them lose beams there, about 4 to 5 mm to
/// the right of the foot of the normal on the sensor; wall and wood have no glare.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn held_out_scans_are_predicted_better_than_by_all_baselines() {
    let mut told = Vec::new();
    let mut bands = 0;
    let mut simulated = Vec::new();
    for (material, width) in PANELS {
        let recording = apollosim(material);
        let scores = hold_out(&[(&recording, behind(Some(width)))], &options(material)).unwrap();
        let [(_, profile), baselines @ ..] = &scores.scores[..] else {
            panic!("no scores");
        };
        let is_told = |band: &&IncidenceBand| band.probability < 0.01;
        told.extend({ profile.bands.iter().filter(is_told) }.map(|band| band.incidence[0]));
        bands += profile.bands.len();
        let is_apart = |band: &&MonteCarloBand| band.probability < 0.01;
        let apart = scores.monte_carlo.iter().filter(is_apart);
        simulated.extend(apart.map(|band| (material, band.incidence[0].to_degrees().round())));
        let glare = scores.calibration.profile.glare.as_ref();
        assert_eq!(
            glare.is_some(),
            !matches!(material, "wall" | "wood"),
            "{material}"
        );
        if let Some(glare) = glare.filter(|_| matches!(material, "metal2" | "acrylic")) {
            let distance = scores.calibration.profile.distance;
            let lost = |knot: &GlareKnot| [knot.drop_out, knot.drop_out * knot.incidence.tan()];
            let add = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a + c, b + d];
            let [all, moment] = glare.knots.iter().map(lost).fold([0.0; 2], add);
            let aside = 1e3 * distance * moment / all;
            println!("{material}: beams are lost {aside:.1} mm left");
            assert!((-7.0..-2.5).contains(&aside), "{material}: {aside}");
        }
        for (name, baseline) in baselines {
            println!(
                "{material}: {:.3} against {:.3} of {name}, {:.3} mm against {:.3} mm",
                profile.negative_log_likelihood,
                baseline.negative_log_likelihood,
                profile.ranked_probability * 1e3,
                baseline.ranked_probability * 1e3
            );
            assert!(
                profile.negative_log_likelihood < baseline.negative_log_likelihood,
                "{material}, {name}"
            );
        }
    }
    println!("{bands} bands, apart from simulations: {simulated:?}");
    assert!(bands > 30 && told.is_empty(), "{told:?}");
    assert!(simulated.is_empty(), "{simulated:?}");
}

/// One coefficient reduces the rms of the acrylic panel from 3.45 to 0.92 mm (w = -0.0258). An
/// offset of 12.5 mm does so almost equally well, and the calibration reports this.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn one_distance_does_not_separate_an_offset_from_a_growth() {
    let recording = apollosim("acrylic");
    let panel = find_panel(&recording, &behind(None), &PanelSearch::default()).unwrap();
    let found = fit_bias_hypotheses(&recording, &panel, 70.0_f64.to_radians());
    for one in &found {
        println!("{one:?}");
    }
    let [plane, offset, growth] = &found[..] else {
        panic!("three readings");
    };
    assert!(growth.rms < 0.4 * plane.rms && offset.rms < 0.5 * plane.rms);
    assert!(
        (growth.coefficient + 0.0258).abs() < 0.004,
        "{}",
        growth.coefficient
    );
    assert!(
        (offset.coefficient - 0.0125).abs() < 0.004,
        "{}",
        offset.coefficient
    );
}

/// Fitted on one half of each recording, classified on blocks of two scans of the other half: at
/// least nine of ten are correct.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn the_five_materials_are_distinguished() {
    let mut profiles: Vec<Profile> = Vec::new();
    let mut recordings = Vec::new();
    for (material, width) in PANELS {
        let recording = apollosim(material);
        let half = recording.of_scans(|scan| scan % 2 == 0);
        let found = calibrate(&[(&half, behind(Some(width)))], &options(material)).unwrap();
        profiles.push(found.profile);
        recordings.push(recording);
    }
    let known: Vec<&Profile> = profiles.iter().collect();
    let mut confusion = [[0_u32; 5]; 5];
    for (truth, recording) in recordings.iter().enumerate() {
        for block in 0..6 {
            let some = recording.of_scans(|scan| scan % 2 == 1 && scan / 4 == block);
            let panel = find_panel(&some, &behind(None), &PanelSearch::default()).unwrap();
            let beams = PanelBeams::of(&some, &panel);
            confusion[truth][identify(&beams, &known).unwrap()[0].profile] += 1;
        }
    }
    println!("{confusion:?}");
    let right: u32 = (0..5).map(|i| confusion[i][i]).sum();
    assert!(right >= 27, "{confusion:?}");
}

//! A profile in a scene: simulated, recorded and calibrated.

use etendue_calibrate::noise::score::{kolmogorov_smirnov, kolmogorov_smirnov_p};
use etendue_calibrate::noise::{
    CalibrationOptions, PanelHint, PanelRecording, RangingPrinciple, calibrate,
};
use etendue_config::profile::ProfileFile;
use etendue_config::scene::{LoadedScene, load, parse};
use etendue_config::sensor::preset;
use etendue_config::toml_file::Document;
use etendue_physics::profile::{
    Correlation, DistanceLaw, IntensityKind, Knot, Profile, ReflectanceModel, Steps,
};
use etendue_sensors::lidar::{SweepSettings, simulate};
use etendue_sensors::transport::World;
use etendue_sensors::{BeamSweep, Scan};
use nalgebra::Isometry3;
use std::sync::Arc;

fn known() -> Profile {
    let knot = |degrees: i32| {
        let incidence = f64::from(degrees).to_radians();
        Knot {
            incidence,
            bias: 4e-3 - 8e-3 * incidence.powi(2),
            spread: 4e-3 * (1.0 + 2.0 * incidence.powi(2)),
            drop_out: 1.0 / (1.0 + (9.0 - 11.0 * incidence).exp()),
            ..Knot::default()
        }
    };
    Profile {
        sensor: "known".into(),
        material: "board".into(),
        wavelength: None,
        distance: 0.8,
        law: DistanceLaw::SignalToNoise { floor: 0.0 },
        steps: Steps::even(1e-3),
        correlation: Correlation::new(0.3, 0.0, 0.0),
        intensity: IntensityKind::Constant(100.0),
        reflectance: ReflectanceModel::default(),
        knots: (0..=70).step_by(2).map(knot).collect(),
        glare: None,
        extrapolated: false,
    }
}

const SCENE: &str = r#"
version = 1
[materials.board]
base = "white-paper"
profile = "board.toml"
[[objects]]
name = "board"
shape.box = { size_m = [0.02, 2.0, 1.0] }
position_m = [0.81, 0.0, 0.0]
material = "board"
"#;

fn scene() -> LoadedScene {
    let folder = tempfile::tempdir().unwrap();
    let profile = ProfileFile::of(&known()).to_toml();
    std::fs::write(folder.path().join("board.toml"), profile).unwrap();
    std::fs::write(folder.path().join("scene.toml"), SCENE).unwrap();
    load(&folder.path().join("scene.toml")).unwrap()
}

fn as_scans(sweeps: &[BeamSweep]) -> Vec<Scan> {
    let azimuths: Arc<[f64]> = sweeps[0].measurements.iter().map(|m| m.azimuth).collect();
    let scan = |sweep: &BeamSweep| Scan {
        time: sweep.start,
        beam_interval: 0.0,
        azimuths: Arc::clone(&azimuths),
        elevations: [].into(),
        readings: sweep.measurements.iter().map(|m| m.reading).collect(),
        intensities: Vec::new(),
        odom_from_robot: None,
    };
    sweeps.iter().map(scan).collect()
}

fn simulated(name: &str, count: u32) -> Vec<Scan> {
    let loaded = scene();
    let lidar = preset(name).unwrap().lidar;
    let world = World::at_wavelength(&loaded.scene, lidar.wavelength).unwrap();
    let world = world.with_profiles(&loaded.profiles);
    let sweeps: Vec<BeamSweep> = (0..count)
        .map(|sweep| {
            let settings = SweepSettings {
                seed: 4,
                sweep,
                ..SweepSettings::default()
            };
            simulate(&world, &lidar, &settings, |_| Isometry3::identity()).first_echoes()
        })
        .collect();
    as_scans(&sweeps)
}

/// Number of a profile's knots from 3 to 40 degrees, and the fractions whose 95 % intervals exclude
/// the truth: of bias, spread and drop-out. The bias is compared after removal of a shift of the
/// plane, which is not distinguishable from a constant bias.
fn outside(found: &Profile, truth: &Profile) -> (f64, [f64; 3], f64) {
    let inside = |knot: &&Knot| (3.0..40.0).contains(&knot.incidence.to_degrees());
    let knots: Vec<&Knot> = found.knots.iter().filter(inside).collect();
    let expected = |knot: &Knot| truth.at(knot.incidence, found.distance / knot.incidence.cos());
    let weigh = |knot: &&Knot| {
        let off = knot.bias - expected(knot).bias;
        let weight = knot.bias_error.powi(-2);
        let plane = 1.0 / knot.incidence.cos();
        [weight * plane * off, weight * plane * plane]
    };
    let [up, down] = { knots.iter().map(weigh) }.fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
    let shift = up / down;
    let (mut count, mut worst) = ([0.0; 3], 0.0_f64);
    for knot in &knots {
        let here = expected(knot);
        let bias = (knot.bias - here.bias - shift / knot.incidence.cos()) / knot.bias_error;
        let spread = (knot.spread - here.spread) / knot.spread_error;
        let [low, high] = knot.drop_out_interval;
        let misses = [
            bias.abs() > 1.96,
            spread.abs() > 1.96,
            !(low..=high).contains(&here.drop_out),
        ];
        for (count, miss) in count.iter_mut().zip(misses) {
            *count += f64::from(u8::from(miss));
        }
        worst = worst.max(bias.abs()).max(spread.abs());
    }
    let total = knots.len() as f64;
    (total, count.map(|count| count / total), worst)
}

/// A continuous-wave URG-04LX and a pulsed LMS 111 measure a board with a known profile.
/// Calibration of their scans recovers the profile within its intervals. Knots share beams: 37
/// knots are equivalent to about 12 independent ones for bias and drop-out, and to 6 for the
/// spread. With correct intervals, more than a quarter of the 12, or a third of the 6, are outside
/// in 1 of 450 recordings each; an error exceeds 4.5 standard errors in 1 of 7000.
#[test]
fn simulated_recordings_give_the_known_profile_back() {
    for name in ["hokuyo-urg-04lx", "sick-lms-111"] {
        let recording = PanelRecording::from_scans(name, &simulated(name, 80)).unwrap();
        let options = CalibrationOptions {
            principle: RangingPrinciple::TimeOfFlight,
            ..CalibrationOptions::default()
        };
        let hint = PanelHint {
            width: Some(2.0),
            ..PanelHint::default()
        };
        let found = calibrate(&[(&recording, hint)], &options).unwrap().profile;
        let (knots, [bias, spread, drop_out], worst) = outside(&found, &known());
        println!("{name}: {knots} knots, outside {bias:.2} {spread:.2} {drop_out:.2}, {worst:.1}");
        assert!(knots >= 35.0);
        assert!(bias <= 0.25, "{name}: {bias}");
        assert!(spread <= 0.34, "{name}: {spread}");
        assert!(drop_out <= 0.25, "{name}: {drop_out}");
        assert!(worst < 4.5, "{name}: {worst}");
    }
}

/// The distribution of range errors in a simulated recording is not distinguishable at 1 % from
/// samples of the profile, in each band of incidence.
#[test]
fn the_simulator_draws_from_the_profile() {
    let truth = known();
    let mut bands: [[Vec<f64>; 2]; 4] = Default::default();
    let mut dropped = [0.0_f64, 0.0];
    for (number, scan) in (0..).zip(simulated("hokuyo-urg-04lx", 40)) {
        for (beam, (azimuth, reading)) in (0..).zip(scan.azimuths.iter().zip(&scan.readings)) {
            let incidence = azimuth.abs();
            if incidence > 40.0_f64.to_radians() {
                continue;
            }
            let range = 0.8 / incidence.cos();
            let address = etendue_physics::profile::BeamAddress {
                seed: 99,
                sensor: 1,
                sweep: number,
                beam,
                stride: 1,
            };
            let drawn = truth.draw(range, incidence, &address).map(|d| d.range);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "below 40 degrees"
            )]
            let band = &mut bands[(incidence.to_degrees() / 10.0) as usize];
            for (which, found) in [reading.range(), drawn].into_iter().enumerate() {
                match found {
                    Some(found) => band[which].push(found - range),
                    None => dropped[which] += 1.0,
                }
            }
        }
    }
    // The azimuth jitter of 3 mrad is not part of the profile's samples. The incidence is below 40
    // degrees, where the jitter changes ranges by less than a fifth of the spread.
    for (number, [simulated, drawn]) in bands.iter_mut().enumerate() {
        let n = simulated.len() as f64;
        assert!(n > 1500.0);
        // Neighbours have a correlation of 0.3, which reduces the number of independent samples.
        let looks = n * 0.7 / 1.3;
        let distance = kolmogorov_smirnov(simulated, drawn);
        let p = kolmogorov_smirnov_p(distance, [looks, looks]);
        println!("band {number}: D {distance:.4}, p {p:.3}, {n} beams");
        assert!(p > 0.01, "band {number}: D {distance}, p {p}");
    }
    assert!((dropped[0] - dropped[1]).abs() < 4.0 * (dropped[0] + dropped[1] + 9.0_f64).sqrt());
}

#[test]
fn an_unknown_profile_is_an_error() {
    let text = SCENE.replace("board.toml", "board-of-nothing");
    let error = parse(&Document::new("a.toml", text))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("unknown profile \"board-of-nothing\""),
        "{error}"
    );
}

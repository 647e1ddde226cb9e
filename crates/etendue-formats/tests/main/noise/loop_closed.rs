//! A profile in a scene, simulated, recorded and calibrated again.

use etendue_calibrate::noise::score::{kolmogorov_smirnov, kolmogorov_smirnov_p};
use etendue_calibrate::noise::{Options, PanelHint, Recording, SensorKind, calibrate};
use etendue_formats::profile::ProfileFile;
use etendue_formats::scene::{LoadedScene, load, parse};
use etendue_formats::sensor::{SensorModel, preset};
use etendue_formats::toml_file::Document;
use etendue_physics::profile::{
    Correlation, DistanceLaw, IntensityKind, Knot, Profile, ReflectanceModel, Steps,
};
use etendue_sensors::cw::{self, Turn};
use etendue_sensors::pulsed::{self, Run};
use etendue_sensors::transport::World;
use etendue_sensors::{Scan, Sweep};
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

fn as_scans(sweeps: &[Sweep]) -> Vec<Scan> {
    let azimuths: Arc<[f64]> = sweeps[0].measurements.iter().map(|m| m.azimuth).collect();
    let scan = |sweep: &Sweep| Scan {
        time: sweep.start,
        azimuths: Arc::clone(&azimuths),
        readings: sweep.measurements.iter().map(|m| m.reading).collect(),
        intensities: Vec::new(),
        odom_from_robot: None,
    };
    sweeps.iter().map(scan).collect()
}

fn simulated(name: &str, count: u32) -> Vec<Scan> {
    let loaded = scene();
    let sweeps: Vec<Sweep> = match preset(name).unwrap().model {
        SensorModel::ContinuousWave(lidar) => {
            let world = World::at_wavelength(&loaded.scene, lidar.wavelength).unwrap();
            let turn = |index| Turn {
                seed: 4,
                index,
                ..Turn::default()
            };
            (0..count)
                .map(|i| cw::simulate(&world, &lidar, &turn(i), |_| Isometry3::identity()))
                .collect()
        }
        SensorModel::Scanner(scanner) => {
            let world = World::at_wavelength(&loaded.scene, scanner.wavelength).unwrap();
            let run = |sweep| Run {
                seed: 4,
                sweep,
                ..Run::default()
            };
            (0..count)
                .map(|i| {
                    pulsed::simulate(&world, &scanner, &run(i), |_| Isometry3::identity())
                        .first_echoes()
                })
                .collect()
        }
    };
    as_scans(&sweeps)
}

/// A continuous-wave URG-04LX and a pulsed LMS 111 see a board with a known profile; calibrating
/// what they report gives the profile back: bias (less what the plane takes), spread and drop-out.
#[test]
fn simulated_recordings_give_the_known_profile_back() {
    for (name, bias, spread) in [
        ("hokuyo-urg-04lx", 1.2e-3, 0.15),
        ("sick-lms-111", 1.2e-3, 0.15),
    ] {
        let recording = Recording::from_scans(name, &simulated(name, 80)).unwrap();
        let options = Options {
            kind: SensorKind::TimeOfFlight,
            ..Options::default()
        };
        let hint = PanelHint {
            width: Some(2.0),
            ..PanelHint::default()
        };
        let (found, truth) = (
            calibrate(&[(&recording, hint)], &options).unwrap().profile,
            known(),
        );
        let shift = found.at(0.0, 0.8).bias - truth.at(0.0, 0.8).bias;
        for degrees in [10.0_f64, 20.0, 30.0, 40.0] {
            let incidence = degrees.to_radians();
            let range = 0.8 / incidence.cos();
            let (a, b) = (found.at(incidence, range), truth.at(incidence, range));
            println!("{name} {degrees}: {a:?} {b:?}");
            assert!(
                (a.bias - b.bias - shift / incidence.cos()).abs() < bias,
                "{name} {degrees}"
            );
            assert!(
                (a.spread / b.spread - 1.0).abs() < spread,
                "{name} {degrees}"
            );
            assert!((a.drop_out - b.drop_out).abs() < 0.04, "{name} {degrees}");
        }
    }
}

/// What a simulated recording's errors are distributed like is not told at 1 % from draws of the
/// profile, band by band.
#[test]
fn the_simulator_draws_what_the_profile_says() {
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
            let address = etendue_physics::profile::Address {
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
    // Beams wander by 3 mrad, which the profile's draws know nothing of; incidence stays below 40
    // degrees, where that moves ranges by less than a fifth of the spread.
    for (number, [simulated, drawn]) in bands.iter_mut().enumerate() {
        let n = simulated.len() as f64;
        assert!(n > 1500.0);
        // Neighbours correlate by 0.3: so many independent looks.
        let looks = n * 0.7 / 1.3;
        let distance = kolmogorov_smirnov(simulated, drawn);
        let p = kolmogorov_smirnov_p(distance, [looks, looks]);
        println!("band {number}: D {distance:.4}, p {p:.3}, {n} beams");
        assert!(p > 0.01, "band {number}: D {distance}, p {p}");
    }
    assert!((dropped[0] - dropped[1]).abs() < 4.0 * (dropped[0] + dropped[1] + 9.0_f64).sqrt());
}

#[test]
fn an_unknown_profile_is_told() {
    let text = SCENE.replace("board.toml", "board-of-nothing");
    let error = parse(&Document::new("a.toml", text))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no ready profile \"board-of-nothing\""),
        "{error}"
    );
}

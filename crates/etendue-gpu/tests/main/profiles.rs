//! Ranges, drop-outs and intensities that are drawn from noise profiles on the device are those of the CPU.

use crate::opened::{device, device_with};
use crate::sweeps::{assert_agrees, compare, settings};
use etendue_config::scene::{LoadedScene, parse};
use etendue_config::sensor::preset;
use etendue_config::toml_file::Document;
use etendue_gpu::ShaderChecks;
use etendue_physics::profile::{Correlation, DistanceLaw, IntensityKind, Profile};
use etendue_scene::MaterialId;
use etendue_sensors::lidar::SweepSettings;
use std::sync::Arc;

/// A room with materials whose noise was recorded, with and without a glare, beside a mirror and a material without.
const ROOM: &str = r#"
version = 1
name = "recorded materials"
[materials.wood]
profile = "rplidar-a1-wood"
[materials.metal]
profile = "rplidar-a1-metal"
[materials.acrylic]
profile = "rplidar-a1-acrylic"
[[objects]]
name = "room"
shape.box = { size_m = [2.4, 1.6, 1.2] }
flip_normals = true
position_m = [0.0, 0.2, 1.8]
material = "wood"
[[objects]]
name = "metal board"
shape.box = { size_m = [0.05, 0.8, 0.8] }
position_m = [0.4, 0.4, 1.8]
rotation_deg = { yaw = 20 }
material = "metal"
motion.twist = { velocity_m_s = [0.0, 0.1, 0.0], angular_velocity_deg_s = [0.0, 0.0, 30.0] }
[[objects]]
name = "acrylic board"
shape.box = { size_m = [0.8, 0.05, 0.8] }
position_m = [-0.1, -0.2, 1.8]
rotation_deg = { yaw = -10, roll = 5 }
material = "acrylic"
[[objects]]
name = "mirror"
shape.box = { size_m = [0.02, 0.6, 0.6] }
position_m = [-0.9, 0.5, 1.8]
rotation_deg = { yaw = 35 }
material = "aluminium-mirror"
[[objects]]
name = "brick"
shape.box = { size_m = [0.2, 0.2, 0.5] }
position_m = [-0.3, 0.75, 1.8]
material = "brick"
"#;

pub fn room() -> LoadedScene {
    parse(&Document::new("room.toml", ROOM)).unwrap()
}

/// The room with each profile changed.
fn changed(change: impl Fn(&mut Profile)) -> LoadedScene {
    let mut loaded = room();
    for number in 0..loaded.scene.materials().len() {
        let material = MaterialId(u32::try_from(number).unwrap());
        if let Some(profile) = loaded.profiles.profile(material) {
            let mut profile = Profile::clone(profile);
            change(&mut profile);
            loaded.profiles.set(material, Arc::new(profile));
        }
    }
    loaded
}

/// The profiles of the lidar that they were recorded with, which triangulates and hides surfaces from its lens; with checks
/// of the shaders.
#[test]
fn recorded_noise_agrees_with_the_cpu() {
    let test = "recorded_noise_agrees_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let lidar = preset("slamtec-rplidar-a1").unwrap().lidar;
    for sweep in 0..6 {
        let settings = SweepSettings {
            sweep,
            ..settings()
        };
        let all = compare(device, &room(), &lidar, 0.02, &settings).unwrap();
        assert_eq!(all.on_host, 0);
        assert_agrees(test, &all.differences);
    }
}

/// All laws of distance, kinds of intensity and correlations, for beams of one and of several rays, and drop-outs.
#[test]
fn profiles_of_all_kinds_agree_with_the_cpu() {
    let test = "profiles_of_all_kinds_agree_with_the_cpu";
    let Some(device) = device(test) else {
        return;
    };
    let fitted = DistanceLaw::Fitted {
        spread: 1.3,
        bias: -0.2,
        power: 1.7,
    };
    let laws = [
        DistanceLaw::Triangulation,
        DistanceLaw::SignalToNoise { floor: 1e-4 },
        fitted,
    ];
    let intensities = [
        IntensityKind::None,
        IntensityKind::TwoValued {
            low: 3.0,
            high: 8.0,
        },
        IntensityKind::Continuous,
    ];
    for name in ["velodyne-vlp-16", "slamtec-rplidar-c1", "hokuyo-urg-04lx"] {
        let mut lidar = preset(name).unwrap().lidar;
        if name == "velodyne-vlp-16" {
            lidar.beam = lidar.beam.with_one_ray();
        }
        for (law, intensity) in laws.into_iter().zip(intensities) {
            let loaded = changed(|profile| {
                profile.law = law;
                profile.intensity = intensity;
                profile.correlation =
                    Correlation::new(0.5, 0.3, 0.4).with_fixed_pattern_neighbour(0.2);
                for (number, knot) in (0_u32..).zip(&mut profile.knots) {
                    knot.drop_out = 0.02 + 0.01 * f64::from(number % 7);
                    knot.intensity = 0.1 + 0.8 * f64::from(number % 3) / 2.0;
                    knot.intensity_spread = 0.2;
                }
                profile.reflectance.drop_out.slope = 0.8;
            });
            let all = compare(device, &loaded, &lidar, 0.02, &settings()).unwrap();
            assert_agrees(test, &all.differences);
            let share = all.differences.returns as f64 / all.differences.shots as f64;
            assert!((0.5..0.99).contains(&share), "{share}");
        }
    }
}

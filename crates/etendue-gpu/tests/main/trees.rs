//! Light paths by way of mirrors and glass on the device are those of the CPU.

use crate::opened::{device, device_with};
use crate::sweeps::{Compared, assert_agrees, compare, settings};
use etendue_config::scene::{LoadedScene, parse};
use etendue_config::sensor::preset;
use etendue_config::toml_file::Document;
use etendue_gpu::{GpuSweepError, ShaderChecks};
use etendue_sensors::lidar::{LightModel, SweepSettings};
use etendue_sensors::transport::TreeSettings;

/// A room with mirrors, some of which move, panes, and solid glass.
pub fn mirrors() -> LoadedScene {
    parse(&Document::new(
        "mirrors.toml",
        include_str!("../mirrors.toml"),
    ))
    .unwrap()
}

/// Few shots are left to the host: those with many returns.
fn assert_on_device(name: &str, all: &Compared, most: f64) {
    let share = all.on_host as f64 / all.differences.shots as f64;
    println!("{name}: {share} of the shots on the host");
    assert!(share <= most, "{name}: {share}");
}

/// Beams of one and of several rays, the strongest, first or last echo, a lens; in motion with noise and at rest without.
#[test]
fn paths_by_way_of_mirrors_and_glass_agree_with_the_cpu() {
    let test = "paths_by_way_of_mirrors_and_glass_agree_with_the_cpu";
    let Some(device) = device(test) else {
        return;
    };
    let loaded = mirrors();
    for (name, most) in [
        ("velodyne-vlp-16", 0.0),
        ("hokuyo-utm-30lx", 0.02),
        ("livox-mid-360", 0.0),
        ("sick-lms-111", 0.02),
        ("slamtec-rplidar-a2", 0.0),
        ("hokuyo-urg-04lx", 0.0),
    ] {
        let mut lidar = preset(name).unwrap().lidar;
        if ["velodyne-vlp-16", "livox-mid-360"].contains(&name) {
            lidar.beam = lidar.beam.with_one_ray();
        }
        for (speed, without_noise) in [(0.3, false), (0.0, true)] {
            let settings = SweepSettings {
                without_noise,
                ..settings()
            };
            let all = compare(device, &loaded, &lidar, speed, &settings).unwrap();
            assert_on_device(name, &all, most);
            assert_agrees(name, &all.differences);
        }
    }
}

/// Other limits of the trees, with checks of the shaders.
#[test]
fn trees_of_other_depths_agree_with_the_cpu() {
    let test = "trees_of_other_depths_agree_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let loaded = mirrors();
    let mut lidar = preset("velodyne-vlp-16").unwrap().lidar;
    lidar.beam = lidar.beam.with_one_ray();
    let of_depth = |max_depth: u32, throughput_threshold: f64| SweepSettings {
        light: LightModel::Tree(TreeSettings {
            max_depth,
            throughput_threshold,
        }),
        ..settings()
    };
    let mut returns = vec![];
    for (depth, threshold) in [(1, 1e-4), (2, 1e-4), (9, 1e-6)] {
        let settings = of_depth(depth, threshold);
        let all = compare(device, &loaded, &lidar, 0.3, &settings).unwrap();
        assert_on_device(test, &all, 0.0);
        assert_agrees(test, &all.differences);
        returns.push(all.differences.returns);
    }
    assert!(
        returns.is_sorted() && returns[0] < returns[2],
        "{returns:?}"
    );
    let refused = compare(device, &loaded, &lidar, 0.3, &of_depth(40, 1e-4)).err();
    assert_eq!(refused, Some(GpuSweepError::Depth(40)));
}

/// Shots with more returns than there is room for are left to the host.
#[test]
fn beams_with_too_many_returns_agree_with_the_cpu() {
    let test = "beams_with_too_many_returns_agree_with_the_cpu";
    let Some(device) = device(test) else {
        return;
    };
    // Panes one behind the other, each of which reflects light back to the others.
    let panes = (0..12).map(|number| {
        format!(
            "[[objects]]\nname = \"pane {number}\"\nshape.plane = {{ size_m = [4.0, 4.0] }}\nposition_m = [{}, 0.0, 2.0]\nrotation_deg = {{ pitch = 90 }}\nmaterial = \"window-glass\"\n",
            2.0 + 0.25 * f64::from(number)
        )
    });
    let room = "version = 1\nname = \"panes\"\n[[objects]]\nname = \"room\"\nshape.box = { size_m = [14.0, 10.0, 4.0] }\nflip_normals = true\nposition_m = [0.0, 0.0, 2.0]\nmaterial = \"plaster\"\n";
    let text: String = std::iter::once(room.to_owned()).chain(panes).collect();
    let loaded = parse(&Document::new("panes.toml", text)).unwrap();
    let mut lidar = preset("velodyne-vlp-16").unwrap().lidar;
    lidar.beam = lidar.beam.with_one_ray();
    let settings = SweepSettings {
        light: LightModel::Tree(TreeSettings {
            max_depth: 14,
            throughput_threshold: 1e-5,
        }),
        ..settings()
    };
    let all = compare(device, &loaded, &lidar, 0.3, &settings).unwrap();
    assert!(all.on_host > 20, "{}", all.on_host);
    assert_on_device(test, &all, 0.25);
    assert_agrees(test, &all.differences);
}

/// The memory of the slots of a million rays is shared by several submissions.
#[test]
fn sweeps_in_several_submissions_agree_with_the_cpu() {
    let test = "sweeps_in_several_submissions_agree_with_the_cpu";
    let Some(device) = device(test) else {
        return;
    };
    let own = preset("ouster-os1-64").unwrap().lidar;
    // More rays than a fifth of a million.
    assert!(own.channels.len() * own.columns() as usize * own.beam.ray_count() > 1 << 18);
    let all = compare(device, &mirrors(), &own, 0.3, &settings()).unwrap();
    assert_agrees(test, &all.differences);
}

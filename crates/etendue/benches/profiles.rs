//! Cost of calibrated noise: time of sweeps in a box of 4 by 3 m with and without a profile on its
//! walls, for every preset and profile (or those given as arguments).
//!
//! `cargo bench -p etendue --bench profiles [-- NAME...]` measures both alternately in slices of some
//! milliseconds, and prints ratios of the tenth percentiles. One thread, without output files.
#![expect(clippy::print_stdout, reason = "prints its results")]

use etendue::config::scene::LoadedScene;
use etendue::config::toml_file::Document;
use etendue::config::{profile, scene, sensor};
use etendue::sensors::lidar::{Lidar, Sweep, SweepScratch, SweepSettings, simulate_into};
use etendue::sensors::transport::World;
use nalgebra::{Isometry3, Vector3};
use std::time::Instant;

/// Slices of each kind, and shots per slice.
const SLICES: usize = 51;
const SHOTS: usize = 40_000;

fn main() {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build_global()
        .expect("the first pool");
    let presets = chosen(sensor::presets().iter().map(|preset| preset.name));
    let profiles = chosen(profile::library().iter().map(|profile| profile.name));
    let plain = room(None);
    println!(
        "preset, microseconds per sweep without a profile, and ratio with over without: {}",
        profiles.join(", ")
    );
    for preset in presets {
        let lidar = sensor::preset(preset).expect("a preset").lidar;
        let mut ratios = Vec::new();
        let mut time = 0.0;
        for profile in &profiles {
            let [without, with] = alternately([&plain, &room(Some(profile))], &lidar);
            ratios.push(format!("{:.2}", with / without));
            time = without;
        }
        println!("{preset:22} {:9.1}  {}", time * 1e6, ratios.join("  "));
    }
}

/// The names given as arguments, or all names without arguments.
fn chosen<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let all: Vec<&str> = names.collect();
    // Arguments after `--` in `cargo bench`; `--bench` is added by Cargo.
    let requested: Vec<String> = std::env::args().skip(1).collect();
    let is_requested = |name: &&str| requested.iter().any(|requested| requested == name);
    let some: Vec<&str> = all.iter().copied().filter(is_requested).collect();
    if some.is_empty() { all } else { some }
}

fn room(profile: Option<&str>) -> LoadedScene {
    let profile = profile.map_or(String::new(), |name| format!("profile = \"{name}\""));
    let text = format!(
        "version = 1\nname = \"room\"\n[materials.board]\nbase = \"white-paper\"\n{profile}\n\
         [[objects]]\nname = \"room\"\nshape.box = {{ size_m = [4.0, 3.0, 2.5] }}\n\
         position_m = [0.0, 0.0, 0.0]\nmaterial = \"board\"\n"
    );
    scene::parse(&Document::new("room.toml", text)).expect("a scene")
}

/// Tenth percentile of the time of a sweep over the slices, s.
fn alternately(scenes: [&LoadedScene; 2], lidar: &Lidar) -> [f64; 2] {
    let turn = 20.0_f64.to_radians();
    let pose = Isometry3::new(Vector3::z() * 1.2, Vector3::z() * turn);
    let mut sweeps = scenes.map(|loaded| sweeping(loaded, lidar, pose));
    let mut times = [Vec::new(), Vec::new()];
    for slice in 0..=SLICES {
        for (sweep, times) in sweeps.iter_mut().zip(&mut times) {
            let before = Instant::now();
            let count = sweep();
            // The first slice is a warm-up.
            if slice > 0 {
                times.push(before.elapsed().as_secs_f64() / f64::from(count));
            }
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[SLICES / 10]
    })
}

/// Sweeps per slice for a number of shots per sweep.
fn sweeps_of(shots: usize) -> u32 {
    u32::try_from(SHOTS.div_ceil(shots)).expect("few")
}

/// Simulates the next sweeps and returns their number.
fn sweeping<'s>(
    loaded: &'s LoadedScene,
    lidar: &'s Lidar,
    pose: Isometry3<f64>,
) -> Box<dyn FnMut() -> u32 + 's> {
    let mut index = 0;
    let world = World::at_wavelength(&loaded.scene, lidar.wavelength).expect("covered");
    let world = world.with_profiles(&loaded.profiles);
    let world: &'s World<f64> = Box::leak(Box::new(world));
    let count = sweeps_of(lidar.shots(0).len() * lidar.beam.ray_count());
    let mut sweep = Sweep::default();
    let mut scratch = SweepScratch::default();
    Box::new(move || {
        for _ in 0..count {
            index += 1;
            let settings = SweepSettings {
                seed: 1,
                sweep: index,
                ..SweepSettings::default()
            };
            simulate_into(world, lidar, &settings, |_| pose, &mut sweep, &mut scratch);
        }
        count
    })
}

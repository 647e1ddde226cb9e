//! One sweep of a sensor in a scene, compared with the ground truth: run with `cargo run --example 01_simulate`.

use etendue::config::{scene, sensor};
use etendue::sensors::lidar::{SweepSettings, simulate};
use etendue::sensors::transport::World;
use nalgebra::Isometry3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let urg = sensor::preset("hokuyo-urg-04lx")?;
    let lidar = urg.lidar;
    let arena = scene::arena();
    let world = World::at_wavelength(&arena.scene, lidar.wavelength)?;
    let settings = SweepSettings {
        seed: 1,
        with_truth: true,
        ..SweepSettings::default()
    };
    let sweep = simulate(&world, &lidar, &settings, |_| Isometry3::identity());

    let left = sweep
        .points_of(640)
        .first()
        .ok_or("the beam has no return")?;
    let truth = sweep.axis_truths[640].ok_or("the beam hits no wall")?;
    assert!((left.range - truth.range).abs() < 0.02);
    eprintln!(
        "azimuth {:.1} degrees: measured {:.3} m, true {:.3} m",
        sweep.shots.at(640).azimuth.to_degrees(),
        left.range,
        truth.range
    );
    Ok(())
}

//! One sweep of a sensor in a scene, compared with the ground truth: run with `cargo run --example 01_simulate`.

use etendue::config::{scene, sensor};
use etendue::sensors::cw::{Turn, simulate};
use etendue::sensors::transport::World;
use nalgebra::Isometry3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let urg = sensor::preset("hokuyo-urg-04lx")?;
    let sensor::SensorModel::ContinuousWave(lidar) = urg.model else {
        return Err("the URG-04LX measures phases".into());
    };
    let arena = scene::arena();
    let world = World::at_wavelength(&arena.scene, lidar.wavelength)?;
    let turn = Turn {
        seed: 1,
        with_truth: true,
        ..Turn::default()
    };
    let sweep = simulate(&world, &lidar, &turn, |_| Isometry3::identity());

    let left = &sweep.measurements[640];
    let (measured, truth) = (left.reading.range(), left.truth);
    let (measured, truth) = measured.zip(truth).ok_or("the beam hits no wall")?;
    assert!((measured - truth.range).abs() < 0.02);
    eprintln!(
        "azimuth {:.1} degrees: measured {measured:.3} m, true {:.3} m",
        left.azimuth.to_degrees(),
        truth.range
    );
    Ok(())
}

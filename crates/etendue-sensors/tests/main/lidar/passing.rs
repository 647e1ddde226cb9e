//! A lidar that drives past cylinders, with a scan fast enough to resolve their edges.

use super::stage::{pulsed, scanner};
use etendue_physics::pulse::ReturnMode;
use etendue_scene::Scene;
use etendue_sensors::lidar::{Columns, EchoModel, Lidar, ScanPattern};
use etendue_sensors::lidar::{Sweep, SweepSettings, simulate};
use etendue_sensors::transport::World;
use nalgebra::Isometry3;

/// Rotations of the lidar, 1/s.
pub const RATE: f64 = 20.0;

/// A lidar with the rotation of an HDL-32E at 20 Hz (clockwise) and one horizontal beam, fired 20,000 times
/// per rotation to resolve edges.
pub fn fast_scanner() -> Lidar {
    let mut scanner = scanner(pulsed(EchoModel::Analytic, ReturnMode::Strongest));
    if let ScanPattern::Spinning(spinning) = &mut scanner.pattern {
        spinning.rate = RATE;
        spinning.clockwise = true;
        spinning.columns = Columns::PerSweep {
            columns: 20_000,
            fired: None,
        };
    }
    scanner
}

/// A sweep while the lidar moves along x with a speed, m/s.
pub fn drive(scene: &Scene, scanner: &Lidar, run: &SweepSettings, speed: f64) -> Sweep {
    let world = World::at_wavelength(scene, scanner.wavelength).unwrap();
    simulate(&world, scanner, run, |t| {
        Isometry3::translation(speed * t, 0.0, 0.0)
    })
}

/// Azimuth between the first and last point on an instance.
pub fn angular_width(sweep: &Sweep, instance: u32) -> f64 {
    let seen = sweep
        .points
        .iter()
        .filter(|p| p.source.unwrap().instance.0 == instance);
    let azimuths: Vec<f64> = seen.map(|p| sweep.shot_of(p).azimuth).collect();
    assert!(azimuths.len() > 100);
    let most = azimuths.iter().fold(f64::MIN, |a, b| a.max(*b));
    let least = azimuths.iter().fold(f64::MAX, |a, b| a.min(*b));
    most - least
}

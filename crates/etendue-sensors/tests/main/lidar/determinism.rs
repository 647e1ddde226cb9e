//! Determinism: the same seed gives the same bytes for any number of threads.

use super::stage::{at_origin, beam, pulsed, room, scanner};
use etendue_physics::atmosphere::{Atmosphere, Weather};
use etendue_physics::pulse::ReturnMode;
use etendue_sensors::lidar::EchoModel;
use etendue_sensors::lidar::{Sweep, SweepScratch, SweepSettings, simulate_until};
use etendue_sensors::transport::World;
use nalgebra::Isometry3;
use std::sync::atomic::AtomicBool;

fn sweep(threads: usize, seed: u64, pipeline: EchoModel) -> Sweep {
    let mut scanner = scanner(pulsed(pipeline, ReturnMode::All));
    scanner.beam = beam(3e-3).with_rings(1);
    let mut run = SweepSettings {
        seed,
        ..SweepSettings::default()
    };
    run.air.atmosphere = Atmosphere {
        weather: vec![Weather::Rain {
            rate: 20e-3 / 3600.0,
        }],
    };
    run.air.drops_from = Some(1e-3);
    let scene = room([6.0, 9.0, 3.0], 0.4);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(|| at_origin(&scene, &scanner, &run))
}

#[test]
fn one_thread_and_eight_give_the_same_sweep_bit_for_bit() {
    for pipeline in [EchoModel::Analytic, EchoModel::Waveform] {
        let one = sweep(1, 3, pipeline);
        assert!(one.points.len() > 3000);
        assert_eq!(one, sweep(8, 3, pipeline));
        assert_ne!(one, sweep(8, 4, pipeline));
    }
}

#[test]
fn a_stopped_sweep_is_incomplete_and_leaves_memory_for_a_whole_one() {
    let scanner = scanner(pulsed(EchoModel::Analytic, ReturnMode::All));
    let scene = room([6.0, 9.0, 3.0], 0.4);
    let world = World::at_wavelength(&scene, scanner.wavelength).unwrap();
    let run = SweepSettings::default();
    let whole = at_origin(&scene, &scanner, &run);
    let (mut sweep, mut scratch) = (Sweep::default(), SweepScratch::default());
    let mut simulate = |sweep: &mut Sweep, is_stopped: bool| {
        let stop = AtomicBool::new(is_stopped);
        let pose = |_| Isometry3::identity();
        simulate_until(&world, &scanner, &run, pose, sweep, &mut scratch, &stop)
    };
    // Before, between and after whole ones
    for is_stopped in [true, false, true, true, false] {
        assert_eq!(simulate(&mut sweep, is_stopped), !is_stopped);
        assert_eq!(sweep == whole, !is_stopped);
    }
}

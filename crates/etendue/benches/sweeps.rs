//! How many sweeps a second one core simulates: 682 beams of 3 rays in the arena.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use etendue::formats::{scene, sensor};
use etendue::sensors::cw::{Turn, simulate};
use etendue::sensors::transport::World;
use nalgebra::Isometry3;
use std::hint::black_box;

fn sweeps(criterion: &mut Criterion) {
    let sensor = sensor::preset("hokuyo-urg-04lx").expect("a preset");
    let sensor::SensorModel::ContinuousWave(lidar) = sensor.model else {
        panic!("the URG-04LX measures phases");
    };
    let arena = scene::arena();
    let world = World::at_wavelength(&arena.scene, lidar.wavelength).expect("covered");
    let one = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a thread");
    let rays = lidar.beams.len() * lidar.pattern.sub_rays().len();
    let mut group = criterion.benchmark_group("urg-04lx in the arena, one core");
    group.throughput(Throughput::Elements(rays as u64));
    group.bench_function("sweep of 682 x 3 rays", |bencher| {
        let mut index = 0;
        bencher.iter(|| {
            index += 1;
            let turn = Turn {
                seed: 1,
                index,
                ..Turn::default()
            };
            one.install(|| black_box(simulate(&world, &lidar, &turn, |_| Isometry3::identity())))
        });
    });
    group.finish();
}

criterion_group!(benches, sweeps);
criterion_main!(benches);

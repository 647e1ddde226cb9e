//! Sweeps per second of one core in the arena: 682 beams of 3 rays of a phase lidar, and the shots of two pulsed
//! lidars with one ray each.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use etendue::config::{scene, sensor};
use etendue::sensors::lidar::{SweepSettings, simulate};
use etendue::sensors::transport::World;
use nalgebra::Isometry3;
use std::hint::black_box;

fn sweeps(criterion: &mut Criterion) {
    let sensor = sensor::preset("hokuyo-urg-04lx").expect("a preset");
    let lidar = sensor.lidar;
    let arena = scene::arena();
    let world = World::at_wavelength(&arena.scene, lidar.wavelength).expect("covered");
    let one_thread = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a thread pool");
    let rays = lidar.shots(0).len() * lidar.beam.ray_count();
    let mut group = criterion.benchmark_group("urg-04lx in the arena, one core");
    group.throughput(Throughput::Elements(rays as u64));
    group.bench_function("sweep of 682 x 3 rays", |bencher| {
        let mut index = 0;
        bencher.iter(|| {
            index += 1;
            let settings = SweepSettings {
                seed: 1,
                sweep: index,
                ..SweepSettings::default()
            };
            one_thread.install(|| {
                black_box(simulate(&world, &lidar, &settings, |_| {
                    Isometry3::identity()
                }))
            })
        });
    });
    group.finish();
}

fn scans(criterion: &mut Criterion) {
    let arena = scene::arena();
    let one_thread = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a thread pool");
    let mut group = criterion.benchmark_group("scanning lidars in the arena, one core");
    group.sample_size(20);
    for name in ["velodyne-vlp-16", "ouster-os1-128"] {
        let sensor = sensor::preset(name).expect("a preset");
        let mut lidar = sensor.lidar;
        lidar.beam = lidar.beam.with_one_ray();
        let world = World::at_wavelength(&arena.scene, lidar.wavelength).expect("covered");
        group.throughput(Throughput::Elements(lidar.shots(0).len() as u64));
        group.bench_function(name, |bencher| {
            let mut sweep = 0;
            bencher.iter(|| {
                sweep += 1;
                let settings = SweepSettings {
                    sweep,
                    ..SweepSettings::default()
                };
                one_thread.install(|| {
                    black_box(simulate(&world, &lidar, &settings, |_| {
                        Isometry3::identity()
                    }))
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, sweeps, scans);
criterion_main!(benches);

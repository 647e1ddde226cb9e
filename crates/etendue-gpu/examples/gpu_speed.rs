//! Speed of a device beside the CPU in the same run: `gpu_speed [ROUNDS] [DEVICE] [SCENE...]`.
//!
//! Rays: those of a spinning lidar in the scenes of `bench/rays`, medians of the rounds. "device" is the time of the
//! shader alone, "with copies" that of a list of rays to a list of hits. "CPU" is the batch of the ray caster on all
//! threads. Sweeps: whole sweeps of the HDL-64E in the same scenes, with noise, including the copies.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its results and fails by panicking"
)]

#[path = "../tests/main/bench_scenes.rs"]
mod bench_scenes;

use bench_scenes::{caster_of, house, rays, scenes};
use etendue_config::sensor::preset;
use etendue_gpu::{DeviceChoice, GpuCaster, GpuDevice, GpuLidar, ShaderChecks};
use etendue_physics::surface::{Lobe, Material};
use etendue_raycast::{CastScratch, Mesh};
use etendue_scene::{MaterialId, MeshId, NamedMaterial, Object, SceneBuilder};
use etendue_sensors::lidar::{Sweep, SweepScratch, SweepSettings, simulate_into};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Point3};
use std::time::Instant;

fn main() {
    // The first argument is the name of the program
    let mut arguments = std::env::args().skip(1);
    let rounds: usize = arguments.next().map_or(5, |rounds| rounds.parse().unwrap());
    let choice = arguments
        .next()
        .map_or(DeviceChoice::Gpu(None), |own| own.parse().unwrap());
    let selected: Vec<String> = arguments.collect();
    let device = GpuDevice::open(choice, ShaderChecks::Off).unwrap();
    let Some(device) = device else {
        println!("there is no GPU");
        return;
    };
    let adapter = device.adapter();
    println!(
        "{}, {}, {}",
        adapter.name,
        adapter.kind.name(),
        adapter.driver
    );
    println!("{} threads on the CPU", rayon::current_num_threads());
    let all = [
        Some(scenes::room()),
        Some(scenes::city()),
        Some(scenes::big()),
        house(),
    ];
    for scene in all.into_iter().flatten() {
        if selected.is_empty() || selected.iter().any(|name| name == scene.name) {
            println!("\n{}: {} triangles", scene.name, scene.mesh.triangles.len());
            measure_rays(&device, &scene, rounds);
            measure_sweeps(&device, scene.mesh, scene.sensor, rounds);
        }
    }
}

/// Median time of some rounds, s.
fn median(rounds: usize, mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn measure_rays(device: &GpuDevice, scene: &scenes::BenchScene, rounds: usize) {
    let rays = rays::spin(scene.sensor, 15.0);
    let caster = caster_of(scene.mesh.clone());
    let own = GpuCaster::new(device, &caster).unwrap();

    // Times.
    let uploaded = own.upload(device, &caster, &rays).unwrap();
    let shader = median(rounds, || own.cast(device, &uploaded, 1).unwrap());
    let copies = median(rounds, || {
        own.closest_hits(device, &caster, &rays).unwrap();
    });
    let mut hits = vec![];
    let mut scratch = CastScratch::new();
    let cpu = median(rounds, || {
        caster.closest_hits(&rays, &mut hits, &mut scratch);
    });

    // Work.
    let (_, counts) = own.counted_hits(device, &caster, &rays).unwrap();
    let per_ray = |count: u64| count as f64 / rays.len() as f64;
    let (nodes, triangles) = (per_ray(counts.nodes), per_ray(counts.triangles));
    let speed = |time: f64| rays.len() as f64 / time * 1e-6;
    println!(
        "  rays, million/s: device {:.3}, with copies {:.3}, CPU {:.3}; device / CPU {:.3}",
        speed(shader),
        speed(copies),
        speed(cpu),
        cpu / shader
    );
    println!(
        "  per ray: {nodes:.1} nodes of 80 bytes, {triangles:.1} triangles of 48 bytes, {:.0} bytes in total",
        80.0 * nodes + 48.0 * triangles
    );
    println!(
        "  memory: {:.1} bytes per triangle",
        own.scene().bytes() as f64 / scene.mesh.triangles.len() as f64
    );
}

fn measure_sweeps(device: &GpuDevice, mesh: Mesh, sensor: Point3<f64>, rounds: usize) {
    let scene = SceneBuilder {
        meshes: vec![mesh.into()],
        materials: vec![NamedMaterial {
            name: "paint".into(),
            material: Material {
                lobes: vec![Lobe::lambert(0.5.into())],
            },
        }],
        objects: vec![Object {
            name: "everything".into(),
            mesh: MeshId(0),
            world_from_object: Isometry3::identity(),
            material: MaterialId(0),
            mask: u32::MAX,
        }],
        ..SceneBuilder::default()
    };
    let scene = scene.build().unwrap();
    let lidar = preset("velodyne-hdl-64e").unwrap().lidar;
    let world = World::at_wavelength(&scene, lidar.wavelength).unwrap();
    let caster = GpuCaster::new(device, scene.caster()).unwrap();
    let own = GpuLidar::new(device, &caster, &world, &lidar).unwrap();
    let settings = SweepSettings::default();
    let pose = |time: f64| Isometry3::translation(sensor.x + 15.0 * time, sensor.y, sensor.z);
    let on_device = median(rounds, || {
        own.simulate(&settings, pose).unwrap();
    });
    let mut sweep = Sweep::default();
    let mut scratch = SweepScratch::default();
    let cpu = median(rounds, || {
        simulate_into(&world, &lidar, &settings, pose, &mut sweep, &mut scratch);
    });
    println!(
        "  sweeps of {} shots per second: device {:.1}, CPU {:.1}",
        sweep.shots.len(),
        1.0 / on_device,
        1.0 / cpu
    );
}

//! Speed of a device beside the CPU in the same run: `just bench-gpu [ROUNDS] [DEVICE] [SCENE...]`.
//!
//! Medians of the rounds, in the scenes of `bench/rays`; "CPU" has all threads.
//! - Rays: a million of spinning lidars at four places, in tiles of neighbours. "device" is the time of the shader alone,
//!   the mean of eight casts in one submission; "with copies" is that of a list of rays to a list of hits.
//! - Sweeps: whole sweeps of a moving HDL-64E and OS1-128, with noise, including the copies; also in a room with mirrors and
//!   glass, and with sampled waveforms, in fog and in rain.
//! - Environments: 4,096 sweeps (32 on software) of 16 channels and 300 columns, each with another pose of the sensor and of ten boxes;
//!   ranges, intensities with noise and drop-out, and labels; also of sampled waveforms. "device" is the time until they are in the memory of the
//!   device, "with copies" until they are in that of the host.
//! - Frames: 640 x 480 pixels in colour with 16 samples each (2 on software), in the light of the sun and of uniform surroundings,
//!   read out; and their ground truth.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its results and fails by panicking"
)]

#[path = "../tests/main/bench_scenes.rs"]
mod bench_scenes;

use bench_scenes::{caster_of, house, rays_of, scenes};
use etendue_config::scene::parse;
use etendue_config::sensor::preset;
use etendue_config::toml_file::Document;
use etendue_gpu::{
    DeviceChoice, Environments, GpuCamera, GpuCaster, GpuDevice, GpuError, GpuLidar, ImageSlices,
    ShaderChecks,
};
use etendue_physics::atmosphere::Weather;
use etendue_physics::surface::{Lobe, Material};
use etendue_raycast::{CastScratch, Mesh, Ray};
use etendue_scene::lighting::{Environment, Light, Lighting, Sun};
use etendue_scene::primitive::cuboid;
use etendue_scene::{
    MaterialId, MeshId, NamedMaterial, Object, ObjectId, Scene, SceneBuilder, Textures,
};
use etendue_sensors::camera::{Camera, CameraWorld, FrameSettings};
use etendue_sensors::lidar::{
    Air, Columns, DirectSweep, EchoModel, Lidar, Receiver, ScanPattern, Sweep, SweepScratch,
    SweepSettings, simulate_into,
};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Point3, Vector3};
use rayon::prelude::*;
use std::time::Instant;

/// Number of casts in one submission.
const CASTS: u32 = 8;

/// Time until the clock of an idle device has risen, s.
const WARM_UP: f64 = 0.5;

fn main() {
    // The first argument is the name of the program; cargo adds --bench
    let mut arguments = std::env::args().skip(1).filter(|own| own != "--bench");
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
    // The room with mirrors of the tests
    if selected.is_empty() || selected.iter().any(|name| name == "mirrors") {
        let document = Document::new("mirrors.toml", include_str!("../tests/mirrors.toml"));
        let mirrors = parse(&document).unwrap().scene;
        println!("\nmirrors and glass:");
        measure_sweeps(&device, &mirrors, Point3::new(0.0, 0.2, 1.8), rounds);
    }
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
            measure_sweeps(
                &device,
                &scene_of(scene.mesh.clone(), 0),
                scene.sensor,
                rounds,
            );
            let still = scene_of(scene.mesh.clone(), 0);
            measure_frames(&device, &still, scene.sensor, rounds);
            for echoes in [EchoModel::Analytic, EchoModel::Waveform] {
                let mesh = scene.mesh.clone();
                measure_batch(&device, mesh, scene.sensor, rounds, echoes);
            }
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

fn measure_frames(device: &GpuDevice, scene: &Scene, sensor: Point3<f64>, rounds: usize) {
    let lighting = Lighting {
        lights: vec![Light::Sun(Sun {
            to_sun: Vector3::new(0.48, 0.36, 0.8),
            irradiance: 1e9.into(),
            half_angle: 0.0046,
        })],
        environment: Environment::Uniform(1e8.into()),
    };
    let camera = Camera::simple(640, 480, 1.2).in_colour();
    let textures = Textures::default();
    let world = CameraWorld::new(scene, &lighting, &textures, &camera).unwrap();
    let caster = GpuCaster::new(device, scene.caster()).unwrap();
    let own = GpuCamera::new(device, &caster, &world, &camera).unwrap();
    let settings = FrameSettings {
        samples: if device.adapter().is_software() {
            2
        } else {
            16
        },
        ..FrameSettings::default()
    };
    let pose = Isometry3::translation(sensor.x, sensor.y, sensor.z);

    // Run both devices alternately.
    let frame = || drop(own.expose(&settings, |_| pose).unwrap());
    let truth = || drop(own.truth(&settings, 1e-3, 0.03, |_| pose).unwrap());
    let [mut on_device, mut on_cpu, mut truths, mut cpu_truths] = [0; 4].map(|_| vec![]);
    frame();
    for _ in 0..rounds {
        on_device.push(median(1, frame));
        on_cpu.push(median(1, || {
            drop(world.expose(&camera, &settings, |_| pose));
        }));
        truths.push(median(1, truth));
        cpu_truths.push(median(1, || {
            drop(world.truth(&camera, &settings, 1e-3, 0.03, |_| pose));
        }));
    }
    let [frames, cpu, truths, cpu_truths] =
        [on_device, on_cpu, truths, cpu_truths].map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        });
    println!(
        "  frames of {} samples, per s: device {:.3}, CPU {:.3}; device / CPU {:.3}",
        settings.samples,
        1.0 / frames,
        1.0 / cpu,
        cpu / frames
    );
    println!(
        "  ground truths, per s: device {:.3}, CPU {:.3}; device / CPU {:.3}",
        1.0 / truths,
        1.0 / cpu_truths,
        cpu_truths / truths
    );
}

fn measure_rays(device: &GpuDevice, scene: &scenes::BenchScene, rounds: usize) {
    let mut rays = rays_of(scene, 1 << 20);
    sort_into_tiles(&mut rays);
    let caster = caster_of(scene.mesh.clone());
    let own = GpuCaster::new(device, &caster).unwrap();

    // Times, after the clock of the device has risen.
    let uploaded = own.upload(device, &caster, &rays).unwrap();
    let begin = Instant::now();
    while begin.elapsed().as_secs_f64() < WARM_UP {
        own.cast(device, &uploaded, 1).unwrap();
    }
    let shader = median(rounds, || own.cast(device, &uploaded, CASTS).unwrap()) / f64::from(CASTS);
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
        "  per ray: {nodes:.1} nodes of 64 bytes, {triangles:.1} triangles of 48 bytes, {:.0} bytes in total",
        64.0 * nodes + 48.0 * triangles
    );
    println!(
        "  memory: {:.1} bytes per triangle",
        own.scene().bytes() as f64 / scene.mesh.triangles.len() as f64
    );
}

/// Sorts the rays of columns of 128 so that 4 of each of 8 columns follow each other.
fn sort_into_tiles(rays: &mut Vec<Ray>) {
    let place = |(number, _): &(usize, Ray)| {
        let (column, channel) = (number / 128, number % 128);
        (column / 8, channel / 4, column % 8, channel % 4)
    };
    let mut numbered: Vec<(usize, Ray)> = rays.iter().copied().enumerate().collect();
    numbered.sort_by_key(place);
    *rays = numbered.into_iter().map(|(_, ray)| ray).collect();
}

/// A scene of a mesh and some boxes of 0.6 m.
fn scene_of(mesh: Mesh, boxes: u32) -> Scene {
    let material = |reflectance: f64| Material {
        lobes: vec![Lobe::lambert(reflectance.into())],
    };
    let object = |name: String, mesh| Object {
        name,
        mesh: MeshId(mesh),
        world_from_object: Isometry3::identity(),
        material: MaterialId(mesh),
        mask: u32::MAX,
    };
    let paint = |name: &str, reflectance| NamedMaterial {
        name: name.into(),
        material: material(reflectance),
    };
    let mut objects = vec![object("everything".into(), 0)];
    objects.extend((0..boxes).map(|number| object(format!("box {number}"), 1)));
    let scene = SceneBuilder {
        meshes: vec![mesh.into(), cuboid([0.6; 3]).unwrap().into()],
        materials: vec![paint("paint", 0.5), paint("rubber", 0.05)],
        objects,
        ..SceneBuilder::default()
    };
    scene.build().unwrap()
}

/// Number of environments on a GPU, and on software that acts as one.
const ENVIRONMENTS: [u32; 2] = [4096, 32];

/// Number of boxes in each.
const BOXES: u32 = 10;

/// A lidar of 16 channels, 300 columns and beams of one ray.
fn small_lidar(echoes: EchoModel) -> Lidar {
    let mut lidar = preset("velodyne-vlp-16").unwrap().lidar;
    lidar.beam = lidar.beam.with_one_ray();
    set_echoes(&mut lidar, echoes);
    let ScanPattern::Spinning(pattern) = &mut lidar.pattern else {
        panic!("a spinning lidar");
    };
    pattern.columns = Columns::PerSweep {
        columns: 300,
        fired: None,
    };
    lidar
}

fn measure_batch(
    device: &GpuDevice,
    mesh: Mesh,
    sensor: Point3<f64>,
    rounds: usize,
    echoes: EchoModel,
) {
    let count = ENVIRONMENTS[usize::from(device.adapter().is_software())];
    let scene = scene_of(mesh, BOXES);
    let lidar = small_lidar(echoes);

    // Poses of sensors, and of boxes around them.
    let turned = |number: u32, radius: f64| {
        let angle = f64::from(number) * 2.399_963;
        Isometry3::new(
            Vector3::new(radius * angle.cos(), radius * angle.sin(), 0.0),
            Vector3::z() * angle,
        )
    };
    let middle = Isometry3::translation(sensor.x, sensor.y, sensor.z);
    let sensors: Vec<_> = (0..count)
        .map(|number| middle * turned(number, 0.5))
        .collect();
    let body = |number: u32| {
        let pose = |at: u32| middle * turned(17 * number + at, 2.0 + f64::from(number));
        (ObjectId(1 + number), (0..count).map(pose).collect())
    };
    let bodies: Vec<_> = (0..BOXES).map(body).collect();
    let environments = Environments {
        sensors: &sensors,
        bodies: &bodies,
    };

    // Simulate on the device.
    let world = World::at_wavelength(&scene, lidar.wavelength).unwrap();
    let caster = GpuCaster::new(device, scene.caster()).unwrap();
    let own = GpuLidar::new(device, &caster, &world, &lidar).unwrap();
    let settings = SweepSettings::default();
    let begin = Instant::now();
    while begin.elapsed().as_secs_f64() < WARM_UP {
        own.simulate_batch(&settings, &environments).unwrap();
    }
    let on_device = median(rounds, || {
        own.simulate_batch(&settings, &environments).unwrap();
    });
    let placed = |number: usize| {
        let mut edit = scene.clone().edit();
        for (body, poses) in &bodies {
            edit = edit.with_pose(*body, poses[number]);
        }
        edit.finish()
    };
    let on_host = |number: usize, shots: &[u32]| {
        let scene = placed(number);
        let world = World::at_wavelength(&scene, lidar.wavelength).unwrap();
        let settings = SweepSettings {
            sweep: u32::try_from(number).unwrap(),
            start: Some(0.0),
            ..settings.clone()
        };
        let pose = |_| sensors[number];
        let sweep = DirectSweep::new(&world, &lidar, &settings, &pose, Sweep::default()).unwrap();
        Ok::<_, GpuError>(sweep.plain_returns(shots))
    };
    let cells = sensors.len() * 4800;
    let mut numbers = [vec![0.0; cells], vec![0.0; cells]];
    let mut label = vec![0; cells];
    let mut shots_on_host = 0;
    let with_copies = median(rounds, || {
        let batch = own.simulate_batch(&settings, &environments).unwrap();
        let [range, intensity] = &mut numbers;
        let mut images = ImageSlices {
            range,
            intensity,
            label: &mut label,
        };
        shots_on_host = batch
            .read_into(0..sensors.len(), &mut images, on_host)
            .unwrap();
    });
    let hits = numbers[0].iter().filter(|range| !range.is_nan()).count();
    let batch = own.simulate_batch(&settings, &environments).unwrap();

    // Simulate a part on the CPU.
    let part = sensors.len() / 16;
    let cpu = median(rounds, || {
        (0..part).into_par_iter().for_each_init(
            || (Sweep::default(), SweepScratch::default()),
            |(sweep, scratch), number| {
                let scene = placed(number);
                let world = World::at_wavelength(&scene, lidar.wavelength).unwrap();
                let pose = sensors[number];
                simulate_into(&world, &lidar, &settings, |_| pose, sweep, scratch);
            },
        );
    });
    let shots = f64::from(count) * 4800.0;
    println!(
        "  {count} environments of 4800 shots, {echoes:?}, million shots/s: device {:.1}, with copies {:.1}, CPU {:.1}; \
         {:.0} bytes per environment beyond images; {:.3} with a return, {shots_on_host} shots on the host",
        shots / on_device * 1e-6,
        shots / with_copies * 1e-6,
        shots / 16.0 / cpu * 1e-6,
        batch.bytes_per_environment(),
        hits as f64 / shots,
    );
}

/// Sets how a pulsed lidar finds echoes.
fn set_echoes(lidar: &mut Lidar, echoes: EchoModel) {
    let Receiver::Pulsed(receiver) = &mut lidar.receiver else {
        panic!("a pulsed lidar");
    };
    receiver.echoes = echoes;
}

fn measure_sweeps(device: &GpuDevice, scene: &Scene, sensor: Point3<f64>, rounds: usize) {
    for (name, echoes, weather) in [
        ("velodyne-hdl-64e", EchoModel::Analytic, None),
        ("ouster-os1-128", EchoModel::Analytic, None),
        ("velodyne-hdl-64e", EchoModel::Waveform, None),
        (
            "velodyne-hdl-64e",
            EchoModel::Analytic,
            Some(Weather::Fog { visibility: 80.0 }),
        ),
        (
            "velodyne-hdl-64e",
            EchoModel::Analytic,
            Some(Weather::Rain { rate: 5e-6 }),
        ),
    ] {
        let mut lidar = preset(name).unwrap().lidar;
        set_echoes(&mut lidar, echoes);
        let settings = SweepSettings {
            air: Air::of(weather.into_iter().collect()),
            ..SweepSettings::default()
        };
        let case = format!("{name}, {echoes:?}, {weather:?}");
        measure_sweeps_of(&case, &lidar, &settings, device, scene, sensor, rounds);
    }
}

fn measure_sweeps_of(
    case: &str,
    lidar: &Lidar,
    settings: &SweepSettings,
    device: &GpuDevice,
    scene: &Scene,
    sensor: Point3<f64>,
    rounds: usize,
) {
    let world = World::at_wavelength(scene, lidar.wavelength).unwrap();
    let caster = GpuCaster::new(device, scene.caster()).unwrap();
    let own = GpuLidar::new(device, &caster, &world, lidar).unwrap();
    let pose = |time: f64| Isometry3::translation(sensor.x + 15.0 * time, sensor.y, sensor.z);
    let mut sweep = Sweep::default();
    let mut on_host = 0;
    let on_device = median(rounds, || {
        on_host = own.simulate_into(settings, pose, &mut sweep).unwrap().shots;
    });
    let mut scratch = SweepScratch::default();
    let cpu = median(rounds, || {
        simulate_into(&world, lidar, settings, pose, &mut sweep, &mut scratch);
    });
    println!(
        "  sweeps per second, {case}, {} shots of {} rays, {on_host} on the host: device {:.1}, CPU {:.1}",
        sweep.shots.len(),
        lidar.beam.ray_count(),
        1.0 / on_device,
        1.0 / cpu
    );
}

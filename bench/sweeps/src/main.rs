//! Complete sweeps of spinning lidars, all steps of the pipeline, in the city and the house of `bench/rays`
//! with diffuse surfaces.
//!
//! `bench-sweeps [SECONDS] [THREADS] [SENSOR...]`: CPU time per sweep, and wall time with that number of threads; then
//! with newly allocated memory for each sweep, and for casting the beam axes only. SENSOR is one of this program, or a
//! preset, which is measured with one ray per beam and with its own.
//! Environment variables: ONLY=1 measures sweeps only, for `perf` and `beside_open3d.py`; DUMP=FOLDER writes
//! scenes and rays for other engines instead; SCENE=FILE measures a scene file with the presets SENSOR, for
//! `from_python.py`.

#[path = "../../rays/src/scenes.rs"]
#[expect(dead_code, reason = "two of its scenes are measured here")]
mod scenes;
mod sensors;

use etendue_physics::surface::{Lobe, Material};
use etendue_scene::{
    CastScratch, HitTile, MaterialId, MeshId, NamedMaterial, Object, Ray, RayTile, Scene,
    SceneBuilder, tile_order,
};
use etendue_sensors::lidar::{Lidar, Sweep, SweepScratch, SweepSettings, simulate, simulate_into};
use etendue_sensors::transport::World;
use nalgebra::Isometry3;
use scenes::BenchScene;
use std::path::Path;
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments
        .next()
        .map_or(2.0, |a| a.parse().expect("seconds"));
    let threads: usize = arguments.next().map_or(1, |a| a.parse().expect("threads"));
    let selected: Vec<String> = arguments.collect();
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .expect("a pool");
    let data = std::env::var("ETENDUE_DATA").unwrap_or("../../../shared/data".into());
    let house = Path::new(&data).join("mesh_aws_worlds/small_house_visual.ply");
    println!("{threads} threads");
    if let Some(file) = std::env::var_os("SCENE") {
        for name in &selected {
            rayon::scope(|_| measure_file(Path::new(&file), name, seconds));
        }
        return;
    }
    for bench_scene in [Some(scenes::city()), scenes::house(&house)]
        .into_iter()
        .flatten()
    {
        let scene = scene_of(&bench_scene);
        let scanners = sensors::all();
        let is_chosen = |scanner: &&Lidar| selected.is_empty() || selected.contains(&scanner.name);
        for scanner in scanners.iter().filter(is_chosen) {
            rayon::scope(|_| measure(&bench_scene, &scene, scanner, seconds));
        }
        // Other names are presets: with one ray per beam, then with those of the preset.
        let is_preset = |name: &&String| scanners.iter().all(|scanner| scanner.name != **name);
        for name in selected.iter().filter(is_preset) {
            let preset = etendue_config::sensor::preset(name)
                .expect("a preset")
                .lidar;
            let one_ray = Lidar {
                beam: preset.beam.with_one_ray(),
                ..preset.clone()
            };
            for scanner in [one_ray, preset] {
                rayon::scope(|_| measure(&bench_scene, &scene, &scanner, seconds));
            }
        }
    }
}

fn scene_of(bench_scene: &BenchScene) -> Scene {
    let reflectance = 0.5.into();
    SceneBuilder {
        materials: vec![NamedMaterial {
            name: "paint".into(),
            material: Material {
                lobes: vec![Lobe::lambert(reflectance)],
            },
        }],
        meshes: vec![bench_scene.mesh.clone().into()],
        objects: vec![Object {
            name: "all".into(),
            mesh: MeshId(0),
            world_from_object: Isometry3::identity(),
            material: MaterialId(0),
            mask: u32::MAX,
        }],
        ..SceneBuilder::default()
    }
    .build()
    .expect("a good scene")
}

/// Measures the sweeps of one lidar in one scene.
fn measure(bench_scene: &BenchScene, scene: &Scene, scanner: &Lidar, seconds: f64) {
    let world = World::at_wavelength(scene, scanner.wavelength).expect("grey");
    let world_from_sensor = Isometry3::from(bench_scene.sensor.coords);
    if let Some(folder) = std::env::var_os("DUMP") {
        return dump(Path::new(&folder), bench_scene, scanner);
    }

    // Sweeps into memory that is reused.
    let run = |sweep| SweepSettings {
        sweep,
        ..SweepSettings::default()
    };
    let mut seen = Sweep::default();
    let mut scratch = SweepScratch::default();
    let [cpu_time, clock] = timed(seconds, |sweep| {
        let settings = run(sweep);
        simulate_into(
            &world,
            scanner,
            &settings,
            |_| world_from_sensor,
            &mut seen,
            &mut scratch,
        );
    });
    if std::env::var_os("ONLY").is_some() {
        return println!(
            "{:6} {:18} {:8.2} ms CPU time per sweep, {:6.1} sweeps/s",
            bench_scene.name,
            scanner.name,
            cpu_time * 1e3,
            1.0 / clock
        );
    }

    // Sweeps into new memory.
    let [new_memory, _] = timed(seconds, |sweep| {
        std::hint::black_box(simulate(&world, scanner, &run(sweep), |_| {
            world_from_sensor
        }));
    });
    let rays = seen.shots.len() * scanner.beam.ray_count();
    println!(
        "{:6} {:18} {:6} shots, {:.2} returns per shot: {:8.2} ms CPU time per sweep ({:.2} Mrays/s), {:6.1} sweeps/s wall; {:.2} ms with new memory; {}",
        bench_scene.name,
        scanner.name,
        seen.shots.len(),
        seen.points.len() as f64 / seen.shots.len() as f64,
        cpu_time * 1e3,
        rays as f64 / cpu_time * 1e-6,
        1.0 / clock,
        new_memory * 1e3,
        cast_axes_only(scene, scanner, world_from_sensor, seconds),
    );
}

/// Measures the sweeps of a preset in a scene file, each into new memory.
fn measure_file(file: &Path, name: &str, seconds: f64) {
    let loaded = etendue_config::scene::load(file).expect("a scene");
    let scanner = etendue_config::sensor::preset(name)
        .expect("a preset")
        .lidar;
    let world = World::at_wavelength(&loaded.scene, scanner.wavelength).expect("its materials");
    let world_from_sensor = loaded.sensor.expect("a pose").world_from_sensor;
    let [cpu_time, _] = timed(seconds, |sweep| {
        let settings = SweepSettings {
            sweep,
            ..SweepSettings::default()
        };
        std::hint::black_box(simulate(&world, &scanner, &settings, |_| world_from_sensor));
    });
    println!("{name} {:.3} ms CPU time per sweep", cpu_time * 1e3);
}

/// CPU time and wall time of a sweep, s.
fn timed(seconds: f64, mut sweep: impl FnMut(u32)) -> [f64; 2] {
    sweep(0);
    let start = Instant::now();
    let before = cpu_seconds();
    let mut sweeps = 0;
    while start.elapsed().as_secs_f64() < seconds || sweeps < 4 {
        sweeps += 1;
        sweep(sweeps);
    }
    [cpu_seconds() - before, start.elapsed().as_secs_f64()].map(|all| all / f64::from(sweeps))
}

/// Casts the axes of all beams in batches, as the pipeline does.
fn cast_axes_only(
    scene: &Scene,
    scanner: &Lidar,
    world_from_sensor: Isometry3<f64>,
    seconds: f64,
) -> String {
    let mut scratch = CastScratch::new();
    let shots = scanner.shots(0);
    let column = 4 * scanner.channels.len();
    let batches: Vec<Vec<RayTile>> = shots
        .chunks(512_usize.div_ceil(column) * column)
        .map(|shots| {
            let directions: Vec<_> = shots.iter().map(|shot| shot.direction()).collect();
            let order = tile_order(&directions).into_iter();
            let ray =
                |shot: usize| Ray::new(world_from_sensor * shots[shot].origin, directions[shot]);
            let rays: Vec<Ray> = order.map(ray).collect();
            rays.chunks(16).map(RayTile::of).collect()
        })
        .collect();
    let mut hits = Vec::new();
    let [cpu_time, _] = timed(seconds, |_| {
        for rays in &batches {
            hits.resize(rays.len(), HitTile::NONE);
            scene.closest_hits_of_tiles(rays, &mut hits, &mut scratch);
        }
    });
    format!("casting alone {:.2} ms", cpu_time * 1e3)
}

/// CPU time of all threads of this process, s, in steps of 10 ms.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .expect("fields")
        .split_whitespace()
        .collect();
    let ticks = |field: usize| fields[field].parse::<f64>().expect("ticks");
    (ticks(11) + ticks(12)) / 100.0
}

/// Writes vertices and triangles of the scene, and the rays of one sweep, in the format of `others.py`.
fn dump(folder: &Path, bench_scene: &BenchScene, scanner: &Lidar) {
    let write = |part: &str, bytes: Vec<u8>| {
        let name = format!("{}-{}.{part}", bench_scene.name, scanner.name);
        std::fs::write(folder.join(name), bytes).expect("writes");
    };
    let floats = |values: Vec<f64>| {
        values
            .iter()
            .flat_map(|v| (*v as f32).to_le_bytes())
            .collect()
    };
    let vertices = bench_scene.mesh.vertices.iter();
    write(
        "vertices",
        floats(vertices.flat_map(|v| [v.x, v.y, v.z]).collect()),
    );
    let corners = bench_scene.mesh.triangles.iter().flatten();
    write(
        "triangles",
        corners.flat_map(|corner| corner.to_le_bytes()).collect(),
    );
    let shots = scanner.shots(0);
    let rays = shots.iter().flat_map(|shot| {
        let o = bench_scene.sensor + shot.origin.coords;
        let d = shot.direction();
        [o.x, o.y, o.z, d.x, d.y, d.z]
    });
    write("rays", floats(rays.collect()));
}

//! Rays per second of etendue's ray caster and of other engines, on the same rays, round by round.
//!
//! `bench-rays [ROUNDS] [SCENE...]`: medians of the rounds, CPU seconds of one thread; ratios are
//! medians over rounds, and of the best rounds. Environment variables: DUMP=FOLDER writes scenes and rays for
//! `others.py` instead; ENGINES="a;b" selects engines by name; AGREE=1000 compares that number of rays
//! with a test of every triangle instead.

mod agreement;
mod embree;
mod others;
mod rays;
mod scenes;

use etendue_physics::surface::Material;
use etendue_scene::{
    Hit, HitPacket, Isa, MaterialId, Mesh, MeshId, NamedMaterial, Object, ObjectId, Ray, RayPacket,
    Scene, SceneBuilder,
};
use scenes::Place;
use std::hint::black_box;
use std::sync::Arc;

type Tally = (usize, f64);
type Engine<'a> = (&'static str, Box<dyn FnMut() -> Tally + 'a>);

fn main() {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build_global()
        .expect("the first pool");
    let mut arguments = std::env::args().skip(1);
    let rounds: usize = arguments
        .next()
        .map_or(7, |a| a.parse().expect("number of rounds"));
    let wanted: Vec<String> = arguments.collect();
    let data = std::env::var_os("ETENDUE_DATA").unwrap_or_else(|| "../shared/data".into());
    let house = std::path::Path::new(&data).join("mesh_aws_worlds/small_house_visual.ply");
    let want = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    if std::env::var_os("DUMP").is_none() {
        println!("new poses of a hundred objects: {:.3} ms", place_a_hundred());
    }
    for (name, make) in [
        (
            "room",
            Box::new(|| Some(scenes::room())) as Box<dyn Fn() -> Option<Place>>,
        ),
        ("city", Box::new(|| Some(scenes::city()))),
        ("big", Box::new(|| Some(scenes::big()))),
        ("house", Box::new(move || scenes::house(&house))),
        ("huge", Box::new(|| Some(scenes::huge()))),
    ] {
        if want(name) {
            match make() {
                Some(place) => bench(place, rounds),
                None => println!("{name}: skipped, no mesh"),
            }
        }
    }
}

fn scene_of(mesh: Mesh) -> Scene {
    let all = Object {
        name: "all".into(),
        mesh: MeshId(0),
        world_from_object: nalgebra::Isometry3::identity(),
        material: MaterialId(0),
        mask: u32::MAX,
    };
    scene_with(mesh, vec![all])
}

fn scene_with(mesh: Mesh, objects: Vec<Object>) -> Scene {
    SceneBuilder {
        meshes: vec![Arc::new(mesh)],
        objects,
        materials: vec![NamedMaterial {
            name: "any".into(),
            material: Material { lobes: vec![] },
        }],
    }
    .build()
    .expect("a good mesh")
}

/// CPU seconds of this thread.
fn cpu() -> f64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU seconds of all threads.
fn process_cpu() -> f64 {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn clock(id: libc::clockid_t) -> f64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    unsafe { libc::clock_gettime(id, &raw mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = process_cpu();
    let result = work();
    (result, process_cpu() - start)
}

fn packet_tally(scene: &Scene, packets: &[RayPacket]) -> Tally {
    let mut hits = HitPacket::default();
    let (mut count, mut sum) = (0, 0.0);
    for packet in packets {
        scene.closest_packet(packet, &mut hits);
        for i in 0..16 {
            if hits.object[i] == 0 {
                count += 1;
                sum += f64::from(hits.distance[i]);
            }
        }
    }
    (count, sum)
}

fn single_tally(scene: &Scene, rays: &[Ray]) -> Tally {
    let mut tally = (0, 0.0);
    for ray in rays {
        if let Some(hit) = scene.closest_hit(ray) {
            tally.0 += 1;
            tally.1 += hit.distance;
        }
    }
    tally
}

fn batch_tally(scene: &Scene, rays: &[Ray], hits: &mut Vec<Option<Hit>>) -> Tally {
    scene.closest_hits(rays, hits);
    let met = hits.iter().flatten();
    (met.clone().count(), met.map(|h| h.distance).sum())
}

fn bench(mut place: Place, rounds: usize) {
    for v in &mut place.mesh.vertices {
        *v = v.map(|x| f64::from(x as f32));
    }
    if let Some(folder) = std::env::var_os("DUMP") {
        return dump(std::path::Path::new(&folder), &place);
    }
    println!("\n{}: {} triangles", place.name, place.mesh.triangles.len());
    if let Ok(count) = std::env::var("AGREE") {
        let count = count.parse().expect("number of rays");
        let rays = rays::spin(place.sensor, 15.0);
        let mut scene = scene_of(place.mesh);
        return println!("{}", agreement::count(&mut scene, &rays, count));
    }
    let (ours, own_build) = timed(|| scene_of(place.mesh.clone()));
    let (robust, embree_build) = timed(|| embree::scene(&place.mesh, true));
    let fast = embree::scene(&place.mesh, false);
    println!(
        "trees: {:.1} bytes per triangle",
        ours.tree_bytes() as f64 / place.mesh.triangles.len() as f64
    );
    println!(
        "build, CPU s: etendue {own_build:.3}, Embree {embree_build:.3}, ratio {:.2}",
        own_build / embree_build
    );
    let still = rays::spin(place.sensor, 0.0);
    let moving = rays::spin(place.sensor, 15.0);
    let [still_packets, moving_packets] = [&still, &moving].map(|r| rays::packets(r));
    let with = |isa: Isa| {
        let mut scene = ours.clone();
        scene.set_isa(isa);
        scene
    };
    let [avx512, avx2, plain] = [Isa::Avx512, Isa::Avx2, Isa::Plain].map(with);
    let (s, m) = (&still_packets, &moving_packets);
    let obvhs = others::Obvhs::new(&place.mesh);
    let parry = (place.mesh.triangles.len() < 5_000_000).then(|| others::Parry::new(&place.mesh));
    let kept = std::cell::RefCell::new(vec![]);
    let mut engines: Vec<Engine> = vec![
        (
            "Embree robust, packets",
            Box::new(|| embree::trace_packets(&robust, s)),
        ),
        (
            "Embree robust, packets, moving",
            Box::new(|| embree::trace_packets(&robust, m)),
        ),
        (
            "Embree fast, packets",
            Box::new(|| embree::trace_packets(&fast, s)),
        ),
        (
            "Embree robust, single",
            Box::new(|| embree::trace_single(&robust, s)),
        ),
        (
            "etendue avx512, packets",
            Box::new(|| packet_tally(&avx512, s)),
        ),
        (
            "etendue avx512, packets, moving",
            Box::new(|| packet_tally(&avx512, m)),
        ),
        ("etendue avx2, packets", Box::new(|| packet_tally(&avx2, s))),
        (
            "etendue plain, packets",
            Box::new(|| packet_tally(&plain, s)),
        ),
        (
            "etendue avx512, single f64",
            Box::new(|| single_tally(&avx512, &still)),
        ),
        (
            "etendue avx2, single f64",
            Box::new(|| single_tally(&avx2, &still)),
        ),
        (
            "etendue avx512, batch f64",
            Box::new(|| batch_tally(&avx512, &still, &mut kept.borrow_mut())),
        ),
        (
            "etendue avx512, batch f64, moving",
            Box::new(|| batch_tally(&avx512, &moving, &mut kept.borrow_mut())),
        ),
        ("obvhs BVH2, single", Box::new(|| obvhs.trace(s))),
        (
            "parry3d, single",
            Box::new(|| parry.as_ref().map_or((0, 0.0), |p| p.trace(s))),
        ),
    ];
    if let Ok(only) = std::env::var("ENGINES") {
        engines.retain(|(name, _)| only.split(';').any(|part| name.contains(part)));
    }
    let mut seconds = vec![vec![]; engines.len()];
    let mut tallies = vec![(0, 0.0); engines.len()];
    for _ in 0..rounds {
        for (i, (_, engine)) in engines.iter_mut().enumerate() {
            let start = cpu();
            tallies[i] = black_box(engine());
            seconds[i].push(cpu() - start);
        }
    }
    println!(
        "two threads: {:.2} of one (wall)",
        threads(&avx512, &still, rounds)
    );
    for (i, (name, _)) in engines.iter().enumerate() {
        let kind = if name.contains("single") {
            "Embree robust, single"
        } else {
            "Embree robust, packets"
        };
        let base = engines.iter().position(|(n, _)| *n == kind);
        println!(
            "{name:34} {:7.2} Mrays/s  x {:5.2} (best {:5.2})  hits {} mean {:.6}",
            still.len() as f64 / median(seconds[i].clone()) * 1e-6,
            base.map_or(f64::NAN, |base| ratio(&seconds[base], &seconds[i])),
            base.map_or(f64::NAN, |base| least(&seconds[base]) / least(&seconds[i])),
            tallies[i].0,
            tallies[i].1 / tallies[i].0 as f64,
        );
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The median over rounds of the ratio of `base`'s time to the engine's, in which disturbances common to both in a
/// round cancel.
fn ratio(base: &[f64], engine: &[f64]) -> f64 {
    median(base.iter().zip(engine).map(|(b, e)| b / e).collect())
}

/// Writes the input of `others.py`.
fn dump(folder: &std::path::Path, place: &Place) {
    let write = |part: &str, bytes: Vec<u8>| {
        let file = folder.join(format!("{}.{part}", place.name));
        std::fs::write(file, bytes).expect("a folder to write to");
    };
    let floats = |all: &mut dyn Iterator<Item = f64>| -> Vec<u8> {
        all.flat_map(|x| (x as f32).to_le_bytes()).collect()
    };
    let vertices = place.mesh.vertices.iter();
    write(
        "vertices",
        floats(&mut vertices.flat_map(|v| [v.x, v.y, v.z])),
    );
    let numbers = place.mesh.triangles.iter().flatten();
    write("triangles", numbers.flat_map(|v| v.to_le_bytes()).collect());
    let rays = rays::spin(place.sensor, 0.0);
    let numbers = rays.iter().flat_map(|r| {
        [
            r.origin.x,
            r.origin.y,
            r.origin.z,
            r.direction.x,
            r.direction.y,
            r.direction.z,
        ]
    });
    write("rays", floats(&mut { numbers }));
}

/// Milliseconds for new poses of a hundred objects.
fn place_a_hundred() -> f64 {
    let mut mesh = Mesh::default();
    mesh.vertices = scenes::room().mesh.vertices;
    mesh.triangles = scenes::room().mesh.triangles;
    let objects = (0..100)
        .map(|i| Object {
            name: format!("object {i}"),
            mesh: MeshId(0),
            world_from_object: nalgebra::Isometry3::translation(f64::from(i) * 9.0, 0.0, 0.0),
            material: MaterialId(0),
            mask: u32::MAX,
        })
        .collect();
    let mut scene = scene_with(mesh, objects);
    let mut times: Vec<f64> = (0..200)
        .map(|round| {
            let poses: Vec<_> = (0..100)
                .map(|i| {
                    let x = f64::from(i) * 9.0 + f64::from(round) * 0.01;
                    (ObjectId(i), nalgebra::Isometry3::translation(x, 0.1, 0.0))
                })
                .collect();
            let start = cpu();
            scene.set_poses(&poses);
            (cpu() - start) * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[100]
}

/// Wall-clock speed of batch casting on two threads relative to one.
fn threads(scene: &Scene, rays: &[Ray], rounds: usize) -> f64 {
    let pools = [1, 2].map(|n| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build()
            .expect("a pool")
    });
    let mut ratios: Vec<f64> = (0..rounds)
        .map(|_| {
            let mut hits = vec![];
            let [one, two] = pools.each_ref().map(|pool| {
                pool.install(|| {
                    let start = std::time::Instant::now();
                    for _ in 0..4 {
                        black_box(batch_tally(scene, rays, &mut hits));
                    }
                    start.elapsed().as_secs_f64()
                })
            });
            one / two
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[rounds / 2]
}

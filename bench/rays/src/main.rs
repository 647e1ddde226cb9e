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

use embree3::Scene as EmbreeScene;
use etendue_raycast::{
    CastScratch, Hit, HitTile, Instance, Mesh, MeshId, ObjectId, Ray, RayCaster, RayTile,
};
use etendue_simd::Isa;
use nalgebra::Isometry3;
use rays::RayPacket;
use scenes::BenchScene;
use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Arc;

/// Number of hits, and the sum of their distances, m.
type Tally = (usize, f64);
/// An engine's name, and a cast of all rays.
type Engine<'a> = (String, Box<dyn FnMut() -> Tally + 'a>);

fn main() {
    // One thread.
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build_global()
        .expect("the first pool");

    // Arguments.
    let mut arguments = std::env::args().skip(1);
    let rounds: usize = arguments
        .next()
        .map_or(7, |a| a.parse().expect("number of rounds"));
    let selected: Vec<String> = arguments.collect();
    let data = std::env::var_os("ETENDUE_DATA").unwrap_or_else(|| "../../../shared/data".into());
    let house = std::path::Path::new(&data).join("mesh_aws_worlds/small_house_visual.ply");
    let is_selected = |name: &str| selected.is_empty() || selected.iter().any(|w| w == name);
    if std::env::var_os("DUMP").is_none() {
        println!(
            "new poses of a hundred objects: {:.3} ms",
            pose_update_of_a_hundred()
        );
    }

    // Measure each scene that is selected.
    for (name, make) in [
        (
            "room",
            Box::new(|| Some(scenes::room())) as Box<dyn Fn() -> Option<BenchScene>>,
        ),
        ("city", Box::new(|| Some(scenes::city()))),
        ("big", Box::new(|| Some(scenes::big()))),
        ("house", Box::new(move || scenes::house(&house))),
        ("huge", Box::new(|| Some(scenes::huge()))),
    ] {
        if is_selected(name) {
            match make() {
                Some(bench_scene) => bench(bench_scene, rounds),
                None => println!("{name}: skipped, no mesh"),
            }
        }
    }
}

/// A ray caster of one mesh.
fn caster_of(mesh: Mesh) -> RayCaster {
    let instance = Instance::new(MeshId(0), Isometry3::identity());
    RayCaster::new(vec![Arc::new(mesh)], &[instance]).expect("a valid mesh")
}

/// CPU seconds of this thread.
fn cpu() -> f64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU seconds of all threads.
fn process_cpu() -> f64 {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Seconds of a clock of the operating system.
fn clock(id: libc::clockid_t) -> f64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    unsafe { libc::clock_gettime(id, &raw mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// The result of a function, and its CPU time, s.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = process_cpu();
    let result = work();
    (result, process_cpu() - start)
}

/// Casts tiles: the number of hits and the sum of their distances.
fn tile_tally(
    caster: &RayCaster,
    tiles: &[RayTile],
    hits: &mut Vec<HitTile>,
    scratch: &mut CastScratch,
) -> Tally {
    hits.resize(tiles.len(), HitTile::NONE);
    caster.closest_hits_of_tiles(tiles, hits, scratch);
    let distances = hits.iter().flat_map(|tile| tile.distance);
    let distances = distances.filter(|distance| distance.is_finite());
    distances.fold((0, 0.0), |(count, sum), distance| {
        (count + 1, sum + distance)
    })
}

/// [`tile_tally`] of rays that are cast one by one.
fn single_tally(caster: &RayCaster, rays: &[Ray], scratch: &mut CastScratch) -> Tally {
    let mut tally = (0, 0.0);
    for ray in rays {
        if let Some(hit) = caster.closest_hit(ray, scratch) {
            tally.0 += 1;
            tally.1 += hit.distance;
        }
    }
    tally
}

/// [`tile_tally`] of a list of rays.
fn batch_tally(
    caster: &RayCaster,
    rays: &[Ray],
    hits: &mut Vec<Option<Hit>>,
    scratch: &mut CastScratch,
) -> Tally {
    caster.closest_hits(rays, hits, scratch);
    let met = hits.iter().flatten();
    (met.clone().count(), met.map(|h| h.distance).sum())
}

/// Measures the engines in one scene.
fn bench(mut bench_scene: BenchScene, rounds: usize) {
    // Round the vertices: other engines store them in `f32`.
    for v in &mut bench_scene.mesh.vertices {
        *v = v.map(|x| f64::from(x as f32));
    }
    if let Some(folder) = std::env::var_os("DUMP") {
        return dump(std::path::Path::new(&folder), &bench_scene);
    }
    println!(
        "\n{}: {} triangles",
        bench_scene.name,
        bench_scene.mesh.triangles.len()
    );
    if let Ok(count) = std::env::var("AGREE") {
        let count = count.parse().expect("number of rays");
        let rays = rays::spin(bench_scene.sensor, 15.0);
        let caster = caster_of(bench_scene.mesh);
        return println!("{}", agreement::count(&caster, &rays, count));
    }

    // Build the structures of all engines.
    let structures = Structures::build(&bench_scene.mesh);
    let rays = BenchRays::around(&bench_scene);
    let casters: Vec<(Isa, RayCaster)> = Isa::available()
        .into_iter()
        .map(|isa| (isa, structures.own.clone().with_isa(isa)))
        .collect();
    let memory = Memory::default();
    let mut engines = other_engines(&structures, &rays);
    for (isa, caster) in &casters {
        engines.extend(own_engines(*isa, caster, &rays, &memory));
    }
    if let Ok(only) = std::env::var("ENGINES") {
        engines.retain(|(name, _)| only.split(';').any(|part| name.contains(part)));
    }

    // Measure.
    let results = measure(engines, rounds);
    println!(
        "two threads: {:.2} of one (wall)",
        threads(&structures.own, &rays.still, rounds)
    );
    print_results(&results, rays.still.len());
}

/// The acceleration structures of all engines.
struct Structures {
    own: RayCaster,
    embree_robust: EmbreeScene<'static>,
    embree_fast: EmbreeScene<'static>,
    obvhs: others::Obvhs,
    /// None for meshes that are too large for the crate.
    parry: Option<others::Parry>,
}

impl Structures {
    /// Builds the structures, and prints the build time and memory of etendue and Embree.
    fn build(mesh: &Mesh) -> Self {
        let (own, own_build) = timed(|| caster_of(mesh.clone()));
        let (embree_robust, embree_build) = timed(|| embree::scene(mesh, true));
        println!(
            "trees: {:.1} bytes per triangle",
            own.bytes() as f64 / mesh.triangles.len() as f64
        );
        println!(
            "build, CPU s: etendue {own_build:.3}, Embree {embree_build:.3}, ratio {:.2}",
            own_build / embree_build
        );
        Self {
            own,
            embree_robust,
            embree_fast: embree::scene(mesh, false),
            obvhs: others::Obvhs::new(mesh),
            parry: (mesh.triangles.len() < 5_000_000).then(|| others::Parry::new(mesh)),
        }
    }
}

/// The rays of a spinning lidar, at rest and moving, in the forms of the engines.
struct BenchRays {
    still: Vec<Ray>,
    moving: Vec<Ray>,
    packets: Vec<RayPacket>,
    moving_packets: Vec<RayPacket>,
    tiles: Vec<RayTile>,
    moving_tiles: Vec<RayTile>,
}

impl BenchRays {
    fn around(bench_scene: &BenchScene) -> Self {
        let still = rays::spin(bench_scene.sensor, 0.0);
        let moving = rays::spin(bench_scene.sensor, 15.0);
        Self {
            packets: rays::packets(&still),
            moving_packets: rays::packets(&moving),
            tiles: rays::tiles(&still),
            moving_tiles: rays::tiles(&moving),
            still,
            moving,
        }
    }
}

/// Memory that etendue's queries reuse.
#[derive(Default)]
struct Memory {
    scratch: RefCell<CastScratch>,
    hits: RefCell<Vec<Option<Hit>>>,
    tile_hits: RefCell<Vec<HitTile>>,
}

/// The other engines.
fn other_engines<'a>(structures: &'a Structures, rays: &'a BenchRays) -> Vec<Engine<'a>> {
    let Structures {
        embree_robust,
        embree_fast,
        obvhs,
        parry,
        ..
    } = structures;
    vec![
        (
            "Embree robust, packets".into(),
            Box::new(|| embree::trace_packets(embree_robust, &rays.packets)),
        ),
        (
            "Embree robust, packets, moving".into(),
            Box::new(|| embree::trace_packets(embree_robust, &rays.moving_packets)),
        ),
        (
            "Embree fast, packets".into(),
            Box::new(|| embree::trace_packets(embree_fast, &rays.packets)),
        ),
        (
            "Embree robust, single".into(),
            Box::new(|| embree::trace_single(embree_robust, &rays.packets)),
        ),
        (
            "obvhs BVH2, single".into(),
            Box::new(|| obvhs.trace(&rays.packets)),
        ),
        (
            "parry3d, single".into(),
            Box::new(|| {
                let parry = parry.as_ref();
                parry.map_or((0, 0.0), |parry| parry.trace(&rays.packets))
            }),
        ),
    ]
}

/// The queries of etendue with one instruction set.
fn own_engines<'a>(
    isa: Isa,
    caster: &'a RayCaster,
    rays: &'a BenchRays,
    memory: &'a Memory,
) -> [Engine<'a>; 5] {
    let tiled = move |tiles: &[RayTile]| {
        let mut hits = memory.tile_hits.borrow_mut();
        tile_tally(caster, tiles, &mut hits, &mut memory.scratch.borrow_mut())
    };
    let batch = move |rays: &[Ray]| {
        let mut hits = memory.hits.borrow_mut();
        batch_tally(caster, rays, &mut hits, &mut memory.scratch.borrow_mut())
    };
    [
        (
            format!("etendue {isa}, tiles f64"),
            Box::new(move || tiled(&rays.tiles)),
        ),
        (
            format!("etendue {isa}, tiles f64, moving"),
            Box::new(move || tiled(&rays.moving_tiles)),
        ),
        (
            format!("etendue {isa}, single f64"),
            Box::new(move || single_tally(caster, &rays.still, &mut memory.scratch.borrow_mut())),
        ),
        (
            format!("etendue {isa}, batch f64"),
            Box::new(move || batch(&rays.still)),
        ),
        (
            format!("etendue {isa}, batch f64, moving"),
            Box::new(move || batch(&rays.moving)),
        ),
    ]
}

/// An engine with its CPU seconds by round, and the hits of the last.
struct Measured {
    name: String,
    seconds: Vec<f64>,
    tally: Tally,
}

/// Measures all engines in each round.
fn measure(mut engines: Vec<Engine>, rounds: usize) -> Vec<Measured> {
    let unmeasured = |(name, _): &Engine| Measured {
        name: name.clone(),
        seconds: vec![],
        tally: (0, 0.0),
    };
    let mut results: Vec<Measured> = engines.iter().map(unmeasured).collect();
    for _ in 0..rounds {
        for ((_, engine), result) in engines.iter_mut().zip(&mut results) {
            let start = cpu();
            result.tally = black_box(engine());
            result.seconds.push(cpu() - start);
        }
    }
    results
}

/// Prints the speed of each engine, alone and relative to Embree's query of the same kind.
fn print_results(results: &[Measured], rays: usize) {
    for result in results {
        let kind = if result.name.contains("single") {
            "Embree robust, single"
        } else {
            "Embree robust, packets"
        };
        let base = results.iter().find(|other| other.name == kind);
        let base = base.map(|base| &base.seconds[..]);
        let (hits, sum) = result.tally;
        println!(
            "{:34} {:7.2} Mrays/s  x {:5.2} (best {:5.2})  hits {hits} mean {:.6}",
            result.name,
            rays as f64 / median(result.seconds.clone()) * 1e-6,
            base.map_or(f64::NAN, |base| ratio(base, &result.seconds)),
            base.map_or(f64::NAN, |base| least(base) / least(&result.seconds)),
            sum / hits as f64,
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
fn dump(folder: &std::path::Path, bench_scene: &BenchScene) {
    let write = |part: &str, bytes: Vec<u8>| {
        let file = folder.join(format!("{}.{part}", bench_scene.name));
        std::fs::write(file, bytes).expect("a folder to write to");
    };
    let floats = |all: &mut dyn Iterator<Item = f64>| -> Vec<u8> {
        all.flat_map(|x| (x as f32).to_le_bytes()).collect()
    };
    let vertices = bench_scene.mesh.vertices.iter();
    write(
        "vertices",
        floats(&mut vertices.flat_map(|v| [v.x, v.y, v.z])),
    );
    let numbers = bench_scene.mesh.triangles.iter().flatten();
    write("triangles", numbers.flat_map(|v| v.to_le_bytes()).collect());
    let rays = rays::spin(bench_scene.sensor, 0.0);
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
fn pose_update_of_a_hundred() -> f64 {
    let mesh = Arc::new(scenes::room().mesh);
    let pose = |i: u32, shift: f64| Isometry3::translation(f64::from(i) * 9.0 + shift, 0.1, 0.0);
    let instances: Vec<Instance> = (0..100)
        .map(|i| Instance::new(MeshId(0), pose(i, 0.0)))
        .collect();
    let mut caster = RayCaster::new(vec![mesh], &instances).expect("a valid mesh");
    let times = (0..200).map(|round| {
        let shift = f64::from(round) * 0.01;
        let poses: Vec<_> = (0..100).map(|i| (ObjectId(i), pose(i, shift))).collect();
        let start = cpu();
        caster.set_poses(&poses);
        (cpu() - start) * 1e3
    });
    median(times.collect())
}

/// Wall-clock speed of batch casting on two threads relative to one.
fn threads(caster: &RayCaster, rays: &[Ray], rounds: usize) -> f64 {
    let pools = [1, 2].map(|n| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build()
            .expect("a pool")
    });
    let mut ratios: Vec<f64> = (0..rounds)
        .map(|_| {
            let mut hits = vec![];
            let mut scratch = CastScratch::new();
            let [one, two] = pools.each_ref().map(|pool| {
                pool.install(|| {
                    let start = std::time::Instant::now();
                    for _ in 0..4 {
                        black_box(batch_tally(caster, rays, &mut hits, &mut scratch));
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

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

use etendue_raycast::{
    CastScratch, Hit, HitTile, Instance, Mesh, MeshId, ObjectId, Ray, RayCaster, RayTile,
};
use etendue_simd::Isa;
use nalgebra::Isometry3;
use scenes::Place;
use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Arc;

type Tally = (usize, f64);
type Engine<'a> = (String, Box<dyn FnMut() -> Tally + 'a>);

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
    distances.fold((0, 0.0), |(count, sum), distance| (count + 1, sum + distance))
}

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
        let caster = caster_of(place.mesh);
        return println!("{}", agreement::count(&caster, &rays, count));
    }
    let (ours, own_build) = timed(|| caster_of(place.mesh.clone()));
    let (robust, embree_build) = timed(|| embree::scene(&place.mesh, true));
    let fast = embree::scene(&place.mesh, false);
    println!(
        "trees: {:.1} bytes per triangle",
        ours.bytes() as f64 / place.mesh.triangles.len() as f64
    );
    println!(
        "build, CPU s: etendue {own_build:.3}, Embree {embree_build:.3}, ratio {:.2}",
        own_build / embree_build
    );
    let still = rays::spin(place.sensor, 0.0);
    let moving = rays::spin(place.sensor, 15.0);
    let packets = rays::packets(&still);
    let moving_packets = rays::packets(&moving);
    let tiles = rays::tiles(&still);
    let moving_tiles = rays::tiles(&moving);
    let obvhs = others::Obvhs::new(&place.mesh);
    let parry = (place.mesh.triangles.len() < 5_000_000).then(|| others::Parry::new(&place.mesh));

    // Casters with every instruction set of this processor, and memory for their hits.
    let casters: Vec<(Isa, RayCaster)> = Isa::available()
        .into_iter()
        .map(|isa| (isa, ours.clone().with_isa(isa)))
        .collect();
    let scratch = RefCell::new(CastScratch::new());
    let kept = RefCell::new(vec![]);
    let kept_tiles = RefCell::new(vec![]);
    let (scratch, kept, kept_tiles) = (&scratch, &kept, &kept_tiles);

    // The other engines.
    let mut engines: Vec<Engine> = vec![
        (
            "Embree robust, packets".into(),
            Box::new(|| embree::trace_packets(&robust, &packets)),
        ),
        (
            "Embree robust, packets, moving".into(),
            Box::new(|| embree::trace_packets(&robust, &moving_packets)),
        ),
        (
            "Embree fast, packets".into(),
            Box::new(|| embree::trace_packets(&fast, &packets)),
        ),
        (
            "Embree robust, single".into(),
            Box::new(|| embree::trace_single(&robust, &packets)),
        ),
        (
            "obvhs BVH2, single".into(),
            Box::new(|| obvhs.trace(&packets)),
        ),
        (
            "parry3d, single".into(),
            Box::new(|| parry.as_ref().map_or((0, 0.0), |p| p.trace(&packets))),
        ),
    ];

    // etendue.
    for (isa, caster) in &casters {
        let tiled = |tiles: &[RayTile]| {
            tile_tally(caster, tiles, &mut kept_tiles.borrow_mut(), &mut scratch.borrow_mut())
        };
        let batch = |rays: &[Ray]| {
            batch_tally(caster, rays, &mut kept.borrow_mut(), &mut scratch.borrow_mut())
        };
        let (tiles, moving_tiles, still, moving) = (&tiles, &moving_tiles, &still, &moving);
        let own: [Engine; 5] = [
            (
                format!("etendue {isa}, tiles f64"),
                Box::new(move || tiled(tiles)),
            ),
            (
                format!("etendue {isa}, tiles f64, moving"),
                Box::new(move || tiled(moving_tiles)),
            ),
            (
                format!("etendue {isa}, single f64"),
                Box::new(move || single_tally(caster, still, &mut scratch.borrow_mut())),
            ),
            (
                format!("etendue {isa}, batch f64"),
                Box::new(move || batch(still)),
            ),
            (
                format!("etendue {isa}, batch f64, moving"),
                Box::new(move || batch(moving)),
            ),
        ];
        engines.extend(own);
    }
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
        threads(&ours, &still, rounds)
    );
    for (i, (name, _)) in engines.iter().enumerate() {
        let kind = if name.contains("single") {
            "Embree robust, single"
        } else {
            "Embree robust, packets"
        };
        let base = engines.iter().position(|(n, _)| n == kind);
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

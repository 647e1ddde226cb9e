//! Time of derivatives, solver iterations and a global search on one core: 682 beams of three rays
//! in the arena, with an unknown planar pose of the sensor.

use criterion::{Criterion, criterion_group, criterion_main};
use etendue_estimate::fit::{CoarseSearch, coarse_search};
use etendue_estimate::manifold::Variable;
use etendue_estimate::solve::{LeastSquares, Loss, Solver, SolverLimits};
use etendue_experiments::arena::{LocaliseSettings, TrackSettings, localise, urg_04lx};
use nalgebra::{Isometry2, Vector2};
use std::hint::black_box;

fn pose(x: f64, y: f64, yaw: f64) -> Vec<Variable> {
    vec![Variable::Planar(Isometry2::new(Vector2::new(x, y), yaw))]
}

fn derivatives(criterion: &mut Criterion) {
    for (name, settings) in [
        ("arena", LocaliseSettings::empty()),
        ("arena with mirrors and glass", LocaliseSettings::complex()),
    ] {
        let problem = settings.problem(&urg_04lx()).expect("a problem");
        let state = pose(0.05, 0.02, 0.1);
        criterion.bench_function(&format!("{name}: forward"), |bencher| {
            bencher.iter(|| black_box(problem.residuals(&state)));
        });
        criterion.bench_function(&format!("{name}: Jacobian of the pose"), |bencher| {
            bencher.iter(|| black_box(problem.linearize(&state)));
        });
        let once = Solver {
            limits: SolverLimits {
                iterations: 1,
                ..SolverLimits::default()
            },
            ..settings.solver
        };
        criterion.bench_function(&format!("{name}: one iteration"), |bencher| {
            bencher.iter(|| black_box(once.solve(&problem, state.clone())));
        });
    }
}

fn experiments(criterion: &mut Criterion) {
    let lidar = urg_04lx();
    let settings = LocaliseSettings::empty();
    let start = Isometry2::rotation(60.0_f64.to_radians());
    criterion.bench_function("localise from 60 degrees", |bencher| {
        bencher.iter(|| black_box(localise(&lidar, &settings, start)));
    });
    let tracked = TrackSettings::default().problem(&lidar).expect("a problem");
    let at = tracked.model.start();
    criterion.bench_function("Jacobian of a mirror's pose with its edges", |bencher| {
        bencher.iter(|| black_box(tracked.linearize(&at)));
    });
}

fn global_search(criterion: &mut Criterion) {
    let problem = LocaliseSettings::complex()
        .problem(&urg_04lx())
        .expect("a problem");
    let settings = CoarseSearch {
        every: 16,
        loss: Loss::Cauchy { scale: 0.1 },
        gate: 1.0,
        keep: 10,
        apart: 0.3,
    };
    let poses: Vec<_> = (0..10_000)
        .map(f64::from)
        .map(|i| {
            pose(
                1.7 * (0.618 * i).fract() - 0.85,
                0.8 * (0.414 * i).fract() - 0.4,
                0.01 * i,
            )
        })
        .collect();
    let mut group = criterion.benchmark_group("global search");
    group.sample_size(10);
    group.bench_function("10,000 poses, every 16th beam", |bencher| {
        bencher.iter(|| black_box(coarse_search(&problem, poses.iter().cloned(), &settings)));
    });
    group.finish();
}

fn one_core(criterion: &mut Criterion) {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global()
        .expect("the first pool of this process");
    derivatives(criterion);
    experiments(criterion);
    global_search(criterion);
}

criterion_group!(benches, one_core);
criterion_main!(benches);

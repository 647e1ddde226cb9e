use etendue_estimate::experiments::*;
use etendue_estimate::solve::*;
use nalgebra::*;
use std::time::Instant;
fn main() {
    let lidar = urg_04lx();
    let t = Instant::now();
    let s = TrackSettings::default();
    let rows = track_mirror_many(&lidar, &s, &s.random_starts(12)).unwrap();
    for r in &rows {
        println!(
            "start {:.2}: {:?} {} {}",
            r.start_error, r.error, r.iterations, r.cost
        );
    }
    println!("track {:?}", t.elapsed());
    let t = Instant::now();
    for set in [
        LocaliseSettings::empty(),
        LocaliseSettings::with_box(),
        LocaliseSettings::complex(),
    ] {
        let tw = localise_anywhere(&lidar, &set).unwrap();
        println!(
            "anywhere {:?}: {} twins {:?}; {} others best {:?}",
            t.elapsed(),
            tw.solutions.len(),
            tw.solutions
                .iter()
                .map(|s| (
                    pose_error(&first_pose(&s.state).unwrap(), &set.truth),
                    s.cost
                ))
                .collect::<Vec<_>>(),
            tw.others.len(),
            tw.others.first().map(|s| s.cost)
        );
    }
    let set = LocaliseSettings::complex();
    let starts: Vec<_> = (0..20)
        .map(|i| {
            let mut st = etendue_physics::Stream::new(3, 0, 0, i, etendue_physics::Purpose::Search);
            let mut u = || 2.0 * st.uniform() - 1.0;
            Isometry2::new(Vector2::new(0.15 * u(), 0.15 * u()), 0.26 * u())
        })
        .collect();
    for (name, set) in [
        ("gnc", set.clone()),
        (
            "cauchy",
            LocaliseSettings {
                solver: Solver {
                    continuation: None,
                    ..set.solver
                },
                ..set.clone()
            },
        ),
        (
            "squared",
            LocaliseSettings {
                solver: Solver::default(),
                ..set.clone()
            },
        ),
    ] {
        let rows = localise_many(&lidar, &set, &starts).unwrap();
        println!(
            "complex {name}: {} of 20; {:?}",
            rows.iter().filter(|r| r.error < 1e-3).count(),
            rows.iter()
                .map(|r| format!("{:.1e}/{}", r.error, r.errors.len()))
                .collect::<Vec<_>>()
        );
    }
    for sigma in [0.003, 0.01, 0.03] {
        let set = LocaliseSettings {
            sigma,
            ..LocaliseSettings::empty()
        };
        println!(
            "{:?}",
            localise_noise(
                &lidar,
                &set,
                Isometry2::new(Vector2::zeros(), 60f64.to_radians()),
                40
            )
            .unwrap()
        );
    }
    for (name, set, start) in [
        (
            "empty",
            LocaliseSettings::empty(),
            Isometry2::new(Vector2::zeros(), 60f64.to_radians()),
        ),
        (
            "complex",
            LocaliseSettings::complex(),
            Isometry2::new(Vector2::new(0.1, 0.1), 10f64.to_radians()),
        ),
    ] {
        for sigma in [0.0, 0.01] {
            let t = Instant::now();
            let p = set.problem(&lidar).unwrap();
            let rows = run_baselines(&p, &start, &set.truth, sigma, 7);
            let ours = localise(
                &lidar,
                &LocaliseSettings {
                    sigma,
                    ..set.clone()
                },
                start,
            )
            .unwrap();
            println!(
                "baselines {name} {sigma} {:?} ours {:.2e}",
                t.elapsed(),
                ours.error
            );
            for r in rows {
                println!(
                    "  {} default {:.3e} tuned {:.3e} ({} m, keep {}, {} nn, cell {})",
                    r.method.name(),
                    r.default_error,
                    r.tuned_error,
                    r.tuned.max_distance,
                    r.tuned.keep,
                    r.tuned.neighbours,
                    r.tuned.resolution
                );
            }
        }
    }
    for (name, set) in [
        (
            "5 unknowns",
            BoardSettings {
                white_known: false,
                ..BoardSettings::default()
            },
        ),
        ("white known", BoardSettings::default()),
        (
            "three",
            BoardSettings {
                distances: vec![0.5, 0.9, 1.6],
                ..BoardSettings::default()
            },
        ),
        (
            "exchanged",
            BoardSettings {
                start: [0.8, 0.95],
                ..BoardSettings::default()
            },
        ),
        (
            "exchanged 5",
            BoardSettings {
                start: [0.1, 0.8],
                white_known: false,
                ..BoardSettings::default()
            },
        ),
    ] {
        let t = Instant::now();
        let r = checkerboard(&lidar, &set).unwrap();
        println!(
            "{name}: {:?} {} its rms {} rank {} null {:?} false {:?}",
            t.elapsed(),
            r.report.solution.log.len(),
            r.report.rms,
            r.report.uncertainty.rank(),
            r.report
                .uncertainty
                .null_directions
                .iter()
                .map(|n| &n.description)
                .collect::<Vec<_>>(),
            r.false_minimum
        );
        for row in &r.rows {
            println!("   {row:?}");
        }
        for row in &r.invariants {
            println!("   {row:?}");
        }
        println!(
            "   predicted {:?}",
            [0.5, 0.9, 1.6].map(|d| set.prediction_error(&lidar, &r, d).unwrap())
        );
    }
}

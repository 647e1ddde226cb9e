use etendue_estimate::experiments::*;
use etendue_estimate::fit::*;
use etendue_estimate::manifold::*;
use etendue_estimate::model::*;
use etendue_estimate::solve::*;
use nalgebra::*;
use std::time::Instant;
fn main() {
    let lidar = urg_04lx();
    for (name, furniture) in [
        ("empty", vec![]),
        (
            "complex",
            vec![
                Furniture::Mirror {
                    name: "mirror 1",
                    pose: [0.5, 0.35, -2.2],
                    width: 0.3,
                },
                Furniture::Mirror {
                    name: "mirror 2",
                    pose: [-0.6, -0.3, 0.7],
                    width: 0.25,
                },
                Furniture::Pane {
                    name: "pane",
                    pose: [0.55, -0.2, 0.3],
                    width: 0.3,
                },
                Furniture::Carton {
                    name: "box",
                    pose: [-0.55, 0.25, 0.4],
                    side: 0.12,
                },
            ],
        ),
    ] {
        let truth = Isometry2::identity();
        let mut model = Model::new(arena(&furniture), &lidar, vec![upright(&truth)]).unwrap();
        model.free("sensor.pose", Freedom::Planar).unwrap();
        let shots = model.predict(&model.start());
        println!(
            "{name}: {} ranges of {}",
            shots[0].iter().filter(|s| s.range().is_some()).count(),
            shots[0].len()
        );
        let scan = readings(&shots[0], 0.0, 1);
        let problem = FitProblem::new(model, &[scan]).unwrap();
        for (x, y, deg) in [
            (0.0, 0.0, 60.0f64),
            (0.0, 0.0, 80.0),
            (0.0, 0.0, -80.0),
            (0.1, 0.1, 10.0),
            (0.0, 0.0, 10.0),
        ] {
            for (lname, loss) in [
                ("squared", Loss::Squared),
                ("cauchy", Loss::Cauchy { scale: 0.05 }),
            ] {
                let start = vec![Variable::Planar(Isometry2::new(
                    Vector2::new(x, y),
                    deg.to_radians(),
                ))];
                let solver = Solver {
                    loss,
                    ..Solver::default()
                };
                let t = Instant::now();
                let s = solver.solve(&problem, start).unwrap();
                let dt = t.elapsed();
                let e: Vec<String> = s
                    .log
                    .iter()
                    .map(|i| format!("{:.1e}", pose_error(&first_pose(&i.state).unwrap(), &truth)))
                    .collect();
                println!(
                    "{x} {y} {deg} {lname}: {:.2e} in {} ({:?}) {} missing {} {dt:?} {}",
                    pose_error(&first_pose(&s.state).unwrap(), &truth),
                    s.log.len(),
                    s.stop,
                    s.cost,
                    s.residuals.missing,
                    e.join(" ")
                );
            }
        }
        let start = problem.model.start();
        let n = 200;
        let t = Instant::now();
        for _ in 0..n {
            std::hint::black_box(problem.residuals(&start));
        }
        let f = t.elapsed() / n;
        let t = Instant::now();
        for _ in 0..n {
            std::hint::black_box(problem.linearize(&start));
        }
        println!("forward {f:?} jacobian {:?}", t.elapsed() / n);
    }
}

use etendue_estimate::manifold::Manifold;
use etendue_estimate::solve::{
    Continuation, LeastSquares, Linearization, Loss, Residuals, SolveError, Solver, SolverLimits,
    SolverMethod, StopReason, WithPrior, multi_start,
};
use nalgebra::{Isometry2, Isometry3, Point2, Point3, Vector2, Vector3, Vector6};

/// Point-to-point alignment with known correspondences: $r_i = T p_i - q_i$.
struct Align {
    source: Vec<Point3<f64>>,
    target: Vec<Point3<f64>>,
}

impl LeastSquares for Align {
    type State = Isometry3<f64>;

    fn residuals(&self, pose: &Isometry3<f64>) -> Residuals {
        let mut residuals = Residuals::of(Vec::new());
        residuals.block = 3;
        for (p, q) in self.source.iter().zip(&self.target) {
            residuals.values.extend((pose * p - q).iter());
        }
        residuals
    }

    fn linearize(&self, pose: &Isometry3<f64>) -> Linearization {
        let rotation = pose.rotation.to_rotation_matrix();
        let mut jacobian = Vec::new();
        for p in &self.source {
            let by_rotation = -rotation.matrix() * p.coords.cross_matrix();
            for row in 0..3 {
                jacobian.extend(rotation.matrix().row(row).iter());
                jacobian.extend(by_rotation.row(row).iter());
            }
        }
        Linearization::new(self.residuals(pose), 6, jacobian)
    }
}

/// Alignment problem with a number of outliers, and the true motion.
fn align(outliers: usize) -> (Align, Isometry3<f64>) {
    let truth = Isometry3::new(Vector3::new(0.4, -0.2, 0.7), Vector3::new(0.3, 0.8, -0.5));
    let source: Vec<_> = (0..40)
        .map(f64::from)
        .map(|i| Point3::new((i * 0.7).sin(), (i * 1.3).cos(), (i * 0.37).sin() * 2.0))
        .collect();
    let mut target: Vec<_> = source.iter().map(|p| truth * p).collect();
    for q in target.iter_mut().take(outliers) {
        *q += Vector3::new(3.0, 2.0, -4.0);
    }
    (Align { source, target }, truth)
}

fn error(a: &Isometry3<f64>, b: &Isometry3<f64>) -> f64 {
    Vector6::from_vec(a.local(b)).norm()
}

#[test]
fn every_method_finds_the_pose() {
    let (problem, truth) = align(0);
    for (method, tolerance) in [
        (SolverMethod::GaussNewton, 1e-12),
        (SolverMethod::LevenbergMarquardt { damping: 1e-4 }, 1e-9),
        (SolverMethod::Lbfgs { memory: 7 }, 1e-5),
    ] {
        let solver = Solver {
            method,
            ..Solver::default()
        };
        let solution = solver
            .solve(&problem, Isometry3::identity())
            .expect("solves");
        assert!(solution.stop.converged(), "{method:?}: {}", solution.stop);
        let off = error(&solution.state, &truth);
        assert!(
            off < tolerance,
            "{method:?}: {off} after {}",
            solution.log.len()
        );
        assert_eq!(solution.log.last().map(|i| i.state), Some(solution.state));
    }
}

/// A third of the pairs are outliers of 5.4 m. They bias the squared loss, but not a redescending
/// loss with graduated non-convexity.
#[test]
fn a_redescending_loss_rejects_outliers() {
    let (problem, truth) = align(13);
    let squared = Solver::default()
        .solve(&problem, Isometry3::identity())
        .expect("solves");
    assert!(error(&squared.state, &truth) > 0.5);
    let robust = Solver {
        loss: Loss::GemanMcClure { scale: 0.05 },
        continuation: Some(Continuation {
            widest: 256.0,
            factor: 2.0,
        }),
        ..Solver::default()
    };
    let solution = robust
        .solve(&problem, Isometry3::identity())
        .expect("solves");
    // Measured: 1e-5, the remaining influence of outliers at a hundred times the scale.
    assert!(error(&solution.state, &truth) < 1e-4);
    assert_eq!(solution.log.last().map(|i| i.widening), Some(1.0));
}

#[test]
fn the_solver_is_deterministic() {
    let (problem, _) = align(5);
    let solver = Solver {
        loss: Loss::Cauchy { scale: 0.1 },
        ..Solver::default()
    };
    let once = solver
        .solve(&problem, Isometry3::identity())
        .expect("solves");
    let again = solver
        .solve(&problem, Isometry3::identity())
        .expect("solves");
    assert_eq!(once, again);
    assert!(!once.log.is_empty());
}

/// Trilateration with two beacons: the mirror image across their line has the same cost.
struct Beacons;

impl LeastSquares for Beacons {
    type State = (f64, f64);

    fn residuals(&self, at: &(f64, f64)) -> Residuals {
        let near = at.0.hypot(at.1) - 2.0_f64.sqrt();
        let far = (at.0 - 3.0).hypot(at.1) - 5.0_f64.sqrt();
        Residuals::of(vec![near, far])
    }

    fn linearize(&self, at: &(f64, f64)) -> Linearization {
        let near = at.0.hypot(at.1);
        let far = (at.0 - 3.0).hypot(at.1);
        let rows = vec![at.0 / near, at.1 / near, (at.0 - 3.0) / far, at.1 / far];
        Linearization::new(self.residuals(at), 2, rows)
    }
}

#[test]
fn multi_start_finds_two_mirror_images() {
    let starts = [(0.5, 0.6), (2.0, -1.0), (0.2, 2.0), (1.5, -0.3)];
    let found = multi_start(&Solver::default(), &Beacons, starts, 1e-6);
    assert_eq!(found.minima.len(), 2);
    for minimum in &found.minima {
        assert!((minimum.state.0 - 1.0).abs() < 1e-8 && (minimum.state.1.abs() - 1.0).abs() < 1e-8);
    }
    let ended: Vec<_> = found
        .ended
        .iter()
        .map(|e| *e.as_ref().expect("solved"))
        .collect();
    assert_eq!(ended[0], ended[2]);
    assert_eq!(ended[1], ended[3]);
    assert_ne!(ended[0], ended[1]);
}

/// Two measurements: one with a prediction everywhere and one with a prediction for x < 1 only.
struct PartialPrediction {
    /// Whether no measurement has a prediction.
    is_empty: bool,
}

impl LeastSquares for PartialPrediction {
    type State = f64;

    fn residuals(&self, x: &f64) -> Residuals {
        let mut residuals = Residuals::of(vec![0.1 * (x + 3.0)]);
        if *x < 1.0 && !self.is_empty {
            residuals.values.push(x - 0.5);
        } else {
            residuals.missing = 1;
        }
        if self.is_empty {
            residuals.values.clear();
        }
        residuals
    }

    fn linearize(&self, x: &f64) -> Linearization {
        let residuals = self.residuals(x);
        let rows = [0.1, 1.0][..residuals.values.len()].to_vec();
        Linearization::new(residuals, 1, rows)
    }
}

#[test]
fn a_missing_measurement_costs_the_gate_and_is_reported() {
    let there = PartialPrediction { is_empty: false }.residuals(&2.0);
    assert_eq!(there.missing, 1);
    assert!((there.cost(Loss::Squared, 0.7) - 0.5 * (0.25 + 0.49)).abs() < 1e-15);
    let nothing = Solver::default().solve(&PartialPrediction { is_empty: true }, 0.0);
    assert_eq!(
        nothing.expect_err("nothing"),
        SolveError::NothingPredicted { missing: 1 }
    );
}

#[test]
fn too_few_residuals_are_refused() {
    let (mut problem, _) = align(0);
    problem.source.truncate(1);
    let refused = Solver::default().solve(&problem, Isometry3::identity());
    assert_eq!(
        refused.expect_err("too few"),
        SolveError::TooFew {
            residuals: 3,
            unknowns: 6
        }
    );
}

/// Alignment of points on one line, which does not determine the rotation about it.
fn on_a_line() -> Align {
    let source: Vec<_> = (0..5)
        .map(|i| Point3::new(f64::from(i), 0.0, 0.0))
        .collect();
    Align {
        target: source.clone(),
        source,
    }
}

#[test]
fn gauss_newton_reports_a_singular_problem() {
    let start = Isometry3::new(Vector3::new(0.1, 0.2, 0.0), Vector3::zeros());
    let newton = Solver {
        method: SolverMethod::GaussNewton,
        ..Solver::default()
    };
    let refused = newton.solve(&on_a_line(), start).expect_err("singular");
    assert_eq!(refused, SolveError::Singular { iteration: 1 });
    let solution = Solver::default()
        .solve(&on_a_line(), start)
        .expect("solves");
    assert!(solution.residuals.rms() < 1e-9);
}

#[test]
fn a_prior_determines_a_null_direction() {
    let mean = Isometry3::new(Vector3::zeros(), Vector3::new(0.3, 0.0, 0.0));
    let problem = WithPrior {
        problem: on_a_line(),
        mean,
        sigma: vec![10.0; 6],
    };
    let start = Isometry3::new(Vector3::new(0.1, 0.2, 0.0), Vector3::new(-0.4, 0.1, 0.0));
    let solution = Solver::default().solve(&problem, start).expect("solves");
    assert!((solution.state.rotation.euler_angles().0 - 0.3).abs() < 1e-6);
    assert_eq!(solution.residuals.priors, 6);
}

#[test]
fn the_maximum_number_of_iterations_is_not_convergence() {
    let (problem, _) = align(0);
    let limits = SolverLimits {
        iterations: 2,
        ..SolverLimits::default()
    };
    let solver = Solver {
        limits,
        ..Solver::default()
    };
    let solution = solver
        .solve(&problem, Isometry3::identity())
        .expect("solves");
    assert_eq!(solution.stop, StopReason::Iterations);
    assert_eq!(solution.log.len(), 2);
    assert!(!solution.stop.converged());
}

/// L-BFGS differentiates at the start and needs the right Jacobian: the truth is rotated by 2.6 rad.
#[test]
fn lbfgs_follows_the_manifold_over_a_large_rotation() {
    struct Flat(Vec<Point2<f64>>, Isometry2<f64>);
    impl LeastSquares for Flat {
        type State = Isometry2<f64>;
        fn residuals(&self, pose: &Isometry2<f64>) -> Residuals {
            let seen = self.0.iter().flat_map(|p| {
                let r = pose * p - self.1 * p;
                [r.x, r.y]
            });
            Residuals {
                block: 2,
                ..Residuals::of(seen.collect())
            }
        }
        fn linearize(&self, pose: &Isometry2<f64>) -> Linearization {
            let c = pose.rotation.re;
            let s = pose.rotation.im;
            let rows = self
                .0
                .iter()
                .flat_map(|p| [c, -s, -s * p.x - c * p.y, s, c, c * p.x - s * p.y]);
            Linearization::new(self.residuals(pose), 3, rows.collect())
        }
    }
    let truth = Isometry2::new(Vector2::new(1.0, -0.5), 2.6);
    let points = vec![
        Point2::new(1.0, 0.0),
        Point2::new(0.0, 1.5),
        Point2::new(-1.0, 0.3),
    ];
    let solver = Solver {
        method: SolverMethod::Lbfgs { memory: 5 },
        ..Solver::default()
    };
    let solution = solver
        .solve(&Flat(points, truth), Isometry2::identity())
        .expect("solves");
    assert!(
        solution.residuals.rms() < 1e-6,
        "{} {}",
        solution.residuals.rms(),
        solution.stop
    );
}

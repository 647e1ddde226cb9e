use etendue_estimate::fit::{FitProblem, SoftVisibility, Softness};
use etendue_estimate::manifold::{Manifold, Variable};
use etendue_estimate::model::{Freedom, Model};
use etendue_estimate::solve::LeastSquares;
use etendue_estimate::visibility::EdgeSettings;
use etendue_experiments::arena::{Furniture, TrackSettings, arena, urg_04lx};
use etendue_physics::{Purpose, Stream};
use etendue_sensors::RangeReading;
use etendue_sensors::lidar::{Lidar, ScanPattern};
use nalgebra::{DMatrix, Isometry2, Isometry3, Vector2};

fn problem(furniture: Furniture, path: &str, lidar: &Lidar, edges: bool) -> FitProblem {
    let mut model =
        Model::new(arena(&[furniture]), lidar, vec![Isometry3::identity()]).expect("a model");
    model.free(path, Freedom::Planar).expect("a pose");
    if edges {
        model.edges = Some(EdgeSettings {
            points: 16,
            reflections: 2,
            integral: false,
        });
    }
    let scan = vec![RangeReading::Range(1.0); lidar.columns() as usize];
    FitProblem::new(model, &[scan]).expect("a problem")
}

const MIRROR: Furniture = Furniture::Mirror {
    name: "mirror",
    pose: [0.5, 0.05, 2.8],
    width: 0.3,
};
const CARTON: Furniture = Furniture::Carton {
    name: "box",
    pose: [0.3, 0.1, 0.4],
    side: 0.12,
};

/// Without edge derivatives, translation along the mirror plane is a null direction.
#[test]
fn only_edges_determine_the_position_of_a_mirror_along_its_plane() {
    let singular = |edges: bool| {
        let problem = problem(MIRROR, "objects.mirror.pose", &urg_04lx(), edges);
        let at = problem.linearize(&problem.model.start());
        let jacobian = DMatrix::from_row_slice(at.residuals.values.len(), 3, &at.jacobian);
        jacobian.svd(false, false).singular_values
    };
    let without_edges = singular(false);
    let with_edges = singular(true);
    // Measured: 19.6, 1.2, 5e-16 without; 72, 19, 3.8 with.
    assert!(
        without_edges[2] < 1e-12 * without_edges[0],
        "{without_edges}"
    );
    assert!(with_edges[2] > 1e-2 * with_edges[0], "{with_edges}");
}

/// A beam of 4,921 rays approximates the integral: an edge that moves by a fifth of the beam radius
/// crosses hundreds of rays.
#[test]
fn edge_derivatives_equal_differences_of_a_finely_sampled_beam() {
    let mut compared = 0;
    // Measured: at most 8 % (a small derivative next to a large one), otherwise 5 %, from the
    // curvature within the step of the differences.
    for (furniture, path) in [
        (MIRROR, "objects.mirror.pose"),
        (CARTON, "objects.box.pose"),
        (CARTON, "sensor.pose"),
    ] {
        let mut lidar = urg_04lx();
        lidar.beam = lidar.beam.with_rings(40);
        // Beams about the edges of the furniture.
        if let ScanPattern::Encoder(encoder) = &mut lidar.pattern {
            encoder.first += 300.0 * encoder.step;
            encoder.step *= 2.0;
            encoder.columns = 120;
        }
        let with_edges = problem(furniture, path, &lidar, true);
        let without_edges = problem(furniture, path, &lidar, false);
        let state = with_edges.model.start();
        let with = with_edges.linearize(&state);
        let without = without_edges.linearize(&state);
        for component in 0..3 {
            let step = 1.5e-4;
            let at = |by: f64| {
                let mut tangent = vec![0.0; 3];
                tangent[component] = by;
                without_edges.residuals(&state.retract(&tangent)).values
            };
            let plus = at(step);
            let minus = at(-step);
            for beam in 0..plus.len() {
                let edge =
                    with.jacobian[3 * beam + component] - without.jacobian[3 * beam + component];
                let difference = (plus[beam] - minus[beam]) / (2.0 * step);
                let jumped = (plus[beam] - minus[beam]).abs() > 0.2;
                if edge.abs() < 1.0 || jumped {
                    continue;
                }
                let error = (with.jacobian[3 * beam + component] - difference).abs();
                assert!(
                    error < 0.15 * difference.abs().max(edge.abs()),
                    "{path} by {component}, beam {beam}: {edge} {difference}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared >= 12, "{compared}");
}

/// All values are finite for every pose of the mirror.
#[test]
fn edge_derivatives_are_finite_for_every_pose_of_the_mirror() {
    let problem = problem(MIRROR, "objects.mirror.pose", &urg_04lx(), true).widened(4.0);
    for number in 0..60 {
        let mut stream = Stream::new(9, 0, 0, number, Purpose::Search);
        let mut between = |low: f64, high: f64| low + (high - low) * stream.uniform();
        let at = Vector2::new(between(0.15, 0.85), between(-0.4, 0.4));
        let state = vec![Variable::Planar(Isometry2::new(at, between(1.5, 4.7)))];
        let linearization = problem.linearize(&state);
        let bad = linearization.jacobian.iter().position(|j| !j.is_finite());
        assert_eq!(bad, None, "pose {number}: {state:?}");
        assert!(linearization.residuals.values.len() > 300);
    }
}

/// With three rays per beam, predictions change smoothly as edges move across beams, and the
/// derivatives equal central differences.
#[test]
fn derivatives_of_predictions_with_edges_equal_differences() {
    for (furniture, path) in [
        (MIRROR, "objects.mirror.pose"),
        (CARTON, "objects.box.pose"),
        (CARTON, "sensor.pose"),
    ] {
        let mut with_edges = problem(furniture, path, &urg_04lx(), true);
        if let Some(edges) = &mut with_edges.model.edges {
            edges.integral = true;
        }
        let without_edges = problem(furniture, path, &urg_04lx(), false);
        let state = with_edges.model.start();
        let with = with_edges.linearize(&state);
        let without = without_edges.linearize(&state);
        let mut compared = 0;
        let mut others = 0;
        for component in 0..3 {
            let residuals = |by: f64| {
                let mut tangent = vec![0.0; 3];
                tangent[component] = by;
                with_edges.residuals(&state.retract(&tangent)).values
            };
            let plus = residuals(1e-6);
            let minus = residuals(-1e-6);
            let rows = with.rows().zip(without.rows()).zip(plus.iter().zip(minus));
            for ((seen, unseen), (plus, minus)) in rows {
                let slope = seen[component];
                if (slope - unseen[component]).abs() < 1.0 {
                    continue;
                }
                let difference = (plus - minus) / 2e-6;
                if (slope - difference).abs() < 0.02 * slope.abs() + 0.05 {
                    compared += 1;
                } else {
                    others += 1;
                }
            }
        }
        // Measured: 11, 8 and 8 or more, none other.
        assert!(compared >= 6 && others == 0, "{path}: {compared}, {others}");
    }
}

/// The mirror at poses away from the truth. A beam whose nearest changed beam is another after the step is a
/// jump of the cost; with steps of 1 µm there is none.
#[test]
fn the_gradient_of_soft_visibility_equals_central_differences() {
    let settings = TrackSettings::from_the_start();
    let problem = settings.problem(&urg_04lx()).expect("a problem");
    let soft = SoftVisibility::new(&problem).expect("an object");
    let softness = Softness {
        visibility: 0.15,
        residual: 0.1,
    };
    for start in settings.random_starts(6) {
        let pose = Variable::boxed(&start, settings.lower, settings.upper);
        let state = vec![pose.expect("in the box")];
        let (cost, normal) = soft.normal_equations(&state, softness);
        // Measured: equal up to rounding.
        assert!((soft.cost(&state, softness) - cost).abs() < 1e-9 * cost);
        for component in 0..3 {
            let at = |by: f64| {
                let mut step = [0.0; 3];
                step[component] = by;
                soft.cost(&state.retract(&step), softness)
            };
            let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
            let slope = normal.gradient[component];
            let scale = normal.gradient.amax();
            assert!(
                (slope - difference).abs() < 1e-4 * scale,
                "{component}: {slope} {difference}"
            );
        }
    }
}

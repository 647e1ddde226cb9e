//! Fits with light that several rough surfaces reflect.

use crate::scenes::small_lidar;
use etendue_estimate::fit::{FitProblem, Goodness, Verdict, WeightedFit, refine_weighted, report};
use etendue_estimate::manifold::VariableValue;
use etendue_estimate::model::{BeamMeasurement, Freedom, Model};
use etendue_estimate::solve::{Loss, Solver};
use etendue_estimate::uncertainty::Gauge;
use etendue_experiments::arena::arena;
use etendue_sensors::lidar::{LightModel, SweepSettings, simulate};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Vector3};

/// Pose of the sensor: near a corner.
fn pose() -> Isometry3<f64> {
    Isometry3::new(Vector3::new(0.5, 0.2, 0.0), Vector3::new(0.0, 0.0, 0.3))
}

/// A scan of a phase lidar that receives light from everywhere, with its noise and all light.
fn scan() -> Vec<BeamMeasurement> {
    let lidar = small_lidar(170);
    let scene = arena(&[]).build().expect("a scene");
    let world = World::at_wavelength(&scene, lidar.wavelength).expect("a world");
    let settings = SweepSettings {
        seed: 9,
        light: LightModel::with_paths(4096),
        ..SweepSettings::default()
    };
    let sweep = simulate(&world, &lidar, &settings, |_| pose());
    let mut beams = vec![BeamMeasurement::default(); sweep.shots.len()];
    for point in &sweep.points {
        beams[point.shot as usize] = BeamMeasurement::new(Some(point.range), None);
    }
    beams
}

/// Error of a fitted position along x and y with its standard deviation, m, and the result of the tests.
fn fitted(light: LightModel) -> ([[f64; 2]; 2], Goodness) {
    let off = Isometry3::new(Vector3::new(0.03, -0.02, 0.0), Vector3::new(0.0, 0.0, 0.02));
    let model = Model::new(arena(&[]), &small_lidar(170), vec![pose() * off]).expect("a model");
    let mut model = model.in_light(light).expect("no unknown");
    model.free("sensor.pose", Freedom::Planar).expect("a pose");
    let problem = FitProblem::measured_by(model, &[scan()]).expect("a problem");
    let solver = Solver {
        loss: Loss::Cauchy { scale: 0.05 },
        ..Solver::default()
    };
    let solution = solver.solve(&problem, problem.model.start());
    let WeightedFit {
        problem,
        solver,
        solution,
    } = refine_weighted(&problem, &solver, solution.expect("solved")).expect("refined");
    let VariableValue::Planar(pose_found) = solution.state[0].value() else {
        panic!("a planar pose")
    };
    let found = report(&problem, &solver, solution, &Gauge::Free);
    let shift = pose_found.translation.vector - pose().translation.vector.xy();
    let error = pose_found.rotation.inverse() * shift;
    let covariance = &found.uncertainty.covariance;
    let errors = [0, 1].map(|axis| [error[axis], covariance[(axis, axis)].sqrt()]);
    (errors, found.goodness)
}

/// Reflected light of other walls lengthens the ranges of a phase lidar, and displaces a fit without it, which is the
/// wrong model. With paths, the stated deviations contain the random error of the paths.
#[test]
fn paths_remove_the_displacement_by_light_of_other_walls() {
    let (without, goodness) = fitted(LightModel::default());
    assert!(matches!(goodness.verdict, Verdict::WrongModel(_)));
    assert!(without[0][0].hypot(without[1][0]) > 0.02, "{without:?}");
    // Measured: 0.5 and 0.3 mm, stated 0.6 and 0.3 mm; two other scans are alike.
    let (with_paths, goodness) = fitted(LightModel::with_paths(64));
    for [error, deviation] in with_paths {
        assert!(
            error.abs() < 3.0 * deviation && deviation < 2e-3,
            "{with_paths:?}"
        );
    }
    // The only doubt is that of every fit with paths. Measured: 1.02.
    assert!((goodness.chi_square / goodness.degrees_of_freedom - 1.0).abs() < 0.4);
    let Verdict::Doubtful(reasons) = &goodness.verdict else {
        panic!("{:?}", goodness.verdict)
    };
    assert!(
        reasons.len() == 1 && reasons[0].contains("light paths"),
        "{reasons:?}"
    );
}

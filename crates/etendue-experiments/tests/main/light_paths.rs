//! Fits with light that several rough surfaces reflect.

use crate::scenes::small_lidar;
use etendue_estimate::fit::FitProblem;
use etendue_estimate::manifold::VariableValue;
use etendue_estimate::model::{BeamMeasurement, Freedom, Model};
use etendue_estimate::solve::{Loss, Solver};
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
        light: LightModel::with_paths(1024),
        ..SweepSettings::default()
    };
    let sweep = simulate(&world, &lidar, &settings, |_| pose());
    let mut beams = vec![BeamMeasurement::default(); sweep.shots.len()];
    for point in &sweep.points {
        beams[point.shot as usize] = BeamMeasurement::new(Some(point.range), None);
    }
    beams
}

/// Distance (m) of the fitted position from the truth, by the ranges of a scan.
fn error_of_fit(light: LightModel) -> f64 {
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
    let VariableValue::Planar(found) = solution.expect("solved").state[0].value() else {
        panic!("a planar pose")
    };
    (found.translation.vector - pose().translation.vector.xy()).norm()
}

/// Reflected light of other walls lengthens the ranges of a phase lidar, and displaces a fit without it.
#[test]
fn paths_remove_the_displacement_by_light_of_other_walls() {
    let without = error_of_fit(LightModel::default());
    let with_paths = error_of_fit(LightModel::with_paths(64));
    // Measured: 1.1 and 35.5 mm.
    assert!(
        with_paths < 5e-3 && without > 3.0 * with_paths,
        "{with_paths} {without}"
    );
}

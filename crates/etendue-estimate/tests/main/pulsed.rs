//! Pulsed, triangulating and FMCW scanners: derivatives, and fits to range and intensity.

use crate::differences::compare;
use etendue_estimate::fit::FitProblem;
use etendue_estimate::manifold::{Manifold, Variable, VariableValue};
use etendue_estimate::model::{BeamMeasurement, Freedom, Model};
use etendue_estimate::solve::{LeastSquares, Loss, Solver, SolverLimits, SolverMethod};
use etendue_physics::Spectrum;
use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt};
use etendue_physics::pulse::{
    Discriminator, Fmcw, IntensityResponse, Pulse, ReflectivityScale, ReturnMode,
};
use etendue_physics::surface::{Lobe, Material};
use etendue_scene::{
    MaterialId, Mesh, MeshId, NamedMaterial, Object, Scene, SceneBuilder, primitive,
};
use etendue_sensors::lidar::{
    Beam, Channel, Columns, CorrelatedNoise, EchoModel, Intensity, Lidar, PulsedReceiver,
    RangeLimits, Receiver, ScanPattern, Sensitivity, Spinning, Triangulation,
};
use etendue_sensors::lidar::{Sweep, SweepSettings, simulate};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

/// Optics and receiver of a Velodyne VLP-16 (user manual 63-9243 Rev. D), with a number of columns.
pub fn vlp_16(columns: u32, discriminator: Discriminator) -> Lidar {
    let elevations = [-15, 1, -13, 3, -11, 5, -9, 7, -7, 9, -5, 11, -3, 13, -1, 15];
    let channel = |(number, degrees): (u32, i32)| Channel {
        elevation: f64::from(degrees).to_radians(),
        time: 2.304e-6 * f64::from(number),
        height: 1e-3 * 0.75 * -f64::from(degrees),
        radius: 0.02,
        ..Channel::default()
    };
    let sensitivity = Sensitivity {
        reflectance: 0.1,
        range: 50.0,
        probability: 0.9,
        threshold_over_noise: 5.0,
    };
    let (threshold, detector) = sensitivity.analogue(1e5, 0.0);
    let widths = |horizontal, vertical| Divergence {
        horizontal,
        vertical,
        at: DivergenceAt::InverseESquared,
    };
    Lidar {
        name: "VLP-16".into(),
        source: "test".into(),
        wavelength: 903e-9,
        channels: (0..).zip(elevations).map(channel).collect(),
        pattern: ScanPattern::Spinning(Spinning {
            rate: 10.0,
            clockwise: true,
            start: 0.0,
            columns: Columns::PerSweep {
                columns,
                fired: None,
            },
            nod: None,
        }),
        beam: Beam::elliptic(
            BeamWidth {
                shape: BeamShape::Gaussian,
                divergence: widths(3e-3, 1.5e-3),
                exit: widths(12.7e-3, 9.5e-3),
            },
            1,
        ),
        receiver: Receiver::Pulsed(PulsedReceiver {
            pulse: Pulse::gaussian(6e-9),
            discriminator,
            returns: ReturnMode::Strongest,
            threshold,
            reference: 1e3 * threshold,
            detector,
            interval: 1e-9,
            bits: None,
            jitter: 0.012,
            echoes: EchoModel::Analytic,
            window: None,
            false_alarms: false,
            full_overlap: 0.0,
        }),
        noise: CorrelatedNoise::default(),
        limits: RangeLimits {
            near: 0.4,
            far: 131.0,
            step: 2e-3,
        },
        intensity: Intensity {
            response: IntensityResponse::Reflectivity {
                scale: ReflectivityScale::DiffuseThenRetro { full_scale: 1e5 },
            },
            top: Some(255.0),
        },
    }
    .checked()
    .expect("a scanner")
}

/// Hall of 12 x 8 x 3.4 m with a crate and a screen, each of a different material.
pub fn hall() -> SceneBuilder {
    let mut parts = SceneBuilder::default();
    let mut add = |name: &str, mesh: Mesh, at: [f64; 3], yaw: f64, reflectance: f64| {
        let number = u32::try_from(parts.meshes.len()).expect("few");
        parts.materials.push(NamedMaterial {
            name: name.to_owned(),
            material: Material {
                lobes: vec![Lobe::lambert(Spectrum::from(reflectance))],
            },
        });
        parts.meshes.push(mesh.into());
        parts.objects.push(Object {
            name: name.to_owned(),
            mesh: MeshId(number),
            world_from_object: Isometry3::from_parts(
                Translation3::from(Vector3::from(at)),
                UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw),
            ),
            material: MaterialId(number),
            mask: u32::MAX,
        });
    };
    let cuboid = |size| primitive::cuboid(size).expect("a size");
    add(
        "hall",
        cuboid([12.0, 8.0, 3.4]).inside_out(),
        [0.0, 0.0, 1.7],
        0.0,
        0.6,
    );
    add("crate", cuboid([1.0, 0.8, 1.6]), [2.5, 1.6, 0.8], 0.4, 0.3);
    add(
        "screen",
        cuboid([0.1, 3.0, 2.4]),
        [-3.5, -0.5, 1.2],
        0.2,
        0.45,
    );
    parts
}

pub fn pose() -> Isometry3<f64> {
    Isometry3::from_parts(
        Translation3::new(0.3, -0.4, 1.3),
        UnitQuaternion::from_euler_angles(0.02, -0.03, 0.5),
    )
}

fn model(columns: u32) -> Model {
    let scanner = vlp_16(columns, Discriminator::ConstantFraction { fraction: 0.5 });
    Model::new(hall(), &scanner, vec![pose()]).expect("a model")
}

/// Problem with constant measurements: residuals are the predictions (m, counts) minus a constant.
pub fn against_constants(model: Model) -> FitProblem {
    let beam = BeamMeasurement::new(Some(1.0), Some(10.0));
    let scans = vec![vec![beam; model.beams(0)]; model.scans()];
    let mut problem = FitProblem::measured_by(model, &scans).expect("a problem");
    problem.intensity_sigma = 1.0;
    problem
}

/// Derivatives of every residual by a relative change of the only unknown, a number: from the
/// linearization and by central differences over a relative step.
pub fn relative_derivatives(problem: &FitProblem, step: f64) -> Vec<[f64; 2]> {
    let state = problem.model.start();
    let VariableValue::Number(value) = state[0].value() else {
        panic!("a number")
    };
    let linearization = problem.linearize(&state);
    let residuals = |by: f64| problem.residuals(&state.retract(&[by * value])).values;
    let plus = residuals(step);
    let minus = residuals(-step);
    assert_eq!(plus.len(), linearization.residuals.values.len());
    let rows = linearization.rows().zip(plus).zip(minus);
    rows.map(|((row, plus), minus)| [row[0] * value, (plus - minus) / (2.0 * step)])
        .collect()
}

#[test]
fn derivatives_of_range_and_intensity_equal_central_differences() {
    for (path, freedom, least) in [
        ("sensor.pose", Freedom::Planar, 3000),
        ("sensor.pose", Freedom::Whole, 6000),
        ("objects.crate.pose", Freedom::Whole, 6000),
        ("objects.screen.pose", Freedom::Planar, 3000),
        ("materials.screen.reflectance", Freedom::Whole, 1000),
        ("sensor.channels.*.azimuth_offset", Freedom::Whole, 16000),
        ("sensor.channels.*.elevation_offset", Freedom::Whole, 16000),
        ("sensor.channels.*.range_offset", Freedom::Whole, 16000),
    ] {
        let mut model = model(40);
        model.free(path, freedom).expect("a path");
        let (compared, jumps) = compare(&against_constants(model), 1e-7, 3e-5);
        assert!(
            compared > least && jumps * 50 < compared,
            "{path}: {compared}, {jumps} jumps"
        );
    }
}

/// Bounds of a number change the coordinate of the solver, not the Jacobian in the unit of the parameter.
#[test]
fn linearized_measurements_are_in_the_units_of_the_parameters() {
    let path = "materials.screen.reflectance";
    let bounds = Freedom::Interval {
        lower: 0.05,
        upper: 0.95,
    };
    let columns = [Freedom::Whole, bounds].map(|freedom| {
        let mut model = model(20);
        model.free(path, freedom).expect("a path");
        let start = model.start();
        let linearized = model.linearize(&start);
        assert_eq!(linearized.components[0].name, path);
        // Differences of the prediction by the reflectance
        let quantities = |step: f64| -> Vec<Option<f64>> {
            let by = step / linearized.components[0].slope;
            let scans = model.predict(&start.retract(&[by]));
            let beams = scans.iter().flatten();
            beams
                .flat_map(|beam| [beam.range(), beam.intensity()])
                .collect()
        };
        let (plus, minus) = (quantities(1e-5), quantities(-1e-5));
        let mut changed = 0;
        let mut largest_error = 0.0_f64;
        for (number, slope) in linearized.jacobian().iter().enumerate() {
            let (Some(plus), Some(minus)) = (plus[number], minus[number]) else {
                assert!(!linearized.valid[number] && *slope == 0.0);
                continue;
            };
            let difference = (plus - minus) / 2e-5;
            largest_error = largest_error.max((slope - difference).abs());
            changed += usize::from(slope.abs() > 1.0);
        }
        // Measured 32 measurements, and 1.6e-8 counts and metres per unit.
        assert!(changed > 10, "{changed} measurements");
        assert!(largest_error < 1e-6, "{largest_error}");
        linearized.jacobian()
    });
    let apart = |(a, b): (&f64, &f64)| (a - b).abs();
    let largest = columns[0]
        .iter()
        .zip(&columns[1])
        .map(apart)
        .fold(0.0, f64::max);
    // Measured 5.7e-14.
    assert!(largest < 1e-10, "{largest}");
}

/// Timing parameters, by relative steps: a threshold is about 1e-6 /(m² sr), a pulse width 1e-9 s.
#[test]
fn derivatives_by_pulse_threshold_and_reference_equal_central_differences() {
    for discriminator in [
        Discriminator::Threshold,
        Discriminator::ConstantFraction { fraction: 0.5 },
        Discriminator::LeadingEdge,
    ] {
        for name in ["pulse_width", "threshold", "reference"] {
            let scanner = vlp_16(20, discriminator);
            let mut model = Model::new(hall(), &scanner, vec![pose()]).expect("a model");
            let path = format!("sensor.receiver.{name}");
            model.free(&path, Freedom::Whole).expect("a path");
            let mut largest = 0.0_f64;
            for [slope, difference] in relative_derivatives(&against_constants(model), 1e-5) {
                assert!(
                    (slope - difference).abs() < 1e-6,
                    "{path}: {slope} {difference}"
                );
                largest = largest.max(slope.abs());
            }
            let timed = discriminator == Discriminator::Threshold;
            assert!(!timed || largest > 0.1, "{path}: {largest}");
        }
    }
}

/// Sparse derivatives by the factors of all facets of a hall.
#[test]
fn derivatives_by_facet_factors_equal_central_differences() {
    let mut model = model(40);
    for object in ["hall", "crate", "screen"] {
        let path = format!("objects.{object}.facets.*.scattering");
        model.free(&path, Freedom::Whole).expect("facets");
    }
    assert_eq!(model.start().dimension(), 36);
    let (compared, jumps) = compare(&against_constants(model), 1e-6, 1e-5);
    assert!(compared > 36 * 1000 && jumps == 0, "{compared} {jumps}");
}

/// Measurements of a sweep: the last return of every shot.
pub fn measured(sweep: &Sweep) -> Vec<BeamMeasurement> {
    let mut beams = vec![BeamMeasurement::default(); sweep.shots.len()];
    for point in &sweep.points {
        beams[point.shot as usize] = BeamMeasurement::new(Some(point.range), Some(point.intensity));
    }
    beams
}

/// Translation (m) and rotation (rad) of the first unknown from the true pose, and value of the second.
pub fn pose_error_and_number(state: &[Variable]) -> (f64, f64, f64) {
    let [VariableValue::Spatial(found), VariableValue::Number(number)] =
        [0, 1].map(|i: usize| state[i].value())
    else {
        panic!("a pose and a number")
    };
    let shift = (found.translation.vector - pose().translation.vector).norm();
    let turn = found.rotation.angle_to(&pose().rotation);
    (shift, turn, number)
}

/// Fit to a noisy sweep of 16 x 360 shots (jitter 12 mm, range steps of 2 mm, integer counts).
#[test]
fn a_sweep_determines_the_pose_and_the_reflectance_of_a_screen() {
    let scanner = vlp_16(360, Discriminator::ConstantFraction { fraction: 0.5 });
    let scene: Scene = hall().build().expect("a scene");
    let world = World::at_wavelength(&scene, scanner.wavelength).expect("a world");
    let sweep = simulate(&world, &scanner, &SweepSettings::default(), |_| pose());
    let mut parts = hall();
    parts.materials[2].material = Material {
        lobes: vec![Lobe::lambert(Spectrum::from(0.8))],
    };
    let off = Isometry3::from_parts(
        Translation3::new(0.2, -0.15, 0.1),
        UnitQuaternion::from_euler_angles(-0.03, 0.04, 0.08),
    );
    let mut model = Model::new(parts, &scanner, vec![pose() * off]).expect("a model");
    model.free("sensor.pose", Freedom::Whole).expect("a pose");
    let share = Freedom::Interval {
        lower: 0.0,
        upper: 1.0,
    };
    model
        .free("materials.screen.reflectance", share)
        .expect("a number");
    let mut problem = FitProblem::measured_by(model, &[measured(&sweep)]).expect("a problem");
    (problem.sigma, problem.intensity_sigma) = (0.012, 1.0);
    let solver = Solver {
        loss: Loss::Cauchy { scale: 3.0 },
        limits: SolverLimits {
            gate: 100.0,
            ..SolverLimits::default()
        },
        ..Solver::default()
    };
    let solution = solver
        .solve(&problem, problem.model.start())
        .expect("solved");
    assert!(solution.stop.converged() && solution.log.len() <= 20);
    let (shift, turn, reflectance) = pose_error_and_number(&solution.state);
    assert!(shift < 3e-3 && turn < 1e-3, "{shift} m, {turn} rad");
    assert!((reflectance - 0.45).abs() < 5e-3, "{reflectance}");
}

/// Fit of the factors of the 2000 triangles of a painted wall to one sweep, by L-BFGS without the dense
/// Jacobian.
#[test]
fn a_sweep_determines_thousands_of_facet_factors_by_lbfgs() {
    let across = 50_u32;
    let up = 20_u32;
    let corner = |i: u32, k: u32| {
        let part = |n: u32, of: u32, size: f64| size * (f64::from(n) / f64::from(of) - 0.5);
        Point3::new(3.0, part(i, across, 5.0), part(k, up, 1.6))
    };
    let row = across + 1;
    let cells = (0..up).flat_map(|k| (0..across).map(move |i| k * row + i));
    let mesh = Mesh {
        vertices: (0..=up)
            .flat_map(|k| (0..row).map(move |i| corner(i, k)))
            .collect(),
        triangles: cells
            .flat_map(|a| [[a, a + row, a + row + 1], [a, a + row + 1, a + 1]])
            .collect(),
        materials: Vec::new(),
    };
    let parts = SceneBuilder {
        materials: vec![NamedMaterial {
            name: "paint".into(),
            material: Material {
                lobes: vec![Lobe::lambert(Spectrum::from(0.5))],
            },
        }],
        meshes: vec![mesh.into()],
        objects: vec![Object {
            name: "wall".into(),
            mesh: MeshId(0),
            world_from_object: Isometry3::identity(),
            material: MaterialId(0),
            mask: u32::MAX,
        }],
        ..SceneBuilder::default()
    };
    let mut scanner = vlp_16(900, Discriminator::ConstantFraction { fraction: 0.5 });
    scanner.beam = scanner.beam.with_one_ray();
    let mut model = Model::new(parts, &scanner, vec![Isometry3::identity()]).expect("a model");
    model
        .free("objects.wall.facets.*.scattering", Freedom::Whole)
        .expect("facets");
    let start = model.start();
    assert_eq!(start.dimension(), 2000);
    let truth = |i: usize| 1.0 + 0.6 * (0.37 * i as f64).sin();
    let shifts: Vec<f64> = (0..2000).map(|i| truth(i) - 1.0).collect();
    let painted: Vec<Variable> = start.retract(&shifts);
    let scan = model.predict(&painted).remove(0);
    let mut problem = FitProblem::measured_by(model, &[scan]).expect("a problem");
    problem.intensity_sigma = 1.0;
    let (_, gradient) = problem.gradient(&start, Loss::Squared, 1.0);
    let hit: Vec<usize> = (0..2000).filter(|&i| gradient[i].abs() > 1.0).collect();
    assert!(hit.len() > 700, "{}", hit.len());
    let solver = Solver {
        method: SolverMethod::Lbfgs { memory: 10 },
        limits: SolverLimits {
            cost: 1e-7,
            iterations: 30,
            ..SolverLimits::default()
        },
        ..Solver::default()
    };
    let solution = solver.solve(&problem, start).expect("solved");
    let mut worst = 0.0_f64;
    for i in hit {
        let VariableValue::Number(found) = solution.state[i].value() else {
            panic!("a number")
        };
        worst = worst.max((found - truth(i)).abs());
    }
    assert!(worst < 0.02, "{worst}");
}

/// Model of the scanner with another receiver.
fn model_with(receiver: Receiver) -> Model {
    let mut scanner = vlp_16(40, Discriminator::Peak);
    scanner.receiver = receiver;
    Model::new(hall(), &scanner, vec![pose()]).expect("a model")
}

pub fn triangulating() -> Receiver {
    Receiver::Triangulation(Triangulation {
        baseline: 0.05,
        angle_noise: 0.0,
        angle_step: 0.0,
        threshold: 1e-9,
    })
}

pub fn frequency_modulated() -> Receiver {
    Receiver::Fmcw(Fmcw {
        wavelength: 903e-9,
        bandwidth: 1e9,
        chirp: 10e-6,
        noise: 1e-9,
        threshold: 10.0,
    })
}

#[test]
fn triangulating_and_frequency_modulated_scanners_have_derivatives() {
    for (name, receiver) in [
        ("triangulating", triangulating()),
        ("frequency modulated", frequency_modulated()),
    ] {
        for (path, freedom, least) in [
            ("sensor.pose", Freedom::Whole, 6000),
            ("objects.crate.pose", Freedom::Planar, 3000),
            ("materials.screen.reflectance", Freedom::Whole, 1000),
            ("sensor.channels.*.range_offset", Freedom::Whole, 16000),
        ] {
            let mut model = model_with(receiver);
            model.free(path, freedom).expect("a path");
            let (compared, jumps) = compare(&against_constants(model), 1e-7, 3e-5);
            assert!(
                compared > least && jumps * 50 < compared,
                "{name}, {path}: {compared}, {jumps} jumps"
            );
        }
        let mut model = model_with(receiver);
        let error = model.free("sensor.receiver.threshold", Freedom::Whole);
        assert!(error.is_err(), "{name} has no pulse threshold");
    }
}

/// Compares predictions with the first return of every shot of a simulation without noise.
#[test]
fn predictions_of_every_receiver_equal_the_noise_free_simulation() {
    let pulsed = vlp_16(40, Discriminator::ConstantFraction { fraction: 0.5 }).receiver;
    for receiver in [pulsed, triangulating(), frequency_modulated()] {
        let mut scanner = vlp_16(40, Discriminator::Peak);
        scanner.receiver = receiver;
        scanner.limits.step = 0.0;
        scanner.intensity.top = None;
        let scene: Scene = hall().build().expect("a scene");
        let world = World::at_wavelength(&scene, scanner.wavelength).expect("a world");
        let run = SweepSettings {
            without_noise: true,
            ..SweepSettings::default()
        };
        let sweep = simulate(&world, &scanner, &run, |_| pose());
        let mut first = vec![None; sweep.shots.len()];
        for point in &sweep.points {
            first[point.shot as usize].get_or_insert(point.range);
        }
        let model = Model::new(hall(), &scanner, vec![pose()]).expect("a model");
        let predicted = model.predict(&[]).remove(0);
        assert!(first.iter().flatten().count() > 600);
        for (first, predicted) in first.iter().zip(predicted) {
            assert_eq!(first.is_some(), predicted.range().is_some());
            let apart = first.unwrap_or(0.0) - predicted.range().unwrap_or(0.0);
            assert!(apart.abs() < 1e-9, "{receiver:?}: {apart}");
        }
    }
}

#[test]
fn derivatives_by_the_divergences_of_a_scanner_equal_central_differences() {
    for axis in ["horizontal", "vertical"] {
        let mut model = model(40);
        let path = format!("sensor.beam.divergence.{axis}");
        model.free(&path, Freedom::Whole).expect("a path");
        let VariableValue::Number(own) = model.start()[0].value() else {
            panic!("a number")
        };
        assert_eq!(own, if axis == "horizontal" { 3e-3 } else { 1.5e-3 });
        let (compared, jumps) = compare(&against_constants(model), 1e-8, 1e-4);
        assert!(
            compared > 1000 && jumps * 50 < compared,
            "{path}: {compared}, {jumps} jumps"
        );
    }
}

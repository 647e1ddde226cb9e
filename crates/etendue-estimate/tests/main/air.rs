//! Amounts of weather as unknowns of a fit.

use crate::differences::compare;
use crate::pulsed::{
    against_constants, frequency_modulated, hall, measured, pose, pose_error_and_number,
    triangulating, vlp_16,
};
use etendue_estimate::fit::FitProblem;
use etendue_estimate::manifold::{Manifold, VariableValue};
use etendue_estimate::model::{Freedom, Model};
use etendue_estimate::solve::{Continuation, LeastSquares, Loss, Solver};
use etendue_physics::atmosphere::{Atmosphere, MM_PER_HOUR, Weather};
use etendue_physics::pulse::Discriminator;
use etendue_scene::Scene;
use etendue_sensors::lidar::{Air, SweepSettings, simulate};
use etendue_sensors::lidar::{EchoModel, Lidar, Receiver};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Translation3, UnitQuaternion};

fn air(weather: &[Weather<f64>]) -> Air {
    Air {
        atmosphere: Atmosphere {
            weather: weather.to_vec(),
        },
        ..Air::default()
    }
}

/// Air with every kind of weather.
fn everything() -> Air {
    air(&[
        Weather::Haze { visibility: 4000.0 },
        Weather::Fog { visibility: 60.0 },
        Weather::Rain {
            rate: 20.0 * MM_PER_HOUR,
        },
        Weather::Snow {
            rate: 4.0 * MM_PER_HOUR,
        },
        Weather::Dust {
            concentration: 0.02,
        },
    ])
}

const PATHS: [&str; 5] = [
    "atmosphere.visibility_m",
    "atmosphere.fog_visibility_m",
    "atmosphere.rain_mm_h",
    "atmosphere.snow_mm_h",
    "atmosphere.dust_g_m3",
];

fn scanners() -> [Lidar; 4] {
    let with = |discriminator, receiver: Option<Receiver>| {
        let mut scanner = vlp_16(12, discriminator);
        if let Some(receiver) = receiver {
            scanner.receiver = receiver;
        }
        scanner.intensity.top = None;
        scanner
    };
    [
        with(Discriminator::Threshold, None),
        with(Discriminator::ConstantFraction { fraction: 0.5 }, None),
        with(Discriminator::Peak, Some(triangulating())),
        with(Discriminator::Peak, Some(frequency_modulated())),
    ]
}

/// Amounts have logarithmic coordinates: steps are relative.
#[test]
fn derivatives_by_the_weather_equal_central_differences() {
    for (number, scanner) in scanners().iter().enumerate() {
        for path in PATHS {
            let model = Model::new(hall(), scanner, vec![pose()]).expect("a model");
            let mut model = model.in_air(everything());
            model.free(path, Freedom::Whole).expect("a path");
            let problem = against_constants(model);
            let (compared, jumps) = compare(&problem, 1e-6, 1e-4);
            assert!(
                compared > 300 && jumps * 20 < compared,
                "{number} {path}: {compared}, {jumps} jumps"
            );
            let at = problem.linearize(&problem.model.start());
            let largest = at
                .jacobian
                .iter()
                .fold(0.0_f64, |most, j| most.max(j.abs()));
            assert!(largest > 1e-3, "{number} {path}: {largest}");
        }
        for (path, freedom) in [
            ("sensor.pose", Freedom::Whole),
            ("objects.screen.pose", Freedom::Planar),
            ("materials.screen.reflectance", Freedom::Whole),
        ] {
            let model = Model::new(hall(), scanner, vec![pose()]).expect("a model");
            let mut model = model.in_air(everything());
            model.free(path, freedom).expect("a path");
            let (compared, jumps) = compare(&against_constants(model), 1e-7, 1e-4);
            assert!(
                compared > 300 && jumps * 20 < compared,
                "{number} {path}: {compared}, {jumps} jumps"
            );
        }
    }
}

#[test]
fn only_weather_of_the_model_can_be_free() {
    let scanner = &scanners()[0];
    let model = Model::new(hall(), scanner, vec![pose()]).expect("a model");
    let mut foggy = model
        .clone()
        .in_air(air(&[Weather::Fog { visibility: 50.0 }]));
    assert!(
        !model
            .paths()
            .iter()
            .any(|path| path.starts_with("atmosphere"))
    );
    assert!(foggy.paths().iter().any(|path| path == PATHS[1]));
    let wrong = foggy.free("atmosphere.fog_visibility", Freedom::Whole);
    let message = wrong.expect_err("no such").to_string();
    assert!(
        message.contains("did you mean \"atmosphere.fog_visibility_m\"?"),
        "{message}"
    );
    let rain = foggy.free("atmosphere.rain_mm_h", Freedom::Whole);
    assert!(rain.is_err());
    foggy.free(PATHS[1], Freedom::Whole).expect("free");
    // The visibility is above zero after a step of any length.
    let VariableValue::Number(moved) = foggy.start().retract(&[-9.0])[0].value() else {
        panic!("a number")
    };
    assert!(moved > 0.0 && moved < 0.01, "{moved}");
}

/// Fit of the spatial pose and the visibility to a noisy sweep in fog, with sampled waveforms.
#[test]
fn a_sweep_determines_its_pose_and_the_visibility_of_fog() {
    let mut scanner = vlp_16(90, Discriminator::ConstantFraction { fraction: 0.5 });
    if let Receiver::Pulsed(receiver) = &mut scanner.receiver {
        receiver.echoes = EchoModel::Waveform;
    }
    let scene: Scene = hall().build().expect("a scene");
    let world = World::at_wavelength(&scene, scanner.wavelength).expect("a world");
    let run = SweepSettings {
        air: air(&[Weather::Fog { visibility: 80.0 }]),
        ..SweepSettings::default()
    };
    let sweep = simulate(&world, &scanner, &run, |_| pose());
    let off = Isometry3::from_parts(
        Translation3::new(0.2, -0.15, 0.1),
        UnitQuaternion::from_euler_angles(-0.03, 0.04, 0.08),
    );
    let model = Model::new(hall(), &scanner, vec![pose() * off]).expect("a model");
    let mut model = model.in_air(air(&[Weather::Fog { visibility: 250.0 }]));
    model.free("sensor.pose", Freedom::Whole).expect("a pose");
    model
        .free("atmosphere.fog_visibility_m", Freedom::Whole)
        .expect("a number");
    let problem = FitProblem::measured_by(model, &[measured(&sweep)]).expect("a problem");
    let solver = Solver {
        loss: Loss::Cauchy { scale: 0.05 },
        continuation: Some(Continuation {
            widest: 16.0,
            factor: 4.0,
        }),
        ..Solver::default()
    };
    let solution = solver
        .solve(&problem, problem.model.start())
        .expect("solved");
    assert!(solution.stop.converged() && solution.log.len() <= 20);
    let (shift, turn, visibility) = pose_error_and_number(&solution.state);
    // Measured: 1.7 mm, 0.5 mrad and 79.97 m, in 13 iterations.
    assert!(shift < 4e-3 && turn < 2e-3, "{shift} m, {turn} rad");
    assert!((visibility / 80.0 - 1.0).abs() < 0.01, "{visibility}");
}

/// Number of derivatives by the pose of the sensor, and of those that differ by more than 0.1 % and 1e-4 from central
/// differences over `step`.
fn pose_derivatives(scanner: &Lidar, visibility: f64, step: f64) -> [usize; 2] {
    let model = Model::new(hall(), scanner, vec![pose()]).expect("a model");
    let mut model = model.in_air(air(&[Weather::Fog { visibility }]));
    model.free("sensor.pose", Freedom::Whole).expect("a pose");
    let problem = against_constants(model);
    let state = problem.model.start();
    let at = problem.linearize(&state);
    let mut counts = [0; 2];
    for component in 0..6 {
        let residuals = |by: f64| {
            let mut tangent = [0.0; 6];
            tangent[component] = by;
            problem.residuals(&state.retract(&tangent)).values
        };
        let [plus, minus] = [step, -step].map(residuals);
        if plus.len() != minus.len() {
            continue;
        }
        for (row, (plus, minus)) in at.rows().zip(plus.iter().zip(&minus)) {
            let difference = (plus - minus) / (2.0 * step);
            let off = (row[component] - difference).abs();
            counts[0] += 1;
            counts[1] += usize::from(off > 1e-4 + 1e-3 * difference.abs());
        }
    }
    counts
}

/// At larger steps some beams change a sample or an echo within the step: at 1e-4 at most 12 of 5,760 differ.
#[test]
fn pose_derivatives_in_fog_are_those_of_the_prediction() {
    for discriminator in [
        Discriminator::Threshold,
        Discriminator::ConstantFraction { fraction: 0.5 },
        Discriminator::Peak,
    ] {
        for echoes in [EchoModel::Analytic, EchoModel::Waveform] {
            for visibility in [20.0, 80.0] {
                let mut scanner = vlp_16(30, discriminator);
                if let Receiver::Pulsed(receiver) = &mut scanner.receiver {
                    receiver.echoes = echoes;
                }
                scanner.intensity.top = None;
                let [count, off] = pose_derivatives(&scanner, visibility, 1e-6);
                assert!(
                    count == 5760 && off == 0,
                    "{discriminator:?} {echoes:?} {visibility}: {off}"
                );
            }
        }
    }
}

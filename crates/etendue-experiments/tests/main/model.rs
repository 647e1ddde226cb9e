use crate::differences::compare;
use crate::scenes::{rich_model, small_lidar};
use etendue_estimate::fit::{FitError, FitProblem};
use etendue_estimate::manifold::{Manifold, Variable};
use etendue_estimate::model::{Freedom, Model, ModelError};
use etendue_estimate::solve::{LeastSquares, Loss};
use etendue_experiments::arena::{Furniture, arena, urg_04lx};
use etendue_physics::atmosphere::{Atmosphere, Weather};
use etendue_sensors::RangeReading;
use etendue_sensors::lidar::Air;
use nalgebra::{Isometry3, Vector3};

/// Problem with all ranges measured as 1 m: residuals are the predicted ranges minus 1 m.
fn against_one_metre(model: Model) -> FitProblem {
    let beams = model.beams(0);
    let scans = vec![vec![RangeReading::Range(1.0); beams]; model.scans()];
    FitProblem::new(model, &scans).expect("a problem")
}

/// Parameters of every kind, in an arena with a mirror, a pane and a box.
#[test]
fn derivatives_by_every_kind_of_parameter_equal_central_differences() {
    for (path, freedom, least) in [
        ("sensor.pose", Freedom::Planar, 1800),
        ("sensor.pose", Freedom::Whole, 3500),
        (
            "sensor.pose",
            Freedom::Boxed {
                lower: [-0.5; 2],
                upper: [0.5; 2],
            },
            1800,
        ),
        ("scans.1.pose", Freedom::Planar, 1800),
        ("objects.mirror.pose", Freedom::Planar, 1800),
        ("objects.mirror.pose", Freedom::Whole, 3500),
        ("objects.box.pose", Freedom::Planar, 1800),
        ("objects.pane.pose", Freedom::Whole, 3500),
        ("materials.wall.reflectance", Freedom::Whole, 600),
        (
            "materials.carton.reflectance",
            Freedom::Interval {
                lower: 0.0,
                upper: 1.0,
            },
            600,
        ),
        ("materials.mirror.reflectance", Freedom::Whole, 600),
        ("materials.glass.index", Freedom::Whole, 600),
        (
            "materials.glass.thickness",
            Freedom::Interval {
                lower: 0.0,
                upper: f64::INFINITY,
            },
            600,
        ),
        ("materials.glass.group_index", Freedom::Whole, 600),
        ("sensor.receiver.bias.a", Freedom::Whole, 600),
        ("sensor.receiver.bias.b", Freedom::Whole, 600),
        ("sensor.receiver.bias.c", Freedom::Whole, 600),
        ("sensor.beam.divergence", Freedom::Whole, 600),
    ] {
        let mut model = rich_model(2);
        model.free(path, freedom).expect("a path");
        // Measured: at most 3e-7 relative, most by the divergence, whose third derivative is large.
        let (compared, jumps) = compare(&against_one_metre(model), 1e-7, 1e-5);
        assert!(
            compared > least && jumps * 20 < compared,
            "{path}: {compared}, {jumps} jumps"
        );
    }
}

/// Weather in front of a phase receiver attenuates the light of the surfaces, and its backscatter adds to their phasors.
/// Amounts have logarithmic coordinates: steps are relative.
#[test]
fn derivatives_in_weather_equal_central_differences() {
    let weather = vec![
        Weather::Haze { visibility: 800.0 },
        Weather::Fog { visibility: 40.0 },
        Weather::Dust {
            concentration: 0.05,
        },
    ];
    let air = Air {
        atmosphere: Atmosphere { weather },
        ..Air::default()
    };
    for (path, freedom) in [
        ("atmosphere.visibility_m", Freedom::Whole),
        ("atmosphere.fog_visibility_m", Freedom::Whole),
        ("atmosphere.dust_g_m3", Freedom::Whole),
        ("sensor.pose", Freedom::Planar),
        ("materials.wall.reflectance", Freedom::Whole),
    ] {
        let mut model = rich_model(2).in_air(air.clone());
        model.free(path, freedom).expect("a path");
        let problem = against_one_metre(model);
        let step = if path.starts_with("atmosphere") {
            1e-4
        } else {
            1e-7
        };
        let (compared, jumps) = compare(&problem, step, 1e-4);
        assert!(
            compared > 600 && jumps * 20 < compared,
            "{path}: {compared}, {jumps} jumps"
        );
        let at = problem.linearize(&problem.model.start());
        let largest = at
            .jacobian
            .iter()
            .fold(0.0_f64, |most, j| most.max(j.abs()));
        assert!(largest > 1e-5, "{path}: {largest}");
    }
}

/// The Jacobian of all parameters, evaluated in blocks of dual numbers, has the same columns as the
/// Jacobian of each.
#[test]
fn blocks_of_parameters_give_the_same_columns() {
    let paths = [
        "sensor.pose",
        "objects.mirror.pose",
        "materials.wall.reflectance",
        "sensor.receiver.bias.c",
    ];
    let mut together = rich_model(1);
    for path in paths {
        let freedom = if path.ends_with("pose") {
            Freedom::Planar
        } else {
            Freedom::Whole
        };
        together.free(path, freedom).expect("a path");
    }
    let together = against_one_metre(together);
    let all = together.linearize(&together.model.start());
    assert_eq!(all.unknowns, 8);
    let mut first = 0;
    for path in paths {
        let freedom = if path.ends_with("pose") {
            Freedom::Planar
        } else {
            Freedom::Whole
        };
        let mut model = rich_model(1);
        model.free(path, freedom).expect("a path");
        let problem = against_one_metre(model);
        let own = problem.linearize(&problem.model.start());
        for (whole, part) in all.rows().zip(own.rows()) {
            for (k, value) in part.iter().enumerate() {
                assert!((whole[first + k] - value).abs() < 1e-13, "{path}");
            }
        }
        first += own.unknowns;
    }
}

/// Derivatives of beam offsets are computed from the derivatives with respect to the sensor pose.
#[test]
fn derivatives_by_offsets_of_single_beams_equal_central_differences() {
    for name in ["azimuth_offset", "elevation_offset", "range_offset"] {
        let mut model = Model::new(
            arena(&[]),
            &small_lidar(40),
            vec![Isometry3::new(
                Vector3::new(0.1, 0.05, 0.01),
                Vector3::new(0.02, 0.05, 0.0),
            )],
        )
        .expect("a model");
        model
            .free(&format!("sensor.beams.*.{name}"), Freedom::Whole)
            .expect("all beams");
        let problem = against_one_metre(model);
        let at = problem.linearize(&problem.model.start());
        assert_eq!(at.unknowns, 40);
        let diagonal = (0..40)
            .filter(|i| at.jacobian[i * 40 + i].abs() > 1e-6)
            .count();
        assert!(diagonal > 35, "{name}: {diagonal}");
        let (compared, jumps) = compare(&problem, 1e-7, 1e-6);
        assert!(compared > 1500 && jumps < 40, "{name}: {compared}, {jumps}");
    }
}

/// The residuals of a thinned problem are those of every seventh beam, and an offset belongs to one
/// beam of the complete scan.
#[test]
fn offsets_of_single_beams_keep_their_numbers_in_a_thinned_scan() {
    const EVERY: usize = 7;
    let poses = vec![Isometry3::identity()];
    let mut model = Model::new(arena(&[]), &small_lidar(40), poses).expect("a model");
    let beams = [2, 14, 39].map(|beam| format!("sensor.beams.{beam}.range_offset"));
    for path in &beams {
        model.free(path, Freedom::Whole).expect("a beam");
    }
    let problem = against_one_metre(model).thinned(EVERY);
    let start = problem.model.start();
    let before = problem.residuals(&start).values;
    let after = problem
        .residuals(&start.retract(&[0.5, 0.25, 0.125]))
        .values;
    assert_eq!(before.len(), 6);
    for (index, (before, after)) in before.iter().zip(&after).enumerate() {
        let expected = if index * EVERY == 14 { 0.25 } else { 0.0 };
        assert!((after - before - expected).abs() < 1e-12, "beam {index}");
    }
    let (compared, jumps) = compare(&problem, 1e-7, 1e-6);
    assert_eq!((compared, jumps), (3 * 6, 0));

    // Paths resolve to the beams of the complete scan.
    assert!(problem.model.resolve(&beams[2]).is_ok());
    assert!(
        problem
            .model
            .resolve("sensor.beams.40.range_offset")
            .is_err()
    );
}

/// The gradient of two thousand unknowns, accumulated without a Jacobian, equals that of the
/// Jacobian.
#[test]
fn the_accumulated_gradient_equals_that_of_the_jacobian() {
    let mut model = rich_model(1);
    model.free("sensor.pose", Freedom::Planar).expect("a pose");
    for name in ["azimuth_offset", "elevation_offset", "range_offset"] {
        model
            .free(&format!("sensor.beams.*.{name}"), Freedom::Whole)
            .expect("all beams");
    }
    let problem = against_one_metre(model);
    let state = problem.model.start();
    assert_eq!(state.dimension(), 3 + 3 * 682);
    let loss = Loss::Cauchy { scale: 0.1 };
    let (cost, accumulated) = problem.gradient(&state, loss, 1.0);
    let at = problem.linearize(&state);
    assert!((cost - at.residuals.cost(loss, 1.0)).abs() < 1e-12 * cost);
    let whole = at.gradient(loss);
    assert!(whole.iter().filter(|g| g.abs() > 1e-9).count() > 2000);
    for (a, b) in accumulated.iter().zip(&whole) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
}

#[test]
fn an_unknown_path_is_rejected_with_a_suggestion() {
    let mut model = rich_model(1);
    let wrong = model
        .free("materials.walls.reflectance", Freedom::Whole)
        .expect_err("no such");
    assert_eq!(
        wrong.to_string(),
        "there is no parameter \"materials.walls.reflectance\", did you mean \"materials.wall.reflectance\"?"
    );
    assert!(
        model
            .free("sensor.beams.682.azimuth_offset", Freedom::Whole)
            .is_err()
    );
    assert!(model.free("scans.1.pose", Freedom::Planar).is_err());
    for path in model.paths() {
        assert!(model.resolve(&path).is_ok(), "{path}");
    }
    let bounds = Freedom::Interval {
        lower: 0.9,
        upper: 1.0,
    };
    let outside = model
        .free("materials.wall.reflectance", bounds)
        .expect_err("outside");
    assert!(matches!(outside, ModelError::Start { .. }), "{outside}");
    let pose = model
        .free("materials.wall.reflectance", Freedom::Planar)
        .expect_err("a number");
    assert!(matches!(pose, ModelError::WrongFreedom { .. }), "{pose}");
    model.free("sensor.pose", Freedom::Planar).expect("free");
    let twice = model
        .free("sensor.pose", Freedom::Planar)
        .expect_err("twice");
    assert_eq!(twice.to_string(), "sensor.pose is free already");
}

#[test]
fn scans_that_do_not_fit_the_model_are_rejected() {
    let model = || {
        let mut model = rich_model(1);
        model.free("sensor.pose", Freedom::Planar).expect("a pose");
        model
    };
    let few = FitProblem::new(model(), &[vec![RangeReading::Range(1.0); 100]])
        .expect_err("too few beams");
    assert!(
        few.to_string()
            .starts_with("scan 0 has 100 beams, the sensor has 682"),
        "{few}"
    );
    let none = FitProblem::new(model(), &[vec![RangeReading::NoReturn; 682]]).expect_err("nothing");
    assert!(matches!(none, FitError::NoRange { scan: 0, .. }));
    let two = vec![vec![RangeReading::Range(1.0); 682]; 2];
    assert!(matches!(
        FitProblem::new(model(), &two),
        Err(FitError::Scans { .. })
    ));
    let nothing = FitProblem::new(rich_model(1), &two[..1]);
    assert!(matches!(nothing, Err(FitError::NothingFree)));
}

/// Outside the arena no beam is predicted: the cost there is high, not zero.
#[test]
fn outside_the_room_every_beam_is_missing_and_costs() {
    let mut model =
        Model::new(arena(&[]), &urg_04lx(), vec![Isometry3::identity()]).expect("a model");
    model.free("sensor.pose", Freedom::Planar).expect("a pose");
    let scan = vec![RangeReading::Range(0.5); 682];
    let problem = FitProblem::new(model, &[scan]).expect("a problem");
    let outside = vec![Variable::Planar(nalgebra::Isometry2::translation(3.0, 5.0))];
    let residuals = problem.residuals(&outside);
    assert!(residuals.missing > 600, "{}", residuals.missing);
    let inside = problem.residuals(&problem.model.start());
    assert_eq!(inside.missing, 0);
    assert!(residuals.cost(Loss::Squared, 1.0) > inside.cost(Loss::Squared, 1.0));
    let half = Furniture::Carton {
        name: "box",
        pose: [0.5, 0.0, 0.0],
        side: 0.1,
    };
    assert_eq!(arena(&[half]).objects.len(), 2);
}

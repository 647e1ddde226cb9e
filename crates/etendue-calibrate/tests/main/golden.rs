//! Reference values of losses, gradients and minima, computed independently.

use etendue_calibrate::depth::train::{DepthOptimiser, TrainingSettings, train};
use etendue_calibrate::depth::{
    DepthLoss, DepthMap, DepthMapOptions, DepthMeasurement, DepthModel, DepthObjective,
    DepthUnknowns, PolynomialBias, PoseFreedom, RobustLoss,
};
use nalgebra::{Isometry3, Vector3};
use serde_json::Value;

pub struct Golden {
    json: Value,
    pub map: DepthMap,
}

fn numbers(value: &Value) -> Vec<f64> {
    let array = value.as_array().unwrap();
    array.iter().map(|x| x.as_f64().unwrap()).collect()
}

fn vectors(value: &Value) -> Vec<Vector3<f64>> {
    let rows = value.as_array().unwrap().iter();
    rows.map(|row| Vector3::from_vec(numbers(row))).collect()
}

pub fn golden() -> Golden {
    let text = include_str!("../golden/map_consistency.json");
    let json: Value = serde_json::from_str(text).unwrap();
    let origins = vectors(&json["v"]);
    let directions = vectors(&json["r"]);
    let depths = numbers(&json["d"]);
    let incidences = numbers(&json["gamma"]);
    let measurements = (0..depths.len()).map(|i| DepthMeasurement {
        origin: origins[i],
        direction: directions[i],
        depth: depths[i],
        incidence: incidences[i],
        normal: -directions[i],
        pose: usize::try_from(json["pose"][i].as_u64().unwrap()).unwrap(),
    });
    let measurements: Vec<_> = measurements.collect();
    let poses = 1 + measurements.iter().map(|m| m.pose).max().unwrap();
    let lists = json["neighbors"].as_array().unwrap();
    let member = |x: &Value| u32::try_from(x.as_u64().unwrap()).unwrap();
    let neighbourhoods: Vec<Vec<u32>> = lists
        .iter()
        .map(|list| list.as_array().unwrap().iter().map(member).collect())
        .collect();
    assert_eq!(neighbourhoods.len(), 200);
    let identity = vec![Isometry3::identity(); poses];
    let map = DepthMap::from_parts(measurements, identity, neighbourhoods).unwrap();
    Golden { json, map }
}

pub fn weights_only(weights: [f64; 2]) -> DepthUnknowns {
    DepthUnknowns {
        model: DepthModel::Polynomial(PolynomialBias::plain(weights)),
        corrections: Vec::new(),
    }
}

/// Largest relative errors of the loss and of the gradient (by its length) in a block.
fn errors(golden: &Golden, block: &str, loss: DepthLoss) -> [f64; 2] {
    let objective =
        DepthObjective::new(&golden.map, loss, RobustLoss::None, PoseFreedom::Fixed).unwrap();
    let entries = golden.json[block].as_object().unwrap();
    assert_eq!(entries.len(), 3);
    let mut worst = [0.0_f64; 2];
    for (key, entry) in entries {
        let weights =
            numbers(&serde_json::from_str(&key.replace('(', "[").replace(')', "]")).unwrap());
        let (value, gradient) = objective.gradient(&weights_only([weights[0], weights[1]]));
        let expected = numbers(&entry[1]);
        let loss = entry[0].as_f64().unwrap();
        let length = expected[0].hypot(expected[1]);
        let off = (gradient[0] - expected[0]).hypot(gradient[1] - expected[1]);
        worst = [
            worst[0].max((value / loss - 1.0).abs()),
            worst[1].max(off / length),
        ];
    }
    worst
}

/// Measured: losses 4e-14, gradients 6e-13.
#[test]
fn losses_and_gradients_are_those_of_the_reference() {
    let golden = golden();
    let blocks = [
        ("loss_min", DepthLoss::MinimumEigenvalue),
        ("loss_trace", DepthLoss::Trace),
    ];
    for (block, loss) in blocks {
        let [value, gradient] = errors(&golden, block, loss);
        assert!(value < 1e-9, "{block}: {value:e}");
        assert!(gradient < 1e-7, "{block}: {gradient:e}");
    }
}

fn learnt(
    golden: &Golden,
    loss: DepthLoss,
    optimiser: DepthOptimiser,
    iterations: usize,
) -> Vec<f64> {
    let training = TrainingSettings {
        loss,
        optimiser,
        iterations,
        ..TrainingSettings::default()
    };
    let start = weights_only([0.0; 2]).model;
    let options = DepthMapOptions::published();
    let trained = train(&golden.map, None, &start, &training, &options).unwrap();
    trained.model.weights()
}

fn off(golden: &Golden, key: &str, weights: &[f64]) -> f64 {
    let expected = numbers(&golden.json[key]);
    let pairs = expected.iter().zip(weights);
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Measured: 8e-11.
#[test]
fn gauss_newton_and_lbfgs_reach_the_minima_of_the_reference() {
    let golden = golden();
    for optimiser in [DepthOptimiser::GaussNewton, DepthOptimiser::Lbfgs(7)] {
        let least = learnt(&golden, DepthLoss::MinimumEigenvalue, optimiser, 100);
        let trace = learnt(&golden, DepthLoss::Trace, optimiser, 100);
        let errors = [
            off(&golden, "argmin_lambda", &least),
            off(&golden, "argmin_trace", &trace),
        ];
        assert!(
            errors.iter().all(|e| *e < 1e-6),
            "{optimiser:?}: {errors:?}"
        );
    }
}

/// Measured: 5e-10 after 400 iterations.
#[test]
fn adam_reaches_the_minimum_of_the_reference() {
    let golden = golden();
    let least = learnt(
        &golden,
        DepthLoss::MinimumEigenvalue,
        DepthOptimiser::Adam(2e-4),
        400,
    );
    let error = off(&golden, "argmin_lambda", &least);
    assert!(error < 1e-6, "{error:e}");
}

#[test]
fn the_loss_and_the_curvature_at_the_minimum_are_those_of_the_reference() {
    let golden = golden();
    let loss = DepthLoss::MinimumEigenvalue;
    let objective =
        DepthObjective::new(&golden.map, loss, RobustLoss::None, PoseFreedom::Fixed).unwrap();
    let at = numbers(&golden.json["argmin_lambda"]);
    let value = objective.value(&weights_only([at[0], at[1]]));
    let expected = golden.json["lambda_at_argmin"].as_f64().unwrap();
    assert!((value / expected - 1.0).abs() < 1e-9);
    let slope = |i: usize, step: f64| {
        let mut moved = [at[0], at[1]];
        moved[i] += step;
        objective.gradient(&weights_only(moved)).1
    };
    for i in 0..2 {
        let up = slope(i, 1e-6);
        let down = slope(i, -1e-6);
        let row = numbers(&golden.json["hessian_lambda_at_argmin"][i]);
        for j in 0..2 {
            let difference = (up[j] - down[j]) / 2e-6;
            assert!((difference / row[j] - 1.0).abs() < 1e-4);
        }
    }
}

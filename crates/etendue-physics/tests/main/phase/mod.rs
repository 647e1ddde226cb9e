//! Phase ranging: reference values.

mod golden;

use etendue_physics::phase::{Ambiguity, Combination};
use serde_json::Value;

/// The reference values, from an independent implementation.
fn golden() -> Value {
    serde_json::from_str(include_str!("../../golden/phase.json")).expect("the file is JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn numbers(value: &Value) -> Vec<f64> {
    let values = value.as_array().expect("a list");
    values.iter().map(number).collect()
}

/// The reference's nearest and farthest range, m.
const RANGE_LIMITS: [f64; 2] = [0.0, 5.6];

/// The reference's search.
const AMBIGUITY: Ambiguity = Ambiguity {
    slack: 0.1,
    gate: 0.15,
    combination: Combination::Mean,
};

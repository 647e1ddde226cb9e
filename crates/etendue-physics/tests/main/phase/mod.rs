//! Continuous-wave ranging: reference values, closed forms and statistics.

mod golden;
mod receiver;

use etendue_physics::phase::{
    Ambiguity, AutomaticGain, Bias, Combination, Method, Modulation, Noise, Receiver,
    SamplingScheme,
};
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

/// A receiver without noise, quantisation, bias or thresholds, of the reference's limits.
fn ideal() -> Receiver<f64> {
    Receiver {
        modulation: Modulation::URG_04LX,
        sampling: SamplingScheme::Pair,
        converter_bits: None,
        gain: AutomaticGain {
            target: 0.5,
            strongest: 1e6,
            weakest: 1e-6,
        },
        noise: Noise::default(),
        window: None,
        detectable: 0.0,
        sufficient: 0.0,
        ambiguity: Ambiguity {
            nearest: 0.0,
            farthest: 5.6,
            slack: 0.1,
            gate: 0.15,
            combination: Combination::Mean,
        },
        bias: Bias::None,
        method: Method::ClosedForm,
    }
}

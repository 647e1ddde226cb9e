//! Power-dependent range bias of a phase receiver.

use super::family::FitParameter;
use crate::manifold::VariableValue;
use crate::model::{Model, SimulatorInputs};
use etendue_physics::Scalar;
use etendue_physics::phase::PowerDependentBias;
use etendue_sensors::lidar::Receiver;

/// Coefficient of the power-dependent range bias $c + b p + a p^2$ (m) with the received power $p$.
///
/// Paths: `sensor.receiver.bias.c`, `.b` and `.a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BiasCoefficient {
    /// Exponent of $p$: 0 for c, 1 for b, 2 for a.
    pub power: usize,
}

/// Coefficients by name, with their exponents.
const NAMES: [(&str, usize); 3] = [("a", 2), ("b", 1), ("c", 0)];

impl FitParameter for BiasCoefficient {
    fn members(model: &Model) -> Vec<(String, Self)> {
        if !matches!(model.lidar().receiver, Receiver::Phase(_)) {
            return Vec::new();
        }
        let named = |(name, power)| (format!("sensor.receiver.bias.{name}"), Self { power });
        NAMES.map(named).into()
    }

    fn value(&self, model: &Model) -> VariableValue<f64> {
        VariableValue::Number(match &model.lidar().receiver {
            Receiver::Phase(receiver) => coefficients(&receiver.bias)[self.power],
            _ => 0.0,
        })
    }

    fn apply<S: Scalar>(
        &self,
        _: &Model,
        inputs: &mut SimulatorInputs<S>,
        value: VariableValue<S>,
    ) {
        let (Receiver::Phase(receiver), VariableValue::Number(number)) =
            (&mut inputs.sensor.lidar.receiver, value)
        else {
            return;
        };
        let bias = &mut receiver.bias;
        let mut all = coefficients(bias);
        all[self.power] = number;
        *bias = match bias {
            PowerDependentBias::Phase(_) => PowerDependentBias::Phase(all),
            _ => PowerDependentBias::Range(all),
        };
    }
}

/// Coefficients $(c, b, a)$ of a bias; zero without one.
fn coefficients<S: Scalar>(bias: &PowerDependentBias<S>) -> [S; 3] {
    match bias {
        PowerDependentBias::Range(coefficients) | PowerDependentBias::Phase(coefficients) => {
            *coefficients
        }
        _ => [S::zero(); 3],
    }
}

//! Three-axis sensors with errors.

use super::{BiasProcess, BiasRun};
use crate::Stream;
use nalgebra::{Matrix3, Vector3};
use thiserror::Error;

/// A sensor of a vector quantity on three axes, with its errors. `u` is the unit of the measured
/// quantity.
///
/// $m = \mathrm{clip}\left(\mathrm{round}\left(S\\,M\\,x + b_0 + b(t) + c\\,\Delta T +
/// \eta\\,\rho/\sqrt{dt}\right)\right)$: response, fixed and drifting bias, temperature, white
/// noise; then quantisation and saturation.
#[derive(Clone, Debug, PartialEq)]
pub struct Triad {
    /// White noise density $\rho$, u/√Hz.
    pub density: f64,
    /// White noise of each axis over that density: 1 where all axes are equal. In many
    /// micro-machined accelerometers the axis perpendicular to the chip is noisier.
    pub noise_of_axes: Vector3<f64>,
    /// Bias drift, drawn independently for each axis.
    pub drift: Vec<BiasProcess>,
    /// Standard deviation of the bias from one switch-on to the next, u.
    pub turn_on_bias: f64,
    /// Constant bias, u.
    pub bias: Vector3<f64>,
    /// Response $M$ without its spread: the identity for a calibrated sensor.
    pub response: Matrix3<f64>,
    /// Standard deviation of each axis's scale factor from one unit to the next.
    pub scale_spread: f64,
    /// Standard deviation of the angles between axes and nominal axes, rad.
    pub misalignment_spread: f64,
    /// Bias per kelvin, u/K.
    pub bias_per_kelvin: f64,
    /// Relative change of the scale factor per kelvin, 1/K.
    pub scale_per_kelvin: f64,
    /// Quantisation step of the output, u.
    pub resolution: Option<f64>,
    /// Largest output of an axis, u.
    pub range: Option<f64>,
}

/// A parameter of a triad is outside its domain.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{name} is {value}, it must be {domain}")]
pub struct InvalidTriad {
    /// Name of the parameter.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// Allowed values.
    pub domain: &'static str,
}

impl Default for Triad {
    /// An ideal sensor.
    fn default() -> Self {
        Self {
            density: 0.0,
            noise_of_axes: Vector3::repeat(1.0),
            drift: Vec::new(),
            turn_on_bias: 0.0,
            bias: Vector3::zeros(),
            response: Matrix3::identity(),
            scale_spread: 0.0,
            misalignment_spread: 0.0,
            bias_per_kelvin: 0.0,
            scale_per_kelvin: 0.0,
            resolution: None,
            range: None,
        }
    }
}

impl Triad {
    /// Allan variance of an axis at rest at the averaging time `tau` (s), u², with the white noise
    /// `density`.
    pub fn allan_variance(&self, tau: f64) -> f64 {
        let drift = self.drift.iter().map(|drift| drift.allan_variance(tau));
        self.density * self.density / tau + drift.sum::<f64>()
    }

    /// Checks that all parameters are in their domains.
    ///
    /// # Errors
    /// The first parameter that is not.
    pub fn check(&self) -> Result<(), InvalidTriad> {
        // Noise of a sample, and spreads between devices.
        let zero_or_more = [
            ("the noise density", self.density),
            ("the turn-on bias", self.turn_on_bias),
            ("the spread of scale factors", self.scale_spread),
            ("the spread of misalignments", self.misalignment_spread),
            ("the least noise of an axis", self.noise_of_axes.min()),
            ("the most noise of an axis", self.noise_of_axes.max()),
        ];
        for (name, value) in zero_or_more {
            require(name, value, value >= 0.0, "zero or more")?;
        }
        // Drift.
        for (name, value) in self.drift.iter().copied().flat_map(numbers) {
            require(name, value, value > 0.0, "above zero")?;
        }
        // Quantisation and saturation.
        for (name, value) in [
            ("the resolution", self.resolution),
            ("the range", self.range),
        ] {
            let value = value.unwrap_or(1.0);
            require(name, value, value > 0.0, "above zero")?;
        }
        // Response and bias.
        let finite = self.response.iter().chain(self.bias.iter());
        finite
            .copied()
            .try_for_each(|value| require("the response or the bias", value, true, "finite"))
    }
}

fn numbers(process: BiasProcess) -> Vec<(&'static str, f64)> {
    match process {
        BiasProcess::RandomWalk { density } => vec![("the random walk's density", density)],
        BiasProcess::GaussMarkov { sd, time } => {
            vec![("the drift's spread", sd), ("the drift's time", time)]
        }
        BiasProcess::Flicker {
            instability,
            shortest,
            longest,
        } => vec![
            ("the bias instability", instability),
            ("the shortest time of flicker noise", shortest),
            ("the longest time of flicker noise", longest),
        ],
    }
}

fn require(
    name: &'static str,
    value: f64,
    fits: bool,
    domain: &'static str,
) -> Result<(), InvalidTriad> {
    (fits && value.is_finite())
        .then_some(())
        .ok_or(InvalidTriad {
            name,
            value,
            domain,
        })
}

/// A running triad.
#[derive(Clone, Debug, PartialEq)]
pub struct TriadRun {
    triad: Triad,
    response: Matrix3<f64>,
    bias: Vector3<f64>,
    drift: [BiasRun; 3],
}

impl TriadRun {
    /// Switches on: draws the errors that vary between units and between runs.
    pub fn new(triad: &Triad, stream: &mut Stream) -> Self {
        let mut normals = stream.normals();
        let mut draw = |sd: f64| sd * normals.next().unwrap_or_default();
        let scale = Vector3::from_fn(|_, _| 1.0 + draw(triad.scale_spread));
        let turn = Matrix3::from_fn(|row, column| {
            let angle = draw(triad.misalignment_spread);
            if row == column { 1.0 } else { angle }
        });
        let bias = triad.bias + Vector3::from_fn(|_, _| draw(triad.turn_on_bias));
        Self {
            response: Matrix3::from_diagonal(&scale) * turn * triad.response,
            bias,
            drift: [(); 3].map(|()| BiasRun::new(&triad.drift, &mut normals)),
            triad: triad.clone(),
        }
    }

    /// Current bias, u.
    pub fn bias(&self) -> Vector3<f64> {
        self.bias + Vector3::from_fn(|axis, _| self.drift[axis].value())
    }

    /// The next sample of `truth` (u), `dt` seconds after the previous one, `warmer` kelvins above
    /// the calibration temperature.
    pub fn measure(
        &mut self,
        truth: &Vector3<f64>,
        dt: f64,
        warmer: f64,
        stream: &mut Stream,
    ) -> Vector3<f64> {
        let mut normals = stream.normals();
        for drift in &mut self.drift {
            drift.step(dt, &mut normals);
        }
        let noise_sd = self.triad.density / dt.sqrt();
        let noise = Vector3::from_fn(|_, _| noise_sd * normals.next().unwrap_or_default());
        let noise = noise.component_mul(&self.triad.noise_of_axes);
        let response = self.response * (1.0 + self.triad.scale_per_kelvin * warmer);
        let warmth = Vector3::repeat(self.triad.bias_per_kelvin * warmer);
        let output = response * truth + self.bias() + warmth + noise;
        output.map(|value| self.output(value))
    }

    /// Output of the converter for a value: quantised and clipped.
    fn output(&self, value: f64) -> f64 {
        let range = self.triad.range.unwrap_or(f64::INFINITY);
        let clipped = value.clamp(-range, range);
        match self.triad.resolution {
            Some(step) => (clipped / step).round() * step,
            None => clipped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;

    fn measured(triad: &Triad, truth: Vector3<f64>) -> Vector3<f64> {
        let mut stream = Stream::new(1, 0, 0, 0, Purpose::Gyroscope);
        TriadRun::new(triad, &mut stream).measure(&truth, 0.01, 10.0, &mut stream)
    }

    #[test]
    fn a_perfect_sensor_reads_the_truth() {
        let truth = Vector3::new(0.1, -0.2, 0.3);
        assert_eq!(measured(&Triad::default(), truth), truth);
    }

    #[test]
    fn outputs_are_rounded_and_clipped() {
        let triad = Triad {
            resolution: Some(0.25),
            range: Some(2.0),
            ..Triad::default()
        };
        let read = measured(&triad, Vector3::new(0.4, -7.0, 1.1));
        assert_eq!(read, Vector3::new(0.5, -2.0, 1.0));
    }

    #[test]
    fn temperature_changes_bias_and_scale() {
        let triad = Triad {
            bias_per_kelvin: 0.01,
            scale_per_kelvin: 1e-3,
            ..Triad::default()
        };
        let read = measured(&triad, Vector3::x());
        assert!((read - Vector3::new(1.11, 0.1, 0.1)).norm() < 1e-15);
    }

    #[test]
    fn invalid_parameters_are_refused_by_name() {
        let triad = Triad {
            drift: vec![BiasProcess::GaussMarkov { sd: 1.0, time: 0.0 }],
            ..Triad::default()
        };
        let error = triad.check().expect_err("no time");
        assert_eq!(
            error.to_string(),
            "the drift's time is 0, it must be above zero"
        );
        let triad = Triad {
            density: -1.0,
            ..Triad::default()
        };
        assert!(triad.check().is_err());
    }
}

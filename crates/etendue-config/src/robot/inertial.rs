//! Tables of inertial units and magnetometers.

use crate::toml_file::TomlProblem;
use etendue_physics::inertial::{BiasProcess, Imu, InvalidTriad, STANDARD_GRAVITY, Triad, Warming};
use nalgebra::Vector3;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// An inertial measurement unit: a preset, a file, or parameters.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ImuTable {
    /// Name of a unit preset.
    #[schemars(with = "Option<String>")]
    pub preset: Option<Spanned<String>>,
    /// A device file, relative to the folder of this file.
    #[schemars(with = "Option<String>")]
    pub file: Option<Spanned<String>>,
    /// Gyroscope. Default: ideal.
    pub gyroscope: Option<GyroscopeTable>,
    /// Accelerometer. Default: ideal.
    pub accelerometer: Option<AccelerometerTable>,
    /// Warm-up.
    pub warming: Option<WarmingTable>,
}

/// A three-axis gyroscope, in degrees.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GyroscopeTable {
    /// White noise density (1/60 °/s/√Hz is an angular random walk of 1 °/√h).
    #[schemars(range(min = 0.0))]
    pub noise_density_dps_rthz: f64,
    /// White noise of each axis relative to the density. Default: 1.
    #[schemars(inner(range(min = 0.0)))]
    pub noise_of_axes: Option<[f64; 3]>,
    /// Minimum of the Allan deviation, which data sheets call bias stability (0.664 times the bias
    /// instability of IEEE Std 952).
    #[schemars(range(min = 1e-9))]
    pub bias_stability_dph: Option<f64>,
    /// Time scales of the flicker noise. Default: 1 to 10,000 s.
    #[schemars(inner(range(min = 1e-06)))]
    pub flicker_s: Option<[f64; 2]>,
    /// Rate random walk, °/h/√h.
    #[schemars(range(min = 0.0))]
    pub random_walk_dph_rth: Option<f64>,
    /// Stationary bias drift: standard deviation (°/h) and correlation time (s).
    #[schemars(inner(range(min = 0.0)))]
    pub wander_dph: Option<[f64; 2]>,
    /// Standard deviation of the turn-on bias.
    #[schemars(range(min = 0.0))]
    pub turn_on_bias_dps: f64,
    /// Constant bias.
    pub bias_dps: [f64; 3],
    /// Standard deviation of scale factors.
    #[schemars(range(min = 0.0))]
    pub scale_spread_percent: f64,
    /// Standard deviation of the angles between actual and nominal axes.
    #[schemars(range(min = 0.0))]
    pub misalignment_spread_deg: f64,
    /// Change of the bias per kelvin.
    #[schemars(range(min = 0.0))]
    pub bias_dps_per_kelvin: f64,
    /// Change of the scale factor per kelvin.
    #[schemars(range(min = 0.0))]
    pub scale_percent_per_kelvin: f64,
    /// Maximum rate.
    #[schemars(range(min = 1e-09))]
    pub range_dps: Option<f64>,
    /// Quantisation step of the output.
    #[schemars(range(min = 1e-09))]
    pub resolution_dps: Option<f64>,
}

/// A three-axis accelerometer, in standard gravities.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AccelerometerTable {
    /// White noise density (1700 µg/√Hz is a velocity random walk of 1 m/s/√h).
    #[schemars(range(min = 0.0))]
    pub noise_density_ug_rthz: f64,
    /// White noise of each axis relative to the density. Default: 1.
    #[schemars(inner(range(min = 0.0)))]
    pub noise_of_axes: Option<[f64; 3]>,
    /// Minimum of the Allan deviation, which data sheets call bias stability.
    #[schemars(range(min = 1e-9))]
    pub bias_stability_ug: Option<f64>,
    /// Time scales of the flicker noise. Default: 1 to 10,000 s.
    #[schemars(inner(range(min = 1e-06)))]
    pub flicker_s: Option<[f64; 2]>,
    /// Acceleration random walk, µg/√h.
    #[schemars(range(min = 0.0))]
    pub random_walk_ug_rth: Option<f64>,
    /// Stationary bias drift: standard deviation (µg) and correlation time (s).
    #[schemars(inner(range(min = 0.0)))]
    pub wander_ug: Option<[f64; 2]>,
    /// Standard deviation of the turn-on bias.
    #[schemars(range(min = 0.0))]
    pub turn_on_bias_mg: f64,
    /// Constant bias.
    pub bias_mg: [f64; 3],
    /// Standard deviation of scale factors.
    #[schemars(range(min = 0.0))]
    pub scale_spread_percent: f64,
    /// Standard deviation of the angles between actual and nominal axes.
    #[schemars(range(min = 0.0))]
    pub misalignment_spread_deg: f64,
    /// Change of the bias per kelvin.
    #[schemars(range(min = 0.0))]
    pub bias_mg_per_kelvin: f64,
    /// Change of the scale factor per kelvin.
    #[schemars(range(min = 0.0))]
    pub scale_percent_per_kelvin: f64,
    /// Maximum acceleration.
    #[schemars(range(min = 1e-09))]
    pub range_g: Option<f64>,
    /// Quantisation step of the output.
    #[schemars(range(min = 1e-09))]
    pub resolution_mg: Option<f64>,
}

/// A three-axis magnetometer.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MagnetometerTable {
    /// White noise density.
    #[schemars(range(min = 0.0))]
    pub noise_density_nt_rthz: f64,
    /// Field of magnetised parts of the robot (hard iron).
    pub hard_iron_ut: [f64; 3],
    /// Soft-iron matrix, row by row. Default: the identity.
    pub soft_iron: Option<[[f64; 3]; 3]>,
    /// Standard deviation of scale factors.
    #[schemars(range(min = 0.0))]
    pub scale_spread_percent: f64,
    /// Standard deviation of the angles between actual and nominal axes.
    #[schemars(range(min = 0.0))]
    pub misalignment_spread_deg: f64,
    /// Maximum field.
    #[schemars(range(min = 1e-09))]
    pub range_ut: Option<f64>,
    /// Quantisation step of the output.
    #[schemars(range(min = 1e-09))]
    pub resolution_nt: Option<f64>,
}

/// Warm-up of a unit after switch-on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WarmingTable {
    /// Initial temperature relative to that of the calibration.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub start_kelvin: f64,
    /// Temperature rise.
    pub rise_kelvin: f64,
    /// Time constant.
    #[schemars(range(min = 1e-09))]
    pub time_s: f64,
}

/// Minimum of an Allan deviation divided by the bias instability: $\sqrt{2\ln 2/\pi}$.
const ALLAN_MINIMUM: f64 = 0.664_282_470_267_960_1;
/// Default time scales of flicker noise, s.
const FLICKER: [f64; 2] = [1.0, 10_000.0];

/// Drift parameters in SI units.
struct Drift {
    stability: Option<f64>,
    flicker: Option<[f64; 2]>,
    random_walk: Option<f64>,
    wander: Option<[f64; 2]>,
}

impl Drift {
    fn processes(&self) -> Vec<BiasProcess> {
        let [shortest, longest] = self.flicker.unwrap_or(FLICKER);
        let flicker = self.stability.map(|lowest| BiasProcess::Flicker {
            instability: lowest / ALLAN_MINIMUM,
            shortest,
            longest,
        });
        let walk = self
            .random_walk
            .map(|density| BiasProcess::RandomWalk { density });
        let wander = self
            .wander
            .map(|[sd, time]| BiasProcess::GaussMarkov { sd, time });
        [flicker, walk, wander].into_iter().flatten().collect()
    }
}

impl ImuTable {
    /// The unit with the parameters of the table.
    pub(super) fn imu(&self) -> Result<Imu, TomlProblem> {
        let imu = Imu {
            gyroscope: self
                .gyroscope
                .as_ref()
                .map_or_else(Triad::default, GyroscopeTable::triad),
            accelerometer: self
                .accelerometer
                .as_ref()
                .map_or_else(Triad::default, AccelerometerTable::triad),
            warming: self
                .warming
                .as_ref()
                .map_or_else(Warming::default, |table| Warming {
                    start: table.start_kelvin,
                    rise: table.rise_kelvin,
                    time: table.time_s,
                }),
        };
        imu.check().map_err(|error| invalid(&error))?;
        Ok(imu)
    }

    /// Whether the table has parameters.
    pub(super) fn has_numbers(&self) -> bool {
        self.gyroscope.is_some() || self.accelerometer.is_some() || self.warming.is_some()
    }
}

fn invalid(error: &InvalidTriad) -> TomlProblem {
    TomlProblem::value(error.to_string(), "correct it in this table")
}

impl GyroscopeTable {
    fn triad(&self) -> Triad {
        let degree = 1.0_f64.to_radians();
        let per_hour = degree / 3600.0;
        let drift = Drift {
            stability: self.bias_stability_dph.map(|value| value * per_hour),
            flicker: self.flicker_s,
            random_walk: self
                .random_walk_dph_rth
                .map(|value| value * per_hour / 60.0),
            wander: self.wander_dph.map(|[sd, time]| [sd * per_hour, time]),
        };
        Triad {
            density: self.noise_density_dps_rthz * degree,
            noise_of_axes: self
                .noise_of_axes
                .map_or(Vector3::repeat(1.0), Vector3::from),
            drift: drift.processes(),
            turn_on_bias: self.turn_on_bias_dps * degree,
            bias: Vector3::from(self.bias_dps) * degree,
            scale_spread: self.scale_spread_percent * 0.01,
            misalignment_spread: self.misalignment_spread_deg * degree,
            bias_per_kelvin: self.bias_dps_per_kelvin * degree,
            scale_per_kelvin: self.scale_percent_per_kelvin * 0.01,
            resolution: self.resolution_dps.map(|value| value * degree),
            range: self.range_dps.map(|value| value * degree),
            ..Triad::default()
        }
    }
}

impl AccelerometerTable {
    fn triad(&self) -> Triad {
        let milli = STANDARD_GRAVITY * 1e-3;
        let micro = STANDARD_GRAVITY * 1e-6;
        let drift = Drift {
            stability: self.bias_stability_ug.map(|value| value * micro),
            flicker: self.flicker_s,
            random_walk: self.random_walk_ug_rth.map(|value| value * micro / 60.0),
            wander: self.wander_ug.map(|[sd, time]| [sd * micro, time]),
        };
        Triad {
            density: self.noise_density_ug_rthz * micro,
            noise_of_axes: self
                .noise_of_axes
                .map_or(Vector3::repeat(1.0), Vector3::from),
            drift: drift.processes(),
            turn_on_bias: self.turn_on_bias_mg * milli,
            bias: Vector3::from(self.bias_mg) * milli,
            scale_spread: self.scale_spread_percent * 0.01,
            misalignment_spread: self.misalignment_spread_deg.to_radians(),
            bias_per_kelvin: self.bias_mg_per_kelvin * milli,
            scale_per_kelvin: self.scale_percent_per_kelvin * 0.01,
            resolution: self.resolution_mg.map(|value| value * milli),
            range: self.range_g.map(|value| value * STANDARD_GRAVITY),
            ..Triad::default()
        }
    }
}

impl MagnetometerTable {
    pub(super) fn triad(&self) -> Result<Triad, TomlProblem> {
        let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let rows = self.soft_iron.unwrap_or(identity);
        let triad = Triad {
            density: self.noise_density_nt_rthz * 1e-9,
            bias: Vector3::from(self.hard_iron_ut) * 1e-6,
            response: nalgebra::Matrix3::from_fn(|row, column| rows[row][column]),
            scale_spread: self.scale_spread_percent * 0.01,
            misalignment_spread: self.misalignment_spread_deg.to_radians(),
            resolution: self.resolution_nt.map(|value| value * 1e-9),
            range: self.range_ut.map(|value| value * 1e-6),
            ..Triad::default()
        };
        triad.check().map_err(|error| invalid(&error))?;
        Ok(triad)
    }
}

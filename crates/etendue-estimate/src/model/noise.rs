//! Variances of the measurements of all scans.

use super::Model;
use super::simulate::ScanReturnFactor;
use crate::manifold::Variable;
use etendue_physics::atmosphere::Atmosphere;
use etendue_scene::Hit;
use etendue_sensors::lidar::{
    ExpectedReturn, Hooks, LightModel, MeasurementNoise, PointingMargin, SweepSettings,
    measurement_noise, predict,
};
use etendue_sensors::transport::{PathSettings, ReturnFactor};

/// Smallest margin of the direction of a beam relative to edges, rad: the uncertainty of a pose near
/// its minimum.
const MIN_MARGIN: f64 = 1e-3;

/// Number of independent predictions from which the variance by random light paths follows.
const REPEATS: u32 = 16;

impl Model {
    /// Variances of the measurements with the unknowns at `state`, by scan and beam; `None` for beams
    /// without a prediction.
    ///
    /// The margin around edges is the standard deviation of the divergence, at least 1 mrad, with that of
    /// the direction of a beam by the uncertainty of the pose of the sensor, `pointing_sd` (rad).
    pub fn measurement_noise(
        &self,
        state: &[Variable],
        pointing_sd: f64,
    ) -> Vec<Option<MeasurementNoise>> {
        self.measurement_noise_within(state, self.pointing_margin(pointing_sd))
    }

    /// [`measurement_noise`](Self::measurement_noise) with a given margin around edges.
    pub(crate) fn measurement_noise_within(
        &self,
        state: &[Variable],
        margin: PointingMargin,
    ) -> Vec<Option<MeasurementNoise>> {
        let inputs = self.inputs::<f64>(state, &super::jacobian::zeros(state));
        let scene = self.scene_with(&inputs);
        let world = inputs.world(&scene, self.lidar().wavelength);
        let factor = self.facet_factor(&inputs);
        let factor = factor.as_ref().map(|of| of as ScanReturnFactor<f64>);
        let settings = SweepSettings {
            light: LightModel::Tree(self.light.tree()),
            ..SweepSettings::default()
        };
        let atmosphere = Atmosphere {
            weather: inputs.weather.clone(),
        };
        let is_clear = atmosphere.weather.is_empty();
        let mut noise = Vec::with_capacity(self.all_beams());
        for (scan, pose) in inputs.world_from_sensor.iter().enumerate() {
            let of_scan =
                factor.map(|factor| move |beam: usize, hit: &Hit| factor(scan, beam, hit));
            let hooks = Hooks {
                atmosphere: (!is_clear).then_some(&atmosphere),
                factor: of_scan.as_ref().map(|of| of as &ReturnFactor<f64>),
                extra_rays: None,
            };
            let lidar = &inputs.sensor.lidar;
            let shots = &inputs.sensor.sweep_of(scan).shots;
            let mut of_beams =
                measurement_noise(&world, lidar, &settings, shots, *pose, hooks, margin);
            if let LightModel::Paths(paths) = self.light {
                let predicted = |settings: &SweepSettings| {
                    predict(&world, lidar, settings, shots, |_| *pose, hooks)
                };
                add_noise_of_paths(&mut of_beams, paths, &predicted);
            }
            noise.extend(of_beams);
        }
        noise
    }

    /// Margin of the direction of the beams relative to edges.
    fn pointing_margin(&self, pointing_sd: f64) -> PointingMargin {
        let [across, upwards] = self.lidar().beam.width().divergence.sd();
        let margin = |sd: f64| sd.max(MIN_MARGIN).hypot(pointing_sd);
        PointingMargin {
            azimuth: margin(across),
            elevation: if self.is_planar() {
                0.0
            } else {
                margin(upwards)
            },
        }
    }
}

/// Adds the variances of predictions by random light paths: those of [`REPEATS`] predictions by fewer, independent paths each,
/// in proportion to the inverse of the number of paths. A beam that has no return in one of them is lost with that probability.
///
/// A variance $s^2$ of $n$ values is multiplied by $\frac{n-1}{n-3}$: the mean of $1/s^2$, the weight of the beam, is then that of the
/// true variance for normally distributed errors.
fn add_noise_of_paths(
    noise: &mut [Option<MeasurementNoise>],
    paths: PathSettings,
    predicted: &dyn Fn(&SweepSettings) -> Vec<Option<ExpectedReturn>>,
) {
    // Predict by independent paths.
    let few = paths.paths.div_ceil(REPEATS);
    let by_seed = |repeat: u32| {
        let default = SweepSettings::default();
        predicted(&SweepSettings {
            seed: default.seed + 1 + u64::from(repeat),
            light: LightModel::Paths(PathSettings {
                paths: few,
                ..paths
            }),
            ..default
        })
    };
    let repeats: Vec<_> = (0..REPEATS).map(by_seed).collect();

    // Add the variances of each beam.
    let share = f64::from(few) / f64::from(paths.paths);
    for (beam, noise) in noise.iter_mut().enumerate() {
        let Some(noise) = noise else { continue };
        let returns: Vec<_> = repeats.iter().filter_map(|repeat| repeat[beam]).collect();
        noise.lost += 1.0 - returns.len() as f64 / f64::from(REPEATS);
        let variance = |quantity: fn(&ExpectedReturn) -> f64| {
            let count = returns.len() as f64;
            let mean = returns.iter().map(quantity).sum::<f64>() / count;
            let squares = returns.iter().map(|one| (quantity(one) - mean).powi(2));
            squares.sum::<f64>() / (count - 3.0).max(1.0) * share
        };
        if !returns.is_empty() {
            noise.paths = variance(|one| one.range);
            noise.intensity += variance(|one| one.intensity);
        }
    }
}

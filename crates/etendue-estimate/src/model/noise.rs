//! Variances of the measurements of all scans.

use super::Model;
use super::simulate::ScanReturnFactor;
use crate::manifold::Variable;
use etendue_physics::atmosphere::Atmosphere;
use etendue_scene::Hit;
use etendue_sensors::lidar::{
    Hooks, LightModel, MeasurementNoise, PointingMargin, SweepSettings, measurement_noise,
};
use etendue_sensors::transport::ReturnFactor;

/// Smallest margin of the direction of a beam relative to edges, rad: the uncertainty of a pose near
/// its minimum.
const MIN_MARGIN: f64 = 1e-3;

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
        let world = inputs.world(&scene, self.sensor.wavelength());
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
        let mut noise = Vec::with_capacity(self.scans() * self.beams());
        for (scan, pose) in inputs.world_from_sensor.iter().enumerate() {
            let of_scan =
                factor.map(|factor| move |beam: usize, hit: &Hit| factor(scan, beam, hit));
            let hooks = Hooks {
                atmosphere: (!is_clear).then_some(&atmosphere),
                factor: of_scan.as_ref().map(|of| of as &ReturnFactor<f64>),
                extra_rays: None,
            };
            let lidar = &inputs.sensor.lidar;
            let shots = &inputs.sensor.shots;
            noise.extend(measurement_noise(
                &world, lidar, &settings, shots, *pose, hooks, margin,
            ));
        }
        noise
    }

    /// Margin of the direction of the beams relative to edges.
    fn pointing_margin(&self, pointing_sd: f64) -> PointingMargin {
        let [across, upwards] = self.sensor.lidar().beam.width().divergence.sd();
        let margin = |sd: f64| sd.max(MIN_MARGIN).hypot(pointing_sd);
        PointingMargin {
            azimuth: margin(across),
            elevation: if self.sensor.is_planar() {
                0.0
            } else {
                margin(upwards)
            },
        }
    }
}

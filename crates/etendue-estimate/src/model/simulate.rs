//! Simulated measurements of all scans.

use super::{Model, SimulatorInputs};
use crate::sensor::{BeamMeasurement, ScannerInputs, Sensor, SensorInputs};
use crate::visibility::{Boundaries, EdgeView};
use etendue_physics::Scalar;
use etendue_physics::atmosphere::Atmosphere;
use etendue_scene::{Hit, Scene};
use etendue_sensors::LaneScalar;
use etendue_sensors::cw::{CwLidar, Turn, shoot_with};
use etendue_sensors::lidar::{ExtraRay, ExtraRays, Hooks, LightModel, SweepSettings, predict};
use etendue_sensors::trajectory::stationary;
use etendue_sensors::transport::{self, World};
use nalgebra::Isometry3;

/// Factor on the power of a return, by the numbers of the scan and the beam, and the hit.
pub(crate) type ReturnFactor<'a, S> = &'a (dyn Fn(usize, usize, &Hit) -> S + Sync);

/// One sweep of a scanner.
struct ScannerSweep<'a, S: Scalar> {
    inputs: &'a ScannerInputs<S>,
    atmosphere: Atmosphere<S>,
    pose: &'a Isometry3<S>,
    boundaries: Option<&'a Boundaries<'a, S>>,
}

impl Model {
    /// Simulates every scan, with the edges that [`Model::edges`] selects.
    pub(super) fn simulate_with_edges<S: LaneScalar>(
        &self,
        scene: &Scene,
        inputs: &SimulatorInputs<S>,
        factor: Option<ReturnFactor<S>>,
    ) -> Vec<Vec<BeamMeasurement<S>>> {
        let Some(settings) = self.edges else {
            return self.simulate(scene, inputs, &[], factor);
        };
        let world = inputs.world(scene, self.sensor.wavelength());
        let boundaries = inputs.world_from_sensor.iter().map(|pose| {
            let view = EdgeView {
                world: &world,
                world_from_sensor: pose,
                tree: self.tree,
                settings,
            };
            Boundaries::new(&view, &inputs.sensor)
        });
        self.simulate(scene, inputs, &boundaries.collect::<Vec<_>>(), factor)
    }

    /// Simulates every scan, each with its own boundaries where there are any.
    pub(super) fn simulate<S: LaneScalar>(
        &self,
        scene: &Scene,
        inputs: &SimulatorInputs<S>,
        boundaries: &[Boundaries<'_, S>],
        factor: Option<ReturnFactor<S>>,
    ) -> Vec<Vec<BeamMeasurement<S>>> {
        let wavelength = self.sensor.wavelength();
        let world = inputs.world(scene, wavelength);
        let poses = inputs.world_from_sensor.iter().enumerate();
        let scan = |(number, pose): (usize, &Isometry3<S>)| {
            let of_scan =
                factor.map(|factor| move |beam: usize, hit: &Hit| factor(number, beam, hit));
            let factor: Option<&transport::ReturnFactor<S>> = of_scan.as_ref().map(|of| of as _);
            let boundaries = boundaries.get(number);
            match (&inputs.sensor, &self.sensor) {
                (SensorInputs::Scanner(scanner), Sensor::Scanner(_)) => {
                    let sweep = ScannerSweep {
                        inputs: scanner,
                        atmosphere: Atmosphere {
                            weather: inputs.weather.clone(),
                        },
                        pose,
                        boundaries,
                    };
                    self.scanner_sweep(&world, &sweep, factor)
                }
                (SensorInputs::ContinuousWave(lidar), _) => {
                    let offsets = &inputs.range_offsets;
                    self.continuous_wave_sweep(&world, lidar, pose, boundaries, offsets, factor)
                }
                (SensorInputs::Scanner(_), Sensor::ContinuousWave(_)) => Vec::new(),
            }
        };
        poses.map(scan).collect()
    }

    /// One sweep of a continuous-wave lidar.
    fn continuous_wave_sweep<S: LaneScalar>(
        &self,
        world: &World<'_, S>,
        lidar: &CwLidar<S>,
        pose: &Isometry3<S>,
        boundaries: Option<&Boundaries<'_, S>>,
        range_offsets: &[(usize, f64)],
        factor: Option<&transport::ReturnFactor<S>>,
    ) -> Vec<BeamMeasurement<S>> {
        let turn = Turn {
            tree: self.tree,
            ..Turn::default()
        };
        let mut shots = shoot_with(
            world,
            lidar,
            &turn,
            stationary(*pose),
            factor,
            |beam, received| {
                if let Some(Boundaries::ContinuousWave(edges)) = boundaries {
                    edges.add(beam, received);
                }
            },
        );
        for &(beam, offset) in range_offsets {
            if let Ok(detection) = &mut shots[beam].outcome {
                detection.range += offset;
            }
        }
        shots.iter().map(BeamMeasurement::from).collect()
    }

    /// One sweep of a scanner.
    fn scanner_sweep<S: LaneScalar>(
        &self,
        world: &World<'_, S>,
        sweep: &ScannerSweep<'_, S>,
        factor: Option<&transport::ReturnFactor<S>>,
    ) -> Vec<BeamMeasurement<S>> {
        let inputs = sweep.inputs;
        let extra_rays = |shot: usize, rays: &mut Vec<ExtraRay<S>>| {
            if let Some(Boundaries::Scanner(edges)) = sweep.boundaries {
                edges.add(&inputs.shots[shot], rays);
            }
        };
        let hooks = Hooks {
            atmosphere: Some(&sweep.atmosphere),
            factor,
            extra_rays: sweep.boundaries.map(|_| &extra_rays as &ExtraRays<S>),
        };
        let settings = SweepSettings {
            light: LightModel::Tree(self.tree),
            ..SweepSettings::default()
        };
        let pose = stationary(*sweep.pose);
        let shots = &inputs.shots;
        let mut expected = predict(world, &inputs.lidar, &settings, shots, pose, hooks);
        for (expected, shot) in expected.iter_mut().zip(shots.iter()) {
            if let Some(expected) = expected {
                expected.range += inputs.range_offsets[usize::from(shot.channel)];
            }
        }
        expected.iter().map(BeamMeasurement::from).collect()
    }
}

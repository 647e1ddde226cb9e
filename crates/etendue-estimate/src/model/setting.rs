//! Everything the simulator needs, with the unknowns put in.

use super::air;
use super::parameter::Timed;
use super::sensor::{ScannerSetting, Sensor};
use super::{Measured, Model, Parameter, SensorSetting, coefficients, planar, upright};
use crate::manifold::{Manifold, Value, Variable, lift3};
use crate::visibility::Boundaries;
use etendue_physics::Scalar;
use etendue_physics::atmosphere::Weather;
use etendue_physics::phase::Bias;
use etendue_physics::surface::Material;
use etendue_scene::{Hit, MaterialId, ObjectId, Scene};
use etendue_sensors::cw::{CwLidar, Turn, shoot_with};
use etendue_sensors::lidar::{BeamProfile, ExtraRay, MeanAir, MeanScanner, Receiver};
use etendue_sensors::trajectory::stationary;
use etendue_sensors::transport::{self, World};
use nalgebra::{Isometry2, Isometry3};
use std::sync::Arc;

/// The simulator's inputs in `S`.
pub(crate) struct Setting<S: Scalar> {
    pub sensor: SensorSetting<S>,
    pub world_from_sensor: Vec<Isometry3<S>>,
    pub poses: Vec<(ObjectId, Isometry3<S>)>,
    pub materials: Vec<(MaterialId, Material<S>)>,
    pub range_offsets: Vec<(usize, f64)>,
    /// What is in the air.
    pub weather: Vec<Weather<S>>,
    /// Factors on what facets scatter back: object, triangle, value.
    pub facets: Vec<(ObjectId, u32, f64)>,
}

/// One sweep of a scanner.
struct Sweep<'a, S: Scalar> {
    setting: &'a ScannerSetting<S>,
    air: Option<MeanAir<S>>,
    pose: &'a Isometry3<S>,
    edges: Option<&'a Boundaries<'a, S>>,
}

/// What the power of a return is multiplied by: of the numbers of the scan and of the beam, and of
/// what it came from.
pub(crate) type Factor<'a, S> = &'a (dyn Fn(usize, usize, &Hit) -> S + Sync);

impl Model {
    /// Puts the unknowns in, moved from `state` by `step`. Offsets of single beams are put in as
    /// plain numbers: their derivatives follow from the pose's.
    pub(crate) fn setting<S: Scalar>(&self, state: &[Variable], step: &[S]) -> Setting<S> {
        let mut setting = Setting {
            sensor: self.sensor.lifted(),
            world_from_sensor: self.world_from_sensor.iter().map(lift3).collect(),
            poses: Vec::new(),
            materials: Vec::new(),
            range_offsets: Vec::new(),
            weather: air::lifted(&self.air),
            facets: Vec::new(),
        };
        let mut rest = step;
        for (unknown, variable) in self.unknowns.iter().zip(state) {
            let (own, others) = rest.split_at(variable.dimension());
            rest = others;
            self.put(&mut setting, &unknown.parameter, variable.moved(own));
        }
        setting
    }

    fn put<S: Scalar>(&self, setting: &mut Setting<S>, parameter: &Parameter, value: Value<S>) {
        match (parameter, value) {
            (Parameter::SensorPose { scan }, pose) => {
                setting.world_from_sensor[*scan] = in_space(pose, &self.world_from_sensor[*scan]);
            }
            (Parameter::ObjectPose(id), pose) => {
                let before = &self.parts.objects[id.0 as usize].world_from_object;
                setting.poses.push((*id, in_space(pose, before)));
            }
            (parameter, Value::Number(number)) => self.put_number(setting, parameter, number),
            (_, Value::Planar(_) | Value::Spatial(_)) => {}
        }
    }

    fn put_number<S: Scalar>(&self, setting: &mut Setting<S>, parameter: &Parameter, number: S) {
        match *parameter {
            Parameter::Bias { power } => put_bias(&mut setting.sensor, power, number),
            Parameter::Divergence => {
                if let SensorSetting::ContinuousWave(lidar) = &mut setting.sensor {
                    lidar.half_tangent = (number * 0.5).tan();
                }
            }
            Parameter::Width { axis } => put_width(&mut setting.sensor, axis, number),
            Parameter::Timing(which) => put_timing(&mut setting.sensor, which, number),
            Parameter::Weather { number: which } => {
                let weather = &mut setting.weather[which];
                let unit = air::name_and_unit(weather).map_or(1.0, |(_, unit)| unit);
                *weather = weather.with_amount(number * unit);
            }
            Parameter::Material {
                material,
                parameter,
            } => self.put_material(setting, material, parameter, number),
            Parameter::AzimuthOffset { beam } => setting.sensor.turn(beam, number.value(), 0.0),
            Parameter::ElevationOffset { beam } => setting.sensor.turn(beam, 0.0, number.value()),
            Parameter::RangeOffset { beam } => match &mut setting.sensor {
                SensorSetting::Scanner(own) => own.range_offsets[beam] += number.value(),
                SensorSetting::ContinuousWave(_) => {
                    setting.range_offsets.push((beam, number.value()));
                }
            },
            Parameter::Facet { object, triangle } => {
                setting.facets.push((object, triangle, number.value()));
            }
            Parameter::SensorPose { .. } | Parameter::ObjectPose(_) => {}
        }
    }

    fn put_material<S: Scalar>(
        &self,
        setting: &mut Setting<S>,
        material: MaterialId,
        wanted: etendue_physics::surface::Parameter,
        number: S,
    ) {
        let known = setting.materials.iter().position(|(id, _)| *id == material);
        let index = known.unwrap_or_else(|| {
            let stored = &self.parts.materials[material.0 as usize].material;
            let value = |spectrum: &etendue_physics::Spectrum| {
                S::from(spectrum.at(self.sensor.wavelength()).unwrap_or(f64::NAN))
            };
            setting.materials.push((material, stored.map(value)));
            setting.materials.len() - 1
        });
        let Ok(replaced) = setting.materials[index].1.try_map(|parameter, value| {
            Ok::<S, std::convert::Infallible>(if parameter == wanted { number } else { *value })
        });
        setting.materials[index].1 = replaced;
    }

    /// The scene with the objects where the setting has them.
    pub(crate) fn scene_of<S: Scalar>(&self, setting: &Setting<S>) -> Arc<Scene> {
        if setting.poses.is_empty() {
            return Arc::clone(&self.scene);
        }
        let mut parts = self.parts.clone();
        for (id, pose) in &setting.poses {
            parts.objects[id.0 as usize].world_from_object = values(pose);
        }
        // The same meshes were built before, and a step never makes a pose that is not finite
        // unless the state itself is lost: then the scene stands still, and the residuals tell.
        parts
            .build()
            .map_or_else(|_| Arc::clone(&self.scene), Arc::new)
    }

    /// Fires every scan.
    pub(crate) fn shoot_all<S: Scalar>(
        &self,
        scene: &Scene,
        setting: &Setting<S>,
        boundaries: &[Boundaries<'_, S>],
        factor: Option<Factor<'_, S>>,
    ) -> Vec<Vec<Measured<S>>> {
        let world = world_of(scene, setting, self.sensor.wavelength());
        let poses = setting.world_from_sensor.iter().enumerate();
        let scan = |(number, pose): (usize, &Isometry3<S>)| {
            let of_beam =
                factor.map(|factor| move |beam: usize, hit: &Hit| factor(number, beam, hit));
            let factor: Option<&transport::Factor<S>> = of_beam.as_ref().map(|of| of as _);
            match (&setting.sensor, &self.sensor) {
                (SensorSetting::Scanner(scanner), Sensor::Scanner(_)) => {
                    let sweep = Sweep {
                        setting: scanner,
                        air: air::mean(&setting.weather, self.sensor.wavelength()),
                        pose,
                        edges: boundaries.get(number),
                    };
                    self.sweep(&world, &sweep, factor)
                }
                (SensorSetting::ContinuousWave(lidar), _) => {
                    let edges = boundaries.get(number);
                    let offsets = &setting.range_offsets;
                    self.turn(&world, lidar, pose, edges, offsets, factor)
                }
                (SensorSetting::Scanner(_), Sensor::ContinuousWave(_)) => Vec::new(),
            }
        };
        poses.map(scan).collect()
    }

    /// One turn of a continuous-wave lidar.
    fn turn<S: Scalar>(
        &self,
        world: &World<'_, S>,
        lidar: &CwLidar<S>,
        pose: &Isometry3<S>,
        edges: Option<&Boundaries<'_, S>>,
        range_offsets: &[(usize, f64)],
        factor: Option<&transport::Factor<S>>,
    ) -> Vec<Measured<S>> {
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
                if let Some(Boundaries::ContinuousWave(edges)) = edges {
                    edges.add(beam, received);
                }
            },
        );
        for &(beam, offset) in range_offsets {
            if let Ok(detection) = &mut shots[beam].outcome {
                detection.range += offset;
            }
        }
        shots.iter().map(Measured::from).collect()
    }

    /// One sweep of a scanner.
    fn sweep<S: Scalar>(
        &self,
        world: &World<'_, S>,
        sweep: &Sweep<'_, S>,
        factor: Option<&transport::Factor<S>>,
    ) -> Vec<Measured<S>> {
        let setting = sweep.setting;
        let mean = MeanScanner {
            scanner: &setting.lidar,
            air: sweep.air,
            tree: self.tree,
        };
        let still = stationary(*sweep.pose);
        let edges = |shot: usize, rays: &mut Vec<ExtraRay<S>>| {
            if let Some(Boundaries::Scanner(edges)) = sweep.edges {
                edges.add(&setting.shots[shot], rays);
            }
        };
        let mut shots = mean.fire(world, &setting.shots, still, factor, edges);
        for (shot, fired) in shots.iter_mut().zip(setting.shots.iter()) {
            if let Some(shot) = shot {
                shot.range += setting.range_offsets[usize::from(fired.channel)];
            }
        }
        shots.iter().map(Measured::from).collect()
    }
}

fn put_bias<S: Scalar>(sensor: &mut SensorSetting<S>, power: usize, number: S) {
    let Some(bias) = sensor.bias() else {
        return;
    };
    let mut all = coefficients(bias);
    all[power] = number;
    *bias = match bias {
        Bias::Phase(_) => Bias::Phase(all),
        _ => Bias::Range(all),
    };
}

fn put_timing<S: Scalar>(sensor: &mut SensorSetting<S>, which: Timed, number: S) {
    let SensorSetting::Scanner(setting) = sensor else {
        return;
    };
    if let Receiver::Pulsed(receiver) = &mut setting.lidar.receiver {
        match which {
            Timed::PulseWidth => receiver.pulse.fwhm = number,
            Timed::Threshold => receiver.threshold = number,
            Timed::Reference => receiver.reference = number,
        }
    }
}

/// Replaces the full angle of divergence along an axis.
fn put_width<S: Scalar>(sensor: &mut SensorSetting<S>, axis: usize, number: S) {
    let SensorSetting::Scanner(setting) = sensor else {
        return;
    };
    if let BeamProfile::Elliptic { width, .. } = &mut setting.lidar.beam.profile {
        match axis {
            0 => width.divergence.horizontal = number,
            _ => width.divergence.vertical = number,
        }
    }
}

/// The scene in `S`, with what the setting replaces.
pub(crate) fn world_of<'a, S: Scalar>(
    scene: &'a Scene,
    setting: &Setting<S>,
    wavelength: f64,
) -> World<'a, S> {
    let world =
        World::at_wavelength(scene, wavelength).expect("the model was made at this wavelength");
    let mut world = world.lift::<S>();
    for (id, pose) in &setting.poses {
        world = world.with_pose(*id, *pose);
    }
    for (id, material) in &setting.materials {
        world = world.with_material(*id, material.clone());
    }
    world
}

/// A pose in space: one of the plane takes height and tilt from `before`.
fn in_space<S: Scalar>(value: Value<S>, before: &Isometry3<f64>) -> Isometry3<S> {
    match value {
        Value::Spatial(pose) => pose,
        Value::Planar(pose) => {
            let rest = upright(&planar(before)).inverse() * before;
            lift_planar(&pose) * lift3::<S>(&rest)
        }
        Value::Number(_) => lift3(before),
    }
}

fn lift_planar<S: Scalar>(pose: &Isometry2<S>) -> Isometry3<S> {
    let at = pose.translation.vector;
    // Half angles by the half-angle formulas, on the side where they are well conditioned.
    let (cos, sin) = (pose.rotation.re, pose.rotation.im);
    let (w, z) = if cos.value() >= 0.0 {
        let w = ((cos + 1.0) * 0.5).sqrt();
        (w, sin / (w * 2.0))
    } else {
        let z = ((-cos + 1.0) * 0.5).sqrt();
        (sin / (z * 2.0), z)
    };
    let rotation = nalgebra::UnitQuaternion::new_unchecked(nalgebra::Quaternion::new(
        w,
        S::zero(),
        S::zero(),
        z,
    ));
    Isometry3::from_parts(
        nalgebra::Vector3::new(at.x, at.y, S::zero()).into(),
        rotation,
    )
}

/// A pose without its derivatives.
fn values<S: Scalar>(pose: &Isometry3<S>) -> Isometry3<f64> {
    let rotation = nalgebra::Quaternion::from(pose.rotation.coords.map(Scalar::value));
    Isometry3::from_parts(
        pose.translation.vector.map(Scalar::value).into(),
        nalgebra::UnitQuaternion::new_normalize(rotation),
    )
}

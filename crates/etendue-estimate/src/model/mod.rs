//! The simulator as a function of whatever is unknown.
//!
//! A [`Model`] is a scene, a continuous-wave lidar or a scanner without its noise, and the poses it
//! scanned from. What is unknown is named by a path, `sensor.pose` or `materials.white.reflectance`
//! ([`Parameter`]), and freed by [`Model::free`].

mod air;
mod facets;
mod jacobian;
mod parameter;
mod sensor;
mod setting;

pub use parameter::{Freedom, Parameter, UnknownPath};
pub use sensor::{Direction, Measured, ScannerSensor, Sensor};

use crate::manifold::{OutOfBounds, Variable};
use etendue_physics::phase::{Bias, Noise};
use etendue_scene::{Object, Scene, SceneBuilder, SceneError};
use etendue_sensors::cw::{CwLidar, InvalidLidar};
use etendue_sensors::lidar::Air;
use etendue_sensors::lidar::Lidar;
use etendue_sensors::lidar::PhaseMethod;
use etendue_sensors::transport::{TreeSettings, WorldError};
use nalgebra::{Isometry2, Isometry3, UnitQuaternion, Vector2, Vector3};
use std::sync::Arc;
use thiserror::Error;

pub(crate) use jacobian::Rows;
pub(crate) use sensor::{ScannerSetting, SensorSetting};
pub(crate) use setting::{Setting, world_of};

/// A scene, a sensor and where it stood, with some of all that unknown.
#[derive(Clone, Debug)]
pub struct Model {
    parts: SceneBuilder,
    scene: Arc<Scene>,
    sensor: Sensor,
    world_from_sensor: Vec<Isometry3<f64>>,
    air: Air,
    unknowns: Vec<Unknown>,
    /// Where ray trees end.
    pub tree: TreeSettings,
    /// Whether derivatives, and predictions where that is asked for, see edges as the integrals over
    /// beams do.
    pub edges: Option<crate::visibility::EdgeSettings>,
}

/// Something unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// The path that names it.
    pub path: String,
    /// What it is.
    pub parameter: Parameter,
    /// Where it stands at the start.
    pub start: Variable,
}

/// Why a model cannot be.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The scene cannot be built.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The sensor makes no sense.
    #[error(transparent)]
    Lidar(#[from] InvalidLidar),
    /// A material has no value at the sensor's wavelength.
    #[error(transparent)]
    World(#[from] WorldError),
    /// There is no scan.
    #[error("there is no pose to scan from")]
    NoScan,
    /// A path names nothing.
    #[error(transparent)]
    Path(#[from] UnknownPath),
    /// The same thing was freed twice.
    #[error("{path} is free already")]
    FreedTwice {
        /// The path.
        path: String,
    },
    /// A start lies outside its bounds.
    #[error("{path}: {source}")]
    Start {
        /// The path.
        path: String,
        /// Where it is.
        source: OutOfBounds,
    },
    /// A pose was freed as a number, or the reverse.
    #[error("{path} is {is}: free it as {instead}")]
    WrongFreedom {
        /// The path.
        path: String,
        /// What it is.
        is: &'static str,
        /// How to free it.
        instead: &'static str,
    },
}

impl Model {
    /// A model with nothing unknown yet. Noise, jitter and rounding of `lidar` are left out: the
    /// model predicts what the sensor would report on average.
    ///
    /// # Errors
    /// Where the scene or the sensor makes no sense, or no pose is given.
    pub fn new(
        parts: SceneBuilder,
        lidar: &CwLidar<f64>,
        world_from_sensor: Vec<Isometry3<f64>>,
    ) -> Result<Self, ModelError> {
        lidar.check()?;
        Self::with_sensor(parts, lidar.into(), world_from_sensor)
    }

    /// The same with a scanner at rest: beams are the shots of its first sweep, which measure range
    /// and intensity.
    ///
    /// # Errors
    /// Where the scene makes no sense, or no pose is given.
    pub fn of_scanner(
        parts: SceneBuilder,
        scanner: &Lidar,
        world_from_sensor: Vec<Isometry3<f64>>,
    ) -> Result<Self, ModelError> {
        let sensor = Sensor::Scanner(ScannerSensor::new(scanner));
        Self::with_sensor(parts, sensor, world_from_sensor)
    }

    /// A model with that sensor.
    ///
    /// # Errors
    /// As [`Model::new`].
    pub fn with_sensor(
        parts: SceneBuilder,
        sensor: Sensor,
        world_from_sensor: Vec<Isometry3<f64>>,
    ) -> Result<Self, ModelError> {
        if world_from_sensor.is_empty() {
            return Err(ModelError::NoScan);
        }
        let scene = Arc::new(parts.clone().build()?);
        etendue_sensors::transport::World::at_wavelength(&scene, sensor.wavelength())?;
        Ok(Self {
            parts,
            scene,
            sensor,
            world_from_sensor,
            air: Air::default(),
            unknowns: Vec::new(),
            tree: TreeSettings::default(),
            edges: None,
        })
    }

    /// The same model in other air than none: scanners see it, all drops and flakes of it by their
    /// mean; continuous-wave lidars do not.
    #[must_use]
    pub fn in_air(mut self, air: Air) -> Self {
        self.air = air;
        self
    }

    /// Makes what `path` names unknown, starting where the model has it now.
    ///
    /// # Errors
    /// Where the path names nothing (the nearest one that does is suggested), is free already, or
    /// starts outside its bounds.
    pub fn free(&mut self, path: &str, freedom: Freedom) -> Result<(), ModelError> {
        for (path, parameter) in self.resolve(path)? {
            if self
                .unknowns
                .iter()
                .any(|known| known.parameter == parameter)
            {
                return Err(ModelError::FreedTwice { path });
            }
            let start = self.start_of(&path, &parameter, freedom)?;
            self.unknowns.push(Unknown {
                path,
                parameter,
                start,
            });
        }
        Ok(())
    }

    /// What is unknown, in the order it was freed.
    pub fn unknowns(&self) -> &[Unknown] {
        &self.unknowns
    }

    /// Where the unknowns stand in the model as it was made.
    pub fn start(&self) -> Vec<Variable> {
        self.unknowns
            .iter()
            .map(|known| known.start.clone())
            .collect()
    }

    /// The sensor without its noise.
    pub fn sensor(&self) -> &Sensor {
        &self.sensor
    }

    /// How many beams a scan has.
    pub fn beams(&self) -> usize {
        self.sensor.beams()
    }

    /// The scene, where nothing is moved yet.
    pub fn scene(&self) -> &Arc<Scene> {
        &self.scene
    }

    /// What the scene is made of, nothing moved yet.
    pub fn parts(&self) -> &SceneBuilder {
        &self.parts
    }

    /// The objects, by number.
    pub fn objects(&self) -> &[Object] {
        &self.parts.objects
    }

    /// How many scans there are.
    pub fn scans(&self) -> usize {
        self.world_from_sensor.len()
    }

    /// What the sensor would report, scan by scan, beam by beam, with the unknowns at `state`.
    pub fn predict(&self, state: &[Variable]) -> Vec<Vec<Measured>> {
        let setting = self.setting::<f64>(state, &vec![0.0; crate::manifold::dimension(state)]);
        let scene = self.scene_of(&setting);
        let factor = self.facet_factor(&setting);
        let factor = factor.as_ref().map(|of| of as setting::Factor<f64>);
        if self.edges.is_some_and(|edges| edges.integral) {
            return self.shoot_with_edges(&scene, &setting, factor);
        }
        self.shoot_all(&scene, &setting, &[], factor)
    }

    /// The same model with every `every`-th beam alone, one ray a beam: for coarse searches.
    #[must_use]
    pub fn thinned(&self, every: usize) -> Self {
        Self {
            sensor: self.sensor.thinned(every),
            edges: None,
            ..self.clone()
        }
    }

    /// The same model with its beams `factor` times as wide: edges are seen from farther away.
    #[must_use]
    pub fn widened(&self, factor: f64) -> Self {
        Self {
            sensor: self.sensor.clone().widened(factor),
            ..self.clone()
        }
    }

    fn start_of(
        &self,
        path: &str,
        parameter: &Parameter,
        freedom: Freedom,
    ) -> Result<Variable, ModelError> {
        let pose = match parameter {
            Parameter::SensorPose { scan } => Some(self.world_from_sensor[*scan]),
            Parameter::ObjectPose(id) => Some(self.parts.objects[id.0 as usize].world_from_object),
            _ => None,
        };
        let wrong = |is, instead| ModelError::WrongFreedom {
            path: path.to_owned(),
            is,
            instead,
        };
        let outside = |source| ModelError::Start {
            path: path.to_owned(),
            source,
        };
        match (pose, freedom) {
            (Some(pose), Freedom::Whole) => Ok(Variable::Spatial(pose)),
            (Some(pose), Freedom::Planar) => Ok(Variable::Planar(planar(&pose))),
            (Some(pose), Freedom::Boxed { lower, upper }) => {
                Variable::boxed(&planar(&pose), lower, upper).map_err(outside)
            }
            (None, Freedom::Whole) if matches!(parameter, Parameter::Weather { .. }) => {
                parameter::bounded(self.value_of(parameter), 0.0, f64::INFINITY).map_err(outside)
            }
            (None, Freedom::Whole) => Ok(parameter::number(self.value_of(parameter))),
            (None, Freedom::Interval { lower, upper }) => {
                parameter::bounded(self.value_of(parameter), lower, upper).map_err(outside)
            }
            (Some(_), Freedom::Interval { .. }) => Err(wrong("a pose", "planar, boxed or whole")),
            (None, _) => Err(wrong("a number", "whole or an interval")),
        }
    }
}

/// The part of a pose that moves in the plane: position and yaw.
pub fn planar(pose: &Isometry3<f64>) -> Isometry2<f64> {
    let forward = pose.rotation * Vector3::x();
    Isometry2::new(
        Vector2::new(pose.translation.x, pose.translation.y),
        forward.y.atan2(forward.x),
    )
}

/// A planar pose in space, at height zero.
pub fn upright(pose: &Isometry2<f64>) -> Isometry3<f64> {
    let at = pose.translation.vector;
    Isometry3::from_parts(
        Vector3::new(at.x, at.y, 0.0).into(),
        UnitQuaternion::from_axis_angle(&Vector3::z_axis(), pose.rotation.angle()),
    )
}

fn without_noise(lidar: &CwLidar<f64>) -> CwLidar<f64> {
    let mut quiet = lidar.clone();
    quiet.azimuth_jitter = 0.0;
    quiet.resolution = None;
    quiet.receiver.noise = Noise::default();
    quiet.receiver.method = PhaseMethod::ClosedForm;
    quiet.receiver.converter_bits = None;
    quiet
}

/// The coefficients $[c, b, a]$ of a bias, zero where there is none.
fn coefficients<S: etendue_physics::Scalar>(bias: &Bias<S>) -> [S; 3] {
    match bias {
        Bias::Range(coefficients) | Bias::Phase(coefficients) => *coefficients,
        _ => [S::zero(); 3],
    }
}

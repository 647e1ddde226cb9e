//! Fit model: scene, lidar and sensor poses with unknown parameters.

use super::parameter::{Freedom, Parameter, UnknownPath};
use super::planar::planar;
use super::simulate::{LocalParameters, ScanReturnFactor};
use crate::manifold::{BoundedNumber, OutOfBounds, Variable, VariableValue};
use crate::sensor::{BeamMeasurement, NoiselessLidar};
use crate::visibility::EdgeSettings;
use etendue_scene::{Object, ObjectId, Scene, SceneBuilder, SceneError};
use etendue_sensors::lidar::{Air, Lidar, LidarError, LightModel, Shot};
use etendue_sensors::transport::{World, WorldError};
use nalgebra::Isometry3;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;

/// Fit model: a scene, a noise-free lidar and the poses of its scans, with unknown parameters.
#[derive(Clone, Debug)]
pub struct Model {
    /// Meshes, objects and materials of the initial scene.
    pub(super) parts: SceneBuilder,
    /// Initial scene.
    pub(super) scene: Arc<Scene>,
    /// The lidar in each sweep that scans are of.
    pub(super) sweeps: Vec<NoiselessLidar>,
    /// Place in `sweeps` of the sweep of each scan.
    pub(super) sweep_of_scan: Vec<usize>,
    /// Initial pose of the sensor at each scan.
    pub(super) world_from_sensor: Vec<Isometry3<f64>>,
    pub(super) air: Air,
    pub(super) unknowns: Vec<Unknown>,
    /// Light transport of the simulation.
    pub(super) light: LightModel,
    /// Integration across edges, for derivatives and optionally for predictions; `None` for rays only.
    pub edges: Option<EdgeSettings>,
}

/// Free parameter of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// Path of the parameter.
    pub path: String,
    /// The parameter.
    pub parameter: Parameter,
    /// Initial value.
    pub start: Variable,
}

/// Errors of a fit model.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The scene cannot be built.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The lidar is not valid.
    #[error(transparent)]
    Lidar(#[from] LidarError),
    /// A material has no value at the sensor's wavelength.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The model has no scan.
    #[error("the model has no sensor pose: give one per scan")]
    NoScan,
    /// A path names no parameter.
    #[error(transparent)]
    Path(#[from] UnknownPath),
    /// A parameter is freed twice.
    #[error("{path} is free already")]
    FreedTwice {
        /// The path.
        path: String,
    },
    /// An initial value is outside its bounds.
    #[error("{path}: {source}")]
    Start {
        /// The path.
        path: String,
        /// Value and bounds.
        source: OutOfBounds,
    },
    /// A factor or a vertex of a triangle is free with random light paths.
    #[error(
        "{path}: factors and vertices of triangles are not differentiated along light paths over several \
         surfaces; leave out paths, or free materials.NAME.reflectance or objects.NAME.pose"
    )]
    TriangleAlongPaths {
        /// The path.
        path: String,
    },
    /// The pose of an object that moves is freed.
    #[error(
        "{path}: the object moves, and a fit has no pose of it; remove its motion from the scene"
    )]
    PoseOfMoving {
        /// The path.
        path: String,
    },
    /// A vertex is freed in a scene with objects that move.
    #[error(
        "{path}: vertices are not differentiated in a scene with objects that move; remove the motion from the scene"
    )]
    VertexAmongMoving {
        /// The path.
        path: String,
    },
    /// A pose is freed as a number, or a number as a pose.
    #[error("{path} is {is}: free it as {instead}")]
    WrongFreedom {
        /// The path.
        path: String,
        /// Kind of the parameter, such as "a pose".
        is: &'static str,
        /// Valid degrees of freedom.
        instead: &'static str,
    },
}

impl Model {
    /// Model without unknowns, of a lidar at rest during each scan.
    ///
    /// The beams of a scan are the shots of the first sweep of the lidar ([`Model::in_sweeps`] selects others); each
    /// measures range and intensity. Predictions are expected measurements, without noise, jitter and rounding. Objects
    /// that move are at their pose at the time of each shot, by [`Shot::time`]: sweep $n$ begins after $n$ sweeps. Meshes
    /// that deform are as at time zero.
    ///
    /// # Errors
    /// Where the scene or the lidar is not valid, or no pose is given.
    pub fn new(
        parts: SceneBuilder,
        lidar: &Lidar,
        world_from_sensor: Vec<Isometry3<f64>>,
    ) -> Result<Self, ModelError> {
        let parts = SceneBuilder {
            deformations: vec![],
            ..parts
        };
        Self::of_scene(Arc::new(parts.build()?), lidar, world_from_sensor)
    }

    /// [`Model::new`] of a scene that is built, without meshes that deform.
    ///
    /// # Errors
    /// As [`Model::new`].
    pub fn of_scene(
        scene: Arc<Scene>,
        lidar: &Lidar,
        world_from_sensor: Vec<Isometry3<f64>>,
    ) -> Result<Self, ModelError> {
        let sensor = NoiselessLidar::new(&lidar.clone().checked()?);
        Self::of_sensor(scene, sensor, world_from_sensor)
    }

    /// [`Model::of_scene`] of a lidar whose shots are computed.
    ///
    /// # Errors
    /// Where a material has no value at the wavelength, or no pose is given.
    pub fn of_sensor(
        scene: Arc<Scene>,
        sensor: NoiselessLidar,
        world_from_sensor: Vec<Isometry3<f64>>,
    ) -> Result<Self, ModelError> {
        if world_from_sensor.is_empty() {
            return Err(ModelError::NoScan);
        }
        World::at_wavelength(&scene, sensor.lidar().wavelength)?;
        Ok(Self {
            parts: scene.parts().clone(),
            scene,
            sweeps: vec![sensor],
            sweep_of_scan: vec![0; world_from_sensor.len()],
            world_from_sensor,
            air: Air::default(),
            unknowns: Vec::new(),
            light: LightModel::default(),
            edges: None,
        })
    }

    /// The model with the shots of the sweep of each scan in place of those of the first: before parameters are freed.
    /// `sweep_of_scan` gives the index of the sweep of a scan. The shots of a sweep are stored once.
    #[must_use]
    pub fn in_sweeps(mut self, sweep_of_scan: impl Fn(usize) -> u32) -> Self {
        let mut indices: Vec<u32> = Vec::new();
        let place = |scan| {
            let index = sweep_of_scan(scan);
            let known = indices.iter().position(|known| *known == index);
            known.unwrap_or_else(|| {
                indices.push(index);
                indices.len() - 1
            })
        };
        self.sweep_of_scan = (0..self.scans()).map(place).collect();
        let of_sweep = |index: &u32| NoiselessLidar::of_sweep(self.lidar(), *index);
        self.sweeps = indices.iter().map(of_sweep).collect();
        self
    }

    /// The model with weather, by its mean extinction and backscatter.
    #[must_use]
    pub fn in_air(mut self, air: Air) -> Self {
        self.air = air;
        self
    }

    /// The model with another light transport. Random light paths are the same at every evaluation; noise and coarse
    /// searches have ray trees.
    ///
    /// # Errors
    /// For random light paths, if a factor or a vertex of a triangle is free.
    pub fn in_light(mut self, light: LightModel) -> Result<Self, ModelError> {
        self.light = light;
        match self
            .unknowns
            .iter()
            .find(|known| self.lacks(&known.parameter))
        {
            None => Ok(self),
            Some(unknown) => Err(ModelError::TriangleAlongPaths {
                path: unknown.path.clone(),
            }),
        }
    }

    /// Whether light follows random paths.
    pub(crate) fn follows_paths(&self) -> bool {
        matches!(self.light, LightModel::Paths(_))
    }

    /// Whether the light transport has no derivatives by a parameter.
    fn lacks(&self, parameter: &Parameter) -> bool {
        let of_triangle = matches!(
            parameter,
            Parameter::FacetScattering(_) | Parameter::VertexPosition(_)
        );
        of_triangle && self.follows_paths()
    }

    /// Adds the parameters of a path to the unknowns, with their current values as initial values.
    ///
    /// # Errors
    /// Where no parameter has the path (the most similar path is suggested), a parameter is free
    /// already, its value is outside the bounds, it is a factor or a vertex of a triangle and light follows random paths, it
    /// is the pose of an object that moves, or a vertex in a scene with such an object.
    pub fn free(&mut self, path: &str, freedom: Freedom) -> Result<(), ModelError> {
        let unknowns = self.unknowns.iter();
        let mut known: HashSet<Parameter> = unknowns.map(|unknown| unknown.parameter).collect();
        for (path, parameter) in self.resolve(path)? {
            if !known.insert(parameter) {
                return Err(ModelError::FreedTwice { path });
            }
            if self.lacks(&parameter) {
                return Err(ModelError::TriangleAlongPaths { path });
            }
            self.check_motion(&path, &parameter)?;
            let start = self.start_of(&path, &parameter, freedom)?;
            self.unknowns.push(Unknown {
                path,
                parameter,
                start,
            });
        }
        Ok(())
    }

    /// Checks that a parameter can be unknown in spite of the motion of objects.
    fn check_motion(&self, path: &str, parameter: &Parameter) -> Result<(), ModelError> {
        let path = || path.to_owned();
        match parameter {
            Parameter::ObjectPose(of) if self.scene.motion(of.object).is_some() => {
                Err(ModelError::PoseOfMoving { path: path() })
            }
            // Rays of such a model have the index of their beam as their time.
            Parameter::VertexPosition(_) if !self.parts.motions.is_empty() => {
                Err(ModelError::VertexAmongMoving { path: path() })
            }
            _ => Ok(()),
        }
    }

    /// Unknowns, in the order of [`Model::free`].
    pub fn unknowns(&self) -> &[Unknown] {
        &self.unknowns
    }

    /// Initial values of the unknowns.
    pub fn start(&self) -> Vec<Variable> {
        self.unknowns
            .iter()
            .map(|unknown| unknown.start.clone())
            .collect()
    }

    /// The lidar.
    pub fn lidar(&self) -> &Lidar {
        self.sweeps[0].lidar()
    }

    /// The noise-free lidar with the shots of a scan, by index.
    pub fn sensor(&self, scan: usize) -> &NoiselessLidar {
        &self.sweeps[self.sweep_of_scan[scan]]
    }

    /// Number of beams of a scan, by index.
    pub fn beams(&self, scan: usize) -> usize {
        self.sensor(scan).beams()
    }

    /// Indices of the beams of each scan among those of all scans.
    pub(crate) fn beams_of_scans(&self) -> impl Iterator<Item = Range<usize>> {
        let mut end = 0;
        (0..self.scans()).map(move |scan| {
            let first = end;
            end += self.beams(scan);
            first..end
        })
    }

    /// Scan and shot of each beam of all scans.
    pub(crate) fn shots(&self) -> impl Iterator<Item = (usize, &Shot)> {
        let of_scan = |scan| (self.sensor(scan).shots().iter()).map(move |shot| (scan, shot));
        (0..self.scans()).flat_map(of_scan)
    }

    /// Number of beams of all scans.
    pub(crate) fn all_beams(&self) -> usize {
        (0..self.scans()).map(|scan| self.beams(scan)).sum()
    }

    /// Greatest number of beams of a complete scan.
    pub(super) fn most_complete_beams(&self) -> usize {
        let beams = self.sweeps.iter().map(NoiselessLidar::complete_beams);
        beams.max().unwrap_or(0)
    }

    /// Whether all beams have the same elevation (planar scanner).
    pub(crate) fn is_planar(&self) -> bool {
        self.sweeps.iter().all(NoiselessLidar::is_planar)
    }

    /// Scene at the initial values.
    pub fn scene(&self) -> &Arc<Scene> {
        &self.scene
    }

    /// Meshes, objects and materials of the initial scene.
    pub fn parts(&self) -> &SceneBuilder {
        &self.parts
    }

    /// Objects of the initial scene, by index.
    pub fn objects(&self) -> &[Object] {
        &self.parts.objects
    }

    /// Initial pose of the sensor at each scan.
    pub fn world_from_sensor(&self) -> &[Isometry3<f64>] {
        &self.world_from_sensor
    }

    /// Number of scans.
    pub fn scans(&self) -> usize {
        self.world_from_sensor.len()
    }

    /// Expected measurements with the unknowns at `state`, by scan and beam.
    pub fn predict(&self, state: &[Variable]) -> Vec<Vec<BeamMeasurement>> {
        let inputs = self.inputs::<f64>(state, &vec![0.0; crate::manifold::dimension(state)]);
        let scene = self.scene_with(&inputs);
        let factor = self.facet_factor(&inputs);
        let factor = factor.as_ref().map(|of| of as ScanReturnFactor<f64>);
        let local = LocalParameters::factors(factor);
        if self.edges.is_some_and(|edges| edges.integral) {
            return self.simulate_with_edges(&scene, &inputs, local);
        }
        self.simulate(&scene, &inputs, &[], local)
    }

    /// The model with every `every`-th beam, one ray per beam and ray trees, for coarse searches.
    ///
    /// Offsets of single beams refer to the beams of the complete scan.
    #[must_use]
    pub fn thinned(&self, every: usize) -> Self {
        Self {
            sweeps: self.sweeps.iter().map(|one| one.thinned(every)).collect(),
            light: LightModel::Tree(self.light.tree()),
            edges: None,
            ..self.clone()
        }
    }

    /// Whether beams or channels have unknown offsets.
    pub(crate) fn has_offsets_of_beams(&self) -> bool {
        let of_beams = |unknown: &Unknown| matches!(unknown.parameter, Parameter::BeamOffset(_));
        self.unknowns.iter().any(of_beams)
    }

    /// The model with the given beams of each scan, each turned by an azimuth (rad); `None` where beams have unknowns of
    /// their own.
    pub(crate) fn turned_beams(&self, beams: &[Vec<(usize, f64)>]) -> Option<Self> {
        if self.has_offsets_of_beams() {
            return None;
        }
        let of_scan = |(scan, beams): (usize, &Vec<_>)| self.sensor(scan).turned_beams(beams);
        Some(Self {
            sweeps: beams.iter().enumerate().map(of_scan).collect(),
            sweep_of_scan: (0..self.scans()).collect(),
            edges: None,
            ..self.clone()
        })
    }

    /// The model without some objects: rays pass through them. Their poses have no effect.
    #[must_use]
    pub(crate) fn without(&self, objects: &[ObjectId]) -> Self {
        let mut parts = self.parts.clone();
        for object in objects {
            parts.objects[object.0 as usize].mask = 0;
        }
        let scene = parts.clone().build();
        Self {
            // The scene was valid with the objects, and masks are not checked.
            scene: scene.map_or_else(|_| Arc::clone(&self.scene), Arc::new),
            parts,
            edges: None,
            ..self.clone()
        }
    }

    /// The model with the divergence of its beams multiplied by `factor`: edges affect more beams.
    #[must_use]
    pub fn widened(&self, factor: f64) -> Self {
        let widened = self.sweeps.iter().map(|one| one.clone().widened(factor));
        Self {
            sweeps: widened.collect(),
            ..self.clone()
        }
    }

    /// Initial value of a parameter with given degrees of freedom.
    fn start_of(
        &self,
        path: &str,
        parameter: &Parameter,
        freedom: Freedom,
    ) -> Result<Variable, ModelError> {
        // Errors
        let wrong = |is, instead| ModelError::WrongFreedom {
            path: path.to_owned(),
            is,
            instead,
        };
        let outside = |source| ModelError::Start {
            path: path.to_owned(),
            source,
        };
        // Number with bounds
        let bounded = |value: f64, lower: f64, upper: f64| {
            let chart = if lower == 0.0 && upper == f64::INFINITY {
                BoundedNumber::positive(value)
            } else {
                BoundedNumber::interval(value, lower, upper)
            };
            chart.map(Variable::Number).map_err(outside)
        };
        // Variable of the kind of the parameter
        match (parameter.value(self), freedom) {
            (VariableValue::Spatial(pose), Freedom::Whole) => Ok(Variable::Spatial(pose)),
            (VariableValue::Spatial(pose), Freedom::Planar) => Ok(Variable::Planar(planar(&pose))),
            (VariableValue::Spatial(pose), Freedom::Boxed { lower, upper }) => {
                Variable::boxed(&planar(&pose), lower, upper).map_err(outside)
            }
            (VariableValue::Number(value), Freedom::Whole) => match parameter.bounds() {
                Some([lower, upper]) => bounded(value, lower, upper),
                None => Ok(Variable::Number(BoundedNumber::real(value))),
            },
            (VariableValue::Number(value), Freedom::Interval { lower, upper }) => {
                bounded(value, lower, upper)
            }
            (VariableValue::Number(_), _) => Err(wrong("a number", "whole or an interval")),
            (VariableValue::Spatial(_) | VariableValue::Planar(_), _) => {
                Err(wrong("a pose", "planar, boxed or whole"))
            }
        }
    }
}

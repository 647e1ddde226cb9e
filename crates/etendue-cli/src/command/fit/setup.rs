//! Setup of a fit: scene, sensor, scans and unknowns as a problem for the solver.

use super::measurements::{MeasuredScan, check_unit, sweeps_of};
use super::values::placed;
use crate::failure::Failure;
use crate::source;
use etendue::config::fit::{FitTask, FreeTask, Motion, ScanTask, Setting, Spot};
use etendue::config::scene::LoadedScene;
use etendue::config::toml_file::{TomlProblem, UnknownName};
use etendue::estimate::fit::FitProblem;
use etendue::estimate::manifold::{BoundedNumber, OutOfBounds, Variable, VariableValue};
use etendue::estimate::model::{
    BeamMeasurement, Freedom, Model, ModelError, NoiselessLidar, ObjectPose, Parameter, SensorPose,
    UnknownPath,
};
use etendue::estimate::visibility::EdgeSettings;
use etendue::scene::{Object, SceneBuilder};
use etendue::sensors::lidar::{Air, Lidar, LightModel};
use nalgebra::Isometry3;
use std::collections::BTreeMap;

/// Fit problem with the names and values of its report.
pub struct Setup {
    /// Name of the scene.
    pub scene: String,
    /// Name of the sensor.
    pub sensor: String,
    /// Parts of the scene, with objects at their start.
    pub parts: SceneBuilder,
    /// Pose of the sensor in each scan at the start.
    pub world_from_sensor: Vec<Isometry3<f64>>,
    /// Measurements of each scan.
    pub readings: Vec<Vec<BeamMeasurement>>,
    /// Model and scans.
    pub problem: FitProblem,
    /// Start of each unknown.
    pub start: Vec<Variable>,
    /// True value of each unknown, where known.
    pub truth: Vec<Option<Setting>>,
    /// Warnings about scene and scans.
    pub warnings: Vec<String>,
}

impl Setup {
    /// Loads scene, sensor and scans, and sets up the unknowns.
    pub fn new(task: &FitTask) -> Result<Self, Failure> {
        // Scene and sensor
        let loaded = source::scene(Some(&task.scene))?;
        let (sensor, _) = source::sensor_in(task.sensor.as_deref(), &loaded)?;
        let lidar = &sensor.lidar;
        let mut warnings = loaded.warnings.clone();

        // Measurements of the shots of the sweep of each scan
        let scans = task.scans.iter().map(MeasuredScan::read);
        let scans: Vec<MeasuredScan> = scans.collect::<Result<_, _>>()?;
        let objects_move = !loaded.scene.parts().motions.is_empty();
        let sweeps = sweeps_of(&scans, lidar, objects_move);
        let mut shots: BTreeMap<u32, NoiselessLidar> = BTreeMap::new();
        let mut readings = Vec::new();
        for (scan, sweep) in scans.into_iter().zip(&sweeps) {
            let of_sweep = || NoiselessLidar::of_sweep(lidar, *sweep);
            let shots = shots.entry(*sweep).or_insert_with(of_sweep);
            let path = scan.path().to_owned();
            let (scan, scan_warnings) = scan.of_shots(shots)?;
            check_unit(&path, &scan, lidar)?;
            readings.push(scan);
            warnings.extend(scan_warnings);
        }
        warnings.extend(without_intensity(task, &readings));
        warnings.extend(deforming(loaded.scene.parts()));

        // Model with unknown poses at their start
        let mut parts = loaded.scene.parts().clone();
        let mut poses = poses(task, &loaded)?;
        let known = new_model(parts.clone(), lidar, &sweeps, &poses, &loaded.air)?;
        for free in &task.free {
            start_poses(free, &known, &mut parts, &mut poses)?;
        }
        let mut model = new_model(parts.clone(), lidar, &sweeps, &poses, &loaded.air)?;

        // Unknowns
        let mut start = Vec::new();
        let mut truth = Vec::new();
        for free in &task.free {
            let variables = release(free, &mut model)?;
            truth.extend(variables.iter().map(|_| free.truth));
            start.extend(variables);
        }

        // Problem
        let moves = |known: &etendue::estimate::model::Unknown| {
            matches!(known.parameter, Parameter::ObjectPose(_))
        };
        let edges = task.edges.unwrap_or(model.unknowns().iter().any(moves));
        model.edges = edges.then(EdgeSettings::default);
        if let Some(paths) = task.paths {
            let light = LightModel::with_paths(paths);
            model = model.in_light(light).map_err(fit_error)?;
        }
        let mut problem = FitProblem::measured_by(model, &readings)?;
        problem.intensity_sigma = task.intensity.recip();
        Ok(Self {
            scene: loaded.name,
            sensor: sensor.name,
            parts,
            world_from_sensor: poses,
            problem,
            readings,
            start,
            truth,
            warnings,
        })
    }
}

/// Warning about an unknown material where the scans have no intensities.
fn without_intensity(task: &FitTask, readings: &[Vec<BeamMeasurement>]) -> Option<String> {
    let is_material = |free: &&FreeTask| free.path.starts_with("materials.");
    let material = task.free.iter().find(is_material)?;
    let mut beams = readings.iter().flatten();
    let has_intensity = beams.any(|beam| beam.intensity().is_some());
    (!has_intensity).then(|| {
        format!(
            "the scans have no intensities, which determine {}: of a scan log, only the ranges are used; give points with \
             intensities, such as scan.csv or scan.pcd of `etendue simulate`",
            material.path
        )
    })
}

/// Warning about meshes that deform, which a model has as at time zero.
fn deforming(parts: &SceneBuilder) -> Option<String> {
    let deforms = |object: &&Object| {
        let mut meshes = parts.deformations.iter().map(|(mesh, _)| *mesh);
        meshes.any(|mesh| mesh == object.mesh)
    };
    let names: Vec<&str> = (parts.objects.iter().filter(deforms))
        .map(|object| object.name.as_str())
        .collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("the fit has objects that deform as they are at time zero: {names}; beams that meet them may be outliers")
    })
}

/// A model of the shots of the sweep of each scan.
fn new_model(
    parts: SceneBuilder,
    lidar: &Lidar,
    sweeps: &[u32],
    poses: &[Isometry3<f64>],
    air: &Air,
) -> Result<Model, Failure> {
    let model = Model::new(parts, lidar, poses.to_vec());
    let model = model.map_err(fit_error)?;
    Ok(model.in_sweeps(|scan| sweeps[scan]).in_air(air.clone()))
}

fn fit_error(error: ModelError) -> Failure {
    Failure::Fit(error.into())
}

/// Pose of the sensor in each scan: that of the scan, else of the scene, else the start.
fn poses(task: &FitTask, loaded: &LoadedScene) -> Result<Vec<Isometry3<f64>>, Failure> {
    let placement = loaded.sensor.as_ref();
    let in_scene = placement.map(|placement| placement.world_from_sensor);
    let pose = |(number, scan): (usize, &ScanTask)| {
        let started = task.free.iter().any(|free| {
            let own = free.path == format!("scans.{number}.pose");
            (own || number == 0 && free.path == "sensor.pose") && free.start.is_some()
        });
        let pose = scan.world_from_sensor.or(in_scene);
        let free_of_start = started || task.search_poses.is_some();
        let pose = pose.or(free_of_start.then(Isometry3::identity));
        pose.ok_or_else(|| Failure::NoPose {
            scene: loaded.name.clone(),
        })
    };
    task.scans.iter().enumerate().map(pose).collect()
}

/// Sets an unknown pose to its start.
fn start_poses(
    free: &FreeTask,
    model: &Model,
    parts: &mut SceneBuilder,
    poses: &mut [Isometry3<f64>],
) -> Result<(), Failure> {
    let resolved = model.resolve(&free.path);
    for (path, parameter) in resolved.map_err(|error| unknown_path(free, model, error))? {
        // Pose of a scan or of an object, if the parameter is one
        let pose = match parameter {
            Parameter::SensorPose(SensorPose { scan }) => Some(&mut poses[scan]),
            Parameter::ObjectPose(ObjectPose { object: id }) => {
                Some(&mut parts.objects[id.0 as usize].world_from_object)
            }
            _ => None,
        };

        // Replace it by the start
        match (pose, free.start) {
            (_, None) | (None, Some(Setting::Number(_))) => {}
            (Some(pose), Some(start @ (Setting::Planar(_) | Setting::Pose(_)))) => {
                *pose = placed(&start, pose);
            }
            (Some(_), Some(Setting::Number(_))) => {
                let message = format!("{path} is a pose, its start is a number");
                return Err(wrong(free.start_spot.as_ref(), message, "give x,y,yaw"));
            }
            (None, Some(_)) => {
                let message = format!("{path} is a number, its start is a pose");
                return Err(wrong(free.start_spot.as_ref(), message, "give one number"));
            }
        }
    }
    Ok(())
}

/// Makes the parameters of a path unknown, and returns their start.
fn release(free: &FreeTask, model: &mut Model) -> Result<Vec<Variable>, Failure> {
    let before = model.unknowns().len();
    let resolved = model.resolve(&free.path);
    let resolved = resolved.map_err(|error| unknown_path(free, model, error))?;
    let is_pose = resolved.iter().any(|(_, parameter)| parameter.is_pose());
    let freedom = if is_pose && free.motion != Motion::Spatial {
        Freedom::Planar
    } else {
        Freedom::Whole
    };
    model.free(&free.path, freedom).map_err(fit_error)?;
    let unknowns = &model.unknowns()[before..];
    let variables = unknowns.iter().map(|known| variable(free, &known.start));
    variables.collect()
}

/// Start of an unknown in the coordinates that its bounds require.
fn variable(free: &FreeTask, own: &Variable) -> Result<Variable, Failure> {
    let path = &free.path;
    match (own.value(), free.motion) {
        (VariableValue::Number(value), _) => number(free, own, value),
        (VariableValue::Planar(pose), Motion::Boxed { lower, upper }) => {
            Variable::boxed(&pose, lower, upper).map_err(|error| out_of_bounds(free, &error))
        }
        (_, Motion::Between { .. }) => Err(wrong(
            free.spot.as_ref(),
            format!("{path} is a pose: between is for numbers"),
            "give within_m = [[x, y], [x, y]]",
        )),
        _ => Ok(own.clone()),
    }
}

/// Start of an unknown number: bounded, positive or real.
fn number(free: &FreeTask, own: &Variable, value: f64) -> Result<Variable, Failure> {
    let start = match free.start {
        Some(Setting::Number(start)) => start,
        _ => value,
    };
    let is_positive = matches!(own, Variable::Number(BoundedNumber::Positive { .. }));
    let bounded = match free.motion {
        Motion::Between { lower, upper } => BoundedNumber::interval(start, lower, upper),
        Motion::Boxed { .. } => {
            return Err(wrong(
                free.spot.as_ref(),
                format!("{} is a number: within_m is for poses", free.path),
                "give between = [lower, upper]",
            ));
        }
        Motion::Planar | Motion::Spatial if is_positive => BoundedNumber::positive(start),
        Motion::Planar | Motion::Spatial => Ok(BoundedNumber::real(start)),
    };
    bounded
        .map(Variable::Number)
        .map_err(|error| out_of_bounds(free, &error))
}

fn out_of_bounds(free: &FreeTask, error: &OutOfBounds) -> Failure {
    let OutOfBounds {
        value,
        lower,
        upper,
    } = error;
    let path = &free.path;
    wrong(
        free.start_spot.as_ref().or(free.spot.as_ref()),
        format!("{path} starts at {value}, outside its bounds ({lower}, {upper})"),
        "give a start inside the bounds, or wider ones (within_m of a pose, between of a number)",
    )
}

fn unknown_path(free: &FreeTask, model: &Model, error: UnknownPath) -> Failure {
    let Some(spot) = &free.spot else {
        return Failure::usage(error.to_string(), path_remedy(&error, &model.paths()));
    };
    let unknown = UnknownName::new("parameter", error.path, model.paths());
    etendue::config::ConfigError::from(spot.error(unknown.into())).into()
}

/// Most paths that a remedy lists.
const LISTED: usize = 6;

/// Remedy for an unknown path: the complete paths that end with it, the parameters of the same part (`sensor`,
/// `objects.wall`), or all parts.
fn path_remedy(error: &UnknownPath, paths: &[String]) -> String {
    let ending = format!(".{}", error.path);
    let complete: Vec<&str> = (paths.iter().map(String::as_str))
        .filter(|path| path.ends_with(&ending))
        .take(LISTED)
        .collect();
    if !complete.is_empty() {
        return format!("give the complete path: {}", complete.join(", "));
    }
    let part = part_of(error.suggestion.as_ref().unwrap_or(&error.path));
    let of_part: Vec<&str> = (paths.iter().map(String::as_str))
        .filter(|path| part_of(path) == part)
        .collect();
    if !of_part.is_empty() {
        return format!("parameters of {part}: {}", of_part.join(", "));
    }
    let mut parts: Vec<&str> = Vec::new();
    for path in paths {
        if !parts.contains(&part_of(path)) {
            parts.push(part_of(path));
        }
    }
    format!("there are parameters of {}", parts.join(", "))
}

/// The part of the scene, or the sensor, that a parameter belongs to.
fn part_of(path: &str) -> &str {
    if path.starts_with("sensor") {
        return "sensor";
    }
    path.rsplit_once('.').map_or(path, |(part, _)| part)
}

/// Error of a value, with its position if it is in a file.
fn wrong(spot: Option<&Spot>, message: String, remedy: &str) -> Failure {
    match spot {
        Some(spot) => {
            let error = spot.error(TomlProblem::value(message, remedy));
            etendue::config::ConfigError::from(error).into()
        }
        None => Failure::usage(message, remedy),
    }
}

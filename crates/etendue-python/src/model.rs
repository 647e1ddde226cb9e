//! Differentiable models of `jacobian` and `fit`.

use crate::arrays::names;
use crate::errors::Outcome;
use crate::lidar::Lidar;
use etendue::config::scene::LoadedScene;
use etendue::config::sensor::Sensor;
use etendue::config::toml_file::UnknownName;
use etendue::estimate::model::{Freedom, Model, Parameter};
use etendue::estimate::visibility::EdgeSettings;
use etendue::scene::SceneBuilder;
use nalgebra::Isometry3;
use pyo3::prelude::*;
use std::sync::Arc;

/// The argument `free`.
pub fn free_of(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    names("free", value)
}

/// Degrees of freedom of poses, by the argument `motion`.
pub fn freedom_of_poses(motion: &str) -> Outcome<Freedom> {
    match motion {
        "spatial" => Ok(Freedom::Whole),
        "planar" => Ok(Freedom::Planar),
        _ => Err(UnknownName::new("motion", motion, ["spatial", "planar"]).into()),
    }
}

/// A model without unknowns of objects in the air of a scene, with the sensor at a pose.
pub fn model_of(
    parts: &SceneBuilder,
    loaded: &LoadedScene,
    sensor: &Sensor,
    pose: Isometry3<f64>,
) -> Outcome<Model> {
    let model = Model::new(parts.clone(), &sensor.lidar, vec![pose])?;
    Ok(model.in_air(loaded.air.clone()))
}

/// A model of the objects of a scene, without rebuilding its acceleration structures if none deforms. Meshes that deform are
/// as at time zero.
pub fn model_of_scene(loaded: &LoadedScene, lidar: &Lidar, pose: Isometry3<f64>) -> Outcome<Model> {
    let parts = loaded.scene.parts();
    if !parts.deformations.is_empty() {
        return model_of(parts, loaded, lidar.sensor(), pose);
    }
    let scene = Arc::new(loaded.scene.clone());
    let model = Model::of_sensor(scene, lidar.noiseless().clone(), vec![pose])?;
    Ok(model.in_air(loaded.air.clone()))
}

/// Frees the parameters of `paths`. Edges count if `edges` or, by default, if the pose of an object is free.
pub fn release(
    model: &mut Model,
    paths: &[String],
    poses: Freedom,
    edges: Option<bool>,
) -> Outcome<()> {
    for path in paths {
        let resolved = model.resolve(path)?;
        let is_pose = resolved.iter().any(|(_, parameter)| parameter.is_pose());
        model.free(path, if is_pose { poses } else { Freedom::Whole })?;
    }
    let mut unknowns = model.unknowns().iter();
    let moves = unknowns.any(|unknown| matches!(unknown.parameter, Parameter::ObjectPose(_)));
    model.edges = edges.unwrap_or(moves).then(EdgeSettings::default);
    Ok(())
}

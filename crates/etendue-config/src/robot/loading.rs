//! Conversion of robot files to robots.

use super::file::VERSION;
use super::{
    DeviceTable, LoadedRobot, Mjcf, ModelName, MountedSensorTable, Registry, RobotFile,
    RobotTrajectory, Urdf,
};
use crate::ConfigError;
use crate::scene::{self, LoadedScene, other_sensors};
use crate::toml_file::resolve;
use crate::toml_file::{Document, DocumentError, FileKind, TomlProblem, UnknownName};
use etendue_sensors::dynamics::{StateTrajectory, Stationary};
use etendue_sensors::rig::{
    Device, Environment, FrameDeclaration, FrameError, FrameTree, Mount, MountedSensor, Rig,
    RigError,
};
use nalgebra::Isometry3;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;

/// Default name of the base.
const BASE: &str = "base";

/// Reads a robot file and its referenced files.
///
/// # Errors
/// If a file cannot be read, or the robot is invalid; the error contains the position.
pub fn load(path: &Path) -> Result<LoadedRobot, ConfigError> {
    load_with(path, &Registry::new())
}

/// Reads a robot file with user filters.
///
/// # Errors
/// As [`load`].
pub fn load_with(path: &Path, registry: &Registry) -> Result<LoadedRobot, ConfigError> {
    read(&Document::read(path)?, registry)
}

/// Parses a robot file. Paths are relative to the folder of the document's path.
///
/// # Errors
/// As [`load`], except errors of reading the document.
///
/// ```
/// use etendue_config::robot::parse;
/// use etendue_config::toml_file::Document;
///
/// let text = r#"
/// version = 1
/// scene = "arena"
/// [[sensors]]
/// name = "imu"
/// rate_hz = 0.0
/// device.imu = { preset = "adis16470" }
/// "#;
/// let error = parse(&Document::new("cart.toml", text)).unwrap_err();
/// assert!(error.to_string().starts_with("cart.toml:6:11: rate_hz is 0.0 Hz"));
///
/// let corrected = text.replace("0.0", "100.0");
/// let robot = parse(&Document::new("cart.toml", corrected)).unwrap();
/// assert_eq!(robot.rig.sensors()[0].name(), "imu");
/// ```
pub fn parse(document: &Document) -> Result<LoadedRobot, ConfigError> {
    read(document, &Registry::new())
}

fn read(document: &Document, registry: &Registry) -> Result<LoadedRobot, ConfigError> {
    let file: RobotFile = document.parse_as(FileKind::Robot)?;
    check(document, &file)?;
    let scene = load_scene(document, &file.scene)?;

    // Read the URDF or MJCF description
    let urdf = match &file.urdf {
        Some(given) => Some(Urdf::load(&resolve(document, given)?)?),
        None => None,
    };
    let mjcf = match &file.mjcf {
        Some(given) => Some(Mjcf::load(&resolve(document, given)?)?),
        None => None,
    };

    // Mount the sensors on the frames
    let mut rig = Rig::new(frames(document, &file, urdf.as_ref(), mjcf.as_ref())?);
    for sensor in &file.sensors {
        mount(document, &mut rig, sensor, registry)?;
    }

    // Load the motion or the dynamics
    let motion = match &file.motion {
        Some(motion) => motion.motion(document)?,
        None => RobotTrajectory::Still(Stationary(Isometry3::identity())),
    };
    let driven = match &file.dynamics {
        Some(table) => {
            let table = table.get_ref();
            Some(table.driven(document, urdf.as_ref(), mjcf.as_ref())?)
        }
        None => None,
    };

    // Describe the environment
    let mut environment = match &file.place {
        Some(place) => place.environment(document)?,
        None => Environment::default(),
    };
    environment.lighting = scene.lighting.clone();
    environment.textures = scene.textures.clone();
    environment.profiles = scene.profiles.clone();

    // Collect the warnings
    let mut warnings = scene.warnings.clone();
    warnings.extend(mjcf.iter().flat_map(|mjcf| mjcf.warnings.clone()));
    warnings.extend(foreign_profiles(document, &file.sensors, &scene)?);
    let start = motion.state(0.0).world_from_body;
    warnings.extend(light_for_cameras(&rig, &scene, &mut environment, &start));

    let stem = || {
        let stem = document.path().file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    };
    Ok(LoadedRobot {
        name: file.name.clone().unwrap_or_else(stem),
        warnings,
        scene,
        environment,
        places: file
            .sensors
            .iter()
            .map(|sensor| document.place(sensor.name.span().start))
            .collect(),
        topics: topics(&rig, &file.sensors),
        rig,
        motion,
        driven,
        duration: file.duration_s.map(Spanned::into_inner),
    })
}

/// Warnings about lidars and materials whose noise was recorded with another sensor.
fn foreign_profiles(
    document: &Document,
    sensors: &[MountedSensorTable],
    scene: &LoadedScene,
) -> Result<Vec<String>, ConfigError> {
    let mut names = BTreeSet::new();
    for table in sensors {
        if let DeviceTable::Lidar(lidar) = &table.device {
            names.insert(lidar.sensor(document, table.name.span())?.name);
        }
    }
    let of = |name: &String| other_sensors(scene, name);
    Ok(names.iter().flat_map(of).collect())
}

/// Adds light for the first camera of the rig, at its start, to a scene without lights.
fn light_for_cameras(
    rig: &Rig,
    scene: &LoadedScene,
    environment: &mut Environment,
    start: &Isometry3<f64>,
) -> Option<String> {
    let mut sensors = rig.sensors().iter();
    let camera = sensors.find(|sensor| matches!(sensor.device(), Device::Camera(_)))?;
    let world_from_camera = start * camera.base_from_sensor();
    scene::light_if_dark(&scene.scene, &mut environment.lighting, &world_from_camera)
}

fn check(document: &Document, file: &RobotFile) -> Result<(), DocumentError> {
    document.check_version(&file.version, VERSION)?;
    if let Some(given) = &file.duration_s
        && !(*given.get_ref() > 0.0 && given.get_ref().is_finite())
    {
        let problem =
            TomlProblem::value("the duration is not positive", "give a duration above zero");
        return Err(document.error(given.span(), problem));
    }
    // Check that there is one motion and one description
    if let (Some(_), Some(table)) = (&file.motion, &file.dynamics) {
        let problem = TomlProblem::value(
            "the robot has both [motion] and [dynamics]",
            "remove [motion] or [dynamics]",
        );
        return Err(document.error(table.span(), problem));
    }
    if let (Some(_), Some(mjcf)) = (&file.urdf, &file.mjcf) {
        let problem = TomlProblem::value("the robot has two descriptions", "remove urdf or mjcf");
        return Err(document.error(mjcf.span(), problem));
    }
    if let Some(base) = &file.base
        && (moves_by_joints(file) || file.mjcf.is_some())
    {
        let problem = TomlProblem::value(
            "the base of a robot with moving joints or an MJCF file is its root",
            "remove base",
        );
        return Err(document.error(base.span(), problem));
    }
    // Check that there is a sensor
    if file.sensors.is_empty() {
        let problem = TomlProblem::value("the robot has no sensors", "add [[sensors]]");
        return Err(document.error(0..0, problem));
    }
    Ok(())
}

/// A scene file if the name ends in `.toml`, otherwise an embedded scene.
fn load_scene(document: &Document, given: &Spanned<String>) -> Result<LoadedScene, ConfigError> {
    let name = given.get_ref();
    if Path::new(name)
        .extension()
        .is_some_and(|ending| ending == "toml")
    {
        return scene::load(&resolve(document, given)?);
    }
    Ok(scene::example(name).map_err(|unknown| document.error(given.span(), unknown.into()))?)
}

/// The frames of the URDF or MJCF file and of the robot file.
fn frames(
    document: &Document,
    file: &RobotFile,
    urdf: Option<&Urdf>,
    mjcf: Option<&Mjcf>,
) -> Result<FrameTree, ConfigError> {
    // Read the frames of the description
    let root = urdf.map_or(mjcf.map_or(BASE, |mjcf| &mjcf.root), Urdf::root);
    let base = file
        .base
        .as_ref()
        .map_or(root, |base| base.get_ref().as_str());
    let mut declarations = match urdf {
        Some(urdf) if moves_by_joints(file) => urdf.moving_frames(),
        Some(urdf) => urdf.frames_on(base).ok_or_else(|| {
            let unknown = UnknownName::new("link", base, urdf.links());
            document.error(
                file.base.as_ref().map_or(0..0, Spanned::span),
                unknown.into(),
            )
        })?,
        None => mjcf
            .map(|mjcf| mjcf_frames(mjcf, moves_by_joints(file)))
            .unwrap_or_default(),
    };
    // Add the frames of the robot file
    let first = declarations.len();
    for frame in &file.frames {
        declarations.push(FrameDeclaration {
            name: frame.name.get_ref().clone(),
            parent: frame
                .parent
                .as_ref()
                .map_or(base, |parent| parent.get_ref())
                .into(),
            parent_from_frame: frame.placement().pose(document)?,
            moves: false,
        });
    }
    // Build the tree; an error refers to a frame of the robot file
    FrameTree::new(base, &declarations).map_err(|error| {
        let known = declarations.iter().map(|frame| frame.name.as_str());
        let known = known.chain([base]).map(Into::into).collect();
        let table = |frame: usize| frame.checked_sub(first).and_then(|i| file.frames.get(i));
        frame_error(document, error, known, table).into()
    })
}

fn mjcf_frames(mjcf: &Mjcf, moving: bool) -> Vec<FrameDeclaration> {
    let frames = mjcf.frames.iter().cloned();
    let frames = frames.map(|frame| FrameDeclaration {
        moves: frame.moves && moving,
        ..frame
    });
    frames.collect()
}

/// Whether the links of the robot's file move relative to each other.
fn moves_by_joints(file: &RobotFile) -> bool {
    let model = file
        .dynamics
        .as_ref()
        .and_then(|table| table.get_ref().model.as_ref());
    model.is_some_and(|model| matches!(model.get_ref(), ModelName::Urdf | ModelName::Mjcf))
}

fn frame_error<'a>(
    document: &Document,
    error: FrameError,
    known: Vec<String>,
    table: impl Fn(usize) -> Option<&'a super::FrameTable>,
) -> DocumentError {
    // Spans of the name and the parent of a frame.
    let name_span = |frame| table(frame).map_or(0..0, |table| table.name.span());
    let parent_span =
        |frame| -> Option<Range<usize>> { Some(table(frame)?.parent.as_ref()?.span()) };
    // Error at the frame or its parent.
    match error {
        FrameError::Duplicate { frame, name } => {
            let what = "frame".into();
            document.error(name_span(frame), TomlProblem::Duplicate { what, name })
        }
        FrameError::UnknownParent { frame, parent, .. } => {
            let problem = UnknownName::new("frame", parent, known).into();
            document.error(
                parent_span(frame).unwrap_or_else(|| name_span(frame)),
                problem,
            )
        }
        FrameError::Cycle { frame, .. } => {
            let problem = TomlProblem::value(
                error.to_string(),
                "put one of these frames on the base, or on a frame that is",
            );
            document.error(
                parent_span(frame).unwrap_or_else(|| name_span(frame)),
                problem,
            )
        }
        other => document.error(
            0..0,
            TomlProblem::value(other.to_string(), "correct the frames"),
        ),
    }
}

fn mount(
    document: &Document,
    rig: &mut Rig,
    table: &MountedSensorTable,
    registry: &Registry,
) -> Result<(), ConfigError> {
    // Build the device and its filters
    let device = table.device.device(document, table.name.span())?;
    let mut filters = Vec::new();
    for filter in &table.filters {
        let made = filter.get_ref().filter(registry);
        filters.push(made.map_err(|problem| document.error(filter.span(), problem))?);
    }
    // Mount it on its frame
    let milli = |given: &Option<Spanned<f64>>| given.as_ref().map(|ms| ms.get_ref() * 1e-3);
    let frame = table.frame.as_ref();
    let mount = Mount {
        name: table.name.get_ref().clone(),
        frame: frame
            .map_or(rig.frames.base(), |frame| frame.get_ref())
            .into(),
        frame_from_sensor: table.placement().pose(document)?,
        rate: table.rate_hz.as_ref().map(|rate| *rate.get_ref()),
        offset: milli(&table.offset_ms).unwrap_or(0.0),
        window: milli(&table.window_ms),
        latency: milli(&table.lag_ms).unwrap_or(0.0),
        filters,
    };
    let frames: Vec<String> = rig.frames.frames().map(|(name, _)| name.into()).collect();
    rig.mount(mount, device)
        .map_err(|error| rig_error(document, table, &error, frames).into())
}

/// Reports an error of a sensor at its key.
fn rig_error(
    document: &Document,
    table: &MountedSensorTable,
    error: &RigError,
    frames: Vec<String>,
) -> DocumentError {
    use etendue_sensors::rig::ClockError;
    // Spans of the keys.
    let at = |key: Option<Range<usize>>| key.unwrap_or_else(|| table.name.span());
    let key = |given: &Option<Spanned<f64>>| at(given.as_ref().map(Spanned::span));
    // Key and remedy of each error.
    let message = error.to_string();
    let (span, remedy) = match error {
        RigError::UnknownFrame { frame, .. } => {
            let problem = UnknownName::new("frame", frame, frames).into();
            return document.error(at(table.frame.as_ref().map(Spanned::span)), problem);
        }
        RigError::Duplicate { name } => {
            let what = "output".into();
            let name = name.clone();
            return document.error(table.name.span(), TomlProblem::Duplicate { what, name });
        }
        RigError::NoRate { .. } => (table.name.span(), "add rate_hz = ..."),
        RigError::Clock { source, .. } => match source {
            ClockError::Window { .. } => (key(&table.window_ms), "give a window that fits"),
            ClockError::Latency { .. } => (
                key(&table.lag_ms),
                "data cannot arrive before they are measured",
            ),
            ClockError::Offset { .. } => (key(&table.offset_ms), "give zero or more"),
            _ => (key(&table.rate_hz), "give a rate above zero"),
        },
        RigError::OwnTiming { what, .. } => {
            let given = match *what {
                "rate" => &table.rate_hz,
                "first capture" => &table.offset_ms,
                _ => &table.window_ms,
            };
            (key(given), "remove this key")
        }
        RigError::Graph { source, .. } => {
            let filter = table.filters.get(source.place());
            (
                at(filter.map(Spanned::span)),
                "add a filter before it that converts, or remove it",
            )
        }
        _ => (table.name.span(), "correct this sensor"),
    };
    // Error at the key.
    document.error(span, TomlProblem::value(message, remedy))
}

/// Topics of each sensor's outputs. Default: "/" and the name of the output.
fn topics(rig: &Rig, tables: &[MountedSensorTable]) -> Vec<Vec<String>> {
    let of = |(sensor, table): (&MountedSensor, &MountedSensorTable)| {
        let mut topics: Vec<String> = sensor.outputs().map(|name| format!("/{name}")).collect();
        if let Some(topic) = &table.topic {
            topics[0].clone_from(topic);
        }
        topics
    };
    rig.sensors().iter().zip(tables).map(of).collect()
}

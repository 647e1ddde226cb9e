//! Scenes and sensors of the inputs, by the readers of the command line.

use super::pose::{self, PoseNumbers};
use super::{Inputs, OpenProfile, TextFile, TrajectoryFile, WeatherOptions};
use crate::refusal::Refusal;
use etendue::config::ConfigError;
use etendue::config::presets::{SCENES, SENSORS};
use etendue::config::scene::{self, LoadedScene, SceneCache, SensorSource};
use etendue::config::sensor::{self, Sensor};
use etendue::config::toml_file::{Document, FileKind};
use etendue::scene::Trajectory;
use etendue::sensors::NoiseProfiles;
use nalgebra::Isometry3;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Scene without a name on the command line.
const DEFAULT_SCENE: &str = "arena";

/// Sensor if neither the arguments nor the scene give one.
const DEFAULT_SENSOR: &str = "hokuyo-urg-04lx";

/// What a session begins with: the arguments of `etendue simulate`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opening {
    /// Scene file or the name of a built-in scene, a robot file or a noise profile; the arena without one.
    pub scene: Option<String>,
    /// Sensor file or the name of a preset; that of the scene without one.
    pub sensor: Option<String>,
    /// Pose of the sensor; that of the scene without one.
    pub pose: Option<PoseNumbers>,
    /// Trajectory of the sensor, in place of a pose.
    pub trajectory: Option<PathBuf>,
    /// Seed of all noise.
    pub seed: u64,
    /// Source of scans of a panel, for its aim: a recording, or the output of a driver as `etendue calibrate aim`
    /// reads it.
    pub aim: Option<String>,
}

impl Opening {
    /// Reads the files.
    pub(super) fn inputs(&self) -> Result<Inputs, Refusal> {
        let mut scene = scene_file(self.scene.as_deref().unwrap_or(DEFAULT_SCENE))?;
        let sensor = self.sensor.as_deref().map(sensor_file).transpose()?;
        // A noise profile is opened in the default scene, a robot in its own
        let document = Document::new(&scene.path, scene.text.clone());
        let (mut profile, mut robot) = (None, None);
        match FileKind::of(&document) {
            Some(FileKind::Profile) => {
                profile = Some(std::mem::replace(&mut scene, scene_file(DEFAULT_SCENE)?));
            }
            Some(FileKind::Robot) => {
                let own = scene_of_robot(&scene)?;
                robot = Some(std::mem::replace(&mut scene, own));
            }
            _ => {}
        }
        let trajectory = self.trajectory.as_deref().map(TrajectoryFile::read);
        Ok(Inputs {
            scene,
            robot,
            sensor,
            profile,
            pose: self.pose,
            trajectory: trajectory.transpose()?.map(Arc::new),
            weather: WeatherOptions::default(),
            seed: self.seed,
            sweep: 0,
        })
    }
}

/// The file of a scene by its path or its built-in name.
fn scene_file(word: &str) -> Result<TextFile, Refusal> {
    let path = Path::new(word);
    if path.extension().is_none() && !path.exists() {
        let preset = SCENES.find(word)?;
        return Ok(TextFile::new(word, format!("{word}.toml"), preset.text));
    }
    Ok(TextFile::new(word, word, Document::read(path)?.text()))
}

/// The scene file of a robot file.
pub(super) fn scene_of_robot(robot: &TextFile) -> Result<TextFile, Refusal> {
    let table: toml::Table = toml::from_str(&robot.text)
        .map_err(|error| Refusal::new(error.to_string(), "correct the robot file"))?;
    let scene = table.get("scene").and_then(toml::Value::as_str);
    let scene = scene.ok_or_else(|| {
        Refusal::new(
            format!("{}: the robot has no scene", robot.path.display()),
            "write scene = \"arena\", or the path of a scene file",
        )
    })?;
    let is_file = Path::new(scene).extension().is_some();
    let folder = robot.path.parent().filter(|_| is_file);
    let path = folder.unwrap_or(Path::new("")).join(scene);
    scene_file(&path.to_string_lossy())
}

/// The file of a sensor by its path or its built-in name.
pub(super) fn sensor_file(word: &str) -> Result<TextFile, Refusal> {
    let path = Path::new(word);
    if path.extension().is_some_and(|ending| ending == "toml") || path.is_file() {
        return Ok(TextFile::new(word, word, Document::read(path)?.text()));
    }
    let preset = SENSORS.find(word)?;
    Ok(TextFile::new(word, format!("{word}.toml"), preset.text))
}

/// A scene and a sensor, ready for sweeps.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The scene.
    pub scene: Arc<LoadedScene>,
    /// The sensor.
    pub sensor: Arc<Sensor>,
    /// The file of the sensor, given or of the scene.
    pub sensor_file: TextFile,
    /// Pose of the sensor at the start of the run.
    pub world_from_sensor: Isometry3<f64>,
    /// Motion of the sensor, unless its pose is given.
    pub motion: Option<Trajectory>,
    /// Time of the motion at which the run begins, s.
    pub begins: f64,
    /// The open noise profile.
    pub profile: Option<Arc<OpenProfile>>,
    /// Noise profiles of the materials. Where the scene names the open file, it is the open one.
    pub profiles: NoiseProfiles,
}

impl Loaded {
    /// Pose of the sensor at a time of the run, s.
    pub fn pose_at(&self, time: f64) -> Isometry3<f64> {
        match &self.motion {
            Some(motion) => motion.at(self.begins + time),
            None => self.world_from_sensor,
        }
    }

    /// Duration of the run, s, where the motion has an end.
    pub fn duration(&self) -> Option<f64> {
        let [_, ends] = self.motion.as_ref()?.span()?;
        Some(ends - self.begins)
    }

    /// Number of sweeps of the run, at least one, where the motion has an end.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of sweeps"
    )]
    pub fn sweeps(&self) -> Option<u32> {
        let sweeps = (self.duration()? / self.lidar().sweep_duration() + 1e-9).floor();
        Some(sweeps.max(1.0) as u32)
    }
}

/// Loads inputs. What did not change since `before` is not read again. Inputs without a pose in a scene without a
/// pose get one.
pub(super) fn load(
    inputs: &Inputs,
    before: Option<(&Inputs, &Loaded)>,
    cache: &mut SceneCache,
) -> Result<(Inputs, Loaded), Refusal> {
    // Load the scene
    let same_scene = before.filter(|(before, _)| {
        before.scene.text == inputs.scene.text && before.scene.path == inputs.scene.path
    });
    let scene = if let Some((_, loaded)) = same_scene {
        loaded.scene.clone()
    } else {
        let document = Document::new(&inputs.scene.path, inputs.scene.text.clone());
        Arc::new(scene::parse_reusing(&document, cache)?)
    };

    // Load the sensor
    let placement = scene.sensor.as_ref();
    let sensor_file = match (
        &inputs.sensor,
        placement.and_then(|place| place.sensor.as_ref()),
    ) {
        (Some(file), _) => file.clone(),
        (None, Some(SensorSource::Preset(name))) => sensor_file(name)?,
        (None, Some(SensorSource::File(path))) => sensor_file(&path.to_string_lossy())?,
        (None, _) => sensor_file(DEFAULT_SENSOR)?,
    };
    let same_sensor = before.filter(|(_, loaded)| loaded.sensor_file.text == sensor_file.text);
    let sensor = if let Some((_, loaded)) = same_sensor {
        loaded.sensor.clone()
    } else {
        let document = Document::new(&sensor_file.path, sensor_file.text.clone());
        Arc::new(sensor::parse(&document).map_err(ConfigError::from)?)
    };

    // Load the noise profile
    let known = before.and_then(|(_, loaded)| loaded.profile.as_ref());
    let profile = match &inputs.profile {
        Some(file) => Some(OpenProfile::load(file, known, &inputs.scene, &scene)?),
        None => None,
    };
    let mut profiles = scene.profiles.clone();
    if let Some(open) = &profile {
        for material in &open.materials {
            profiles.set(*material, open.profile.clone());
        }
    }

    // Place the sensor
    let mut inputs = inputs.clone();
    if inputs.pose.is_none() && inputs.trajectory.is_none() && placement.is_none() {
        inputs.pose = Some(in_the_middle(&scene));
    }
    let given = inputs.pose.map(pose::of_numbers);
    let of_scene = placement.map(|placement| placement.world_from_sensor);
    let of_scene_motion = placement.and_then(|placement| placement.motion.clone());
    let begins = inputs.trajectory.as_ref().map_or(0.0, |file| file.begins());
    let motion = match &inputs.trajectory {
        Some(file) => Some(Trajectory::KeyFrames(file.trajectory.clone())),
        None => of_scene_motion.filter(|_| given.is_none()),
    };
    let start = inputs.trajectory.as_ref().map(|file| file.start());
    let loaded = Loaded {
        world_from_sensor: start.or(given).or(of_scene).unwrap_or_default(),
        motion,
        begins,
        profile,
        profiles,
        scene,
        sensor,
        sensor_file,
    };

    // Sweeps are those before the end of the motion
    if let Some(sweeps) = loaded.sweeps() {
        inputs.sweep = inputs.sweep.min(sweeps - 1);
    }
    Ok((inputs, loaded))
}

/// A pose in the middle of a scene, half a metre above its lowest point.
fn in_the_middle(scene: &LoadedScene) -> PoseNumbers {
    let [low, high] = scene.scene.bounds();
    let at = nalgebra::center(&low, &high);
    let height = (low.z + 0.5).min(at.z);
    [at.x, at.y, height, 0.0, 0.0, 0.0].map(|value| (value * 1e3).round() / 1e3)
}

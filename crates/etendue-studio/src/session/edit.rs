//! Edits of the page.

use super::loading::sensor_file;
use super::pose::PoseNumbers;
use super::toml_edits::{Step, with_value};
use super::{AllowedPaths, Inputs, Loaded, WeatherOptions};
use crate::refusal::Refusal;
use serde::Deserialize;
use serde_json::Value as Json;
use std::path::Path;

/// A change of the inputs.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Edit {
    /// Replaces, adds or removes (null) a value of a file.
    Set {
        /// The file.
        document: Document,
        /// Place of the value.
        path: Vec<Step>,
        /// The value.
        value: Json,
    },
    /// Replaces the text of a file.
    Text {
        /// The file.
        document: Document,
        /// The text.
        text: String,
    },
    /// Places the sensor; null for the pose of the scene.
    Pose(Option<PoseNumbers>),
    /// Replaces the weather.
    Weather(WeatherOptions),
    /// Sets the seed.
    Seed(u64),
    /// Chooses a sweep of the run.
    Sweep(u32),
    /// Chooses a sensor preset; null for the sensor of the scene.
    Sensor(Option<String>),
    /// Opens a noise profile, in place of the open one: a preset, a dropped file, or a file that the scene names;
    /// null closes it.
    Profile(Option<String>),
    /// Forgets the trajectory of the sensor.
    LeaveTrajectory,
    /// Closes the robot; its scene stays open.
    LeaveRobot,
}

/// A file of the session.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Document {
    /// The scene file.
    Scene,
    /// The sensor file.
    Sensor,
    /// The open noise profile.
    Profile,
}

impl Edit {
    /// Whether a later edit replaces this one: both set the same value.
    pub fn is_replaced_by(&self, later: &Self) -> bool {
        match (self, later) {
            (
                Self::Set {
                    document,
                    path,
                    value,
                },
                Self::Set {
                    document: of,
                    path: place,
                    value: new,
                },
            ) => document == of && path == place && !value.is_null() && !new.is_null(),
            (Self::Pose(_), Self::Pose(_))
            | (Self::Weather(_), Self::Weather(_))
            | (Self::Seed(_), Self::Seed(_))
            | (Self::Sweep(_), Self::Sweep(_)) => true,
            _ => false,
        }
    }

    /// Applies the edit to inputs that loaded to `loaded`.
    pub(super) fn apply(
        &self,
        inputs: &mut Inputs,
        loaded: &Loaded,
        allowed: &AllowedPaths,
    ) -> Result<(), Refusal> {
        match self {
            Self::Set {
                document,
                path,
                value,
            } => {
                change(*document, inputs, loaded, |text, folder| {
                    allowed.check(value, folder)?;
                    with_value(text, path, value)
                })?;
            }
            Self::Text { document, text } => change(*document, inputs, loaded, |_, folder| {
                if let Ok(table) = toml::from_str::<toml::Table>(text) {
                    allowed.check(&serde_json::to_value(table).unwrap_or_default(), folder)?;
                }
                Ok(text.clone())
            })?,
            Self::Pose(pose) => {
                if pose.is_some_and(|pose| pose.iter().any(|number| !number.is_finite())) {
                    return Err(Refusal::new("the pose is not finite", "give six numbers"));
                }
                inputs.pose = *pose;
                inputs.trajectory = None;
            }
            Self::LeaveTrajectory => inputs.trajectory = None,
            Self::LeaveRobot => inputs.robot = None,
            // The session knows the dropped profiles
            Self::Profile(_) => {}
            Self::Weather(weather) => {
                weather.check()?;
                inputs.weather = *weather;
            }
            Self::Seed(seed) => inputs.seed = *seed,
            Self::Sweep(sweep) => inputs.sweep = *sweep,
            Self::Sensor(None) => inputs.sensor = None,
            Self::Sensor(Some(name)) => {
                etendue::config::presets::SENSORS.find(name)?;
                inputs.sensor = Some(sensor_file(name)?);
            }
        }
        Ok(())
    }
}

/// Refusal without an open noise profile.
pub(super) fn no_profile() -> Refusal {
    Refusal::new("no noise profile is open", "open one in the panel Noise")
}

/// Changes the text of a file. The sensor of the scene becomes a sensor of the session.
fn change(
    document: Document,
    inputs: &mut Inputs,
    loaded: &Loaded,
    new_text: impl FnOnce(&str, &Path) -> Result<String, Refusal>,
) -> Result<(), Refusal> {
    let file = match document {
        Document::Scene => &mut inputs.scene,
        Document::Sensor => inputs
            .sensor
            .get_or_insert_with(|| loaded.sensor_file.clone()),
        Document::Profile => inputs.profile.as_mut().ok_or_else(no_profile)?,
    };
    let folder = file.path.parent().unwrap_or(Path::new(""));
    file.text = new_text(&file.text, folder)?.into();
    Ok(())
}

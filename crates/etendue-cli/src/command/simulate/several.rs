//! Several sensors in one run.

use super::Simulate;
use super::way::Way;
use crate::failure::Failure;
use crate::pose::Pose;
use crate::source;
use etendue::formats::output::SourceMetadata;
use etendue::formats::scene::LoadedScene;
use etendue::formats::sensor::{Sensor, SensorModel};
use nalgebra::Isometry3;
use std::collections::BTreeSet;
use std::path::Path;

/// One sensor's part of a run.
pub struct SensorRun {
    arguments: Simulate,
    sensor: Sensor,
    source: SourceMetadata,
    way: Way,
}

impl SensorRun {
    /// Simulates, writes and sums up.
    pub fn run(self, loaded: &LoadedScene) -> Result<(), Failure> {
        self.arguments
            .run_sensor(loaded, (&self.sensor, self.source), self.way)
    }
}

impl Simulate {
    /// The run of every sensor, checked before anything is simulated.
    pub fn each_sensor(&self, loaded: &LoadedScene) -> Result<Vec<SensorRun>, Failure> {
        if self.sensor.len() < 2 {
            let asked = self.sensor.first().map(String::as_str);
            return Ok(vec![self.one(loaded, asked, 0, None)?]);
        }
        if self.output.extension().is_some() && !self.output.is_dir() {
            return Err(Failure::Asked {
                message: format!("{} is no folder", self.output.display()),
                remedy: "name a folder: every sensor gets one in it".into(),
            });
        }
        let mut taken = BTreeSet::new();
        let one = |(number, asked): (u32, &String)| {
            let folder = free_name(asked, &mut taken);
            self.one(loaded, Some(asked), number, Some(&folder))
        };
        (0..).zip(&self.sensor).map(one).collect()
    }

    fn one(
        &self,
        loaded: &LoadedScene,
        asked: Option<&str>,
        number: u32,
        folder: Option<&str>,
    ) -> Result<SensorRun, Failure> {
        let (name, mount) = asked.map_or(Ok((None, Isometry3::identity())), mounted)?;
        let (sensor, source) = source::sensor_in(name, loaded)?;
        let mut arguments = self.clone();
        arguments.number = number;
        if let Some(folder) = folder {
            arguments.output = self.output.join(folder);
            arguments.sensor = asked.map(str::to_owned).into_iter().collect();
        }
        if let Some(seconds) = self.duration {
            arguments.sweeps = turns(&sensor, seconds);
        }
        arguments.check_options(&sensor)?;
        let way = Way::of(&arguments, loaded, mount)?;
        Ok(SensorRun {
            arguments,
            sensor,
            source,
            way,
        })
    }
}

/// How many turns begin in a time, s.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number, at least one, and saturating"
)]
fn turns(sensor: &Sensor, seconds: f64) -> u32 {
    let turn = match &sensor.model {
        SensorModel::ContinuousWave(lidar) => lidar.turn_time,
        SensorModel::Scanner(scanner) => scanner.sweep_duration(),
    };
    // A turn that would begin at the very end does not.
    (seconds / turn - 1e-9).ceil().max(1.0) as u32
}

/// Name and mount of `NAME@x,y,z,yaw[,pitch,roll]`.
fn mounted(asked: &str) -> Result<(Option<&str>, Isometry3<f64>), Failure> {
    let Some((name, mount)) = asked.split_once('@') else {
        return Ok((Some(asked), Isometry3::identity()));
    };
    let pose: Pose = mount.parse().map_err(|error| Failure::Asked {
        message: format!("the mount of {name} makes no sense: {error}"),
        remedy: "write NAME@x,y,z,yaw or NAME@x,y,z,yaw,pitch,roll (metres and degrees)".into(),
    })?;
    Ok((Some(name), pose.world_from_sensor))
}

/// A folder's name after the sensor that no other sensor has.
fn free_name(asked: &str, taken: &mut BTreeSet<String>) -> String {
    let name = asked.split('@').next().unwrap_or(asked);
    let stem = Path::new(name).file_stem().unwrap_or_default();
    let stem = stem.to_string_lossy().into_owned();
    let numbered = (2..).map(|number| format!("{stem}-{number}"));
    let mut names = std::iter::once(stem.clone()).chain(numbered);
    let free = names.find(|name| !taken.contains(name)).unwrap_or(stem);
    taken.insert(free.clone());
    free
}

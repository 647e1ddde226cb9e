//! Where scenes and sensors come from: the user's files, or what is built in.

use crate::failure::Failure;
use etendue::config::ConfigError;
use etendue::config::camera;
use etendue::config::scene::{self, LoadedScene, SensorSource};
use etendue::config::sensor::{self, Sensor, SensorModel, preset, presets};
use etendue::config::toml_file::Document;
use etendue::estimate::fit::FitError;
use etendue::estimate::model::{ModelError, ScannerSensor, Sensor as Modelled};
use etendue::io::output::SourceMetadata;
use etendue::io::scan_log::read_scan_log;
use etendue::sensors::Scan;
use etendue::sensors::camera::Camera;
use std::path::Path;

/// Endings of mesh files: they say nothing of materials that hold at a lidar's wavelength.
const MESHES: [&str; 5] = ["obj", "ply", "stl", "gltf", "glb"];

/// The sensor where neither the user nor the scene names one.
const DEFAULT_SENSOR: &str = "hokuyo-urg-04lx";

/// The scene of a file, of the example of that name, or the built-in arena.
pub fn scene(name: Option<&Path>) -> Result<LoadedScene, Failure> {
    let Some(path) = name else {
        return Ok(scene::arena());
    };
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending {
        Some(ending) if MESHES.contains(&ending.as_str()) => {
            Err(Failure::MeshIsNoScene { path: path.into() })
        }
        None if !path.exists() => Ok(scene::example(&path.to_string_lossy())?.load()?),
        _ => Ok(scene::load(path)?),
    }
}

/// The sensor asked for, else the one the scene proposes, else the default.
pub fn sensor_in(
    asked: Option<&str>,
    scene: &LoadedScene,
) -> Result<(Sensor, SourceMetadata), Failure> {
    let proposed = scene
        .sensor
        .as_ref()
        .and_then(|placement| placement.sensor.as_ref());
    match (asked, proposed) {
        (Some(name), _) => sensor(name),
        (None, Some(SensorSource::File(path))) => sensor(&path.to_string_lossy()),
        (None, Some(SensorSource::Preset(name))) => sensor(name),
        (None, _) => sensor(DEFAULT_SENSOR),
    }
}

/// A sensor as models of fits take it.
pub fn modelled(sensor: Sensor) -> Result<Modelled, Failure> {
    Ok(match sensor.model {
        SensorModel::ContinuousWave(lidar) => {
            lidar
                .check()
                .map_err(ModelError::from)
                .map_err(FitError::from)?;
            Modelled::from(&lidar)
        }
        SensorModel::Scanner(scanner) => Modelled::Scanner(ScannerSensor::new(&scanner)),
    })
}

/// The camera of that file or preset: whatever ends in `.toml` or exists is a file.
pub fn camera(name: &str) -> Result<Camera, Failure> {
    let path = Path::new(name);
    let is_file = path.extension().is_some_and(|ending| ending == "toml") || path.is_file();
    if is_file {
        return Ok(camera::load(path)?);
    }
    Ok(camera::preset(name)?)
}

/// Which scan of a log: the one asked for, else the only one.
pub fn scan(path: &Path, number: Option<usize>) -> Result<(Scan, Vec<String>), Failure> {
    let log = read_scan_log(path)?;
    let number = numbered_in(path, number, log.scans.len())?;
    Ok((chosen(log.scans, number), log.warnings))
}

/// The number of the scan asked for among so many in a file, else of the only one.
pub fn numbered_in(path: &Path, number: Option<usize>, scans: usize) -> Result<usize, Failure> {
    let path = || path.into();
    match number {
        None if scans > 1 => Err(Failure::WhichScan {
            path: path(),
            scans,
        }),
        None if scans == 1 => Ok(0),
        Some(number) if number < scans => Ok(number),
        number => Err(Failure::NoSuchScan {
            path: path(),
            number: number.unwrap_or(0),
            scans,
        }),
    }
}

/// One of several, by a number that was found among them.
pub fn chosen<T>(mut all: Vec<T>, number: usize) -> T {
    all.swap_remove(number)
}

/// File and number of `FILE#NUMBER`.
pub fn numbered(asked: &str) -> Option<(&str, usize)> {
    let (file, number) = asked.rsplit_once('#')?;
    Some((file, number.parse().ok()?))
}

/// The sensor of that file or preset: whatever ends in `.toml` or exists is a file.
fn sensor(name: &str) -> Result<(Sensor, SourceMetadata), Failure> {
    let path = Path::new(name);
    let is_file = path.extension().is_some_and(|ending| ending == "toml") || path.is_file();
    if is_file {
        let document = Document::read(path)?;
        let sensor = sensor::parse(&document).map_err(ConfigError::from)?;
        let metadata = SourceMetadata::of_text(&sensor.name, Some(name.into()), document.text());
        return Ok((sensor, metadata));
    }
    let sensor = preset(name)?;
    let known = presets().iter().find(|known| known.name == name);
    let text = known.map_or("", |known| known.text);
    let metadata = SourceMetadata::of_text(&sensor.name, None, text);
    Ok((sensor, metadata))
}

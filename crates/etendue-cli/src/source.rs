//! Scenes, sensors, cameras and scans by file or by built-in name.

use crate::failure::Failure;
use etendue::config::ConfigError;
use etendue::config::camera;
use etendue::config::presets::{CAMERAS, Presets, SCENES, SENSORS};
use etendue::config::scene::{self, LoadedScene, SensorSource};
use etendue::config::sensor::{self, Sensor, preset, presets};
use etendue::config::toml_file::{Document, UnknownName};
use etendue::io::output::SourceMetadata;
use etendue::io::points::{ReadOptions, RecordedSweep, for_each_sweep};
use etendue::io::scan_log::read_scan_log;
use etendue::sensors::Scan;
use etendue::sensors::camera::Camera;
use std::ops::ControlFlow;
use std::path::Path;

/// Extensions of mesh files, which have no materials at the wavelength of a lidar.
const MESHES: [&str; 5] = ["obj", "ply", "stl", "gltf", "glb"];

/// Sensor if neither the arguments nor the scene give one.
const DEFAULT_SENSOR: &str = "hokuyo-urg-04lx";

/// Scene of a file or of an example; the built-in arena without a name.
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
        None if is_sensor(path) => Err(Failure::argument(
            format!(
                "{} is a built-in sensor, where a scene is expected",
                path.display()
            ),
            format!("give it with --sensor {}", path.display()),
        )),
        None if !path.exists() => Ok(scene::example(&path.to_string_lossy())?),
        _ => Ok(scene::load(path)?),
    }
}

/// Whether a path is the name of a built-in scene, and no file.
pub fn is_scene(path: &Path) -> bool {
    !path.exists() && SCENES.find(&path.to_string_lossy()).is_ok()
}

/// Whether a path is the name of a built-in sensor, and no file.
pub fn is_sensor(path: &Path) -> bool {
    !path.exists() && SENSORS.find(&path.to_string_lossy()).is_ok()
}

/// Error if a name without an ending is neither a file nor one of the built-in things.
pub fn check_name(path: &Path, built_in: &[Presets]) -> Result<(), Failure> {
    let name = path.to_string_lossy();
    let mut all = built_in.iter().flat_map(|presets| presets.all());
    let is_plain = path.extension().is_none() && path.components().count() == 1;
    if !is_plain || path.exists() || all.any(|preset| preset.name == name) {
        return Ok(());
    }
    let names = built_in.iter().flat_map(|presets| presets.all());
    let names = names.map(|preset| preset.name.to_owned());
    Err(UnknownName::new("file or built-in name", name, names).into())
}

/// Sensor by name, else that of the scene, else the default.
pub fn sensor_in(
    name: Option<&str>,
    scene: &LoadedScene,
) -> Result<(Sensor, SourceMetadata), Failure> {
    let proposed = scene
        .sensor
        .as_ref()
        .and_then(|placement| placement.sensor.as_ref());
    match (name, proposed) {
        (Some(name), _) => sensor(name),
        (None, Some(SensorSource::File(path))) => sensor(&path.to_string_lossy()),
        (None, Some(SensorSource::Preset(name))) => sensor(name),
        (None, _) => sensor(DEFAULT_SENSOR),
    }
}

/// Whether a name is that of a file: it exists, or has an ending or a folder, which no preset has.
fn is_file_name(name: &Path) -> bool {
    name.is_file() || name.extension().is_some() || name.components().count() > 1
}

/// Camera of a file or of a preset.
pub fn camera(name: &str) -> Result<Camera, Failure> {
    let path = Path::new(name);
    if is_file_name(path) {
        return Ok(camera::load(path)?);
    }
    if is_sensor(path) {
        return Err(Failure::argument(
            format!("{name} is a built-in lidar, where a camera is expected"),
            format!(
                "`etendue simulate --sensor {name}` simulates it; `etendue cameras` lists the cameras"
            ),
        ));
    }
    Ok(camera::preset(name)?)
}

/// Scan of a log by number, else its only one, with the warnings of the log.
pub fn scan(path: &Path, number: Option<usize>) -> Result<(Scan, Vec<String>), Failure> {
    let log = read_scan_log(path)?;
    let number = numbered_in(path, number, log.scans.len())?;
    Ok((chosen(log.scans, number), log.warnings))
}

/// Index of a scan among the `scans` of a file; 0 for the only one where none is given.
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

/// The sweep of a file with an index, or the only one where none is given, with the warnings of the reader. The reading ends
/// after that sweep.
pub fn sweep_of(
    path: &Path,
    number: Option<usize>,
    options: ReadOptions,
) -> Result<(RecordedSweep, Vec<String>), Failure> {
    let mut found = None;
    let mut count = 0;
    let read = for_each_sweep(path, options, |sweep| {
        if count == number.unwrap_or(0) {
            found = Some(sweep);
        }
        count += 1;
        let is_found = number.is_some_and(|number| count > number);
        Ok::<_, Failure>(if is_found {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    numbered_in(path, number, count)?;
    found
        .map(|sweep| (sweep, read.warnings))
        .ok_or_else(|| Failure::NothingToCompare { path: path.into() })
}

/// Element of a vector by its index.
pub fn chosen<T>(mut all: Vec<T>, number: usize) -> T {
    all.swap_remove(number)
}

/// File and number of `FILE#NUMBER`.
pub fn numbered(argument: &str) -> Option<(&str, usize)> {
    let (file, number) = argument.rsplit_once('#')?;
    Some((file, number.parse().ok()?))
}

/// Sensor of a file or of a preset.
pub fn sensor(name: &str) -> Result<(Sensor, SourceMetadata), Failure> {
    let path = Path::new(name);
    if is_file_name(path) {
        let document = Document::read(path)?;
        let sensor = sensor::parse(&document).map_err(ConfigError::from)?;
        let metadata = SourceMetadata::of_text(&sensor.name, Some(name.into()), document.text());
        return Ok((sensor, metadata));
    }
    if is_scene(path) {
        return Err(Failure::argument(
            format!("{name} is a built-in scene, where a sensor is expected"),
            format!(
                "`etendue simulate {name}` simulates in it; `etendue sensors` lists the sensors"
            ),
        ));
    }
    if CAMERAS.find(name).is_ok() {
        return Err(Failure::argument(
            format!("{name} is a built-in camera, where a lidar is expected"),
            format!(
                "`etendue render --camera {name}` renders with it; `etendue sensors` lists the lidars"
            ),
        ));
    }
    let sensor = preset(name)?;
    let known = presets().iter().find(|known| known.name == name);
    let text = known.map_or("", |known| known.text);
    let metadata = SourceMetadata::of_text(&sensor.name, None, text);
    Ok((sensor, metadata))
}

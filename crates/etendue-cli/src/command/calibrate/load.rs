//! Recordings and profiles from files.

use crate::device::LidarOptions;
use crate::failure::Failure;
use etendue::calibrate::noise::PanelRecording;
use etendue::config::profile::{self, ProfileFile};
use etendue::io::recording::{Content, read_recording};
use etendue::physics::profile::Profile;
use nalgebra::Point3;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Recording with its provenance and warnings.
pub struct Loaded {
    /// Beams by direction.
    pub recording: PanelRecording,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Warnings of the reader.
    pub warnings: Vec<String>,
}

/// Reads a recording of a lidar.
pub fn recording(path: &Path, lidar: &LidarOptions) -> Result<Loaded, Failure> {
    let read = read_recording(path, &lidar.device()?, lidar.topic_in(path))?;
    let name = path.display().to_string();
    let recording = match &read.content {
        Content::Scans(log) => PanelRecording::from_scans(&name, &log.scans),
        Content::Clouds(clouds) => {
            check_frame(&name, clouds)?;
            PanelRecording::from_clouds(&name, clouds)
        }
    }?;
    let of = |warning: &String| format!("{name}: {warning}");
    Ok(Loaded {
        recording,
        warnings: read.warnings.iter().map(of).collect(),
        sha256: read.sha256,
    })
}

/// Error where the points of a planar scanner are in a plane that does not contain the sensor.
fn check_frame(name: &str, clouds: &[(Vec<Point3<f64>>, Vec<f32>)]) -> Result<(), Failure> {
    let points = clouds.iter().flat_map(|(points, _)| points);
    let heights = points.map(|point| point.z).filter(|z| z.is_finite());
    let [least, most] = heights.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], z| {
        [least.min(z), most.max(z)]
    });
    if most - least > 1e-3 || least.abs() < 1e-2 || !least.is_finite() {
        return Ok(());
    }
    Err(Failure::usage(
        format!(
            "{name}: all points have z = {least:.3} m: they are not in the frame of the sensor"
        ),
        "write them with `--frame sensor`, or give a scan log, which also has the beams without a return: `etendue \
         simulate -o NAME-beams.csv`",
    ))
}

/// Profile by name or file, with the content of its file.
pub fn profile(name: &str) -> Result<(ProfileFile, Arc<Profile>), Failure> {
    let ending = Path::new(name).extension();
    if ending.is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) {
        let file = profile::load(Path::new(name))?;
        let profile = file.profile().map_err(|message| invalid(&message, name))?;
        return Ok((file, Arc::new(profile)));
    }
    let built_in = profile::find(name).map_err(|error| {
        let remedy = format!("{} (a profile file ends in .toml)", error.remedy());
        Failure::argument(error.to_string(), remedy)
    })?;
    Ok((built_in.file.clone(), Arc::clone(&built_in.profile)))
}

/// Profiles of a folder, or the built-in ones, with their names.
pub fn profiles(folder: Option<&Path>) -> Result<Vec<(String, Arc<Profile>)>, Failure> {
    let Some(folder) = folder else {
        let built_in = profile::library().iter();
        let named =
            built_in.map(|built_in| (built_in.name.to_owned(), Arc::clone(&built_in.profile)));
        return Ok(named.collect());
    };

    // Profile files of the folder by name
    let entries = std::fs::read_dir(folder).map_err(|error| {
        Failure::usage(
            format!("cannot read the folder {}: {error}", folder.display()),
            "give the folder that `etendue calibrate -o` wrote",
        )
    })?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    files.sort();

    // Profiles
    let mut profiles = Vec::new();
    for file in files {
        let name = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let (_, profile) = profile(&file.to_string_lossy())?;
        profiles.push((name, profile));
    }
    if profiles.is_empty() {
        return Err(Failure::usage(
            format!("the folder {} has no profile (.toml)", folder.display()),
            "write some with `etendue calibrate SETUP.toml -o profiles`",
        ));
    }
    Ok(profiles)
}

fn invalid(message: &str, name: &str) -> Failure {
    Failure::usage(
        format!("{name}: {message}"),
        "calibrate again, or correct the file",
    )
}

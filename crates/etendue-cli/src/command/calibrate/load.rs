//! Recordings and profiles from files.

use crate::device::device;
use crate::failure::Failure;
use etendue::calibrate::noise::Recording;
use etendue::config::profile::{self, ProfileFile};
use etendue::io::recording::{Content, read_recording};
use etendue::physics::profile::Profile;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A recording with what is told of its file.
pub struct Loaded {
    pub recording: Recording,
    pub sha256: String,
    pub warnings: Vec<String>,
}

/// Reads a recording.
pub fn recording(path: &Path) -> Result<Loaded, Failure> {
    let read = read_recording(path, &device(None)?)?;
    let name = path.display().to_string();
    let recording = match &read.content {
        Content::Scans(log) => Recording::from_scans(&name, &log.scans),
        Content::Clouds(clouds) => Recording::from_clouds(&name, clouds),
    }?;
    let of = |warning: &String| format!("{name}: {warning}");
    Ok(Loaded {
        recording,
        warnings: read.warnings.iter().map(of).collect(),
        sha256: read.sha256,
    })
}

/// A profile by name or file, with its file's content.
pub fn profile(name: &str) -> Result<(ProfileFile, Arc<Profile>), Failure> {
    let ending = Path::new(name).extension();
    if ending.is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) {
        let file = profile::load(Path::new(name))?;
        let profile = file.profile().map_err(|message| asked(&message, name))?;
        return Ok((file, Arc::new(profile)));
    }
    let ready = profile::find(name).map_err(|error| Failure::Usage {
        message: error.to_string(),
        remedy: "give a profile file (.toml) or the name of a ready profile".into(),
    })?;
    Ok((ready.file.clone(), Arc::clone(&ready.profile)))
}

/// Every profile of a folder, or the ready ones.
pub fn profiles(folder: Option<&Path>) -> Result<Vec<(String, Arc<Profile>)>, Failure> {
    let Some(folder) = folder else {
        let ready = profile::library().iter();
        return Ok(ready
            .map(|ready| (ready.name.to_owned(), Arc::clone(&ready.profile)))
            .collect());
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|error| Failure::Usage {
            message: format!("cannot read the folder {}: {error}", folder.display()),
            remedy: "name the folder that `etendue calibrate -o` wrote".into(),
        })?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    files.sort();
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
        return Err(Failure::Usage {
            message: format!("the folder {} holds no profile (.toml)", folder.display()),
            remedy: "make some with `etendue calibrate BENCH.toml -o profiles`".into(),
        });
    }
    Ok(profiles)
}

fn asked(message: &str, name: &str) -> Failure {
    Failure::Usage {
        message: format!("{name}: {message}"),
        remedy: "calibrate again, or correct the file".into(),
    }
}

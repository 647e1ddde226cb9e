//! Files that were dropped on the page.

use super::loading::scene_of_robot;
use super::{Session, TextFile, TrajectoryFile};
use crate::recording::{Recording, read};
use crate::refusal::Refusal;
use etendue::config::toml_file::{Document, FileKind};
use etendue::io::output::OutputSet;
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Endings of mesh files.
const MESHES: [&str; 4] = ["obj", "stl", "gltf", "glb"];

/// What a dropped file became.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Upload {
    /// The scene.
    Scene,
    /// The sensor.
    Sensor,
    /// The robot.
    Robot,
    /// A noise profile.
    Profile {
        /// Its name.
        name: String,
    },
    /// A new object.
    Object {
        /// Path of the mesh, next to the scene file.
        path: String,
    },
    /// The trajectory of the sensor.
    Trajectory {
        /// Path of the file, next to the scene file.
        path: String,
    },
    /// The recording.
    Recording {
        /// Number of scans.
        scans: usize,
        /// Irregularities that did not prevent reading.
        warnings: Vec<String>,
    },
}

impl Session {
    /// Takes a dropped file: a scene or a sensor replaces the open one, a mesh becomes an object, poses become the
    /// trajectory of the sensor, points become the recording.
    ///
    /// # Errors
    /// If the content is damaged or of no known kind; the session stays as it was.
    pub fn upload(&mut self, name: &str, bytes: Vec<u8>, gesture: u64) -> Result<Upload, Refusal> {
        let name = plain_name(name)?;
        let ending = Path::new(&name)
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .to_ascii_lowercase();
        if ending == "toml" {
            return self.upload_toml(&name, bytes, gesture);
        }
        if MESHES.contains(&ending.as_str()) || ending == "ply" && has_faces(&bytes) {
            return self.upload_mesh(&name, &bytes, gesture);
        }
        if let Some(trajectory) = TrajectoryFile::parse(&name, &bytes) {
            return self.upload_trajectory(&name, &bytes, trajectory?, gesture);
        }
        // A copy of the file, for the search of panels
        let file = self.uploads.join(format!("recording-{name}"));
        std::fs::write(&file, &bytes).map_err(|error| {
            Refusal::new(error.to_string(), "free space in the temporary folder")
        })?;
        let recording = Recording {
            file: Some(file),
            ..read(&name, bytes)?
        };
        let uploaded = Upload::Recording {
            scans: recording.scans.len(),
            warnings: recording.warnings.clone(),
        };
        self.set_recording(Some(recording));
        Ok(uploaded)
    }

    fn upload_toml(&mut self, name: &str, bytes: Vec<u8>, gesture: u64) -> Result<Upload, Refusal> {
        let text = String::from_utf8(bytes)
            .map_err(|_| Refusal::new(format!("{name} is not UTF-8"), "save the file as UTF-8"))?;
        if let Ok(table) = toml::from_str::<toml::Table>(&text) {
            let content = serde_json::to_value(table).unwrap_or_default();
            self.allowed.check(&content, Path::new(""))?;
        }
        let file = TextFile::new(format!("{name} (dropped)"), name, &text);
        let mut inputs = self.inputs.clone();
        let kind = FileKind::of(&Document::new(name, text.as_str()));
        let uploaded = match kind {
            Some(FileKind::Sensor) => {
                inputs.sensor = Some(file);
                Upload::Sensor
            }
            // A file of no kind is read as a scene, for the message of its first error
            Some(FileKind::Scene) | None => {
                inputs.scene = file;
                inputs.robot = None;
                inputs.pose = None;
                inputs.trajectory = None;
                inputs.sweep = 0;
                Upload::Scene
            }
            Some(FileKind::Robot) => {
                inputs.scene = scene_of_robot(&file)?;
                inputs.robot = Some(file);
                inputs.pose = None;
                inputs.trajectory = None;
                inputs.sweep = 0;
                Upload::Robot
            }
            Some(FileKind::Profile) => {
                super::profile::parse(&file)?;
                self.profiles.insert(name.to_owned(), file);
                return Ok(Upload::Profile {
                    name: name.to_owned(),
                });
            }
            Some(other) => {
                let remedy = "drop a scene, sensor or robot file, a noise profile, a mesh, a trajectory or a recording";
                return Err(Refusal::new(
                    format!("{name} is another kind of file: {other:?}"),
                    remedy,
                ));
            }
        };
        self.replace(&inputs, Some(gesture))?;
        Ok(uploaded)
    }

    /// Saves a file next to the scene file, unless the same file is there.
    fn save_beside_scene(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Refusal> {
        let folder = self.inputs.scene.path.parent().unwrap_or(Path::new(""));
        let path = free_path(folder, name, bytes);
        if !path.exists() {
            let mut outputs = OutputSet::default();
            outputs.add(&path, |out| out.write_all(bytes))?;
            outputs.commit()?;
        }
        Ok(path)
    }

    /// Saves a trajectory next to the scene file, and moves the sensor along it.
    fn upload_trajectory(
        &mut self,
        name: &str,
        bytes: &[u8],
        trajectory: TrajectoryFile,
        gesture: u64,
    ) -> Result<Upload, Refusal> {
        let path = self.save_beside_scene(name, bytes)?;
        let mut inputs = self.inputs.clone();
        let uploaded = Upload::Trajectory {
            path: path.display().to_string(),
        };
        inputs.trajectory = Some(Arc::new(TrajectoryFile { path, ..trajectory }));
        inputs.pose = None;
        inputs.sweep = 0;
        self.replace(&inputs, Some(gesture))?;
        Ok(uploaded)
    }

    /// Saves a mesh next to the scene file, and adds an object of it.
    fn upload_mesh(&mut self, name: &str, bytes: &[u8], gesture: u64) -> Result<Upload, Refusal> {
        etendue::io::mesh::parse_mesh(Path::new(name), bytes)?;
        let path = self.save_beside_scene(name, bytes)?;

        // Add an object
        let file = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let stem = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let objects = self.loaded.scene.scene.objects();
        let is_taken = |name: &str| objects.iter().any(|object| object.name == name);
        let mut names =
            std::iter::once(stem.clone()).chain((2..).map(|number| format!("{stem} {number}")));
        let object_name = names.find(|name| !is_taken(name)).unwrap_or(stem);
        let table: toml::Table = toml::from_str(&self.inputs.scene.text)
            .map_err(|error| Refusal::new(error.to_string(), "correct the scene file"))?;
        let number = table
            .get("objects")
            .and_then(toml::Value::as_array)
            .map_or(0, Vec::len);
        let object = json!({ "name": object_name, "shape": { "mesh": { "file": file } }, "material": "white-paint" });
        let path_of_object: Json = json!(["objects", number]);
        let edit = serde_json::from_value(json!({
            "set": { "document": "scene", "path": path_of_object, "value": object }
        }));
        let edit = edit.map_err(|error| Refusal::new(error.to_string(), "report this error"))?;
        self.edit(&[edit], gesture)?;
        Ok(Upload::Object {
            path: path.display().to_string(),
        })
    }

    /// The robot file as it is saved; a dropped one as it was dropped.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn reread_robot(&mut self) -> Result<Option<TextFile>, Refusal> {
        if let Some(robot) = self.inputs.robot.as_mut().filter(|robot| robot.is_file()) {
            let text = Document::read(&robot.path)?;
            *robot = TextFile::new(robot.word.clone(), robot.path.clone(), text.text());
        }
        self.revision += 1;
        Ok(self.inputs.robot.clone())
    }

    /// The recording.
    pub fn recording(&self) -> Option<&Arc<Recording>> {
        self.recording.as_ref()
    }

    /// Replaces the recording.
    pub fn set_recording(&mut self, recording: Option<Recording>) {
        self.recording = recording.map(Arc::new);
        self.panel = None;
        self.revision += 1;
    }
}

/// The name of a file without folders.
fn plain_name(name: &str) -> Result<String, Refusal> {
    let plain = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_usable = !plain.is_empty()
        && plain.len() <= 128
        && !plain.starts_with('.')
        && !plain.contains(['\0', ':']);
    is_usable
        .then(|| plain.to_owned())
        .ok_or_else(|| Refusal::new("the name of the file cannot be used", "rename the file"))
}

/// A path in a folder for a content: the name itself where it is free or has the same content.
fn free_path(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = Path::new(name);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    let numbered = (2..).map(|number| format!("{stem}-{number}.{ending}"));
    let mut paths = std::iter::once(name.to_owned())
        .chain(numbered)
        .map(|name| folder.join(name));
    let is_usable =
        |path: &PathBuf| !path.exists() || std::fs::read(path).is_ok_and(|known| known == bytes);
    paths.find(is_usable).unwrap_or_else(|| folder.join(name))
}

/// Whether a PLY file has faces: it is a mesh, and no cloud.
fn has_faces(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4096)];
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines().map(str::trim);
    lines.any(|line| {
        line.strip_prefix("element face ")
            .is_some_and(|count| count.trim() != "0")
    })
}

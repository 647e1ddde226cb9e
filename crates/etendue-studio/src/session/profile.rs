//! The noise profile that is edited.

use super::{Loaded, Session, TextFile};
use crate::refusal::Refusal;
use etendue::config::profile::{self, ProfileFile};
use etendue::config::scene::LoadedScene;
use etendue::config::toml_file::Document;
use etendue::config::{ConfigError, presets};
use etendue::physics::profile::Profile;
use etendue::scene::MaterialId;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The open noise profile.
#[derive(Clone, Debug)]
pub struct OpenProfile {
    /// Text that it was read from.
    text: Arc<str>,
    /// Content of the file.
    pub file: ProfileFile,
    /// The profile.
    pub profile: Arc<Profile>,
    /// Materials of the scene file whose profile is this file.
    pub materials: Vec<MaterialId>,
}

/// Content of a profile file, and the profile.
///
/// # Errors
/// If the text is no profile, or its values are inconsistent.
pub(super) fn parse(file: &TextFile) -> Result<(ProfileFile, Arc<Profile>), Refusal> {
    let document = Document::new(&file.path, file.text.clone());
    let content = profile::parse(&document).map_err(ConfigError::from)?;
    let parsed = content.profile();
    let parsed = parsed.map_err(|error| Refusal::new(error, "calibrate again"))?;
    Ok((content, Arc::new(parsed)))
}

impl OpenProfile {
    /// Reads a file, unless its text is that of `known`.
    pub(super) fn load(
        file: &TextFile,
        known: Option<&Arc<Self>>,
        scene_file: &TextFile,
        scene: &LoadedScene,
    ) -> Result<Arc<Self>, Refusal> {
        let materials = materials_of(file, scene_file, scene);
        let known = known.filter(|known| known.text == file.text);
        if let Some(known) = known.filter(|known| known.materials == materials) {
            return Ok(known.clone());
        }
        let (content, profile) = match known {
            Some(known) => (known.file.clone(), known.profile.clone()),
            None => parse(file)?,
        };
        Ok(Arc::new(Self {
            text: file.text.clone(),
            file: content,
            profile,
            materials,
        }))
    }
}

/// Materials of the scene file that name a profile file.
fn materials_of(file: &TextFile, scene_file: &TextFile, scene: &LoadedScene) -> Vec<MaterialId> {
    if !file.is_file() {
        return Vec::new();
    }
    let named = named_files(scene_file);
    let materials = (0..).zip(scene.scene.materials());
    let of_file = materials.filter(|(_, material)| {
        let mut named = named.iter();
        named.any(|(name, path)| *name == material.name && is_same_file(path, &file.path))
    });
    of_file.map(|(number, _)| MaterialId(number)).collect()
}

/// Whether two paths lead to the same file.
fn is_same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Materials of a scene file with a profile file, and its path.
fn named_files(scene_file: &TextFile) -> Vec<(String, PathBuf)> {
    let folder = scene_file.path.parent().unwrap_or(Path::new(""));
    let table: toml::Table = toml::from_str(&scene_file.text).unwrap_or_default();
    let materials = table.get("materials").and_then(toml::Value::as_table);
    let named = materials.into_iter().flatten().filter_map(|(name, own)| {
        let path = own.get("profile")?.as_str()?;
        let is_file = Path::new(path).extension()?.eq_ignore_ascii_case("toml");
        is_file.then(|| (name.clone(), folder.join(path)))
    });
    named.collect()
}

impl Loaded {
    /// Whether a material of the scene is drawn from the open profile.
    pub fn draws_from_open_profile(&self) -> bool {
        let profile = self.profile.as_ref();
        profile.is_some_and(|profile| !profile.materials.is_empty())
    }
}

impl Session {
    /// The file of a noise profile: dropped, embedded, or of a material of the scene.
    ///
    /// # Errors
    /// If there is no such profile, or it is outside the folders of the session.
    pub(super) fn profile_file(&self, name: &str) -> Result<TextFile, Refusal> {
        if let Some(dropped) = self.profiles.get(name) {
            return Ok(dropped.clone());
        }
        let named = named_files(&self.inputs.scene);
        let is_named = |(_, path): &&(String, PathBuf)| path.display().to_string() == name;
        if let Some((_, path)) = named.iter().find(is_named) {
            self.allowed.check(&json!(name), Path::new(""))?;
            return Ok(TextFile::new(name, path, Document::read(path)?.text()));
        }
        let preset = presets::PROFILES.find(name)?;
        Ok(TextFile::new(name, format!("{name}.toml"), preset.text))
    }

    /// A noise profile that can be opened; the open one without a name.
    ///
    /// # Errors
    /// If there is no profile of this name, no profile is open, or the file is no profile.
    pub fn profile(&self, name: Option<&str>) -> Result<(ProfileFile, Arc<Profile>), Refusal> {
        match (name, &self.loaded.profile) {
            (Some(name), _) => parse(&self.profile_file(name)?),
            (None, Some(open)) => Ok((open.file.clone(), open.profile.clone())),
            (None, None) => Err(super::edit::no_profile()),
        }
    }

    /// Profiles of the session that are not built in: dropped ones, and files of the scene.
    pub fn own_profiles(&self) -> Vec<String> {
        let mut names: Vec<String> = self.profiles.keys().cloned().collect();
        let named = named_files(&self.inputs.scene).into_iter();
        names.extend(named.map(|(_, path)| path.display().to_string()));
        names.dedup();
        names
    }

    /// How a material of the scene file names the open profile: a file name, or a path; `None` before it is saved.
    pub fn open_profile_in_scene(&self) -> Option<String> {
        let file = self.inputs.profile.as_ref().filter(|file| file.is_file())?;
        let folder = self.inputs.scene.path.parent().unwrap_or(Path::new(""));
        let name = file.path.file_name()?;
        if is_same_file(&folder.join(name), &file.path) {
            return Some(name.to_string_lossy().into_owned());
        }
        Some(file.path.canonicalize().ok()?.display().to_string())
    }
}

//! Saving, and the command line of a sweep.

use super::edit::no_profile;
use super::{Document, Inputs, Session, TextFile, loading};
use crate::refusal::Refusal;
use etendue::io::output::OutputSet;
use serde::Serialize;
use std::path::PathBuf;

/// The command line that makes the shown sweep, and what has to be saved before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Export {
    /// Words of the command line, without output.
    pub words: Vec<String>,
    /// The command line for a shell.
    pub command: String,
    /// Files with changes that are not saved.
    pub unsaved: Vec<PathBuf>,
}

impl Session {
    /// The command line of the inputs.
    pub fn export(&self) -> Export {
        let words = words(&self.inputs);
        let profile = self.inputs.profile.as_ref();
        let profile = profile.filter(|_| self.loaded.draws_from_open_profile());
        let files = self.inputs.sensor.iter().chain([&self.inputs.scene]);
        let files = files.chain(profile);
        let changed = files.filter(|file| file.is_changed());
        let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        Export {
            command: quoted.join(" "),
            words,
            unsaved: changed.map(TextFile::save_path).collect(),
        }
    }

    /// Saves the scene, the sensor or the noise profile, and returns its path. A preset is saved as a new file of the working
    /// folder.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&mut self, document: Document) -> Result<PathBuf, Refusal> {
        // Write the file
        let file = match (document, &self.inputs.sensor) {
            (Document::Scene, _) => &self.inputs.scene,
            (Document::Sensor, Some(sensor)) => sensor,
            (Document::Sensor, None) => &self.loaded.sensor_file,
            (Document::Profile, _) => self.inputs.profile.as_ref().ok_or_else(no_profile)?,
        };
        let old = file.path.clone();
        let path = file.save_path();
        let mut outputs = OutputSet::default();
        outputs.add(&path, |out| out.write_all(file.text.as_bytes()))?;
        outputs.commit()?;

        // The current text is the saved one; earlier and later states of the file are changes of it
        let text = file.text.clone();
        let saved = |inputs: &mut Inputs| {
            let own = match document {
                Document::Scene => Some(&mut inputs.scene),
                Document::Sensor => inputs.sensor.as_mut(),
                Document::Profile => inputs.profile.as_mut(),
            };
            if let Some(own) = own.filter(|own| own.path == old) {
                own.mark_saved(&path);
                own.saved = text.clone();
            }
        };
        saved(&mut self.inputs);
        self.history.change_each(saved);
        self.revision += 1;
        // A scene that names a profile is read again
        if document == Document::Profile {
            let (inputs, loaded) = loading::load(&self.inputs, None, &mut self.cache)?;
            self.inputs = inputs;
            self.loaded = loaded;
        }
        Ok(path)
    }
}

/// Words of `etendue simulate` for the inputs.
fn words(inputs: &Inputs) -> Vec<String> {
    let mut words = vec!["etendue".to_owned(), "simulate".to_owned()];
    words.push(inputs.scene.word_when_saved());
    let mut add = |key: &str, value: String| words.extend([key.to_owned(), value]);
    if let Some(sensor) = &inputs.sensor {
        add("--sensor", sensor.word_when_saved());
    }
    if let Some(pose) = inputs.pose {
        add("--pose", pose.map(|number| number.to_string()).join(","));
    }
    if let Some(trajectory) = &inputs.trajectory {
        add("--trajectory", trajectory.path.display().to_string());
    }
    if inputs.sweep > 0 {
        add("--sweeps", (u64::from(inputs.sweep) + 1).to_string());
    }
    add("--seed", inputs.seed.to_string());
    for (key, value) in inputs.weather.arguments() {
        add(key, value.to_string());
    }
    words
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=@+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

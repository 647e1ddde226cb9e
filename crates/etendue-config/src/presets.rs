//! Embedded preset files, one folder for each kind.
//!
//! The build script lists the folders, so that a new preset needs only its file.

use crate::toml_file::{Document, UnknownName};

/// An embedded file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Name: the file name without `.toml`.
    pub name: &'static str,
    /// Text of the file.
    pub text: &'static str,
}

/// The presets of one kind, sorted by name.
#[derive(Clone, Copy, Debug)]
pub struct Presets {
    kind: &'static str,
    files: &'static [Preset],
}

include!(concat!(env!("OUT_DIR"), "/presets.rs"));

impl Preset {
    /// The document of the preset.
    pub fn document(&self) -> Document {
        Document::new(format!("{}.toml", self.name), self.text)
    }

    /// Its key `description`; empty without one.
    pub fn description(&self) -> String {
        let table = self.document().parse_any::<toml::Table>();
        let text = table
            .ok()
            .and_then(|table| Some(table.get("description")?.as_str()?.to_owned()));
        text.unwrap_or_default()
    }
}

impl Presets {
    const fn new(kind: &'static str, files: &'static [Preset]) -> Self {
        Self { kind, files }
    }

    /// All presets, by name.
    pub const fn all(self) -> &'static [Preset] {
        self.files
    }

    /// The preset with the name.
    ///
    /// # Errors
    /// If there is no such preset; the error contains the nearest name.
    pub fn find(self, name: &str) -> Result<&'static Preset, UnknownName> {
        let found = self.files.iter().find(|preset| preset.name == name);
        found.ok_or_else(|| self.unknown(name))
    }

    /// Error of an unknown name.
    pub fn unknown(self, name: &str) -> UnknownName {
        UnknownName::new(self.kind, name, self.files.iter().map(|preset| preset.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_is_listed_by_name() {
        for presets in [CAMERAS, DEVICES, MATERIALS, PROFILES, SCENES, SENSORS] {
            let names: Vec<&str> = presets.all().iter().map(|preset| preset.name).collect();
            assert!(!names.is_empty() && names.is_sorted(), "{names:?}");
        }
    }

    #[test]
    fn an_unknown_name_gets_the_nearest_or_the_list() {
        let error = SENSORS.find("hokuyo-urg04").expect_err("no such preset");
        assert_eq!(error.nearest().as_deref(), Some("hokuyo-urg-04lx"));
        let error = SENSORS.find("zzz").expect_err("no such preset");
        assert_eq!(error.to_string(), "unknown sensor preset \"zzz\"");
        assert!(error.remedy().contains("hokuyo-urg-04lx, "));
    }
}

//! Files that come with the library: one folder of files for each kind of preset.
//!
//! The build script lists the folders, so that a preset is added by adding its file.

use crate::toml_file::{Document, UnknownName};

/// A file that comes with the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name: that of the file, without `.toml`.
    pub name: &'static str,
    /// The file's text.
    pub text: &'static str,
}

/// The presets of one kind, by name.
#[derive(Clone, Copy, Debug)]
pub struct Presets {
    kind: &'static str,
    files: &'static [Preset],
}

include!(concat!(env!("OUT_DIR"), "/presets.rs"));

impl Preset {
    /// The preset's file.
    pub fn document(&self) -> Document {
        Document::new(format!("{}.toml", self.name), self.text)
    }
}

impl Presets {
    const fn new(kind: &'static str, files: &'static [Preset]) -> Self {
        Self { kind, files }
    }

    /// Every preset, by name.
    pub const fn all(self) -> &'static [Preset] {
        self.files
    }

    /// The preset of that name.
    ///
    /// # Errors
    /// If there is none; the error names the nearest.
    pub fn find(self, name: &str) -> Result<&'static Preset, UnknownName> {
        let found = self.files.iter().find(|preset| preset.name == name);
        found.ok_or_else(|| self.unknown(name))
    }

    /// The error of a name that is not a preset's.
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

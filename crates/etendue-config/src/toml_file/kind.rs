//! Kinds of TOML files.

use super::{Document, DocumentError, TomlProblem};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use toml::{Spanned, Value};

/// Kind of a TOML file, recognised by keys that only this kind has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A scene.
    Scene,
    /// A lidar.
    Sensor,
    /// A camera.
    Camera,
    /// A robot with its sensors.
    Robot,
    /// A fit problem.
    Fit,
    /// A depth correction.
    DepthModel,
    /// A noise profile.
    Profile,
    /// Recordings of panels for calibration.
    CalibrationSetup,
}

impl FileKind {
    /// Every kind with the top-level keys that identify it.
    const KEYS: [(Self, &[&str]); 8] = [
        (Self::Scene, &["objects"]),
        (
            Self::Sensor,
            &["receiver", "channels", "continuous_wave", "scanner"],
        ),
        (Self::Camera, &["resolution_px", "optics", "detector"]),
        (Self::Robot, &["sensors", "duration_s", "frames"]),
        (Self::Fit, &["free", "scans"]),
        (Self::DepthModel, &["learnt", "model"]),
        (Self::Profile, &["knots", "law"]),
        (Self::CalibrationSetup, &["panels"]),
    ];

    /// The kind of a document and the position of the key that identifies it. `None` if no key does, or the
    /// text is not TOML.
    fn with_position(document: &Document) -> Option<(Self, Spanned<String>)> {
        let mut keys = document
            .parse_any::<BTreeMap<Spanned<String>, Value>>()
            .ok()?;
        Self::KEYS.into_iter().find_map(|(kind, names)| {
            let found = names.iter().find_map(|&name| {
                let named = keys.keys().find(|key| key.get_ref() == name).cloned();
                named.and_then(|key| keys.remove_entry(&key))
            });
            found.map(|(key, _)| (kind, key))
        })
    }

    /// The kind of a document; `None` if no key identifies it.
    ///
    /// # Example
    /// ```
    /// use etendue_config::toml_file::{Document, FileKind};
    ///
    /// let document = Document::new("mine.toml", "version = 1\n[[objects]]\nname = \"wall\"\n");
    /// assert_eq!(FileKind::of(&document), Some(FileKind::Scene));
    /// assert_eq!(FileKind::of(&Document::new("mine.toml", "version = 1\n")), None);
    /// ```
    pub fn of(document: &Document) -> Option<Self> {
        Self::with_position(document).map(|(kind, _)| kind)
    }

    /// Name with its article.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scene => "a scene file",
            Self::Sensor => "a sensor file",
            Self::Camera => "a camera file",
            Self::Robot => "a robot file",
            Self::Fit => "a fit file",
            Self::DepthModel => "a depth correction",
            Self::Profile => "a noise profile",
            Self::CalibrationSetup => "a calibration setup",
        }
    }

    /// How the command line uses such a file.
    pub const fn usage(self) -> &'static str {
        match self {
            Self::Scene => "`etendue simulate FILE` simulates in it",
            Self::Sensor => "give it with --sensor, to `etendue simulate` for example",
            Self::Camera => "give it with --camera, to `etendue render`",
            Self::Robot => "`etendue run FILE` runs it",
            Self::Fit => "`etendue fit FILE` solves it",
            Self::DepthModel => "`etendue correct apply --model FILE` applies it",
            Self::Profile => "`etendue calibrate view FILE` draws it",
            Self::CalibrationSetup => "`etendue calibrate FILE` fits it",
        }
    }
}

impl Document {
    /// Deserialises the text of a file of a kind.
    ///
    /// # Errors
    /// As [`Document::parse`]. Where the file is of another kind, the error names both kinds.
    pub(crate) fn parse_as<T: DeserializeOwned + JsonSchema + 'static>(
        &self,
        kind: FileKind,
    ) -> Result<T, DocumentError> {
        self.parse()
            .map_err(|error| self.refused(kind).err().unwrap_or(error))
    }

    /// Error if the file is of another kind.
    pub(crate) fn refused(&self, expected: FileKind) -> Result<(), DocumentError> {
        match FileKind::with_position(self) {
            Some((kind, key)) if kind != expected => {
                let message = format!(
                    "this is {}, where {} is expected",
                    kind.name(),
                    expected.name()
                );
                Err(self.error(key.span(), TomlProblem::value(message, kind.usage())))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::presets::{CAMERAS, PROFILES, SCENES, SENSORS};

    #[test]
    fn presets_have_the_kind_of_their_folder() {
        let folders = [
            (CAMERAS, FileKind::Camera),
            (PROFILES, FileKind::Profile),
            (SCENES, FileKind::Scene),
            (SENSORS, FileKind::Sensor),
        ];
        for (presets, kind) in folders {
            for preset in presets.all() {
                assert_eq!(
                    FileKind::of(&preset.document()),
                    Some(kind),
                    "{}",
                    preset.name
                );
            }
        }
    }

    #[test]
    fn a_file_of_another_kind_is_named() {
        let scene = SCENES.all()[0].document();
        let error = crate::sensor::parse(&scene).unwrap_err();
        let text = error.to_string();
        assert!(
            text.ends_with("this is a scene file, where a sensor file is expected"),
            "{text}"
        );
        assert_eq!(&scene.text()[error.span()], "objects");
    }
}

//! Folders that the files of a session may lie in.

use crate::refusal::Refusal;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// Environment variable of the folder of meshes and recordings.
const DATA: &str = "ETENDUE_DATA";

/// Folders whose files the page may name: that of the opened scene, the working folder, that of the uploads and
/// that of `ETENDUE_DATA`.
#[derive(Clone, Debug, Default)]
pub struct AllowedPaths {
    folders: Vec<PathBuf>,
}

impl AllowedPaths {
    /// The folders that exist.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let data = std::env::var_os(DATA).map(PathBuf::from);
        let existing = folders.into_iter().chain(data);
        Self {
            folders: existing
                .filter_map(|folder| folder.canonicalize().ok())
                .collect(),
        }
    }

    /// Checks that no text in a value, which may name a file relative to `base`, names one outside the folders.
    ///
    /// # Errors
    /// If one does.
    pub fn check(&self, value: &Json, base: &Path) -> Result<(), Refusal> {
        match value {
            Json::String(text) => self.check_text(text, base),
            Json::Array(entries) => entries.iter().try_for_each(|entry| self.check(entry, base)),
            Json::Object(entries) => entries
                .values()
                .try_for_each(|entry| self.check(entry, base)),
            _ => Ok(()),
        }
    }

    fn check_text(&self, text: &str, base: &Path) -> Result<(), Refusal> {
        let refused = || {
            Refusal::new(
                format!("{text}: files outside the opened folders are not read"),
                "copy the file into the folder of the scene, or drop it on the page",
            )
        };
        // The folder of the variable is allowed; other variables are not expanded
        let path = match text.strip_prefix("${ETENDUE_DATA}") {
            Some(rest) => {
                let data = std::env::var_os(DATA).ok_or_else(refused)?;
                PathBuf::from(data).join(rest.trim_start_matches(['/', '\\']))
            }
            None if text.contains("${") => return Err(refused()),
            None => base.join(text),
        };
        // A text without a file of that name is no path, unless it leaves its folder
        let leaves =
            Path::new(text).is_absolute() || text.split(['/', '\\']).any(|part| part == "..");
        let existing = path.canonicalize();
        let existing = existing.or_else(|_| path.parent().unwrap_or(base).canonicalize());
        match existing {
            Ok(path) if self.folders.iter().any(|folder| path.starts_with(folder)) => Ok(()),
            Ok(_) => Err(refused()),
            Err(_) if leaves => Err(refused()),
            Err(_) => Ok(()),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn files_outside_the_folders_are_refused_in_any_form() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("inside.ply"), "").unwrap();
        let allowed = AllowedPaths::new([folder.path().to_owned()]);
        let check = |value: Json| allowed.check(&value, folder.path());
        assert!(check(json!({ "file": "inside.ply", "name": "a b/c" })).is_ok());
        for outside in [
            "/etc/passwd",
            "../../etc/passwd",
            "${HOME}/x",
            "x/../../../etc/passwd",
        ] {
            assert!(
                check(json!({ "shape": { "mesh": { "file": outside } } })).is_err(),
                "{outside}"
            );
            assert!(check(json!([[outside]])).is_err(), "{outside}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/etc", folder.path().join("link")).unwrap();
            assert!(check(json!("link/passwd")).is_err());
            assert!(check(json!("link/pass*")).is_err());
        }
    }
}

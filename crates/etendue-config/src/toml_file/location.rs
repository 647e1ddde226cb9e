//! Paths of files that a TOML file refers to.

use super::document::{Document, DocumentError};
use super::problem::TomlProblem;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Resolves a path relative to the folder of the document, with environment variables expanded.
pub(crate) fn resolve(
    document: &Document,
    given: &Spanned<String>,
) -> Result<PathBuf, DocumentError> {
    let path = locate(document, given)?;
    if path.is_file() {
        return Ok(path);
    }
    let problem = TomlProblem::value(
        format!("the file {} does not exist", path.display()),
        "check the path, which is relative to the folder of this file",
    );
    Err(document.error(given.span(), problem))
}

/// [`resolve`] without a check that the file exists.
pub(crate) fn locate(
    document: &Document,
    given: &Spanned<String>,
) -> Result<PathBuf, DocumentError> {
    let fail = |message: String, remedy: String| {
        document.error(given.span(), TomlProblem::value(message, remedy))
    };
    // Substitute environment variables
    let mut path = given.get_ref().clone();
    while let Some((before, rest)) = path.split_once("${") {
        let Some((name, after)) = rest.split_once('}') else {
            return Err(fail(
                "a \"${\" has no \"}\"".into(),
                "write \"${NAME}\"".into(),
            ));
        };
        let value = std::env::var(name).map_err(|_| {
            fail(
                format!("the environment variable {name} is not set"),
                format!("set it to a folder: export {name}=/path/to/folder"),
            )
        })?;
        if value.contains("${") {
            return Err(fail(
                format!("the environment variable {name} contains \"${{\""),
                format!("set {name} to a plain path"),
            ));
        }
        path = format!("{before}{value}{after}");
    }
    // Resolve relative paths in the folder of the document
    let folder = document.path().parent().unwrap_or(Path::new(""));
    Ok(folder.join(path))
}

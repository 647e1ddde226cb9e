//! Paths of files that a TOML file refers to.

use super::document::{Document, DocumentError};
use super::nearest::{nearest, nearest_within};
use super::problem::TomlProblem;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Greatest number of edits between the stems of near files, as a share of the characters of the longer one: the files of a
/// folder have any names, where the names of a kind are few.
const FILE_EDITS: f64 = 0.34;

/// Resolves a path relative to the folder of the document, with environment variables expanded.
pub(crate) fn resolve(
    document: &Document,
    given: &Spanned<String>,
) -> Result<PathBuf, DocumentError> {
    let path = locate(document, given)?;
    if path.is_file() {
        return Ok(path);
    }
    let remedy = match nearest_file(&path) {
        Some(near) => format!("did you mean {}?", near.display()),
        None => "check the path, which is relative to the folder of this file".into(),
    };
    let message = format!("the file {} does not exist", path.display());
    Err(document.error(given.span(), TomlProblem::value(message, remedy)))
}

/// The file or folder beside a missing one whose name is most similar; `None` if none is near. A name with an ending is that of
/// a file.
///
/// ```
/// use etendue_config::toml_file::nearest_file;
/// # let folder = tempfile::tempdir().unwrap();
/// let sensor = folder.path().join("mine.toml");
/// std::fs::write(&sensor, "version = 2").unwrap();
/// assert_eq!(nearest_file(&folder.path().join("mine.tml")), Some(sensor));
/// // Neither a folder nor a name that shares few letters
/// std::fs::create_dir(folder.path().join("sources")).unwrap();
/// std::fs::write(folder.path().join("house.ply"), "ply").unwrap();
/// assert_eq!(nearest_file(&folder.path().join("source.ply")), None);
/// ```
pub fn nearest_file(missing: &Path) -> Option<PathBuf> {
    let [name, stem] = [missing.file_name()?, missing.file_stem()?].map(|name| name.to_str());
    let folder = missing.parent().unwrap_or(Path::new(""));
    let listed = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries = std::fs::read_dir(listed).ok()?.filter_map(Result::ok);
    let has_ending = missing.extension().is_some();
    let may_be = |entry: &DirEntry| !(has_ending && entry.path().is_dir());
    let entries = entries.filter(may_be);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    // Endings are alike: the stems decide first
    let stem_of = |name: &String| Path::new(name).file_stem()?.to_str().map(str::to_owned);
    let stems: Vec<String> = names.iter().filter_map(stem_of).collect();
    let near = nearest_within(FILE_EDITS, stem?, stems.iter().map(String::as_str))?;
    names.retain(|name| stem_of(name).as_ref() == Some(&near));
    let of_name = nearest(name?, names.iter().map(String::as_str));
    Some(folder.join(of_name.or_else(|| names.first().cloned())?))
}

/// Variable of the folder with the recordings and meshes of the examples.
const DATA: &str = "ETENDUE_DATA";

/// Remedy for an environment variable that is not set.
fn remedy_of_variable(name: &str) -> String {
    let remedy = format!("set it to a folder: export {name}=/path/to/folder");
    if name == DATA {
        format!(
            "this example needs files that are not part of the project; docs/data.md lists them and their public \
             sources; {remedy}"
        )
    } else {
        remedy
    }
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
                remedy_of_variable(name),
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

//! Ready materials, embedded as files.

use super::MaterialFile;
use crate::toml_file::nearest;
use etendue_physics::Spectrum;
use etendue_physics::surface::Material;
use std::sync::OnceLock;
use thiserror::Error;

/// The wavelengths that every ready material covers, m: URG-04LX and RPLIDAR (785), indoor and
/// depth cameras (850), Ouster (865), most pulsed sensors (905), eye-safe ones (1550).
pub const LIBRARY_WAVELENGTHS: [f64; 5] = [785e-9, 850e-9, 865e-9, 905e-9, 1550e-9];

/// A ready material.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryMaterial {
    /// The name that `base` takes.
    pub name: &'static str,
    /// What it is, in one line.
    pub description: String,
    /// Where its numbers come from.
    pub source: String,
    /// Its behaviour over wavelength.
    pub material: Material<Spectrum>,
    /// The file it was read from.
    pub file: MaterialFile,
}

/// A name that is not in the library.
#[derive(Debug, Error, PartialEq)]
#[error("there is no ready material \"{name}\"{}", suggestion(nearest.as_deref()))]
pub struct UnknownMaterial {
    /// The name asked for.
    pub name: String,
    /// The ready material with the most similar name, if one is similar at all.
    pub nearest: Option<String>,
}

fn suggestion(nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean \"{nearest}\"?"),
        None => "; `etendue materials` lists them".to_owned(),
    }
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../materials/", $name, ".toml")))),*]
    };
}

const FILES: [(&str, &str); 38] = embedded![
    "aluminium",
    "aluminium-mirror",
    "aluminium-weathered",
    "asphalt",
    "asphalt-dark",
    "bk7",
    "bk7-pane",
    "black-paint",
    "black-paint-gloss",
    "black-paper",
    "brick",
    "concrete",
    "concrete-light",
    "conifer",
    "copper",
    "dry-grass",
    "drywall",
    "gold-mirror",
    "granite",
    "grass",
    "leaf",
    "plaster",
    "pmma",
    "pmma-frosted",
    "pmma-solid",
    "polycarbonate",
    "retroreflective-sheeting",
    "silver-mirror",
    "slate",
    "stainless-steel",
    "tinted-glass",
    "water",
    "white-paint",
    "white-paint-gloss",
    "white-paper",
    "window-glass",
    "window-glass-solid",
    "wood",
];

/// Every ready material, by name.
///
/// ```
/// use etendue_config::material::library;
/// assert!(library().iter().all(|material| !material.source.is_empty()));
/// ```
pub fn library() -> &'static [LibraryMaterial] {
    static LIBRARY: OnceLock<Vec<LibraryMaterial>> = OnceLock::new();
    LIBRARY.get_or_init(|| FILES.iter().map(|(name, text)| read(name, text)).collect())
}

/// The ready material of that name.
///
/// # Errors
/// Where there is none; with the nearest name.
pub fn find(name: &str) -> Result<&'static LibraryMaterial, UnknownMaterial> {
    let found = library().iter().find(|material| material.name == name);
    found.ok_or_else(|| UnknownMaterial {
        name: name.to_owned(),
        nearest: nearest(name, FILES.map(|(name, _)| name)),
    })
}

fn read(name: &'static str, text: &str) -> LibraryMaterial {
    let file: MaterialFile = toml::from_str(text)
        .unwrap_or_else(|error| panic!("the tests read every embedded file; {name}: {error}"));
    let material = file
        .unchecked()
        .unwrap_or_else(|error| panic!("the tests check every embedded file; {name}: {error}"));
    LibraryMaterial {
        name,
        description: file.description.clone().unwrap_or_default(),
        source: file.source.clone().unwrap_or_default(),
        material,
        file,
    }
}

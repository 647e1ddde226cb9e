//! Embedded materials.

use super::MaterialFile;
use crate::presets::{MATERIALS, Preset};
use crate::toml_file::UnknownName;
use etendue_physics::Spectrum;
use etendue_physics::surface::Material;
use std::sync::OnceLock;

/// Wavelengths that every library material covers, m: URG-04LX and RPLIDAR (785), indoor and depth
/// cameras (850), Ouster (865), most pulsed sensors (905), eye-safe sensors (1550).
pub const LIBRARY_WAVELENGTHS: [f64; 5] = [785e-9, 850e-9, 865e-9, 905e-9, 1550e-9];

/// An embedded material.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryMaterial {
    /// Name for the key `base`.
    pub name: &'static str,
    /// Description in one line.
    pub description: String,
    /// References of the values.
    pub source: String,
    /// The spectral material.
    pub material: Material<Spectrum>,
    /// The material file.
    pub file: MaterialFile,
}

/// All embedded materials, by name.
///
/// ```
/// use etendue_config::material::library;
/// assert!(library().iter().all(|material| !material.source.is_empty()));
/// ```
pub fn library() -> &'static [LibraryMaterial] {
    static LIBRARY: OnceLock<Vec<LibraryMaterial>> = OnceLock::new();
    LIBRARY.get_or_init(|| MATERIALS.all().iter().map(read).collect())
}

/// The embedded material with the name.
///
/// # Errors
/// If there is no such material; the error contains the nearest name.
pub fn find(name: &str) -> Result<&'static LibraryMaterial, UnknownName> {
    let found = library().iter().find(|material| material.name == name);
    found.ok_or_else(|| MATERIALS.unknown(name))
}

fn read(preset: &Preset) -> LibraryMaterial {
    let name = preset.name;
    let file: MaterialFile = toml::from_str(preset.text)
        .unwrap_or_else(|error| panic!("the embedded material {name} is invalid: {error}"));
    let material = file
        .unchecked()
        .unwrap_or_else(|error| panic!("the embedded material {name} is inconsistent: {error}"));
    LibraryMaterial {
        name,
        description: file.description.clone().unwrap_or_default(),
        source: file.source.clone().unwrap_or_default(),
        material,
        file,
    }
}

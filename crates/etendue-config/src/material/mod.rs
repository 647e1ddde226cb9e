//! Material files and the library of embedded materials.
//!
//! [`MaterialFile`] is the schema of `[materials.NAME]` tables; [`library`] contains the embedded
//! materials, which have the same schema and a source each.

mod convert;
mod file;
mod library;
mod spectral;

pub use convert::MaterialFileError;
pub use file::{
    ConductorFile, DiffuseFile, DiffuseModel, FresnelFile, GlassFile, GlossFile, MaterialFile,
    MeasuredFile, MirrorFile, RetroFile, ShadowingFile,
};
pub use library::{LIBRARY_WAVELENGTHS, LibraryMaterial, find, library};
pub use spectral::{Fit, Spectral};

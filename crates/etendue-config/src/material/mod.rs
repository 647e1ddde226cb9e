//! Materials: how they are written in a file, and the library of ready ones.
//!
//! [`MaterialFile`] is what a user writes under `[materials.NAME]`; [`library`] holds the ready
//! ones, which are files of the same form with a source each.

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

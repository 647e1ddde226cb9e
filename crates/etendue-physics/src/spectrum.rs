//! A quantity over wavelength.

use thiserror::Error;

/// A quantity over wavelength: one number, or a table interpolated linearly.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Spectrum {
    /// The same at every wavelength.
    Constant(f64),
    /// (wavelength in metres, value), wavelengths strictly ascending.
    Table(Vec<(f64, f64)>),
}

/// A spectrum was asked for a wavelength that it does not cover.
#[derive(Debug, Error, PartialEq)]
#[error("no value at {} nm: the table covers {} to {} nm", wavelength * 1e9, covered.0 * 1e9, covered.1 * 1e9)]
pub struct OutsideTable {
    /// The wavelength asked for, m.
    pub wavelength: f64,
    /// First and last wavelength of the table, m.
    pub covered: (f64, f64),
}

//! Checks of the dimensions of shapes.

use thiserror::Error;

/// Largest number of triangles of a primitive.
const MOST_TRIANGLES: f64 = 16e6;

/// An error in the description of a shape.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PrimitiveError {
    /// A length is zero, negative or not a number.
    #[error("the {name} of a {shape} is {value} m: it has to be above zero")]
    Length {
        /// The shape.
        shape: &'static str,
        /// The length's name.
        name: &'static str,
        /// The length given, m.
        value: f64,
    },
    /// A panel without cells.
    #[error("a {shape} of {columns} x {rows} cells has no area: give at least one of each")]
    NoCells {
        /// The panel.
        shape: &'static str,
        /// Cells along x.
        columns: u32,
        /// Cells along y.
        rows: u32,
    },
    /// The mesh would be too large.
    #[error("a {shape} this fine has {triangles:.1e} triangles: use a coarser tolerance")]
    TooFine {
        /// The shape.
        shape: &'static str,
        /// Number of triangles it would have.
        triangles: f64,
    },
}

/// Checks that lengths are above zero.
pub(super) fn check_lengths(
    shape: &'static str,
    lengths: &[(&'static str, f64)],
) -> Result<(), PrimitiveError> {
    match lengths.iter().find(|l| !(l.1.is_finite() && l.1 > 0.0)) {
        Some(&(name, value)) => Err(PrimitiveError::Length { shape, name, value }),
        None => Ok(()),
    }
}

/// Checks that the number of triangles of a mesh is not too large.
pub(super) fn check_count(shape: &'static str, triangles: f64) -> Result<(), PrimitiveError> {
    if triangles > MOST_TRIANGLES {
        Err(PrimitiveError::TooFine { shape, triangles })
    } else {
        Ok(())
    }
}

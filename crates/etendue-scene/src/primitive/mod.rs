//! Simple shapes made into meshes.
//!
//! Solids have outward normals; [`Mesh::inside_out`](etendue_raycast::Mesh::inside_out) turns one into a
//! room. Round shapes take the greatest distance between the mesh and the true surface (the
//! sagitta): their vertices lie on the surface, their faces inside it by at most that.

mod cuboid;
mod flat;
mod round;

pub use cuboid::cuboid;
pub use flat::{checkerboard, rectangle, stripes};
pub use round::{cone, cylinder, sphere};

use thiserror::Error;

/// Most triangles that a primitive may have.
const MOST_TRIANGLES: f64 = 16e6;

/// Why a shape cannot be made.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PrimitiveError {
    /// A length is zero, negative or not a number.
    #[error("the {name} of a {shape} is {value} m: it has to be above zero")]
    Length {
        /// Which shape.
        shape: &'static str,
        /// Which length.
        name: &'static str,
        /// What was given, m.
        value: f64,
    },
    /// A panel without cells.
    #[error("a {shape} of {columns} x {rows} cells has no area: give at least one of each")]
    NoCells {
        /// Which panel.
        shape: &'static str,
        /// Cells along x.
        columns: u32,
        /// Cells along y.
        rows: u32,
    },
    /// The mesh would be too large.
    #[error("a {shape} this fine has {triangles:.1e} triangles: use a coarser tolerance")]
    TooFine {
        /// Which shape.
        shape: &'static str,
        /// How many triangles it would have.
        triangles: f64,
    },
}

/// Refuses lengths that are not above zero.
fn check_lengths(
    shape: &'static str,
    lengths: &[(&'static str, f64)],
) -> Result<(), PrimitiveError> {
    match lengths.iter().find(|l| !(l.1.is_finite() && l.1 > 0.0)) {
        Some(&(name, value)) => Err(PrimitiveError::Length { shape, name, value }),
        None => Ok(()),
    }
}

fn check_count(shape: &'static str, triangles: f64) -> Result<(), PrimitiveError> {
    if triangles > MOST_TRIANGLES {
        Err(PrimitiveError::TooFine { shape, triangles })
    } else {
        Ok(())
    }
}

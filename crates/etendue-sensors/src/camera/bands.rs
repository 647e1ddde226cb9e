//! Values per band of a camera.

/// A value for each of N bands.
pub(crate) type Bands<const N: usize> = nalgebra::SVector<f64, N>;

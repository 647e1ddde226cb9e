//! Rounding errors in `f32`: error bounds, and bounds that are rounded outwards.
//!
//! Bounds are never rounded to subnormal numbers: processors take a hundred times as long to multiply
//! those, and the neighbour of a flat mesh's own middle at zero would be one.

use nalgebra::Vector3;
use obvhs::aabb::Aabb;

/// Unit round-off of `f32`.
pub(crate) const ROUND_OFF: f32 = f32::EPSILON * 0.5;

/// Error of a box's position relative to a ray, in units of the round-off times the largest
/// coordinate that occurs.
pub(crate) const BOX_MARGIN: f32 = 32.0;

/// Error of a triangle's edge functions for a ray that hits it, in the same unit times the
/// triangle's size.
pub(crate) const EDGE_ERROR: f32 = 192.0;

/// Factor on [`EDGE_ERROR`] that bounds the error for any ray that passes within four sizes of the
/// triangle.
pub(crate) const CERTAIN: f32 = 2.0;

/// Error of a hit's depth, in the same unit times the sum of the triangle's normal and its squared
/// size over the cosine.
pub(crate) const DEPTH_ERROR: f32 = 64.0;

/// A number below `x`.
#[inline(always)]
pub(crate) fn below(x: f64) -> f32 {
    let rounded = (x as f32).next_down();
    if rounded.abs() < f32::MIN_POSITIVE {
        -f32::MIN_POSITIVE
    } else {
        rounded
    }
}

/// A number above `x`.
#[inline(always)]
pub(crate) fn above(x: f64) -> f32 {
    -below(-x)
}

/// A box in `f32` that contains a box in `f64`.
pub(crate) fn outer_box(low: &Vector3<f64>, high: &Vector3<f64>) -> Aabb {
    Aabb::new(
        <[f32; 3]>::from(low.map(below)).into(),
        <[f32; 3]>::from(high.map(above)).into(),
    )
}

/// The greater of two numbers, neither of which is a NaN.
#[inline(always)]
pub(crate) fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_outside_and_not_subnormal() {
        for x in [
            0.0,
            -0.0,
            1e-300,
            -1e-40,
            1e-38,
            1.0,
            -7.3,
            1e30,
            f64::INFINITY,
        ] {
            let low = below(x);
            let high = above(x);
            assert!(f64::from(low) < x);
            assert!(f64::from(high) > x || x == f64::INFINITY);
            assert!(
                !low.is_subnormal() && !high.is_subnormal(),
                "{x}: {low} to {high}"
            );
        }
    }
}

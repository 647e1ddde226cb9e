//! Bounds in `f32`, rounded outwards.
//!
//! Never to subnormal numbers: processors take a hundred times as long to multiply those, and what
//! is next to the zero of a flat mesh's own middle would be one.

use nalgebra::Vector3;
use obvhs::aabb::Aabb;

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

/// A box around what lies between two corners.
pub(crate) fn outer_box(low: &Vector3<f64>, high: &Vector3<f64>) -> Aabb {
    Aabb::new(
        <[f32; 3]>::from(low.map(below)).into(),
        <[f32; 3]>::from(high.map(above)).into(),
    )
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
            let [low, high] = [below(x), above(x)];
            assert!(f64::from(low) < x);
            assert!(f64::from(high) > x || x == f64::INFINITY);
            assert!(
                !low.is_subnormal() && !high.is_subnormal(),
                "{x}: {low} to {high}"
            );
        }
    }
}

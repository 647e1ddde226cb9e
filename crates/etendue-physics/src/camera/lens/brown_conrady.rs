//! Brown-Conrady lens model.

use crate::Scalar;

/// Largest number of Newton steps from a good start.
const STEPS: usize = 20;
/// Tolerance of distorted coordinates, focal lengths.
const TOLERANCE: f64 = 1e-14;

/// Radial, tangential and thin-prism distortion of the pinhole image $(x, y)$:
/// $$x' = x\\,d + 2p_1xy + p_2(r^2+2x^2) + s_1r^2 + s_2r^4,\quad
///   y' = y\\,d + p_1(r^2+2y^2) + 2p_2xy + s_3r^2 + s_4r^4,\quad
///   d = \frac{1+k_1r^2+k_2r^4+k_3r^6}{1+k_4r^2+k_5r^4+k_6r^6}$$
/// with OpenCV's names and order of parameters: `k1 k2 p1 p2 [k3 [k4 k5 k6 [s1 s2 s3 s4]]]`. The
/// tilted image plane (OpenCV's 13th and 14th parameter) is not modelled.
///
/// Brown 1971, "Close-range camera calibration", Photogramm. Eng. 37, 855-866; rational form of
/// Claus and Fitzgibbon 2005, doi:10.1109/CVPR.2005.43, as in OpenCV.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrownConrady<T> {
    /// $k_1$ to $k_6$.
    pub k: [T; 6],
    /// $p_1$, $p_2$.
    pub p: [T; 2],
    /// $s_1$ to $s_4$.
    pub s: [T; 4],
}

impl<S: Scalar> BrownConrady<S> {
    /// Lens from parameters in OpenCV's order; `None` if there are not 4, 5, 8 or 12.
    pub fn from_opencv(parameters: &[S]) -> Option<Self> {
        if ![4, 5, 8, 12].contains(&parameters.len()) {
            return None;
        }
        let at = |i: usize| parameters.get(i).copied().unwrap_or(S::zero());
        Some(Self {
            k: [at(0), at(1), at(4), at(5), at(6), at(7)],
            p: [at(2), at(3)],
            s: [at(8), at(9), at(10), at(11)],
        })
    }

    /// All twelve parameters in OpenCV's order.
    pub fn to_opencv(&self) -> [S; 12] {
        let [k1, k2, k3, k4, k5, k6] = self.k;
        let [p1, p2] = self.p;
        let [s1, s2, s3, s4] = self.s;
        [k1, k2, p1, p2, k3, k4, k5, k6, s1, s2, s3, s4]
    }

    /// Distorted position of a point of the pinhole image.
    pub fn distort(&self, [x, y]: [S; 2]) -> [S; 2] {
        let square = x * x + y * y;
        let [k1, k2, k3, k4, k5, k6] = self.k;
        let above = square * (square * (square * k3 + k2) + k1) + 1.0;
        let below = square * (square * (square * k6 + k5) + k4) + 1.0;
        let radial = above / below;
        let [p1, p2] = self.p;
        let [s1, s2, s3, s4] = self.s;
        let cross = x * y * 2.0;
        [
            x * radial + p1 * cross + p2 * (square + x * x * 2.0) + square * (s2 * square + s1),
            y * radial + p1 * (square + y * y * 2.0) + p2 * cross + square * (s4 * square + s3),
        ]
    }
}

impl BrownConrady<f64> {
    /// Jacobian of [`BrownConrady::distort`], by rows.
    pub(super) fn jacobian(&self, [x, y]: [f64; 2]) -> [[f64; 2]; 2] {
        let square = x * x + y * y;
        let [k1, k2, k3, k4, k5, k6] = self.k;
        let above = 1.0 + square * (k1 + square * (k2 + square * k3));
        let below = 1.0 + square * (k4 + square * (k5 + square * k6));
        let above_slope = k1 + square * (2.0 * k2 + square * 3.0 * k3);
        let below_slope = k4 + square * (2.0 * k5 + square * 3.0 * k6);
        let radial = above / below;
        let slope = (above_slope - radial * below_slope) / below;
        let [p1, p2] = self.p;
        let [s1, s2, s3, s4] = self.s;
        let prism_x = s1 + 2.0 * s2 * square;
        let prism_y = s3 + 2.0 * s4 * square;
        let across = 2.0 * (x * y * slope + p1 * x + p2 * y);
        [
            [
                radial + 2.0 * (x * x * slope + p1 * y + 3.0 * p2 * x + prism_x * x),
                across + 2.0 * prism_x * y,
            ],
            [
                across + 2.0 * prism_y * x,
                radial + 2.0 * (y * y * slope + 3.0 * p1 * y + p2 * x + prism_y * y),
            ],
        ]
    }

    /// Point of the pinhole image whose distorted position is `point`, by Newton's method from
    /// `start`.
    pub(super) fn undistort(&self, point: [f64; 2], start: [f64; 2]) -> Option<[f64; 2]> {
        let mut found = start;
        for _ in 0..STEPS {
            let [[a, b], [c, d]] = self.jacobian(found);
            let determinant = a * d - b * c;
            if !(determinant > 0.0 && a + d > 0.0) {
                return None;
            }
            let image = self.distort(found);
            let du = point[0] - image[0];
            let dv = point[1] - image[1];
            found[0] += (d * du - b * dv) / determinant;
            found[1] += (a * dv - c * du) / determinant;
            if du.hypot(dv) <= TOLERANCE * point[0].hypot(point[1]).max(1.0) {
                return self.is_regular(found).then_some(found);
            }
        }
        None
    }

    /// Whether the distortion is neither folded nor mirrored at a point.
    fn is_regular(&self, at: [f64; 2]) -> bool {
        let [[a, b], [c, d]] = self.jacobian(at);
        a * d - b * c > 0.0 && a + d > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dual, DualParts};

    #[test]
    fn the_jacobian_is_that_of_dual_numbers() {
        let parameters = [
            -0.3, 0.1, 1e-3, -2e-3, 0.02, 0.05, -0.01, 0.004, 1e-3, 2e-3, -1e-3, 5e-4,
        ];
        let lens = BrownConrady::from_opencv(&parameters).expect("twelve");
        assert_eq!(lens.to_opencv(), parameters);
        let lifted = BrownConrady::from_opencv(&parameters.map(Dual::<2>::from)).expect("twelve");
        for (x, y) in [(0.0, 0.0), (0.3, -0.2), (-0.5, 0.7)] {
            let point = [Dual::<2>::variable(x, 0), Dual::<2>::variable(y, 1)];
            let expected = lifted.distort(point).map(|value| value.gradient());
            let found = lens.jacobian([x, y]);
            for (row, other) in found.iter().flatten().zip(expected.iter().flatten()) {
                assert!((row - other).abs() < 1e-14, "{found:?} {expected:?}");
            }
        }
    }

    #[test]
    fn an_unsupported_number_of_coefficients_is_refused() {
        assert_eq!(BrownConrady::from_opencv(&[0.0; 6]), None);
        assert!(BrownConrady::from_opencv(&[0.0; 8]).is_some());
    }
}

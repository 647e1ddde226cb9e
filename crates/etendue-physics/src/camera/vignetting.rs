//! Darkening of the image towards its edges.

/// Vignetting: the fraction of the on-axis light that arrives off the axis,
/// $$V = \cos^n\theta\\,(1 + a_1\rho^2 + a_2\rho^4 + a_3\rho^6)$$
/// with the angle $\theta$ to the axis in the scene and the distance $\rho$ from the principal point in half
/// diagonals of the image; $n = 4$ for a simple lens (natural vignetting). The coefficients $a_1$ to $a_3$ are
/// fitted to a flat-field image (Goldman 2010, "Vignette and exposure calibration and compensation",
/// doi:10.1109/TPAMI.2010.55).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vignetting {
    /// Power $n$ of the cosine; 0 for none.
    pub cosine_power: f64,
    /// $a_1$ to $a_3$.
    pub polynomial: [f64; 3],
}

impl Vignetting {
    /// Fraction of the light at a cosine of the angle to the axis and a relative distance from the
    /// principal point; never below zero.
    ///
    /// ```
    /// use etendue_physics::camera::Vignetting;
    /// let simple = Vignetting { cosine_power: 4.0, ..Vignetting::default() };
    /// assert_eq!(simple.share(0.5, 1.0), 0.0625);
    /// assert_eq!(Vignetting::default().share(0.5, 1.0), 1.0);
    /// ```
    pub fn share(&self, cos: f64, distance: f64) -> f64 {
        if *self == Self::default() {
            return 1.0;
        }
        let square = distance * distance;
        let [a1, a2, a3] = self.polynomial;
        let fitted = 1.0 + square * (a1 + square * (a2 + square * a3));
        (cos.max(0.0).powf(self.cosine_power) * fitted).max(0.0)
    }
}

//! Polynomial model of the depth bias.

/// Largest magnitude of a term during training, m: the receivers of lidars err by a few centimetres up to a
/// decimetre at grazing incidence.
const LARGEST_TERM: f64 = 0.25;
/// Incidence at which a term is at most [`LARGEST_TERM`], rad.
const LARGEST_INCIDENCE: f64 = 85.0 * std::f64::consts::PI / 180.0;
/// Depth at which a scaled term is at most [`LARGEST_TERM`], m.
const REFERENCE_DEPTH: f64 = 10.0;

/// Polynomial bias in the incidence, $\epsilon = \sum_i w_i\\,\gamma^{e_i}$, optionally times $d$
/// (equations 4 and 5 with the exponents 2 and 4; the published model of real sensors is a single
/// $\gamma^4$ with a weight of about -0.001).
#[derive(Clone, Debug, PartialEq)]
pub struct PolynomialBias {
    /// Exponents $e_i$ of the incidence, not negative.
    pub exponents: Vec<f64>,
    /// Weight $w_i$ of each exponent, m/rad$^{e_i}$; 1/rad$^{e_i}$ if scaled.
    pub weights: Vec<f64>,
    /// Whether the bias is multiplied by the depth.
    pub scaled: bool,
}

impl PolynomialBias {
    /// $w_1\gamma^2 + w_2\gamma^4$ (equation 4).
    pub fn plain(weights: [f64; 2]) -> Self {
        Self {
            exponents: vec![2.0, 4.0],
            weights: weights.to_vec(),
            scaled: false,
        }
    }

    /// $d\\,(w_1\gamma^2 + w_2\gamma^4)$ (equation 5).
    pub fn scaled(weights: [f64; 2]) -> Self {
        Self {
            scaled: true,
            ..Self::plain(weights)
        }
    }

    /// Greatest weight of each exponent: its term is at most [`LARGEST_TERM`] at [`LARGEST_INCIDENCE`].
    pub(super) fn bounds(&self) -> impl Iterator<Item = f64> {
        let largest = if self.scaled {
            LARGEST_TERM / REFERENCE_DEPTH
        } else {
            LARGEST_TERM
        };
        let exponents = self.exponents.iter();
        exponents.map(move |e| largest / power(LARGEST_INCIDENCE, *e))
    }

    pub(super) fn bias(&self, depth: f64, incidence: f64) -> f64 {
        self.sum(incidence) * self.scale(depth)
    }

    pub(super) fn distort(&self, depth: f64, incidence: f64) -> f64 {
        let sum = self.sum(incidence);
        if self.scaled {
            depth / (1.0 - sum)
        } else {
            depth + sum
        }
    }

    pub(super) fn slopes(&self, depth: f64, incidence: f64, slopes: &mut [f64]) {
        let scale = self.scale(depth);
        for (slope, exponent) in slopes.iter_mut().zip(&self.exponents) {
            *slope = -scale * power(incidence, *exponent);
        }
    }

    fn scale(&self, depth: f64) -> f64 {
        if self.scaled { depth } else { 1.0 }
    }

    fn sum(&self, incidence: f64) -> f64 {
        let terms = self.exponents.iter().zip(&self.weights);
        terms.map(|(e, w)| w * power(incidence, *e)).sum()
    }
}

/// Power of the incidence; integer exponents by repeated multiplication.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent.fract() == 0.0 && exponent < 64.0 {
        #[expect(clippy::cast_possible_truncation, reason = "a small whole number")]
        base.powi(exponent as i32)
    } else {
        base.powf(exponent)
    }
}

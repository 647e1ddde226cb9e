//! Depth-bias model: one of several shapes.

use super::inverse_cosine::InverseCosineBias;
use super::linear::LinearBias;
use super::polynomial::PolynomialBias;
use super::waveform::WaveformBias;
use crate::depth::error::DepthError;

/// Model of the depth bias over measured depth $d$ (m) and incidence $\gamma$ (rad).
///
/// ```
/// use etendue_calibrate::depth::{DepthModel, PolynomialBias};
/// let model = DepthModel::Polynomial(PolynomialBias::plain([0.004, 0.008]));
/// let measured = model.distort(7.0, 1.2);
/// assert!((measured - 7.0 - 0.004 * 1.2_f64.powi(2) - 0.008 * 1.2_f64.powi(4)).abs() < 1e-15);
/// assert!((model.correct(measured, 1.2) - 7.0).abs() < 1e-14);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum DepthModel {
    /// Powers of the incidence, plain or scaled by the depth.
    Polynomial(PolynomialBias),
    /// Depth, incidence and a constant.
    Linear(LinearBias),
    /// Inverse cosine of the incidence, plain or scaled by the depth.
    InverseCosine(InverseCosineBias),
    /// Stretch of the pulse by an inclined surface; extrapolates beyond the data.
    Waveform(WaveformBias),
}

impl DepthModel {
    /// Number of weights.
    pub fn weight_count(&self) -> usize {
        match self {
            Self::Polynomial(model) => model.weights.len(),
            Self::Linear(_) => 3,
            Self::InverseCosine(_) => 1,
            Self::Waveform(_) => 2,
        }
    }

    /// The weights in the order of the model. Those of the waveform are the logarithms of its parameters, so
    /// that every vector of finite weights is a valid model.
    pub fn weights(&self) -> Vec<f64> {
        match self {
            Self::Polynomial(model) => model.weights.clone(),
            Self::Linear(model) => vec![model.depth, model.incidence, model.constant],
            Self::InverseCosine(model) => vec![model.weight],
            Self::Waveform(model) => vec![model.pulse_sd.ln(), model.angular_sd.ln()],
        }
    }

    /// The same model with other weights.
    ///
    /// # Errors
    /// If their number is not [`DepthModel::weight_count`].
    pub fn with_weights(&self, weights: &[f64]) -> Result<Self, DepthError> {
        if weights.len() != self.weight_count() {
            return Err(DepthError::WeightCount {
                expected: self.weight_count(),
                given: weights.len(),
            });
        }
        Ok(self.reweighted(weights))
    }

    /// The same model with other weights, of the right number.
    pub(in crate::depth) fn reweighted(&self, weights: &[f64]) -> Self {
        let mut changed = self.clone();
        match &mut changed {
            Self::Polynomial(model) => model.weights.copy_from_slice(weights),
            Self::Linear(model) => {
                *model = LinearBias {
                    depth: weights[0],
                    incidence: weights[1],
                    constant: weights[2],
                }
            }
            Self::InverseCosine(model) => model.weight = weights[0],
            Self::Waveform(model) => {
                model.pulse_sd = weights[0].exp();
                model.angular_sd = weights[1].exp();
            }
        }
        changed
    }

    /// Bias $\epsilon(d, \gamma)$ of a measured depth (m) at an incidence (rad, in [0, pi/2)), m:
    /// [`DepthModel::correct`] subtracts it.
    pub fn bias(&self, depth: f64, incidence: f64) -> f64 {
        match self {
            Self::Polynomial(model) => model.bias(depth, incidence),
            Self::Linear(model) => model.bias(depth, incidence),
            Self::InverseCosine(model) => model.bias(depth, incidence),
            Self::Waveform(model) => depth - model.correct(depth, incidence),
        }
    }

    /// Corrected depth $\hat d = d - \epsilon(d, \gamma)$, m.
    pub fn correct(&self, depth: f64, incidence: f64) -> f64 {
        depth - self.bias(depth, incidence)
    }

    /// Measured depth whose correction is `depth` (m): simulates a known bias.
    pub fn distort(&self, depth: f64, incidence: f64) -> f64 {
        match self {
            Self::Polynomial(model) => model.distort(depth, incidence),
            Self::Linear(model) => model.distort(depth, incidence),
            Self::InverseCosine(model) => model.distort(depth, incidence),
            Self::Waveform(model) => depth + model.shift(depth, incidence),
        }
    }

    /// Corrected depth, m; writes its derivatives with respect to the weights to `slopes`.
    ///
    /// # Panics
    /// If `slopes` is shorter than [`DepthModel::weight_count`].
    pub fn correct_with_slopes(&self, depth: f64, incidence: f64, slopes: &mut [f64]) -> f64 {
        match self {
            Self::Polynomial(model) => model.slopes(depth, incidence, slopes),
            Self::Linear(_) => slopes[..3].copy_from_slice(&[-depth, -incidence, -1.0]),
            Self::InverseCosine(model) => slopes[0] = -model.term(depth, incidence),
            Self::Waveform(model) => {
                return model.correct_with_slopes(depth, incidence, slopes);
            }
        }
        self.correct(depth, incidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models() -> Vec<DepthModel> {
        vec![
            DepthModel::Polynomial(PolynomialBias::plain([0.004, 0.008])),
            DepthModel::Polynomial(PolynomialBias::scaled([0.001, 0.002])),
            DepthModel::Polynomial(PolynomialBias {
                exponents: vec![4.0],
                weights: vec![-0.001],
                scaled: false,
            }),
            DepthModel::Linear(LinearBias {
                depth: 0.01,
                incidence: -0.02,
                constant: 0.03,
            }),
            DepthModel::InverseCosine(InverseCosineBias {
                weight: -0.004,
                scaled: false,
            }),
            DepthModel::InverseCosine(InverseCosineBias {
                weight: -0.002,
                scaled: true,
            }),
            DepthModel::Waveform(WaveformBias {
                pulse_sd: 0.3,
                angular_sd: 2.6e-3,
                fraction: 0.5,
            }),
        ]
    }

    fn samples() -> impl Iterator<Item = (f64, f64)> {
        let depths = [0.5, 3.0, 24.0];
        depths
            .into_iter()
            .flat_map(|d| [0.0, 0.4, 1.1, 1.4].map(|g| (d, g)))
    }

    #[test]
    fn correction_inverts_distortion_for_every_model() {
        for model in models() {
            for (depth, incidence) in samples() {
                let back = model.correct(model.distort(depth, incidence), incidence);
                assert!(
                    (back - depth).abs() < 1e-12,
                    "{model:?} {depth} {incidence}"
                );
            }
        }
    }

    #[test]
    fn slopes_equal_central_differences_over_the_weights() {
        for model in models() {
            for (depth, incidence) in samples() {
                slopes_agree(&model, depth, incidence);
            }
        }
    }

    fn slopes_agree(model: &DepthModel, depth: f64, incidence: f64) {
        let weights = model.weights();
        let mut slopes = vec![0.0; weights.len()];
        let corrected = model.correct_with_slopes(depth, incidence, &mut slopes);
        assert!((corrected - model.correct(depth, incidence)).abs() < 1e-12);
        for k in 0..weights.len() {
            let at = |step: f64| {
                let mut moved = weights.clone();
                moved[k] += step;
                model.reweighted(&moved).correct(depth, incidence)
            };
            let difference = (at(1e-4) - at(-1e-4)) / 2e-4;
            let tolerance = 1e-7 * difference.abs().max(1e-2);
            assert!(
                (slopes[k] - difference).abs() < tolerance,
                "{model:?} {depth} {incidence} {k}: {} {difference}",
                slopes[k]
            );
        }
    }

    #[test]
    fn a_wrong_number_of_weights_is_rejected() {
        let error = models()[0].with_weights(&[1.0]);
        assert_eq!(
            error,
            Err(DepthError::WeightCount {
                expected: 2,
                given: 1
            })
        );
    }

    #[test]
    fn the_waveform_bias_is_bounded_at_grazing_incidence() {
        let model = &models()[6];
        for depth in [0.5, 3.0, 24.0] {
            let limit = model.bias(depth, 85_f64.to_radians());
            for degrees in [85.5, 89.0, 89.9, 90.0_f64] {
                let bias = model.bias(depth, degrees.to_radians());
                assert!(
                    (bias - limit).abs() < 1e-9,
                    "{depth} {degrees}: {bias} {limit}"
                );
            }
            assert!(limit < 0.0 && limit > -0.05 * depth);
        }
    }

    #[test]
    fn the_waveform_bias_shortens_ranges_and_grows_with_depth_and_incidence() {
        let model = &models()[6];
        assert!(model.bias(10.0, 1.2) < 0.0);
        assert!(model.bias(20.0, 1.2) < model.bias(10.0, 1.2));
        assert!(model.bias(10.0, 1.3) < model.bias(10.0, 1.2));
    }
}

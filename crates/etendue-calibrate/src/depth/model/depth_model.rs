//! Depth-bias model: one of several shapes.

use super::inverse_cosine::InverseCosineBias;
use super::linear::LinearBias;
use super::polynomial::PolynomialBias;
use super::table::TableBias;
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
    /// Piecewise linear in the incidence, linear in the depth.
    Table(TableBias),
}

/// Share of a bound above which a weight is at it.
const AT_BOUND: f64 = 0.98;

impl DepthModel {
    /// A model without bias and without weights.
    pub fn without_bias() -> Self {
        Self::Table(TableBias::zero(Vec::new()))
    }

    /// Number of weights.
    pub fn weight_count(&self) -> usize {
        match self {
            Self::Polynomial(model) => model.weights.len(),
            Self::Linear(_) => 3,
            Self::InverseCosine(_) => 1,
            Self::Waveform(_) => 2,
            Self::Table(model) => 2 * model.biases.len(),
        }
    }

    /// The weights in the order of the model. Those of the waveform are monotonic functions of its
    /// parameters, in the middle of their physical intervals their logarithms, so that every vector of finite
    /// weights is a valid model.
    pub fn weights(&self) -> Vec<f64> {
        match self {
            Self::Polynomial(model) => model.weights.clone(),
            Self::Linear(model) => vec![model.depth, model.incidence, model.constant],
            Self::InverseCosine(model) => vec![model.weight],
            Self::Waveform(model) => model.weights().to_vec(),
            Self::Table(model) => model.weights(),
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
            Self::Waveform(model) => *model = model.reweighted([weights[0], weights[1]]),
            Self::Table(model) => model.set_weights(weights),
        }
        changed
    }

    /// The model with its weights limited to physical values: a term of a polynomial is at most 0.25 m at 85
    /// degrees (scaled: at a depth of 10 m). The weights of the other models are not limited.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        if let Self::Polynomial(model) = &mut self {
            let bounds: Vec<f64> = model.bounds().collect();
            for (weight, bound) in model.weights.iter_mut().zip(bounds) {
                *weight = weight.clamp(-bound, bound);
            }
        }
        self
    }

    /// Whether a weight is at the limit of its physical values: the data do not determine it.
    pub fn is_at_bound(&self) -> bool {
        match self {
            Self::Polynomial(model) => {
                let pairs = model.weights.iter().zip(model.bounds());
                pairs
                    .into_iter()
                    .any(|(w, bound)| w.abs() > AT_BOUND * bound)
            }
            Self::Waveform(model) => model.is_at_bound(),
            Self::Linear(_) | Self::InverseCosine(_) | Self::Table(_) => false,
        }
    }

    /// Bias $\epsilon(d, \gamma)$ of a measured depth (m) at an incidence (rad, in [0, pi/2)), m:
    /// [`DepthModel::correct`] subtracts it.
    pub fn bias(&self, depth: f64, incidence: f64) -> f64 {
        match self {
            Self::Polynomial(model) => model.bias(depth, incidence),
            Self::Linear(model) => model.bias(depth, incidence),
            Self::InverseCosine(model) => model.bias(depth, incidence),
            Self::Waveform(model) => depth - model.correct(depth, incidence),
            Self::Table(model) => model.bias(depth, incidence),
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
            Self::Table(model) => model.distort(depth, incidence),
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
            Self::Table(model) => model.derivatives(depth, incidence, slopes),
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
            DepthModel::Table(TableBias {
                incidences: vec![0.3, 0.8, 1.3],
                biases: vec![0.001, 0.004, -0.02],
                slopes: vec![0.0, 0.001, -0.003],
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
    fn weights_of_a_waveform_give_its_widths_back_and_stay_physical() {
        let DepthModel::Waveform(widths) = models()[6] else {
            panic!("a waveform");
        };
        let [pulse, angle] = widths.weights();
        let back = widths.reweighted([pulse, angle]);
        assert!((back.pulse_sd / widths.pulse_sd - 1.0).abs() < 1e-12);
        assert!((back.angular_sd / widths.angular_sd - 1.0).abs() < 1e-12);
        for extreme in [-1e3, -30.0, 30.0, 1e3] {
            let far = widths.reweighted([extreme, extreme]);
            assert!((0.01..=3.0).contains(&far.pulse_sd), "{far:?}");
            assert!((1e-4..=0.02 + 1e-12).contains(&far.angular_sd), "{far:?}");
            assert!(far.is_at_bound(), "{far:?}");
        }
        assert!(!widths.is_at_bound());
    }

    #[test]
    fn terms_of_a_polynomial_stay_within_a_quarter_of_a_metre() {
        let far = DepthModel::Polynomial(PolynomialBias::plain([9.0, -9.0])).bounded();
        let weights = far.weights();
        let grazing = 85_f64.to_radians();
        assert!((weights[0] * grazing.powi(2) - 0.25).abs() < 1e-12);
        assert!((weights[1] * grazing.powi(4) + 0.25).abs() < 1e-12);
        assert!(far.is_at_bound() && !models()[0].is_at_bound());
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

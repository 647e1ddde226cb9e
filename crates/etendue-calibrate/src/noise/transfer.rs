//! Prediction of the profiles of unrecorded materials.

use etendue_physics::profile::Profile;
use etendue_physics::surface::{Material, Side};

/// Backscatter of a material over incidence.
#[derive(Clone, Copy, Debug)]
pub struct MaterialBackscatter<'a>(pub &'a Material<f64>);

impl MaterialBackscatter<'_> {
    /// BRDF back into the direction of incidence, 1/sr.
    fn at(self, cos: f64) -> f64 {
        self.0.backscatter(cos, Side::Front)
    }

    /// Difference of the shapes of backscatter over incidence: standard deviation of the logarithm of the
    /// ratio from 0 to 70 degrees.
    fn misfit(self, profile: &Profile) -> f64 {
        let ratios: Vec<f64> = (0..15)
            .map(|i| {
                let cos = (f64::from(i) * 5.0).to_radians().cos();
                let own = self.at(cos).max(1e-12);
                (own / profile.reflectance.backscatter(cos).max(1e-12)).ln()
            })
            .collect();
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        let square = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>();
        (square / ratios.len() as f64).sqrt()
    }
}

/// The recorded profile whose fitted reflectance model is most similar in shape over incidence.
pub fn nearest<'a>(
    material: MaterialBackscatter<'_>,
    profiles: &[&'a Profile],
) -> Option<&'a Profile> {
    let misfit = |profile: &&Profile| material.misfit(profile);
    let profiles = profiles.iter().copied();
    profiles.min_by(|a, b| misfit(a).total_cmp(&misfit(b)))
}

/// Predicted profile of an unrecorded material: a recorded profile corrected by the ratio of the two
/// reflectance models (kepets-2024, section 6.2.1), marked as extrapolated.
///
/// With $q(\theta)$ the ratio of backscatter, the logit of the drop-out decreases by $b\ln q$ and the
/// spread scales with $q^{-1/2}$. `reflectance` is that of the recorded panel at normal incidence, as of a
/// Lambertian surface; without it, both levels are assumed equal. The bias is unchanged. A glare is
/// specific to the recorded panel and removed.
pub fn adapt(
    recorded: &Profile,
    material: MaterialBackscatter<'_>,
    name: &str,
    reflectance: Option<f64>,
) -> Profile {
    // Level of the recorded backscatter.
    let mut profile = recorded.clone();
    let level = reflectance.map_or_else(
        || material.at(1.0),
        |reflectance| reflectance / std::f64::consts::PI,
    );
    // Shift drop-out and spread of each knot by the ratio of the backscatters.
    for knot in &mut profile.knots {
        let cos = knot.incidence.cos();
        let before = level * recorded.reflectance.backscatter(cos);
        let ratio = (material.at(cos) / before.max(1e-12)).clamp(1e-3, 1e3);
        let logit = (knot.drop_out / (1.0 - knot.drop_out))
            .ln()
            .clamp(-30.0, 30.0);
        let shifted = logit - recorded.reflectance.drop_out.slope * ratio.ln();
        knot.drop_out = 1.0 / (1.0 + (-shifted).exp());
        knot.drop_out_interval = [0.0, 1.0];
        knot.spread /= ratio.sqrt();
        knot.extrapolated = true;
    }
    // Mark the profile as extrapolated.
    profile.glare = None;
    profile.material = name.into();
    profile.extrapolated = true;
    profile
}

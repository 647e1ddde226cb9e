//! Profiles of materials that nobody recorded.

use etendue_physics::profile::Profile;
use etendue_physics::surface::{Material, Side};

/// Relative backscatter over incidence of a material, 1 at normal incidence, and its value there.
#[derive(Clone, Copy, Debug)]
pub struct Backscatter<'a>(pub &'a Material<f64>);

impl Backscatter<'_> {
    /// The BRDF back towards the light, 1/sr.
    fn at(self, cos: f64) -> f64 {
        self.0.backscatter(cos, Side::Front)
    }

    /// How differently two surfaces' backscatter falls with incidence: root mean square of the
    /// logarithm of their ratio from 0 to 70 degrees, level set free.
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

/// The recorded profile whose fitted reflectance falls most alike with incidence.
pub fn nearest<'a>(material: Backscatter<'_>, profiles: &[&'a Profile]) -> Option<&'a Profile> {
    { profiles.iter().copied() }.min_by(|a, b| material.misfit(a).total_cmp(&material.misfit(b)))
}

/// A guess of an unrecorded material's profile: the nearest recorded one, corrected by the ratio of
/// the two reflectance models (kepets-2024, section 6.2.1), and marked as extrapolated.
///
/// With $q(\theta)$ the ratio of backscatter (levels included where `reflectance` gives that of the
/// recorded panel at normal incidence, as that of a Lambertian surface), the logit of the drop-out
/// falls by $b\ln q$ and the spread goes with $q^{-1/2}$. The bias is kept; a glare is the recorded plate's
/// own and goes.
pub fn adapt(
    recorded: &Profile,
    material: Backscatter<'_>,
    name: &str,
    reflectance: Option<f64>,
) -> Profile {
    let mut profile = recorded.clone();
    let level = reflectance.map_or_else(
        || material.at(1.0),
        |reflectance| reflectance / std::f64::consts::PI,
    );
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
    profile.glare = None;
    profile.material = name.into();
    profile.extrapolated = true;
    profile
}

//! Ambient light: thermal emission, sunlight and skylight.

use super::interaction::Side;
use super::material::Material;
use super::prepared_material::PreparedMaterial;
use crate::{SPEED_OF_LIGHT, Scalar};
use nalgebra::Vector3;
use std::f64::consts::PI;

/// Planck's constant, J s (exact, SI 2019).
const PLANCK: f64 = 6.626_070_15e-34;
/// Boltzmann's constant, J/K (exact, SI 2019).
const BOLTZMANN: f64 = 1.380_649e-23;
/// Temperature of a black body that gives the sun's total irradiance, K (IAU 2015, resolution B3).
const SUN_TEMPERATURE: f64 = 5772.0;
/// Solid angle of the sun from a mean distance, sr: pi (6.957e8 m / 1.495978707e11 m)^2.
const SUN_SOLID_ANGLE: f64 = 6.794e-5;

/// Spectral radiance of a black body, W m⁻² sr⁻¹ per m of wavelength (Planck 1901):
/// $B = \frac{2hc^2}{\lambda^5}\frac{1}{e^{hc/(\lambda k T)} - 1}$. `wavelength` in m,
/// `temperature` in K; zero at absolute zero.
///
/// ```
/// use etendue_physics::surface::planck_radiance;
/// // The thermal emission of a wall at room temperature is negligible at 905 nm.
/// let (wall, sun) = (planck_radiance(905e-9, 300.0), planck_radiance(905e-9, 5772.0));
/// assert!(wall < 1e-15 * sun);
/// ```
pub fn planck_radiance<S: Scalar>(wavelength: f64, temperature: S) -> S {
    if temperature.value() <= 0.0 {
        return S::zero();
    }
    let exponent = temperature.recip() * (PLANCK * SPEED_OF_LIGHT / (wavelength * BOLTZMANN));
    let scale = 2.0 * PLANCK * SPEED_OF_LIGHT * SPEED_OF_LIGHT / wavelength.powi(5);
    // exp(-x) / (1 - exp(-x)) does not overflow where exp(x) does.
    let inverse = (-exponent).exp();
    inverse / (-inverse + 1.0) * scale
}

/// Extraterrestrial solar irradiance on a surface normal to the sun, W m⁻² per m of wavelength: a black
/// body of 5772 K. The atmosphere absorbs about a fifth of it at noon in the near infrared, and more in
/// the bands of water vapour.
pub fn solar_irradiance(wavelength: f64) -> f64 {
    planck_radiance(wavelength, SUN_TEMPERATURE) * SUN_SOLID_ANGLE
}

/// Ambient light on a surface, per m of wavelength.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ambient {
    /// Irradiance from the sun on a surface normal to it, W m⁻² m⁻¹.
    pub direct: f64,
    /// Irradiance from sky and surroundings of uniform radiance, W m⁻² m⁻¹.
    pub diffuse: f64,
}

impl Ambient {
    /// Spectral radiance that a surface scatters towards a sensor, W m⁻² sr⁻¹ m⁻¹:
    /// $L = E_\mathrm{sun} f \cos\theta + E_\mathrm{sky}\\,\alpha/\pi$.
    ///
    /// Both unit directions are local (z is the normal on the side of the sensor); a sun behind the
    /// surface (z <= 0) contributes nothing. `scattered` is the surface's
    /// [`Material::scattered_albedo`] at the angle of the sensor: by reciprocity it is also the fraction
    /// of uniform illumination that is scattered towards the sensor. Specular lobes are excluded: their
    /// contribution requires tracing the reflected or transmitted ray.
    pub fn radiance(
        &self,
        material: &PreparedMaterial<f64>,
        scattered: f64,
        sun: &Vector3<f64>,
        sensor: &Vector3<f64>,
        side: Side,
    ) -> f64 {
        let direct = self.direct * material.evaluate(sun, sensor, side) * sun.z.max(0.0);
        direct + self.diffuse * scattered / PI
    }
}

/// Power on the detector from a background of spectral radiance `radiance` (W m⁻² sr⁻¹ m⁻¹), W:
/// $P = L A \Omega \Delta\lambda\\,\eta$ with the aperture's `area` (m²), the field of view's
/// `solid_angle` (sr), the filter's `bandwidth` (m) and the optics' `efficiency`. It does not
/// depend on range while the surface fills the field of view.
pub fn background_power(
    radiance: f64,
    area: f64,
    solid_angle: f64,
    bandwidth: f64,
    efficiency: f64,
) -> f64 {
    radiance * area * solid_angle * bandwidth * efficiency
}

impl Material<f64> {
    /// Directional emissivity in [0, 1]: the fraction of light that the surface neither reflects nor
    /// transmits (Kirchhoff 1860). Thermal emission is negligible at 785 nm and 300 K.
    pub fn emissivity(&self, cos_incidence: f64, side: Side) -> f64 {
        (1.0 - self.albedo(cos_incidence, side).total()).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::Lobe;

    #[test]
    fn the_integral_of_the_black_body_spectrum_is_the_stefan_boltzmann_law() {
        let step = 1e-8;
        let temperature = 1000.0;
        let sum: f64 = (1..20_000)
            .map(|i| planck_radiance(f64::from(i) * step, temperature) * step)
            .sum();
        let expected = 5.670_374_419e-8 * temperature.powi(4) / PI;
        // Measured: 1.9e-5, because the sum ends at a wavelength of 0.2 mm.
        assert!((sum / expected - 1.0).abs() < 1e-4, "{}", sum / expected);
    }

    #[test]
    fn the_solar_constant_is_1361_watts_per_square_metre() {
        let sum: f64 = (1..20_000)
            .map(|i| solar_irradiance(f64::from(i) * 1e-8) * 1e-8)
            .sum();
        // Measured: 1361.1.
        assert!((sum - 1361.0).abs() < 1.0, "{sum}");
    }

    #[test]
    fn the_radiance_of_a_lambertian_surface_is_irradiance_times_reflectance_over_pi() {
        let paper = Material {
            lobes: vec![Lobe::lambert(0.8)],
        };
        let ambient = Ambient {
            direct: 100.0,
            diffuse: 20.0,
        };
        let sun = Vector3::new(0.6, 0.0, 0.8);
        let scattered = paper.scattered_albedo(1.0, Side::Front);
        let paper = paper.prepared();
        let radiance = ambient.radiance(&paper, scattered, &sun, &Vector3::z(), Side::Front);
        assert!((radiance - 0.8 / PI * (100.0 * 0.8 + 20.0)).abs() < 1e-12);
        assert_eq!(background_power(radiance, 0.0, 1.0, 1e-8, 1.0), 0.0);
    }

    #[test]
    fn a_mirror_of_reflectance_one_emits_nothing() {
        let mirror = Material {
            lobes: vec![Lobe::mirror(1.0)],
        };
        assert_eq!(mirror.emissivity(1.0, Side::Front), 0.0);
        assert_eq!(Material { lobes: vec![] }.emissivity(1.0, Side::Front), 1.0);
    }
}

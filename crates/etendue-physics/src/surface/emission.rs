//! Light that is not the sensor's own: heat and the sun.

use super::interaction::Side;
use super::material::Material;
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
/// // A wall at room temperature is dark at a lidar's wavelength, the sun is not.
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
    let left = (-exponent).exp();
    left / (-left + 1.0) * scale
}

/// Irradiance of the sun above the atmosphere on a surface that faces it, W m⁻² per m of
/// wavelength: a black body of 5772 K. On the ground at noon about a fifth of it is missing in the
/// near infrared, more in the bands of water.
pub fn solar_irradiance(wavelength: f64) -> f64 {
    planck_radiance(wavelength, SUN_TEMPERATURE) * SUN_SOLID_ANGLE
}

/// Ambient light on a surface, per m of wavelength.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ambient {
    /// Irradiance from the sun on a surface that faces it, W m⁻² m⁻¹.
    pub direct: f64,
    /// Irradiance from the sky and the surroundings, alike from all directions, W m⁻² m⁻¹.
    pub diffuse: f64,
}

impl Ambient {
    /// Spectral radiance that a surface scatters towards a sensor, W m⁻² sr⁻¹ m⁻¹:
    /// $L = E_\mathrm{sun} f \cos\theta + E_\mathrm{sky}\\,\alpha/\pi$.
    ///
    /// Both unit directions are local (z is the normal on the sensor's side); a sun behind the
    /// surface (z <= 0) gives nothing. `scattered` is the surface's
    /// [`Material::scattered_albedo`] towards the sensor: by reciprocity, what it would scatter
    /// to all around is what it gathers from there. What mirror-like lobes show is left to
    /// whoever follows them.
    pub fn radiance(
        &self,
        material: &Material<f64>,
        scattered: f64,
        sun: &Vector3<f64>,
        sensor: &Vector3<f64>,
        side: Side,
    ) -> f64 {
        let direct = self.direct * material.evaluate(sun, sensor, side) * sun.z.max(0.0);
        direct + self.diffuse * scattered / PI
    }
}

/// Power that a background of spectral radiance `radiance` (W m⁻² sr⁻¹ m⁻¹) puts on a detector, W:
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
    /// What part of a black body's light the surface emits: what it neither reflects nor
    /// transmits (Kirchhoff 1860). At 785 nm and 300 K the light itself is some 1e-27 of anything
    /// else.
    pub fn emissivity(&self, cos_incidence: f64, side: Side) -> f64 {
        (1.0 - self.albedo(cos_incidence, side).total()).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::Lobe;

    #[test]
    fn a_black_bodys_whole_spectrum_is_stefan_and_boltzmanns_law() {
        let (step, temperature) = (1e-8, 1000.0);
        let sum: f64 = (1..20_000)
            .map(|i| planck_radiance(f64::from(i) * step, temperature) * step)
            .sum();
        let expected = 5.670_374_419e-8 * temperature.powi(4) / PI;
        // Measured 1.9e-5: light beyond 0.2 mm is left out.
        assert!((sum / expected - 1.0).abs() < 1e-4, "{}", sum / expected);
    }

    #[test]
    fn the_sun_gives_1361_watts_per_square_metre() {
        let sum: f64 = (1..20_000)
            .map(|i| solar_irradiance(f64::from(i) * 1e-8) * 1e-8)
            .sum();
        // Measured: 1361.1.
        assert!((sum - 1361.0).abs() < 1.0, "{sum}");
    }

    #[test]
    fn a_lambertian_surface_shows_irradiance_times_reflectance_over_pi() {
        let paper = Material {
            lobes: vec![Lobe::lambert(0.8)],
        };
        let ambient = Ambient {
            direct: 100.0,
            diffuse: 20.0,
        };
        let sun = Vector3::new(0.6, 0.0, 0.8);
        let scattered = paper.scattered_albedo(1.0, Side::Front);
        let seen = ambient.radiance(&paper, scattered, &sun, &Vector3::z(), Side::Front);
        assert!((seen - 0.8 / PI * (100.0 * 0.8 + 20.0)).abs() < 1e-12);
        assert_eq!(background_power(seen, 0.0, 1.0, 1e-8, 1.0), 0.0);
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

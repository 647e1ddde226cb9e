//! Description of ambient light.

use etendue_physics::light::ClearAir;
use etendue_physics::surface::Ambient;
use nalgebra::Vector3;

/// Ambient light: sun, sky and thermal emission, independent of the sensor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AmbientLight {
    /// The sun, or another distant light.
    pub sun: Option<Sun>,
    /// Irradiance from sky and surroundings, uniform over all directions and without shadows of the
    /// scene, W m⁻² per m of wavelength; none for that of a clear sky with the sun.
    pub sky_irradiance: Option<f64>,
    /// Attenuation and scattering of sunlight by a clear sky.
    pub air: ClearAir,
    /// Temperature of every surface, K; none without thermal emission.
    pub temperature: Option<f64>,
}

/// Directional light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Unit vector towards the light, in the world.
    pub towards: Vector3<f64>,
    /// Irradiance at normal incidence, W m⁻² per m of wavelength; none for the sun through a clear
    /// sky.
    pub irradiance: Option<f64>,
}

impl AmbientLight {
    /// Whether there is no ambient light.
    pub fn is_dark(&self) -> bool {
        self.sun.is_none() && self.sky_irradiance.is_none() && self.temperature.is_none()
    }

    /// Direct and diffuse irradiance at a wavelength (m), W m⁻² per m of wavelength. Outside the visible,
    /// [`ClearAir`] is evaluated beyond its domain: too bright in the absorption bands of water vapour,
    /// which it leaves out.
    pub fn at(&self, wavelength: f64) -> Ambient {
        let elevation = self.sun.map(|sun| sun.towards.z.clamp(-1.0, 1.0).asin());
        let clear = |of: fn(&ClearAir, f64, f64) -> f64| {
            elevation.map_or(0.0, |elevation| of(&self.air, wavelength, elevation))
        };
        let direct = self.sun.and_then(|sun| sun.irradiance);
        let sky = self.sky_irradiance;
        Ambient {
            direct: direct.unwrap_or_else(|| clear(ClearAir::sun)),
            diffuse: sky.unwrap_or_else(|| clear(ClearAir::sky)),
        }
    }
}

//! Direct and diffuse sunlight under a cloudless atmosphere.

use crate::surface::solar_irradiance;

/// A cloudless atmosphere over the sea: the simple spectral model of Bird and Riordan 1986,
/// "Simple solar spectral model for direct and diffuse irradiance on horizontal and tilted planes
/// at the earth's surface for cloudless atmospheres",
/// doi:10.1175/1520-0450(1986)025<0087:SSSMFD>2.0.CO;2 (eqs. 1 to 8 and 3-1 to 3-17), from 300 to
/// 700 nm; with water vapour, mixed gases and light between ground and sky left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClearAir {
    /// Ångström's turbidity $\beta$: the aerosol's optical depth at 1 µm; 0.05 clear, 0.3 hazy.
    pub haze: f64,
    /// Ångström's exponent $\alpha$; 1.14 over land.
    pub haze_exponent: f64,
    /// Ozone, cm at standard conditions.
    pub ozone: f64,
}

impl Default for ClearAir {
    fn default() -> Self {
        Self {
            haze: 0.08,
            haze_exponent: 1.14,
            ozone: 0.32,
        }
    }
}

/// Absorption coefficient of ozone, (µm, 1/cm): Leckner 1978, doi:10.1016/0038-092X(78)90187-1, as
/// tabulated by Bird and Riordan 1986.
const OZONE: [(f64, f64); 20] = [
    (0.44, 0.0),
    (0.45, 0.003),
    (0.46, 0.006),
    (0.47, 0.009),
    (0.48, 0.014),
    (0.49, 0.021),
    (0.50, 0.030),
    (0.51, 0.040),
    (0.52, 0.048),
    (0.53, 0.063),
    (0.54, 0.075),
    (0.55, 0.085),
    (0.57, 0.120),
    (0.593, 0.119),
    (0.61, 0.120),
    (0.63, 0.090),
    (0.656, 0.065),
    (0.69, 0.028),
    (0.74, 0.010),
    (0.78, 0.0),
];

/// Single-scattering albedo of the aerosol at 0.4 µm, and its decrease with wavelength.
const AEROSOL_ALBEDO: [f64; 2] = [0.945, 0.095];
/// Asymmetry parameter of the aerosol's scattering.
const ASYMMETRY: f64 = 0.65;

/// Relative air mass at an elevation of the sun (rad, above the horizon): Kasten and Young 1989,
/// doi:10.1364/AO.28.004735.
fn air_mass(elevation: f64) -> f64 {
    1.0 / (elevation.sin() + 0.50572 * (elevation.to_degrees() + 6.07995).powf(-1.6364))
}

/// Transmittances of the atmosphere along the path of direct sunlight.
struct SunTransmittances {
    rayleigh: f64,
    ozone: f64,
    aerosol_absorbed: f64,
    aerosol_scattered: f64,
}

impl ClearAir {
    /// Transmittances at a wavelength (m) and an elevation of the sun (rad).
    fn transmittances(&self, wavelength: f64, elevation: f64) -> SunTransmittances {
        let micro = wavelength * 1e6;
        let mass = air_mass(elevation);
        let squared = micro * micro;
        let rayleigh = (-mass / (squared * squared * (115.6406 - 1.335 / squared))).exp();
        let height = 22.0 / 6370.0;
        let sin2 = elevation.sin().powi(2);
        let ozone_mass = (1.0 + height) / (sin2 + 2.0 * height).sqrt();
        let depth = self.haze * micro.powf(-self.haze_exponent) * mass;
        let [albedo, fall] = AEROSOL_ALBEDO;
        let albedo = albedo * (-fall * (micro / 0.4).ln().powi(2)).exp();
        SunTransmittances {
            rayleigh,
            ozone: (-ozone_absorption(micro) * self.ozone * ozone_mass).exp(),
            aerosol_absorbed: (-(1.0 - albedo) * depth).exp(),
            aerosol_scattered: (-albedo * depth).exp(),
        }
    }

    /// Direct irradiance on a surface that faces the sun, W m⁻² per m of wavelength; `wavelength`
    /// in m, `elevation` of the sun in rad; zero below the horizon.
    ///
    /// ```
    /// use etendue_physics::light::ClearAir;
    /// let air = ClearAir::default();
    /// let ratio = |e: f64| air.sun(450e-9, e.to_radians()) / air.sun(650e-9, e.to_radians());
    /// // The setting sun is red.
    /// assert!(ratio(5.0) < 0.5 * ratio(60.0));
    /// ```
    pub fn sun(&self, wavelength: f64, elevation: f64) -> f64 {
        if elevation <= 0.0 {
            return 0.0;
        }
        let transmittances = self.transmittances(wavelength, elevation);
        let aerosol = transmittances.aerosol_absorbed * transmittances.aerosol_scattered;
        solar_irradiance(wavelength) * transmittances.rayleigh * aerosol * transmittances.ozone
    }

    /// Diffuse irradiance of the sky on level ground, W m⁻² per m of wavelength.
    ///
    /// ```
    /// use etendue_physics::light::ClearAir;
    /// let air = ClearAir::default();
    /// // The sky is blue, and gives less than the sun; about 1.9, since the sun is taken as a
    /// // black body, which gives too little blue.
    /// assert!(air.sky(450e-9, 0.8) > 1.8 * air.sky(650e-9, 0.8));
    /// assert!(air.sky(550e-9, 0.8) < 0.5 * air.sun(550e-9, 0.8));
    /// ```
    pub fn sky(&self, wavelength: f64, elevation: f64) -> f64 {
        if elevation <= 0.0 {
            return 0.0;
        }
        let transmittances = self.transmittances(wavelength, elevation);
        let sin = elevation.sin();
        let by_molecules =
            transmittances.aerosol_absorbed * (1.0 - transmittances.rayleigh.powf(0.95)) * 0.5;
        let by_aerosol = transmittances.rayleigh.powf(1.5)
            * transmittances.aerosol_absorbed
            * (1.0 - transmittances.aerosol_scattered)
            * forward_share(sin);
        let micro = wavelength * 1e6;
        let ultraviolet = if micro <= 0.45 {
            (micro + 0.55).powf(1.8)
        } else {
            1.0
        };
        let scattered = transmittances.ozone * (by_molecules + by_aerosol) * ultraviolet;
        solar_irradiance(wavelength) * sin * scattered
    }
}

/// Fraction of the aerosol's scattering that goes downwards, from the sine of the sun's elevation.
fn forward_share(sin: f64) -> f64 {
    let log = (1.0 - ASYMMETRY).ln();
    let first = log * (1.459 + log * (0.1595 + log * 0.4129));
    let second = log * (0.0783 + log * (-0.3824 - log * 0.5874));
    1.0 - 0.5 * ((first + second * sin) * sin).exp()
}

fn ozone_absorption(micro: f64) -> f64 {
    let pair = OZONE
        .windows(2)
        .find(|pair| (pair[0].0..=pair[1].0).contains(&micro));
    pair.map_or(0.0, |pair| {
        let part = (micro - pair[0].0) / (pair[1].0 - pair[0].0);
        pair[0].1 + part * (pair[1].1 - pair[0].1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ASTM G173 (air mass 1.5, turbidity 0.084 at 500 nm): 1.34 direct and 0.21 diffuse
    /// W m⁻² nm⁻¹ at 550 nm.
    #[test]
    fn the_sun_at_air_mass_one_and_a_half_is_near_the_standard_spectrum() {
        let air = ClearAir {
            haze: 0.036,
            ..ClearAir::default()
        };
        let elevation = 41.8_f64.to_radians();
        assert!((air_mass(elevation) - 1.5).abs() < 0.01);
        let (sun, sky) = (
            air.sun(550e-9, elevation) * 1e-9,
            air.sky(550e-9, elevation) * 1e-9,
        );
        // The standard's sky includes light reflected by the ground.
        assert!((1.25..1.5).contains(&sun), "{sun}");
        assert!((0.1..0.25).contains(&sky), "{sky}");
    }

    #[test]
    fn the_night_is_dark() {
        assert_eq!(ClearAir::default().sun(550e-9, -0.1), 0.0);
        assert_eq!(ClearAir::default().sky(550e-9, 0.0), 0.0);
    }
}

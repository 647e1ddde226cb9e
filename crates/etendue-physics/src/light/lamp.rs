//! Lamps, described by luminous flux and colour temperature.

use crate::Spectrum;
use crate::surface::planck_radiance;

/// Luminous flux of 1 W at 555 nm, lm (SI).
const MOST_LUMENS: f64 = 683.0;
/// First and last wavelength of a lamp's table, and its step, nm.
const TABLE_NM: [u32; 3] = [360, 1100, 20];

/// Photopic luminous efficiency of the eye at a wavelength (m): $V \approx
/// 1.019\\,e^{-285.4(\lambda - 0.559)^2}$ with $\lambda$ in µm, a common fit to the table of CIE
/// 1924, accurate to a few hundredths.
pub fn photopic(wavelength: f64) -> f64 {
    1.019 * (-285.4 * (wavelength * 1e6 - 0.559).powi(2)).exp()
}

/// Luminous efficacy of black-body radiation at a temperature (K), lm/W.
///
/// ```
/// use etendue_physics::light::luminous_efficacy;
/// // The best black body, at 6640 K, gives 95 lm/W.
/// assert!((luminous_efficacy(6640.0) - 95.0).abs() < 2.0);
/// ```
pub fn luminous_efficacy(temperature: f64) -> f64 {
    const STEFAN_BOLTZMANN: f64 = 5.670_374_419e-8;
    let whole = STEFAN_BOLTZMANN * temperature.powi(4) / std::f64::consts::PI;
    luminance(temperature) / whole
}

/// Luminance of a black body, cd/m².
fn luminance(temperature: f64) -> f64 {
    let step = 5e-9;
    let visible = (0..100).map(|i| {
        let wavelength = 360e-9 + f64::from(i) * step;
        planck_radiance(wavelength, temperature) * photopic(wavelength) * step
    });
    MOST_LUMENS * visible.sum::<f64>()
}

/// Spectral flux, W per m of wavelength, of a lamp with the luminous flux `lumens` (lm) and a
/// black-body spectrum of the colour temperature `temperature` (K); a table from 360 to 1100 nm.
pub fn lamp_flux(lumens: f64, temperature: f64) -> Spectrum {
    let scale = lumens / luminance(temperature);
    let [first, last, step] = TABLE_NM;
    let wavelengths = (first..=last)
        .step_by(step as usize)
        .map(|nm| f64::from(nm) * 1e-9);
    Spectrum::Table(
        wavelengths
            .map(|wavelength| (wavelength, scale * planck_radiance(wavelength, temperature)))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spectrum_of_a_lamp_has_its_luminous_flux() {
        let lamp = lamp_flux(800.0, 2700.0);
        let sum: f64 = (360..860)
            .map(|nm| {
                let wavelength = f64::from(nm) * 1e-9;
                lamp.at(wavelength).expect("in its table") * photopic(wavelength) * 1e-9
            })
            .sum();
        assert!(
            (sum * MOST_LUMENS - 800.0).abs() < 4.0,
            "{}",
            sum * MOST_LUMENS
        );
    }
}

//! Spectra of linear RGB colours.

use crate::Spectrum;

/// Middle of the red band, m.
pub const RED: f64 = 610e-9;
/// Middle of the green band, m.
pub const GREEN: f64 = 540e-9;
/// Middle of the blue band, m.
pub const BLUE: f64 = 465e-9;

/// Half width of the plateau around a band's middle where only its colour counts, m.
const PLATEAU: f64 = 15e-9;
/// End of the red band, and start of the infrared value, m.
const INFRARED: [f64; 2] = [700e-9, 740e-9];

/// Value of a linear colour (red, green, blue) at a wavelength (m): constant around the middle of
/// each band and linear in between. Many spectra have the same colour; this one reproduces the
/// colour in a camera with the same bands.
///
/// ```
/// use etendue_physics::light::{GREEN, RED, colour_at};
/// assert_eq!(colour_at([0.8, 0.2, 0.1], RED), 0.8);
/// assert_eq!(colour_at([0.8, 0.2, 0.1], GREEN), 0.2);
/// assert!((colour_at([0.8, 0.2, 0.1], 575e-9) - 0.5).abs() < 1e-12);
/// ```
pub fn colour_at([red, green, blue]: [f64; 3], wavelength: f64) -> f64 {
    let between = |from: (f64, f64), to: (f64, f64)| {
        let part = (wavelength - from.0 - PLATEAU) / (to.0 - from.0 - 2.0 * PLATEAU);
        from.1 + (to.1 - from.1) * part.clamp(0.0, 1.0)
    };
    if wavelength < GREEN {
        between((BLUE, blue), (GREEN, green))
    } else {
        between((GREEN, green), (RED, red))
    }
}

/// Spectrum of a linear colour, with `infrared` beyond 740 nm; constant where all values are equal.
pub fn colour_spectrum(colour: [f64; 3], infrared: f64) -> Spectrum {
    let [red, green, blue] = colour;
    if [red, green, blue].iter().all(|value| *value == infrared) {
        return Spectrum::Constant(infrared);
    }
    Spectrum::Table(vec![
        (200e-9, blue),
        (BLUE + PLATEAU, blue),
        (GREEN - PLATEAU, green),
        (GREEN + PLATEAU, green),
        (RED - PLATEAU, red),
        (INFRARED[0], red),
        (INFRARED[1], infrared),
        (20e-6, infrared),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spectrum_has_its_colour_in_the_bands_and_its_infrared_value_beyond() {
        let colour = [0.7, 0.3, 0.1];
        let spectrum = colour_spectrum(colour, 0.4);
        for wavelength in [BLUE, GREEN, RED, 500e-9, 575e-9] {
            let value = spectrum.at(wavelength).expect("covered");
            assert!((value - colour_at(colour, wavelength)).abs() < 1e-12);
        }
        for wavelength in [785e-9, 905e-9, 1550e-9] {
            assert_eq!(spectrum.at(wavelength), Ok(0.4));
        }
        assert_eq!(colour_spectrum([0.5; 3], 0.5), Spectrum::Constant(0.5));
    }
}

//! What a colour made for the eye is at a wavelength.

use crate::Spectrum;

/// Middle of the red band, m.
pub const RED: f64 = 610e-9;
/// Middle of the green band, m.
pub const GREEN: f64 = 540e-9;
/// Middle of the blue band, m.
pub const BLUE: f64 = 465e-9;

/// Half of the stretch about a band's middle where its colour holds alone, m.
const PLATEAU: f64 = 15e-9;
/// Where red ends, and from where on the colour says nothing, m.
const INFRARED: [f64; 2] = [700e-9, 740e-9];

/// The value at a wavelength (m) of a linear colour (red, green, blue): constant about the middle
/// of each band and straight lines in between. An assumption that gives back the colour in a
/// camera whose bands lie there; many spectra have one colour.
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

/// The spectrum of a linear colour, with `infrared` beyond 740 nm; one number where all are equal.
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
    fn a_spectrum_is_its_colour_in_the_bands_and_the_infrared_value_beyond() {
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

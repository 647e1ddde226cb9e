//! Angular distribution of the sky's radiance.

use nalgebra::Vector3;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// A luminance distribution of the standard general sky (CIE S 011/E:2003, ISO 15469:2004):
/// relative to the zenith
/// $$\frac{L}{L_z} = \frac{f(\chi)\\,\varphi(Z)}{f(Z_s)\\,\varphi(0)},\quad
///   \varphi(Z) = 1 + a e^{b/\cos Z},\quad
///   f(\chi) = 1 + c\\,(e^{d\chi} - e^{d\pi/2}) + e\cos^2\chi$$
/// with $Z$ the zenith angle, $\chi$ the angle to the sun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CieSky {
    /// Gradation $a$ and $b$ from zenith to horizon.
    pub gradation: [f64; 2],
    /// Indicatrix $c$, $d$ and $e$ around the sun.
    pub indicatrix: [f64; 3],
}

impl CieSky {
    /// Type 12: clear, little haze.
    pub const CLEAR: Self = Self {
        gradation: [-1.0, -0.32],
        indicatrix: [10.0, -3.0, 0.45],
    };
    /// Type 1: overcast.
    pub const OVERCAST: Self = Self {
        gradation: [4.0, -0.7],
        indicatrix: [0.0, -1.0, 0.0],
    };

    fn relative(&self, cos_zenith: f64, to_sun: f64) -> f64 {
        let ([a, b], [c, d, e]) = (self.gradation, self.indicatrix);
        let gradation = 1.0 + a * (b / cos_zenith.max(1e-3)).exp();
        let indicatrix =
            1.0 + c * ((d * to_sun).exp() - (d * FRAC_PI_2).exp()) + e * to_sun.cos().powi(2);
        gradation * indicatrix
    }
}

/// Sky dome: a luminance distribution and the direction of the sun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkyDome {
    distribution: CieSky,
    to_sun: Vector3<f64>,
    /// Integral of relative radiance times cosine over the upper hemisphere.
    whole: f64,
}

/// Number of rings and sectors of the numerical integration over the sky.
const RINGS: u32 = 64;

impl SkyDome {
    /// Sky with the sun in the unit direction `to_sun` (z up).
    pub fn new(distribution: CieSky, to_sun: Vector3<f64>) -> Self {
        let mut dome = Self {
            distribution,
            to_sun,
            whole: 1.0,
        };
        let sectors = 2 * RINGS;
        let mut whole = 0.0;
        for ring in 0..RINGS {
            // Rings have equal cosine-weighted solid angle
            let sin2 = (f64::from(ring) + 0.5) / f64::from(RINGS);
            let sin = sin2.sqrt();
            let cos = (1.0 - sin2).sqrt();
            for sector in 0..sectors {
                let azimuth = TAU * (f64::from(sector) + 0.5) / f64::from(sectors);
                let direction = Vector3::new(sin * azimuth.cos(), sin * azimuth.sin(), cos);
                whole += dome.radiance(&direction);
            }
        }
        dome.whole = whole * PI / f64::from(RINGS * sectors);
        dome
    }

    /// The luminance distribution.
    pub fn distribution(&self) -> CieSky {
        self.distribution
    }

    /// Unit vector to the sun.
    pub fn to_sun(&self) -> Vector3<f64> {
        self.to_sun
    }

    /// Irradiance of a horizontal surface by the luminance distribution, by which the radiance is divided.
    pub fn whole(&self) -> f64 {
        self.whole
    }

    /// Radiance from a unit direction over the irradiance of the whole sky on level ground, 1/sr;
    /// zero below the horizon.
    ///
    /// ```
    /// use etendue_physics::light::{CieSky, SkyDome};
    /// use nalgebra::Vector3;
    /// let overcast = SkyDome::new(CieSky::OVERCAST, Vector3::z());
    /// let level = |z: f64| overcast.radiance(&Vector3::new((1.0 - z * z).sqrt(), 0.0, z));
    /// // Moon and Spencer: the zenith of an overcast sky is three times as bright as its horizon.
    /// assert!((level(1.0) / level(0.02) - 3.0).abs() < 0.1);
    /// ```
    pub fn radiance(&self, direction: &Vector3<f64>) -> f64 {
        if direction.z <= 0.0 {
            return 0.0;
        }
        let to_sun = direction.dot(&self.to_sun).clamp(-1.0, 1.0).acos();
        self.distribution.relative(direction.z, to_sun) / self.whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_over_the_sky_is_its_irradiance() {
        let sun = Vector3::new(0.6, 0.0, 0.8);
        let dome = SkyDome::new(CieSky::CLEAR, sun);
        let steps = 400;
        let mut sum = 0.0;
        for i in 0..steps {
            let cos = (f64::from(i) + 0.5) / f64::from(steps);
            let sin = (1.0 - cos * cos).sqrt();
            for j in 0..steps {
                let azimuth = TAU * (f64::from(j) + 0.5) / f64::from(steps);
                let direction = Vector3::new(sin * azimuth.cos(), sin * azimuth.sin(), cos);
                sum += dome.radiance(&direction) * cos * TAU / f64::from(steps * steps);
            }
        }
        assert!((sum - 1.0).abs() < 2e-3, "{sum}");
        assert!(dome.radiance(&sun) > 3.0 * dome.radiance(&Vector3::new(-0.6, 0.0, 0.8)));
    }
}

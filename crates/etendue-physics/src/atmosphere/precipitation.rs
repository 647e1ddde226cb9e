//! Size distributions of raindrops and snowflakes, and their extinction and backscatter.

use crate::Scalar;
use std::f64::consts::PI;

/// Precipitation with exponentially distributed diameters, $N(D) = N_0 e^{-\Lambda D}$.
///
/// Drops and flakes are large compared with the wavelength: each removes twice its cross-section
/// from the beam (van de Hulst 1957, section 8.22).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precipitation<S> {
    /// $N_0$, 1/m⁴.
    pub intercept: S,
    /// $\Lambda$, 1/m.
    pub slope: S,
    /// Cross-section over that of a sphere of the diameter $D$ (flakes are larger than the drops
    /// that they melt into).
    pub area_ratio: f64,
    /// Lidar ratio, sr.
    pub lidar_ratio: f64,
}

/// Extinction efficiency of a body that is large compared with the wavelength.
const EFFICIENCY: f64 = 2.0;

/// Refractive index of water at 0.9 µm (Hale, Querry 1973, doi:10.1364/AO.12.000555).
const WATER_INDEX: f64 = 1.328;

/// Lidar ratio of ice crystals, sr (Yorks et al. 2011, doi:10.1029/2010JD015274).
const ICE_LIDAR_RATIO: f64 = 25.0;

/// Lidar ratio of raindrops, sr, by geometric optics: the front of a sphere of radius $a$ reflects
/// $F_0 a^2/4$ per unit of solid angle straight back, the rear
/// $F_0(1-F_0)^2\left(\frac{n}{2-n}\right)^2 a^2/4$ (van de Hulst 1957, chapter 12; $F_0$ is the
/// Fresnel reflectance at normal incidence), of an extinction cross-section of $2\pi a^2$.
///
/// The glory of a perfect sphere, which would be tens of times as bright, is left out: of a drop of a
/// millimetre it is a cone of half a milliradian, narrower than the angle between emitter and
/// receiver, and drops that large are flat and swing. (Mie's theory for spheres of 0.3 to 1 mm at 905
/// nm, sizes averaged: 4 to 8 sr straight back, 84 to 134 sr at 10 to 20 mrad beside, 143 to 179 at
/// 30 mrad.)
const RAIN_LIDAR_RATIO: f64 = {
    let n = WATER_INDEX;
    let f0 = (n - 1.0) * (n - 1.0) / ((n + 1.0) * (n + 1.0));
    let rear = (1.0 - f0) * n / (2.0 - n);
    4.0 * PI * EFFICIENCY / (f0 * (1.0 + rear * rear))
};

impl<S: Scalar> Precipitation<S> {
    /// Rain falling at `rate` m/s: $N_0$ = 8000 /(m³ mm), $\Lambda = 4.1\\,R^{-0.21}$ /mm with $R$
    /// in mm/h (Marshall, Palmer 1948, eq. 1 and 3).
    pub fn rain(rate: S) -> Self {
        Self {
            intercept: S::from(8e6),
            slope: mm_per_hour(rate).powf(S::from(-0.21)) * 4.1e3,
            area_ratio: 1.0,
            lidar_ratio: RAIN_LIDAR_RATIO,
        }
    }

    /// Snow falling at `rate` m/s of water: $N_0 = 3800\\,R^{-0.87}$ /(m³ mm),
    /// $\Lambda = 2.55\\,R^{-0.48}$ /mm in melted diameters (Gunn, Marshall 1958), flakes of 100
    /// kg/m³: $10^{2/3}$ times the cross-section.
    pub fn snow(rate: S) -> Self {
        let rate = mm_per_hour(rate);
        Self {
            intercept: rate.powf(S::from(-0.87)) * 3.8e6,
            slope: rate.powf(S::from(-0.48)) * 2.55e3,
            area_ratio: 10.0_f64.powf(2.0 / 3.0),
            lidar_ratio: ICE_LIDAR_RATIO,
        }
    }

    /// Extinction coefficient of all drops or flakes, 1/m:
    /// $\alpha = \int Q\frac{\pi D^2}{4}N(D)\\,dD = Q\frac{\pi}{2}N_0/\Lambda^3$.
    pub fn extinction(&self) -> S {
        let cubed = self.slope * self.slope * self.slope;
        self.intercept / cubed * (0.5 * PI * EFFICIENCY * self.area_ratio)
    }
}

impl Precipitation<f64> {
    /// Number of drops per cubic metre that are larger than `diameter` (m).
    pub fn number_above(&self, diameter: f64) -> f64 {
        self.intercept / self.slope * (-self.slope * diameter).exp()
    }

    /// Fraction of the backscatter from drops larger than `diameter` (m): $e^{-x}(1 + x + x^2/2)$
    /// with $x = \Lambda D$.
    pub fn share_above(&self, diameter: f64) -> f64 {
        let x = self.slope * diameter;
        (-x).exp() * (1.0 + x + 0.5 * x * x)
    }

    /// Power returned by one drop in a beam of cross-section `area` (m²) at `range` (m), without
    /// extinction, 1/(m² sr).
    pub fn drop_power(&self, diameter: f64, area: f64, range: f64) -> f64 {
        let cross_section = 0.25 * PI * diameter * diameter * self.area_ratio;
        EFFICIENCY * cross_section / (self.lidar_ratio * area * range * range)
    }
}

fn mm_per_hour<S: Scalar>(rate: S) -> S {
    rate * 3.6e6
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 pi / (0.01986 (1 + 3.750)) = 266.5 sr.
    #[test]
    fn the_power_of_a_raindrop_is_reflected_by_its_front_and_rear_surfaces() {
        assert!((RAIN_LIDAR_RATIO - 266.5).abs() < 0.5, "{RAIN_LIDAR_RATIO}");
    }
}

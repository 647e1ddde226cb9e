//! Drops and flakes, one by one.

use super::weather::{ICE_LIDAR_RATIO, WATER_LIDAR_RATIO};
use crate::beam::BeamWidth;
use crate::pulse::{Return, poisson};
use crate::{Scalar, Stream};
use std::f64::consts::PI;

/// Drops or flakes of exponentially distributed diameters, $N(D) = N_0 e^{-\Lambda D}$.
///
/// They are large against the wavelength: each takes twice its cross-section out of the beam
/// (van de Hulst 1957, section 8.22).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precipitation<S> {
    /// $N_0$, 1/m⁴.
    pub intercept: S,
    /// $\Lambda$, 1/m.
    pub slope: S,
    /// Cross-section over that of a sphere of the diameter $D$ (flakes are larger than the
    /// drops they melt to).
    pub area_ratio: f64,
    /// Lidar ratio, sr.
    pub lidar_ratio: f64,
}

/// Extinction efficiency of a body large against the wavelength.
const EFFICIENCY: f64 = 2.0;

impl<S: Scalar> Precipitation<S> {
    /// Rain falling at `rate` m/s: $N_0$ = 8000 /(m³ mm), $\Lambda = 4.1\\,R^{-0.21}$ /mm with $R$
    /// in mm/h (Marshall, Palmer 1948, eq. 1 and 3).
    pub fn rain(rate: S) -> Self {
        Self {
            intercept: S::from(8e6),
            slope: mm_per_hour(rate).powf(S::from(-0.21)) * 4.1e3,
            area_ratio: 1.0,
            lidar_ratio: WATER_LIDAR_RATIO,
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

    /// Extinction of all of them, 1/m:
    /// $\alpha = \int Q\frac{\pi D^2}{4}N(D)\\,dD = Q\frac{\pi}{2}N_0/\Lambda^3$.
    pub fn extinction(&self) -> S {
        let cubed = self.slope * self.slope * self.slope;
        self.intercept / cubed * (0.5 * PI * EFFICIENCY * self.area_ratio)
    }
}

impl Precipitation<f64> {
    /// Number of drops larger than `diameter` (m) in a cubic metre.
    pub fn number_above(&self, diameter: f64) -> f64 {
        self.intercept / self.slope * (-self.slope * diameter).exp()
    }

    /// Share of the backscatter that comes from drops larger than `diameter` (m):
    /// $e^{-x}(1 + x + x^2/2)$ with $x = \Lambda D$.
    pub fn share_above(&self, diameter: f64) -> f64 {
        let x = self.slope * diameter;
        (-x).exp() * (1.0 + x + 0.5 * x * x)
    }

    /// Power sent back by one drop on the beam's cross-section of `area` (m²) at `range` (m),
    /// without extinction, 1/(m² sr).
    pub fn drop_power(&self, diameter: f64, area: f64, range: f64) -> f64 {
        let cross_section = 0.25 * PI * diameter * diameter * self.area_ratio;
        EFFICIENCY * cross_section / (self.lidar_ratio * area * range * range)
    }

    /// The echoes of the drops larger than `diameter` (m) that stand in the beam between two
    /// ranges (m), weakened by `extinction` (1/m): a Poisson number in each half metre.
    pub fn returns(
        &self,
        diameter: f64,
        beam: &BeamWidth,
        (near, far): (f64, f64),
        extinction: f64,
        stream: &mut Stream,
    ) -> Vec<Return> {
        const STEP: f64 = 0.5;
        let density = self.number_above(diameter);
        let mut returns = Vec::new();
        let mut from = near;
        while from < far {
            let length = STEP.min(far - from);
            let area = beam.area(from + 0.5 * length);
            let mut left = poisson(density * area * length, stream);
            while left > 0.0 {
                let range = from + length * stream.uniform();
                let size = diameter - (1.0 - stream.uniform()).ln() / self.slope;
                returns.push(Return {
                    range,
                    power: self.drop_power(size, area, range) * (-2.0 * extinction * range).exp(),
                });
                left -= 1.0;
            }
            from += length;
        }
        returns
    }
}

fn mm_per_hour<S: Scalar>(rate: S) -> S {
    rate * 3.6e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;
    use crate::beam::{BeamShape, Divergence, DivergenceAt};

    fn beam() -> BeamWidth {
        let round = |width| Divergence {
            horizontal: width,
            vertical: width,
            at: DivergenceAt::InverseESquared,
        };
        BeamWidth {
            shape: BeamShape::Gaussian,
            divergence: round(3e-3),
            exit: round(1e-2),
        }
    }

    /// 4,000 beams of 30 m in 20 mm/h: the mean of the drops' echoes within 4.5 standard errors
    /// of the share of $\int\beta/r^2\,dr$ that they stand for.
    #[test]
    fn drops_return_on_average_what_the_backscatter_coefficient_says() {
        let rain = Precipitation::rain(20e-3 / 3600.0);
        let (near, far, smallest) = (5.0, 35.0, 0.7e-3);
        let sums: Vec<f64> = (0..4000)
            .map(|beam_number| {
                let mut stream = Stream::new(2, 0, 0, beam_number, Purpose::Precipitation);
                let drops = rain.returns(smallest, &beam(), (near, far), 0.0, &mut stream);
                drops.iter().map(|r| r.power).sum()
            })
            .collect();
        let mean = sums.iter().sum::<f64>() / 4000.0;
        let variance = sums.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 4000.0;
        let backscatter = rain.extinction() / rain.lidar_ratio * rain.share_above(smallest);
        let expected = backscatter * (1.0 / near - 1.0 / far);
        assert!(
            (mean - expected).abs() < 4.5 * (variance / 4000.0).sqrt(),
            "{mean} {expected}"
        );
    }

    #[test]
    fn the_same_stream_gives_the_same_drops() {
        let rain = Precipitation::rain(50e-3 / 3600.0);
        let drops = |beam_number| {
            let mut stream = Stream::new(2, 0, 0, beam_number, Purpose::Precipitation);
            rain.returns(1e-3, &beam(), (1.0, 50.0), 1e-3, &mut stream)
        };
        assert!(!drops(4).is_empty());
        assert_eq!(drops(4), drops(4));
        assert_ne!(drops(4), drops(5));
    }
}

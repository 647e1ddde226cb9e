//! Kinds of weather and the models of their extinction.

use super::{Coefficients, Precipitation};
use crate::Scalar;
use std::fmt::{Display, Formatter, Result};

/// Lidar ratio of the droplets of fog, sr (O'Connor, Illingworth, Hogan 2004, 18.8 sr,
/// doi:10.1175/1520-0426(2004)021<0777:ATFAOC>2.0.CO;2).
const DROPLET_LIDAR_RATIO: f64 = 18.8;
/// Lidar ratio of haze in clear continental air, sr (Müller et al. 2007, table 3,
/// doi:10.1029/2006JD008292).
const HAZE_LIDAR_RATIO: f64 = 53.0;
/// Lidar ratio of desert dust, sr (Müller et al. 2007, doi:10.1029/2006JD008292).
const DUST_LIDAR_RATIO: f64 = 55.0;
/// Extinction of airborne dust per mass, m²/g, at visible and near infrared wavelengths
/// (Tegen, Lacis 1996, fine silt, doi:10.1029/95JD03610).
const DUST_EXTINCTION_PER_GRAM: f64 = 0.7;

/// One millimetre per hour, the usual unit of rain and snow rates, m/s.
pub const MM_PER_HOUR: f64 = 1e-3 / 3600.0;

/// One kind of weather.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Weather<S> {
    /// Haze of clear air with the visibility $V$ in m (2 % contrast at 550 nm):
    /// $\alpha = \frac{3.912}{V}\left(\frac{\lambda}{550\\,\mathrm{nm}}\right)^{-q(V)}$, $q$ after
    /// Kim, McArthur, Korevaar 2001 (doi:10.1117/12.417512).
    Haze {
        /// Visibility, m.
        visibility: S,
    },
    /// Fog with the visibility $V$ in m: droplets are larger than the wavelength, so $\alpha =
    /// 3.912/V$ at every wavelength (Kim et al. 2001, $q = 0$; Rasshofer et al. 2011,
    /// doi:10.5194/ars-9-49-2011).
    Fog {
        /// Visibility, m.
        visibility: S,
    },
    /// Rain, by the drop sizes of Marshall and Palmer 1948
    /// (doi:10.1175/1520-0469(1948)005<0165:TDORWS>2.0.CO;2) and geometric optics.
    Rain {
        /// Rainfall rate, m/s of water (1 mm/h is 2.778e-7).
        rate: S,
    },
    /// Snow, by the sizes of Gunn and Marshall 1958
    /// (doi:10.1175/1520-0469(1958)015<0452:TDWSOA>2.0.CO;2) in melted diameters, flakes of a
    /// tenth of water's density.
    Snow {
        /// Snowfall rate, m/s of melted water.
        rate: S,
    },
    /// Dust of a mass concentration, g/m³: 0.7 m²/g of extinction.
    Dust {
        /// Concentration, g/m³.
        concentration: S,
    },
}

/// Formats the kind of weather and its amount in common units.
///
/// ```
/// use etendue_physics::atmosphere::{MM_PER_HOUR, Weather};
/// assert_eq!(Weather::Fog { visibility: 80.0 }.to_string(), "fog of 80 m visibility");
/// assert_eq!(Weather::Rain { rate: 7.3 * MM_PER_HOUR }.to_string(), "rain of 7.3 mm/h");
/// ```
impl Display for Weather<f64> {
    fn fmt(&self, out: &mut Formatter) -> Result {
        // Remove the digits introduced by rounding in the unit
        let in_unit = |amount: f64, unit: f64| (amount / unit * 1e6).round() / 1e6;
        match *self {
            Self::Haze { visibility } => write!(out, "haze of {visibility} m visibility"),
            Self::Fog { visibility } => write!(out, "fog of {visibility} m visibility"),
            Self::Rain { rate } => write!(out, "rain of {} mm/h", in_unit(rate, MM_PER_HOUR)),
            Self::Snow { rate } => write!(out, "snow of {} mm/h", in_unit(rate, MM_PER_HOUR)),
            Self::Dust { concentration } => write!(out, "dust of {concentration} g/m³"),
        }
    }
}

impl<S: Copy> Weather<S> {
    /// Amount of the weather (visibility, rate or concentration), in its own unit.
    pub fn amount(&self) -> S {
        match *self {
            Self::Haze { visibility } | Self::Fog { visibility } => visibility,
            Self::Rain { rate } | Self::Snow { rate } => rate,
            Self::Dust { concentration } => concentration,
        }
    }

    /// The same kind of weather with another amount.
    ///
    /// ```
    /// use etendue_physics::atmosphere::Weather;
    /// let fog = Weather::Fog { visibility: 50.0 };
    /// assert_eq!(fog.with_amount(80.0), Weather::Fog { visibility: 80.0 });
    /// assert_eq!(fog.amount(), 50.0);
    /// ```
    #[must_use]
    pub fn with_amount<T>(&self, amount: T) -> Weather<T> {
        match self {
            Self::Haze { .. } => Weather::Haze { visibility: amount },
            Self::Fog { .. } => Weather::Fog { visibility: amount },
            Self::Rain { .. } => Weather::Rain { rate: amount },
            Self::Snow { .. } => Weather::Snow { rate: amount },
            Self::Dust { .. } => Weather::Dust {
                concentration: amount,
            },
        }
    }
}

impl<S: Scalar> Weather<S> {
    /// Extinction and backscatter coefficients at a wavelength (m).
    ///
    /// ```
    /// use etendue_physics::atmosphere::Weather;
    /// let fog = Weather::Fog { visibility: 50.0 }.coefficients(905e-9);
    /// assert!((fog.extinction - 0.07824).abs() < 1e-12);
    /// ```
    pub fn coefficients(&self, wavelength: f64) -> Coefficients<S> {
        let of = |drops: &Precipitation<S>| (drops.extinction(), drops.lidar_ratio);
        let (extinction, lidar_ratio) = match *self {
            Self::Haze { visibility } => (haze(visibility, wavelength), HAZE_LIDAR_RATIO),
            Self::Fog { visibility } => (koschmieder(visibility), DROPLET_LIDAR_RATIO),
            Self::Rain { rate } => of(&Precipitation::rain(rate)),
            Self::Snow { rate } => of(&Precipitation::snow(rate)),
            Self::Dust { concentration } => {
                (concentration * DUST_EXTINCTION_PER_GRAM, DUST_LIDAR_RATIO)
            }
        };
        Coefficients::from_lidar_ratio(extinction, lidar_ratio)
    }

    /// Size distribution of the drops or flakes, if they are large enough to be drawn individually.
    pub fn precipitation(&self) -> Option<Precipitation<S>> {
        match *self {
            Self::Rain { rate } => Some(Precipitation::rain(rate)),
            Self::Snow { rate } => Some(Precipitation::snow(rate)),
            _ => None,
        }
    }
}

/// Extinction at 2 % contrast: $\ln 50 / V$, in the usual rounding of 3.912.
fn koschmieder<S: Scalar>(visibility: S) -> S {
    visibility.recip() * 3.912
}

/// Extinction of haze, 1/m: Koschmieder's law at 550 nm, scaled to the wavelength by Kim's
/// exponent.
fn haze<S: Scalar>(visibility: S, wavelength: f64) -> S {
    let km = visibility * 1e-3;
    let q = match km.value() {
        v if v > 50.0 => S::from(1.6),
        v if v > 6.0 => S::from(1.3),
        v if v > 1.0 => km * 0.16 + 0.34,
        v if v > 0.5 => km - 0.5,
        _ => S::zero(),
    };
    koschmieder(visibility) * (-(q * (wavelength / 550e-9).ln())).exp()
}

/// Atmosphere: the sum of several kinds of weather; an empty list is vacuum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Atmosphere<S> {
    /// Kinds of weather; their extinctions and backscatters add up.
    pub weather: Vec<Weather<S>>,
}

impl<S: Scalar> Atmosphere<S> {
    /// Total extinction and backscatter coefficients at a wavelength (m).
    pub fn coefficients(&self, wavelength: f64) -> Coefficients<S> {
        self.weather
            .iter()
            .fold(Coefficients::vacuum(), |sum, one| {
                sum.plus(one.coefficients(wavelength))
            })
    }

    /// Size distributions of all drops and flakes that are drawn individually.
    pub fn precipitation(&self) -> impl Iterator<Item = Precipitation<S>> {
        self.weather.iter().filter_map(Weather::precipitation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dual, DualParts};

    #[test]
    fn extinction_in_fog_is_that_of_its_visibility_at_every_wavelength() {
        for wavelength in [785e-9, 905e-9, 1550e-9] {
            let fog = Weather::Fog { visibility: 200.0 }.coefficients(wavelength);
            assert_eq!(fog.extinction, 3.912 / 200.0);
        }
    }

    #[test]
    fn haze_attenuates_infrared_less_than_visible_light_and_dense_haze_is_fog() {
        let haze = |visibility, wavelength| Weather::Haze { visibility }.coefficients(wavelength);
        assert!(haze(2e4, 1550e-9).extinction < 0.5 * haze(2e4, 785e-9).extinction);
        assert!((haze(2e4, 550e-9).extinction * 2e4 - 3.912).abs() < 1e-12);
        assert!((haze(400.0, 1550e-9).extinction * 400.0 - 3.912).abs() < 1e-12);
    }

    /// 10 mm/h of rain is about 5 dB/km of optical loss (Carbonneau, Wisely 1998,
    /// doi:10.1117/12.337035: 1.076 R^0.67 = 5.0); drops counted geometrically give 6.8.
    #[test]
    fn the_extinction_of_rain_matches_measurements_within_a_factor_of_1_5() {
        for rate in [2.0, 10.0, 50.0_f64] {
            let rain = Weather::Rain {
                rate: rate * MM_PER_HOUR,
            }
            .coefficients(905e-9);
            let db_per_km = rain.extinction * 1e3 * 10.0 * std::f64::consts::LOG10_E;
            let measured = 1.076 * rate.powf(0.67);
            assert!(
                (0.67..1.5).contains(&(db_per_km / measured)),
                "{rate}: {db_per_km}"
            );
        }
    }

    #[test]
    fn derivatives_of_the_extinction_equal_central_differences() {
        type Kind = fn(Dual<1>) -> Weather<Dual<1>>;
        let kinds: [(Kind, f64); 5] = [
            (|visibility| Weather::Haze { visibility }, 3000.0),
            (|visibility| Weather::Fog { visibility }, 60.0),
            (|rate| Weather::Rain { rate }, 5.0 * MM_PER_HOUR),
            (|rate| Weather::Snow { rate }, 2.0 * MM_PER_HOUR),
            (|concentration| Weather::Dust { concentration }, 0.02),
        ];
        for (kind, at) in kinds {
            let extinction = |x: Dual<1>| kind(x).coefficients(905e-9).extinction;
            let gradient = extinction(Dual::variable(at, 0)).gradient()[0];
            let h = 1e-4 * at;
            let value = |x: f64| extinction(Dual::from(x)).value();
            let difference = (value(at + h) - value(at - h)) / (2.0 * h);
            assert!((gradient / difference - 1.0).abs() < 1e-6);
        }
    }
}

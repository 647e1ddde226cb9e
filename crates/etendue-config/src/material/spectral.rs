//! Values that may depend on wavelength.

use etendue_physics::Spectrum;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A number, or a table over wavelength.
///
/// ```toml
/// reflectance = 0.8
/// reflectance = { wavelength_nm = [785, 905, 1550], value = [0.80, 0.82, 0.74] }
/// ior = { wavelength_nm = [300, 2500], sellmeier_b = [1.04, 0.23, 1.01], sellmeier_c_um2 = [0.006, 0.020, 103.6] }
/// ior = { wavelength_nm = [310, 4600], cauchy_coefficient = [1.513, 0.003962], cauchy_power = [0, -2] }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Spectral {
    /// A constant.
    Number(f64),
    /// A table or a fit of a refractive index.
    Fit(Fit),
}

/// A table or a fit of a refractive index, with exactly one of `value`, the two `sellmeier_` keys
/// or the two `cauchy_` keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// Wavelengths of the values, ascending; for a fit, the first and the last wavelength of its
    /// domain.
    #[schemars(inner(range(min = 1.0)))]
    pub wavelength_nm: Vec<f64>,
    /// One value per wavelength, interpolated linearly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Vec<f64>>,
    /// Coefficients B of n^2 = 1 + sum B lambda^2 / (lambda^2 - C).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sellmeier_b: Option<Vec<f64>>,
    /// Coefficients C, square micrometres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sellmeier_c_um2: Option<Vec<f64>>,
    /// Coefficients c of n = sum c lambda^p, lambda in micrometres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cauchy_coefficient: Option<Vec<f64>>,
    /// Exponents p.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cauchy_power: Option<Vec<i32>>,
}

impl<'de> Deserialize<'de> for Spectral {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrTable)
    }
}

struct NumberOrTable;

impl<'de> Visitor<'de> for NumberOrTable {
    type Value = Spectral;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(
            "a number, or a table such as { wavelength_nm = [785, 905], value = [0.8, 0.9] }",
        )
    }

    fn visit_f64<E>(self, value: f64) -> Result<Spectral, E> {
        Ok(Spectral::Number(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Spectral, E> {
        Ok(Spectral::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Spectral, E> {
        Ok(Spectral::Number(value as f64))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Spectral, A::Error> {
        Fit::deserialize(MapAccessDeserializer::new(map)).map(Spectral::Fit)
    }
}

impl From<f64> for Spectral {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl Spectral {
    /// Converts to a spectrum.
    ///
    /// # Errors
    /// If the table or fit is impossible; the message describes the problem and the remedy.
    pub fn spectrum(&self) -> Result<Spectrum, String> {
        match self {
            Self::Number(value) => Ok(Spectrum::Constant(*value)),
            Self::Fit(fit) => fit.spectrum(),
        }
    }
}

impl Fit {
    fn spectrum(&self) -> Result<Spectrum, String> {
        self.check_wavelengths()?;
        // Exactly one form is allowed
        let forms = (
            &self.value,
            (&self.sellmeier_b, &self.sellmeier_c_um2),
            (&self.cauchy_coefficient, &self.cauchy_power),
        );
        match forms {
            (Some(values), (None, None), (None, None)) => self.table(values),
            (None, (Some(b), Some(c)), (None, None)) => Ok(Spectrum::Sellmeier {
                terms: pairs("sellmeier_b", b, "sellmeier_c_um2", c, |c| c * 1e-12)?,
                range: self.range()?,
            }),
            (None, (None, None), (Some(coefficients), Some(powers))) => Ok(Spectrum::Powers {
                terms: pairs(
                    "cauchy_coefficient",
                    coefficients,
                    "cauchy_power",
                    powers,
                    |p| *p,
                )?,
                range: self.range()?,
            }),
            _ => Err("give either value, or sellmeier_b and sellmeier_c_um2, \
                      or cauchy_coefficient and cauchy_power"
                .to_owned()),
        }
    }

    fn check_wavelengths(&self) -> Result<(), String> {
        let nm = &self.wavelength_nm;
        if nm.is_empty() {
            return Err("wavelength_nm is empty; give at least one wavelength".to_owned());
        }
        if let Some(bad) = nm.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
            return Err(format!(
                "wavelength_nm holds {bad}; give nanometres above 0"
            ));
        }
        match nm.windows(2).find(|pair| pair[0] >= pair[1]) {
            Some(pair) => Err(format!(
                "wavelength_nm goes from {} to {}; sort the table by wavelength",
                pair[0], pair[1]
            )),
            None => Ok(()),
        }
    }

    fn table(&self, values: &[f64]) -> Result<Spectrum, String> {
        if let Some(bad) = values.iter().find(|value| !value.is_finite()) {
            return Err(format!("value holds {bad}; give finite numbers"));
        }
        let points = pairs("wavelength_nm", &self.wavelength_nm, "value", values, |v| {
            *v
        })?;
        Ok(Spectrum::Table(
            points.into_iter().map(|(nm, v)| (nm * 1e-9, v)).collect(),
        ))
    }

    fn range(&self) -> Result<(f64, f64), String> {
        match self.wavelength_nm[..] {
            [first, last] => Ok((first * 1e-9, last * 1e-9)),
            _ => Err(format!(
                "wavelength_nm has {} entries; a fit needs two, the first and the last of its domain",
                self.wavelength_nm.len()
            )),
        }
    }
}

fn pairs<T, U>(
    first: &str,
    left: &[f64],
    second: &str,
    right: &[T],
    convert: impl Fn(&T) -> U,
) -> Result<Vec<(f64, U)>, String> {
    if left.len() != right.len() || left.is_empty() {
        return Err(format!(
            "{first} has {} entries, {second} has {}; give lists of equal length, with one entry at least",
            left.len(),
            right.len()
        ));
    }
    Ok(left
        .iter()
        .copied()
        .zip(right.iter().map(convert))
        .collect())
}

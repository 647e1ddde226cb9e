//! Validation of materials: domains of parameters, tables, conservation of energy.

use super::interaction::Side;
use super::lobe::Lobe;
use super::material::Material;
use super::model::Classify;
use super::parameter::{Domain, LobeParameter};
use thiserror::Error;

/// A violation of a physical constraint by a material.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MaterialError {
    /// A parameter is outside its domain.
    #[error("{parameter} is {value}, but must be between {least} and {most}: {remedy}")]
    OutOfRange {
        /// The parameter.
        parameter: LobeParameter,
        /// Its value.
        value: f64,
        /// Least value allowed.
        least: f64,
        /// Greatest value allowed.
        most: f64,
        /// A hint for a valid value.
        remedy: &'static str,
    },
    /// A measured table is empty or not in order.
    #[error(
        "lobe {lobe} (measured): incidences must increase from 0 to 90 degrees, with at least one point"
    )]
    Table {
        /// Index of the lobe.
        lobe: usize,
    },
    /// Two lobes transmit light.
    #[error(
        "lobes {first} ({first_kind}) and {second} ({second_kind}) both transmit, but a surface can have only one transmitting lobe; remove one of them"
    )]
    TwoPassages {
        /// Index of the first.
        first: usize,
        /// Its kind.
        first_kind: &'static str,
        /// Index of the second.
        second: usize,
        /// Its kind.
        second_kind: &'static str,
    },
    /// The albedo exceeds one.
    #[error(
        "at {incidence_deg:.1} degrees of incidence (from the {side}) the albedo is {albedo:.3}, most of it ({share:.3}) from lobe {lobe} ({kind}); reduce its reflectance, or give each lobe a weight so that the weights add up to 1"
    )]
    CreatesLight {
        /// Angle of incidence, degrees.
        incidence_deg: f64,
        /// `front` or `back`.
        side: &'static str,
        /// Reflected and transmitted fraction.
        albedo: f64,
        /// The lobe with the largest albedo.
        lobe: usize,
        /// Its kind.
        kind: &'static str,
        /// Its albedo.
        share: f64,
    },
}

/// Tolerance of the sampled albedo above 1.
const ALBEDO_TOLERANCE: f64 = 3e-3;
const ALBEDO_SAMPLES: u32 = 1024;
const INCIDENCES_DEG: [f64; 14] = [
    0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 65.0, 70.0, 75.0, 80.0, 85.0, 88.0, 89.9,
];

impl Material<f64> {
    /// Checks the material: parameters within their domains, ordered tables, at most one lobe that
    /// transmits, an albedo of at most 1 at every incidence.
    ///
    /// # Errors
    /// The first violation, with the lobe, the parameter and a remedy.
    ///
    /// ```
    /// use etendue_physics::surface::{Lobe, Material};
    /// let paint = Material { lobes: vec![Lobe::lambert(1.2)] };
    /// assert_eq!(
    ///     paint.validate().unwrap_err().to_string(),
    ///     "lobe 0 (lambert), reflectance is 1.2, but must be between 0 and 1: \
    ///      it is the reflected fraction of the light",
    /// );
    /// ```
    pub fn validate(&self) -> Result<(), MaterialError> {
        self.try_map_domains(|parameter, domain, value| check(parameter, domain, *value))?;
        self.check_tables()?;
        self.check_passages()?;
        for side in [Side::Front, Side::Back] {
            if side == Side::Front || self.lobes.iter().any(Lobe::transmits) {
                self.check_energy(side)?;
            }
        }
        Ok(())
    }

    fn check_tables(&self) -> Result<(), MaterialError> {
        match self.lobes.iter().position(|lobe| !lobe.has_valid_tables()) {
            Some(lobe) => Err(MaterialError::Table { lobe }),
            None => Ok(()),
        }
    }

    fn check_passages(&self) -> Result<(), MaterialError> {
        let mut passing = self.lobes.iter().enumerate().filter(|l| l.1.transmits());
        match (passing.next(), passing.next()) {
            (Some((first, one)), Some((second, other))) => Err(MaterialError::TwoPassages {
                first,
                first_kind: one.kind(),
                second,
                second_kind: other.kind(),
            }),
            _ => Ok(()),
        }
    }

    fn check_energy(&self, side: Side) -> Result<(), MaterialError> {
        for incidence_deg in INCIDENCES_DEG {
            let cos = incidence_deg.to_radians().cos();
            let albedo = self.albedo_from(cos, side, ALBEDO_SAMPLES).total();
            if albedo.is_nan() || albedo > 1.0 + ALBEDO_TOLERANCE {
                return Err(self.creates_light(incidence_deg, side, albedo));
            }
        }
        Ok(())
    }

    fn creates_light(&self, incidence_deg: f64, side: Side, albedo: f64) -> MaterialError {
        let cos = incidence_deg.to_radians().cos();
        let share = |lobe: &Lobe<f64>| {
            let single = Material {
                lobes: vec![lobe.clone()],
            };
            single.albedo_from(cos, side, ALBEDO_SAMPLES).total()
        };
        let shares: Vec<f64> = self.lobes.iter().map(share).collect();
        let lobe = (0..shares.len())
            .max_by(|&a, &b| shares[a].total_cmp(&shares[b]))
            .expect("a material without lobes returns no light");
        MaterialError::CreatesLight {
            incidence_deg,
            side: match side {
                Side::Front => "front",
                Side::Back => "back",
            },
            albedo,
            lobe,
            kind: self.lobes[lobe].kind(),
            share: shares[lobe],
        }
    }
}

/// Rejects a value outside the domain of its parameter.
fn check(parameter: LobeParameter, domain: &Domain, value: f64) -> Result<(), MaterialError> {
    if (domain.least..=domain.most).contains(&value) {
        return Ok(());
    }
    Err(MaterialError::OutOfRange {
        parameter,
        value,
        least: domain.least,
        most: domain.most,
        remedy: domain.remedy,
    })
}

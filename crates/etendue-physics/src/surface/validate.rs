//! What makes a material impossible.

use super::{Lobe, Material, Parameter, Side};
use thiserror::Error;

/// Why a material cannot exist.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MaterialError {
    /// A parameter is not a number that it may be.
    #[error("{parameter} is {value}, but has to lie in {least} to {most}: {remedy}")]
    OutOfRange {
        /// Which parameter.
        parameter: Parameter,
        /// Its value.
        value: f64,
        /// Least value allowed.
        least: f64,
        /// Greatest value allowed.
        most: f64,
        /// What to do.
        remedy: &'static str,
    },
    /// A measured table is not one.
    #[error(
        "lobe {lobe} (measured): incidences have to ascend from 0 towards 90 degrees, one point at least"
    )]
    Table {
        /// Number of the lobe.
        lobe: usize,
    },
    /// Two lobes let light pass, each its own way.
    #[error(
        "lobes {first} ({first_kind}) and {second} ({second_kind}) both transmit, a surface can have one; remove one of them"
    )]
    TwoPassages {
        /// Number of the first.
        first: usize,
        /// Its kind.
        first_kind: &'static str,
        /// Number of the second.
        second: usize,
        /// Its kind.
        second_kind: &'static str,
    },
    /// More light leaves than arrives.
    #[error(
        "at {incidence_deg:.1} degrees of incidence (from the {side}) {albedo:.3} of the light is returned, most of it ({share:.3}) by lobe {lobe} ({kind}); lower its reflectance, or give each lobe a weight so that the weights add up to 1"
    )]
    CreatesLight {
        /// Angle of incidence, degrees.
        incidence_deg: f64,
        /// `front` or `back`.
        side: &'static str,
        /// Reflected and transmitted fraction.
        albedo: f64,
        /// The lobe that returns most.
        lobe: usize,
        /// Its kind.
        kind: &'static str,
        /// What that lobe returns.
        share: f64,
    },
}

/// What an albedo from the samples below may exceed one by without being noticed.
const ALBEDO_TOLERANCE: f64 = 3e-3;
const ALBEDO_SAMPLES: u32 = 1024;
const INCIDENCES_DEG: [f64; 14] = [
    0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 65.0, 70.0, 75.0, 80.0, 85.0, 88.0, 89.9,
];

impl Material<f64> {
    /// Refuses a material that nature refuses: parameters out of range, or more light out than in
    /// at any incidence.
    ///
    /// # Errors
    /// The first thing found, with the lobe, the parameter and the remedy.
    ///
    /// ```
    /// use etendue_physics::surface::{Lobe, Material};
    /// let paint = Material { lobes: vec![Lobe::Lambert { reflectance: 1.2 }] };
    /// assert_eq!(
    ///     paint.validate().unwrap_err().to_string(),
    ///     "lobe 0 (lambert), reflectance is 1.2, but has to lie in 0 to 1: \
    ///      it is the share of the light that returns",
    /// );
    /// ```
    pub fn validate(&self) -> Result<(), MaterialError> {
        self.try_map(|parameter, value| check(parameter, *value))?;
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
        match self.lobes.iter().position(|lobe| !lobe.is_ordered()) {
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
            let alone = Material {
                lobes: vec![lobe.clone()],
            };
            alone.albedo_from(cos, side, ALBEDO_SAMPLES).total()
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

impl<T> Lobe<T> {
    fn is_ordered(&self) -> bool {
        match self {
            Self::Measured(table) => table.is_ordered(),
            Self::Part { lobe, .. } => lobe.is_ordered(),
            _ => true,
        }
    }
}

/// Refuses a value that its parameter cannot have.
fn check(parameter: Parameter, value: f64) -> Result<(), MaterialError> {
    let (least, most, remedy) = range(parameter);
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(MaterialError::OutOfRange {
        parameter,
        value,
        least,
        most,
        remedy,
    })
}

fn range(parameter: Parameter) -> (f64, f64, &'static str) {
    match parameter.name {
        "reflectance" | "at_normal" => (0.0, 1.0, "it is the share of the light that returns"),
        "weight" => (0.0, 1.0, "it is a share of the area"),
        "index" if matches!(parameter.kind, "coated" | "rough-dielectric") => {
            (1.05, 10.0, "a coat or a facet of air is none")
        }
        "index" | "group_index" => (
            1.0,
            10.0,
            "it is relative to air; for a hollow in glass turn the mesh inside out",
        ),
        "n" => (1e-3, 100.0, "it is the real part of a metal's index"),
        "k" => (
            1e-3,
            100.0,
            "it is a metal's extinction coefficient; a clear medium is glass, not a conductor",
        ),
        "roughness" => (
            0.01,
            1.0,
            "below that a surface is a mirror: leave the roughness out",
        ),
        "slope_sd" => (0.0, 1.5, "it is the facets' slope, rad"),
        "absorption" => (0.0, 1e9, "light does not grow on its way, 1/m"),
        "thickness" => (1e-6, 10.0, "it is the sheet's thickness, m"),
        "width" => (1e-5, 1.0, "it is the retro-reflected lobe's width, rad"),
        "half_entrance" => (
            0.01,
            1.55,
            "it is the entrance angle where half is left, rad",
        ),
        _ => (f64::MIN, f64::MAX, "it has to be a finite number"),
    }
}

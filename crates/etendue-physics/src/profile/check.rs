//! Validation of profiles.

use super::noise_profile::Profile;
use std::f64::consts::FRAC_PI_2;
use thiserror::Error;

/// A reason why a profile is invalid.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum InvalidProfile {
    /// Fewer than two knots.
    #[error("the profile has {0} knots, it needs two at least")]
    TooFewKnots(usize),
    /// The incidences do not ascend.
    #[error("the incidences of knots must ascend within [0, 90) degrees; knot {0} does not")]
    Incidence(usize),
    /// A value is outside its domain.
    #[error("knot {knot}: {name} is {value}, it must be {domain}")]
    Value {
        /// Index of the knot.
        knot: usize,
        /// The quantity.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Its domain.
        domain: &'static str,
    },
    /// The incidences of a glare do not ascend.
    #[error(
        "the incidences (incidence_deg) of a glare must ascend within (-90, 90) degrees, two at least; knot {0} does not"
    )]
    GlareIncidence(usize),
    /// A value of the whole profile is outside its domain.
    #[error("{name} is {value}, it must be {domain}")]
    Outside {
        /// The quantity.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Its domain.
        domain: &'static str,
    },
}

impl Profile {
    /// Checks the domains of all values of the profile.
    ///
    /// # Errors
    /// The first invalid value.
    pub fn check(&self) -> Result<(), InvalidProfile> {
        // Number of knots, distance, correlation.
        if self.knots.len() < 2 {
            return Err(InvalidProfile::TooFewKnots(self.knots.len()));
        }
        let outside = |name, value, domain| {
            Err(InvalidProfile::Outside {
                name,
                value,
                domain,
            })
        };
        if !(self.distance > 0.0 && self.distance.is_finite()) {
            return outside("distance", self.distance, "above zero");
        }
        for share in [
            self.correlation.fixed_pattern(),
            self.correlation.fixed_pattern_drop(),
        ] {
            if !(0.0..=1.0).contains(&share) {
                return outside("fixed-pattern share", share, "from 0 to 1");
            }
        }
        // Tables.
        self.check_glare()?;
        self.check_knots()
    }

    /// Checks the knots and the centre of the glare.
    fn check_glare(&self) -> Result<(), InvalidProfile> {
        let Some(glare) = &self.glare else {
            return Ok(());
        };
        // Incidences ascend.
        if glare.knots.len() < 2 {
            return Err(InvalidProfile::GlareIncidence(glare.knots.len()));
        }
        let mut before = -FRAC_PI_2;
        for (number, knot) in glare.knots.iter().enumerate() {
            if !(knot.incidence > before && knot.incidence < FRAC_PI_2) {
                return Err(InvalidProfile::GlareIncidence(number));
            }
            before = knot.incidence;
            // Values are in their domains.
            let positive = |value: f64| value > 0.0 && value.is_finite();
            for (name, value, fits, domain) in [
                ("glare's bias", knot.bias, knot.bias.is_finite(), "finite"),
                (
                    "glare's spread ratio",
                    knot.spread_ratio,
                    positive(knot.spread_ratio),
                    "above zero",
                ),
                (
                    "glare's drop-out",
                    knot.drop_out,
                    (0.0..=1.0).contains(&knot.drop_out),
                    "from 0 to 1",
                ),
                (
                    "glare's intensity",
                    knot.intensity,
                    knot.intensity.is_finite(),
                    "finite",
                ),
            ] {
                if !fits {
                    return Err(InvalidProfile::Value {
                        knot: number,
                        name,
                        value,
                        domain,
                    });
                }
            }
        }
        // The centre is finite.
        if !glare.centre.is_finite() {
            return Err(InvalidProfile::Outside {
                name: "the glare's centre",
                value: glare.centre,
                domain: "finite",
            });
        }
        Ok(())
    }

    /// Checks the knots.
    fn check_knots(&self) -> Result<(), InvalidProfile> {
        let mut before = -1.0;
        for (number, knot) in self.knots.iter().enumerate() {
            // Incidences ascend.
            if !(knot.incidence > before && knot.incidence >= 0.0 && knot.incidence < FRAC_PI_2) {
                return Err(InvalidProfile::Incidence(number));
            }
            before = knot.incidence;
            // Values are in their domains.
            for (name, value, fits, domain) in [
                ("bias", knot.bias, knot.bias.is_finite(), "finite"),
                ("spread", knot.spread, knot.spread >= 0.0, "0 or more"),
                (
                    "drop-out",
                    knot.drop_out,
                    (0.0..=1.0).contains(&knot.drop_out),
                    "from 0 to 1",
                ),
                (
                    "intensity spread",
                    knot.intensity_spread,
                    knot.intensity_spread >= 0.0,
                    "0 or more",
                ),
            ] {
                if !fits {
                    return Err(InvalidProfile::Value {
                        knot: number,
                        name,
                        value,
                        domain,
                    });
                }
            }
        }
        Ok(())
    }
}

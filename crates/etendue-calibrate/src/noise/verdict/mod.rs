//! Whether a calibration can be trusted: good, doubtful or refused, with reasons.

mod declared;
mod drop_out;
mod flatness;
mod held_out;
mod judge;
mod objects;
mod span;
mod stability;
mod steps;

pub use judge::judge;

/// Grade of a check, and of a calibration: that of its worst check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// The data support the profile.
    #[default]
    Good,
    /// The data leave a doubt that a person can judge.
    Doubtful,
    /// The data contradict the profile.
    Refused,
}

impl Grade {
    /// Name in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Doubtful => "doubtful",
            Self::Refused => "refused",
        }
    }
}

/// A check of a calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Name of the quantity.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// Values above which the calibration is doubtful, and refused.
    pub limits: [f64; 2],
    /// The finding, with its unit.
    pub finding: String,
}

impl Check {
    /// Grade of the value.
    pub fn grade(&self) -> Grade {
        if self.value > self.limits[1] {
            Grade::Refused
        } else if self.value > self.limits[0] || self.value.is_nan() {
            Grade::Doubtful
        } else {
            Grade::Good
        }
    }
}

/// Verdict on a calibration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// All checks.
    pub checks: Vec<Check>,
}

impl Verdict {
    /// The worst grade of the checks.
    pub fn grade(&self) -> Grade {
        self.checks
            .iter()
            .map(Check::grade)
            .max()
            .unwrap_or_default()
    }

    /// Findings of the checks that are not good, the worst first.
    pub fn reasons(&self) -> Vec<&str> {
        let graded = |grade: Grade| {
            self.checks
                .iter()
                .filter(move |check| check.grade() == grade)
        };
        let worst = graded(Grade::Refused).chain(graded(Grade::Doubtful));
        worst.map(|check| check.finding.as_str()).collect()
    }
}

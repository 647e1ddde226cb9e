//! Report of a verdict.

use etendue::calibrate::noise::verdict::{Check, Grade, Verdict};
use etendue::config::profile::VerdictFile;
use serde::{Serialize, Serializer};

/// Printed verdict on a calibration.
#[derive(Serialize)]
pub struct VerdictReport {
    /// The grade.
    #[serde(serialize_with = "grade_name")]
    pub grade: Grade,
    /// Reasons of a grade other than good.
    pub reasons: Vec<String>,
    checks: Vec<CheckRow>,
}

#[derive(Serialize)]
struct CheckRow {
    name: &'static str,
    /// The value; absent if it is not determined.
    value: Option<f64>,
    doubtful_above: f64,
    /// Absent if the check never refuses.
    refused_above: Option<f64>,
    #[serde(serialize_with = "grade_name")]
    grade: Grade,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn grade_name<S: Serializer>(grade: &Grade, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(grade.name())
}

impl CheckRow {
    fn of(check: &Check) -> Self {
        Self {
            name: check.name,
            value: Some(check.value).filter(|value| value.is_finite()),
            doubtful_above: check.limits[0],
            refused_above: Some(check.limits[1]).filter(|limit| limit.is_finite()),
            grade: check.grade(),
        }
    }
}

impl VerdictReport {
    /// Report of a verdict.
    pub fn of(verdict: &Verdict) -> Self {
        Self {
            grade: verdict.grade(),
            reasons: verdict.reasons().into_iter().map(str::to_owned).collect(),
            checks: verdict.checks.iter().map(CheckRow::of).collect(),
        }
    }

    /// Part of a profile file.
    pub fn file(&self) -> VerdictFile {
        VerdictFile {
            grade: self.grade.name().into(),
            reasons: self.reasons.clone(),
        }
    }
}

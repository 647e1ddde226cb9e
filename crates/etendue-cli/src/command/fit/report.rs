//! Report of a fit as text and JSON.

use super::search::Minima;
use super::setup::Setup;
use super::values::{numbers, placed, setting};
use crate::output::{counted, to_text};
use etendue::config::fit::Setting;
use etendue::estimate::fit::{ComparedMinimum, EXCLUSION_LEVEL, FitReport as Found, Goodness};
use etendue::estimate::manifold::{Manifold, Variable};
use nalgebra::Isometry3;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Printed result of a fit.
#[derive(Debug, Serialize)]
pub struct Report {
    scene: String,
    sensor: String,
    scans: usize,
    /// Number of measured beams.
    measured: usize,
    /// Measured beams without a prediction.
    missing: usize,
    /// Predicted beams without a measurement.
    unexpected: usize,
    /// Beams with both ranges whose residual is more than six times that of the others.
    misfits: usize,
    goodness: GoodnessReport,
    rms_m: f64,
    /// Root mean square intensity residual, counts; `None` without intensities.
    rms_intensity: Option<f64>,
    cost: f64,
    iterations: usize,
    converged: bool,
    stop: String,
    estimate: Vec<Estimate>,
    rank: usize,
    singular_values: Vec<f64>,
    not_determined: Vec<String>,
    /// Standard deviation of a residual by which minima were compared, m; `None` without a search.
    search_sigma_m: Option<f64>,
    /// Other minima that the scans do not exclude, in ascending order of chi-square.
    ambiguous_minima: Vec<OtherMinimum>,
    /// Minima that the scans exclude, in ascending order of chi-square.
    excluded_minima: Vec<OtherMinimum>,
    /// Warnings about the result.
    pub warnings: Vec<String>,
}

/// Residuals against the noise of the sensor.
#[derive(Debug, Serialize)]
struct GoodnessReport {
    /// good, doubtful or wrong model.
    verdict: &'static str,
    reasons: Vec<String>,
    /// Sum of the squared range residuals in squared standard deviations.
    chi_square: f64,
    degrees_of_freedom: f64,
    /// Mean of the squared residuals, limited to 9 each, over its expectation.
    limited_mean_square: f64,
    /// Share of residuals above four standard deviations.
    outliers: f64,
    /// Share of the measured beams that are predicted.
    used: f64,
    /// Number of runs of equal signs, in standard deviations from its expectation.
    runs: Option<f64>,
}

/// Ratio of chi-square to the limited one above which both are printed.
const DISTINCT: f64 = 1.2;

impl GoodnessReport {
    fn new(goodness: &Goodness) -> Self {
        Self {
            verdict: goodness.verdict.name(),
            reasons: goodness.verdict.reasons().to_vec(),
            chi_square: goodness.chi_square,
            degrees_of_freedom: goodness.degrees_of_freedom,
            limited_mean_square: goodness.limited_mean_square,
            outliers: goodness.outliers,
            used: goodness.used,
            runs: goodness.runs,
        }
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        // Where outliers dominate chi-square, the verdict depends on the limited squares
        let chi_square = format!(
            "chi-square {:.0} for {:.0} degrees of freedom",
            self.chi_square, self.degrees_of_freedom
        );
        let outliers = 100.0 * self.outliers;
        let dominate =
            self.chi_square > DISTINCT * self.limited_mean_square * self.degrees_of_freedom;
        let mean_square = self.limited_mean_square;
        write!(out, "  {}: ", self.verdict)?;
        if dominate {
            write!(
                out,
                "squared residuals, limited to 9 each, {mean_square:.2} times their expectation; {outliers:.1} % outliers"
            )?;
        } else {
            write!(out, "{chi_square}, {outliers:.1} % outliers")?;
        }
        match self.runs {
            Some(runs) => writeln!(out, ", run test {runs:+.1} standard deviations"),
            None => writeln!(out),
        }?;
        if dominate {
            writeln!(out, "    with the outliers at full size: {chi_square}")?;
        }
        let mut reasons = self.reasons.iter();
        reasons.try_for_each(|reason| writeln!(out, "    {reason}"))
    }
}

#[derive(Debug, Serialize)]
struct Estimate {
    path: String,
    start: BTreeMap<String, f64>,
    value: BTreeMap<String, f64>,
    standard_deviations: Vec<Deviation>,
    truth: Option<BTreeMap<String, f64>>,
    error: Option<Error>,
}

/// Standard deviation of a component; `None` if it is not determined.
#[derive(Debug, Serialize)]
struct Deviation {
    component: String,
    unit: String,
    value: Option<f64>,
}

/// Another minimum, compared with the estimate.
#[derive(Debug, Serialize)]
struct OtherMinimum {
    /// Chi-square minus that of the estimate, both by `search_sigma_m`.
    chi_square_difference: f64,
    /// Likelihood divided by that of the estimate.
    likelihood_ratio: f64,
    unknowns: Vec<AmbiguousValue>,
}

/// Value of an unknown in another minimum.
#[derive(Debug, Serialize)]
struct AmbiguousValue {
    path: String,
    value: BTreeMap<String, f64>,
    /// Difference from the estimate.
    away: Error,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Error {
    Pose { shift_m: f64, turn_deg: f64 },
    Number { difference: f64 },
}

/// Fraction of measured beams without a prediction above which a warning is printed.
const MANY_MISSING: f64 = 0.05;

impl Report {
    /// Report of a fit.
    pub fn new(setup: &Setup, found: &Found, minima: &Minima) -> Self {
        let residuals = &found.solution.residuals;
        let uncertainty = &found.uncertainty;
        let nulls = uncertainty.null_directions.iter();
        Self {
            scene: setup.scene.clone(),
            sensor: setup.sensor.clone(),
            scans: setup.readings.len(),
            measured: found.measured,
            missing: found.missing(),
            unexpected: residuals.unexpected,
            misfits: found.misfits.count,
            goodness: GoodnessReport::new(&found.goodness),
            rms_m: found.rms,
            rms_intensity: found.intensity_rms,
            cost: found.solution.cost,
            iterations: found.solution.log.len(),
            converged: found.solution.stop.converged(),
            stop: found.solution.stop.to_string(),
            estimate: estimates(setup, found),
            rank: uncertainty.rank(),
            singular_values: uncertainty.singular_values.clone(),
            not_determined: nulls.map(|null| null.description.clone()).collect(),
            search_sigma_m: minima.sigma,
            ambiguous_minima: others(found, &minima.ambiguous),
            excluded_minima: others(found, &minima.excluded),
            warnings: warnings(found, minima.ambiguous.len()),
        }
    }

    /// The report as text.
    pub fn text(&self) -> String {
        to_text(|out| self.write(out))
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        // Estimates and what the scans do not determine
        writeln!(
            out,
            "{} in {}, {}",
            self.sensor,
            self.scene,
            counted(self.scans, "scan")
        )?;
        for estimate in &self.estimate {
            estimate.write(out)?;
        }
        for null in &self.not_determined {
            writeln!(out, "  {null}")?;
        }
        self.write_minima(out)?;

        // Goodness, residuals and iterations
        self.goodness.write(out)?;
        writeln!(
            out,
            "  rms {:.3} mm over {} measured beams, {} of them not predicted; {} predicted but not \
             measured",
            1e3 * self.rms_m,
            self.measured,
            self.missing,
            self.unexpected
        )?;
        if let Some(counts) = self.rms_intensity {
            writeln!(out, "  rms {counts:.2} counts of intensity")?;
        }
        writeln!(out, "  {} iterations; {}", self.iterations, self.stop)
    }

    /// Writes the other minima of a search with their likelihood ratios.
    fn write_minima(&self, out: &mut String) -> std::fmt::Result {
        let Some(sigma) = self.search_sigma_m else {
            return Ok(());
        };
        for minimum in &self.ambiguous_minima {
            writeln!(
                out,
                "  ambiguous: chi-square larger by {:.1}, likelihood ratio {:.3}",
                minimum.chi_square_difference, minimum.likelihood_ratio
            )?;
            for unknown in &minimum.unknowns {
                unknown.write(out)?;
            }
        }
        if let Some(next) = self.excluded_minima.first() {
            let counted = match self.excluded_minima.len() {
                1 => "1 other minimum is".to_owned(),
                several => format!("{several} other minima are"),
            };
            writeln!(
                out,
                "  {counted} excluded: chi-square larger by at least {:.1}, with a standard \
                 deviation of {:.3} mm per residual",
                next.chi_square_difference,
                1e3 * sigma
            )?;
        }
        Ok(())
    }
}

fn list(values: &BTreeMap<String, f64>) -> String {
    let words = values
        .iter()
        .map(|(name, value)| format!("{name} {value:.6}"));
    words.collect::<Vec<_>>().join(", ")
}

impl AmbiguousValue {
    fn write(&self, out: &mut String) -> std::fmt::Result {
        let Self { path, value, away } = self;
        write!(out, "    {path}: {}", list(value))?;
        match away {
            Error::Pose { shift_m, turn_deg } => {
                writeln!(out, " ({shift_m:.3} m and {turn_deg:.1} deg away)")
            }
            Error::Number { difference } => writeln!(out, " ({difference:.3e} away)"),
        }
    }
}

impl Estimate {
    fn write(&self, out: &mut String) -> std::fmt::Result {
        // Value and standard deviations
        writeln!(out, "  {}: {}", self.path, list(&self.value))?;
        for Deviation {
            component,
            unit,
            value,
        } in &self.standard_deviations
        {
            // Angles are printed in degrees, as the values are
            let (factor, unit) = match unit.as_str() {
                "rad" => (1.0_f64.to_degrees(), "deg"),
                other => (1.0, other),
            };
            match value {
                Some(value) => writeln!(
                    out,
                    "    {component}: standard deviation {:.2e} {unit}",
                    factor * value
                )?,
                None => writeln!(out, "    {component}: not determined")?,
            }
        }

        // Error, if the truth is known
        match &self.error {
            Some(Error::Pose { shift_m, turn_deg }) => {
                writeln!(
                    out,
                    "    error {:.3} mm and {turn_deg:.4} deg",
                    1e3 * shift_m
                )
            }
            Some(Error::Number { difference }) => {
                writeln!(out, "    error {difference:.3e}")
            }
            None => Ok(()),
        }
    }
}

fn estimates(setup: &Setup, found: &Found) -> Vec<Estimate> {
    let sigmas = found.uncertainty.standard_deviations();
    let mut components = found.uncertainty.components.iter().zip(sigmas);
    let starts = setup.start.iter().zip(&setup.truth);
    let mut all = Vec::new();
    for ((path, variable), (start, truth)) in found.estimate.iter().zip(starts) {
        let value = setting(variable);
        let own = components.by_ref().take(variable.dimension());
        let deviation = own.map(|(component, sigma)| Deviation {
            component: component.name.clone(),
            unit: component.unit.clone(),
            value: sigma.is_finite().then_some(sigma),
        });
        all.push(Estimate {
            path: path.clone(),
            start: named(&setting(start)),
            standard_deviations: deviation.collect(),
            truth: truth.as_ref().map(named),
            error: truth.as_ref().map(|truth| error(&value, truth)),
            value: named(&value),
        });
    }
    all
}

fn named(setting: &Setting) -> BTreeMap<String, f64> {
    let pairs = numbers(setting).into_iter();
    let name = |ending: &str| {
        let name = ending.trim_start_matches('.');
        if name.is_empty() { "value" } else { name }.to_owned()
    };
    pairs.map(|(ending, value)| (name(ending), value)).collect()
}

fn error(value: &Setting, truth: &Setting) -> Error {
    if let (Setting::Number(value), Setting::Number(truth)) = (value, truth) {
        return Error::Number {
            difference: value - truth,
        };
    }
    // A planar pose has the height and tilt of the other
    let found = placed(value, &placed(truth, &Isometry3::identity()));
    let truth = placed(truth, &found);
    Error::Pose {
        shift_m: (found.translation.vector - truth.translation.vector).norm(),
        turn_deg: found.rotation.angle_to(&truth.rotation).to_degrees(),
    }
}

/// Other minima with the values of their unknowns.
fn others(found: &Found, minima: &[ComparedMinimum]) -> Vec<OtherMinimum> {
    let other = |minimum: &ComparedMinimum| OtherMinimum {
        chi_square_difference: minimum.chi_square_difference,
        likelihood_ratio: minimum.likelihood_ratio(),
        unknowns: values(found, &minimum.solution.state),
    };
    minima.iter().map(other).collect()
}

/// Values of the unknowns in another minimum.
fn values(found: &Found, state: &[Variable]) -> Vec<AmbiguousValue> {
    let pairs = found.estimate.iter().zip(state);
    let of = |((path, estimate), variable): (&(String, Variable), &Variable)| AmbiguousValue {
        path: path.clone(),
        value: named(&setting(variable)),
        away: error(&setting(variable), &setting(estimate)),
    };
    pairs.map(of).collect()
}

fn warnings(found: &Found, ambiguous: usize) -> Vec<String> {
    // Ambiguity and convergence
    let mut warnings = Vec::new();
    if ambiguous > 0 {
        let counted = match ambiguous {
            1 => "1 other minimum has".to_owned(),
            several => format!("{several} other minima have"),
        };
        warnings.push(format!(
            "{counted} a chi-square less than {EXCLUSION_LEVEL} above that of the \
             estimate: the scans do not exclude them"
        ));
    }
    if !found.solution.stop.converged() {
        warnings.push(format!(
            "the solver did not converge: {}",
            found.solution.stop
        ));
    }

    // Beams without a prediction, and with large residuals
    let missing = found.missing();
    if missing as f64 > MANY_MISSING * found.measured as f64 {
        warnings.push(format!(
            "{missing} of {} measured beams are not predicted: the estimate may be far from the truth",
            found.measured
        ));
    }
    let misfits = found.misfits;
    if misfits.are_many() {
        warnings.push(format!(
            "{} of {} beams have residuals above {:.1} mm, six times those of the others: this is a \
             false minimum (use another start, or search), or the scene differs from the scanned \
             one; in both cases the standard deviations are invalid",
            misfits.count,
            misfits.of,
            1e3 * misfits.beyond
        ));
    }

    // Undetermined directions
    for null in &found.uncertainty.null_directions {
        warnings.push(null.description.clone());
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_fit_with_outliers_states_the_limited_squares() {
        let mut goodness = GoodnessReport {
            verdict: "good",
            reasons: Vec::new(),
            chi_square: 2_562_698.0,
            degrees_of_freedom: 9597.0,
            limited_mean_square: 1.01,
            outliers: 0.001,
            used: 1.0,
            runs: None,
        };
        let text = |goodness: &GoodnessReport| to_text(|out| goodness.write(out));
        assert_eq!(
            text(&goodness),
            "  good: squared residuals, limited to 9 each, 1.01 times their expectation; 0.1 % outliers\n    \
             with the outliers at full size: chi-square 2562698 for 9597 degrees of freedom\n"
        );
        goodness.chi_square = 9700.0;
        assert!(!text(&goodness).contains("limited"));
    }
}

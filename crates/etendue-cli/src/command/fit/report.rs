//! What a fit found, in words and as JSON.

use super::setup::Setup;
use super::values::{numbers, placed, setting};
use etendue::config::fit::Setting;
use etendue::estimate::fit::Report as Found;
use etendue::estimate::manifold::{Manifold, Variable};
use nalgebra::Isometry3;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A fit as it is told.
#[derive(Debug, Serialize)]
pub struct Report {
    scene: String,
    sensor: String,
    scans: usize,
    /// Beams that were measured.
    measured: usize,
    /// Of them, those that the estimate does not predict.
    missing: usize,
    /// Beams that the estimate predicts and that were not measured.
    unexpected: usize,
    /// Of the beams with both ranges, those that are off by more than six times what the others are.
    misfits: usize,
    rms_m: f64,
    /// Root mean square of the residuals of intensities, counts; none where there are none.
    rms_intensity: Option<f64>,
    cost: f64,
    iterations: usize,
    converged: bool,
    stop: String,
    estimate: Vec<Estimate>,
    rank: usize,
    singular_values: Vec<f64>,
    not_determined: Vec<String>,
    /// Other answers that explain the scans as well.
    twins: Vec<Vec<Twin>>,
    /// What is doubtful about it.
    pub warnings: Vec<String>,
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

/// How well a component is known: none where it is not determined.
#[derive(Debug, Serialize)]
struct Deviation {
    component: String,
    unit: String,
    value: Option<f64>,
}

/// One unknown of another answer.
#[derive(Debug, Serialize)]
struct Twin {
    path: String,
    value: BTreeMap<String, f64>,
    /// Where it is from the estimate.
    away: Error,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Error {
    Pose { shift_m: f64, turn_deg: f64 },
    Number { difference: f64 },
}

/// More than this part of the measured beams without a prediction is told.
const MANY_MISSING: f64 = 0.05;

impl Report {
    /// Of a fit.
    pub fn new(setup: &Setup, found: &Found, twins: &[Vec<Variable>]) -> Self {
        let residuals = &found.solution.residuals;
        let uncertainty = &found.uncertainty;
        let nulls = uncertainty.null_directions.iter();
        Self {
            scene: setup.scene.clone(),
            sensor: setup.sensor.clone(),
            scans: setup.readings.len(),
            measured: found.measured,
            missing: residuals.missing,
            unexpected: residuals.unexpected,
            misfits: found.misfits.count,
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
            twins: twins.iter().map(|state| twin(found, state)).collect(),
            warnings: warnings(found, twins.len()),
        }
    }

    /// The report in words.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text)
            .expect("writing to a string does not fail");
        text
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            "{} in {}, {} scan(s)",
            self.sensor, self.scene, self.scans
        )?;
        for estimate in &self.estimate {
            estimate.write(out)?;
        }
        for null in &self.not_determined {
            writeln!(out, "  {null}")?;
        }
        for unknown in self.twins.iter().flatten() {
            unknown.write(out)?;
        }
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
}

fn list(values: &BTreeMap<String, f64>) -> String {
    let words = values
        .iter()
        .map(|(name, value)| format!("{name} {value:.6}"));
    words.collect::<Vec<_>>().join(", ")
}

impl Twin {
    fn write(&self, out: &mut String) -> std::fmt::Result {
        let Self { path, value, away } = self;
        write!(out, "  equally well: {path} {}", list(value))?;
        match away {
            Error::Pose { shift_m, turn_deg } => {
                writeln!(out, " ({shift_m:.3} m away, turned by {turn_deg:.1} deg)")
            }
            Error::Number { difference } => writeln!(out, " ({difference:.3e} away)"),
        }
    }
}

impl Estimate {
    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "  {}: {}", self.path, list(&self.value))?;
        for Deviation {
            component,
            unit,
            value,
        } in &self.standard_deviations
        {
            match value {
                Some(value) => writeln!(
                    out,
                    "    {component}: standard deviation {value:.2e} {unit}"
                )?,
                None => writeln!(out, "    {component}: not determined")?,
            }
        }
        match &self.error {
            Some(Error::Pose { shift_m, turn_deg }) => {
                writeln!(
                    out,
                    "    off the truth by {:.3} mm and {turn_deg:.4} deg",
                    1e3 * shift_m
                )
            }
            Some(Error::Number { difference }) => {
                writeln!(out, "    off the truth by {difference:.3e}")
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
    // A planar side takes what it does not say from the other.
    let found = placed(value, &placed(truth, &Isometry3::identity()));
    let truth = placed(truth, &found);
    Error::Pose {
        shift_m: (found.translation.vector - truth.translation.vector).norm(),
        turn_deg: found.rotation.angle_to(&truth.rotation).to_degrees(),
    }
}

fn twin(found: &Found, state: &[Variable]) -> Vec<Twin> {
    let pairs = found.estimate.iter().zip(state);
    let of = |((path, estimate), variable): (&(String, Variable), &Variable)| Twin {
        path: path.clone(),
        value: named(&setting(variable)),
        away: error(&setting(variable), &setting(estimate)),
    };
    pairs.map(of).collect()
}

fn warnings(found: &Found, twins: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    if twins > 0 {
        warnings.push(format!(
            "{twins} other answer(s) explain the scans equally well: nothing in them tells which is \
             the right one"
        ));
    }
    if !found.solution.stop.converged() {
        warnings.push(format!("no minimum was reached: {}", found.solution.stop));
    }
    let missing = found.solution.residuals.missing;
    if missing as f64 > MANY_MISSING * found.measured as f64 {
        warnings.push(format!(
            "{missing} of {} measured beams are not predicted: the estimate may be in the wrong place",
            found.measured
        ));
    }
    let misfits = found.misfits;
    if misfits.are_many() {
        warnings.push(format!(
            "{} of {} beams are off by more than {:.1} mm, six times what the others are: this is a \
             false minimum (start elsewhere, or search), or the scene is not what was scanned; the \
             standard deviations do not hold then",
            misfits.count,
            misfits.of,
            1e3 * misfits.beyond
        ));
    }
    for null in &found.uncertainty.null_directions {
        warnings.push(null.description.clone());
    }
    warnings
}

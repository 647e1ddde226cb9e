//! Report of a calibration.

use super::beside_truth::TruthReport;
use super::verdict::VerdictReport;
use etendue::calibrate::noise::NoiseCalibration;
use etendue::calibrate::noise::statistics::{dispersion, wilson};
use etendue::calibrate::noise::verdict::Verdict;
use etendue::physics::profile::Glare;
use serde::Serialize;
use std::fmt::Write;

/// Printed calibration of a material.
#[derive(Serialize)]
pub struct MaterialReport {
    material: String,
    /// The verdict.
    pub verdict: VerdictReport,
    panels: Vec<PanelRow>,
    steps_mm: Vec<[f64; 2]>,
    neighbour_correlation: f64,
    fixed_pattern_neighbour_correlation: f64,
    copies: f64,
    fixed_pattern: f64,
    glare: Option<GlareRow>,
    bands: Vec<BandRow>,
    /// Comparison with the known profile of a simulated panel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<TruthReport>,
}

#[derive(Serialize)]
struct GlareRow {
    centre_deg: f64,
    reach_deg: f64,
    /// Smallest and largest contribution to the bias.
    bias_mm: [f64; 2],
    /// Largest fraction of lost beams.
    drop_out: f64,
}

impl GlareRow {
    fn of(glare: &Glare) -> Self {
        let biases = || glare.knots.iter().map(|knot| knot.bias * 1e3);
        Self {
            centre_deg: glare.centre.to_degrees(),
            reach_deg: glare.reach().to_degrees(),
            bias_mm: [biases().fold(0.0, f64::min), biases().fold(0.0, f64::max)],
            drop_out: glare.knots.iter().map(|k| k.drop_out).fold(0.0, f64::max),
        }
    }
}

#[derive(Serialize)]
struct PanelRow {
    recording: String,
    distance_m: f64,
    distance_error_mm: f64,
    tilt_deg: f64,
    rms_mm: f64,
    beams: usize,
    strays: usize,
    /// Azimuths of the edges from the normal.
    edges_deg: [f64; 2],
    /// Directions between the edges with other objects.
    rejected_directions: usize,
}

#[derive(Serialize)]
struct BandRow {
    from_deg: f64,
    to_deg: f64,
    beams: f64,
    bias_mm: Option<f64>,
    spread_mm: Option<f64>,
    /// `null` where the recordings do not contain the beams without a return.
    drop_out: Option<f64>,
    drop_out_interval: Option<[f64; 2]>,
}

/// Width of the printed bands, degrees.
const BAND: f64 = 10.0;

impl MaterialReport {
    /// Report of a calibration and its verdict.
    pub fn of(calibration: &NoiseCalibration, verdict: &Verdict) -> Self {
        let profile = &calibration.profile;

        // Panels found in the recordings
        let panels = calibration.panels.iter().map(|report| PanelRow {
            recording: report.recording.clone(),
            distance_m: report.panel.plane.distance,
            distance_error_mm: report.panel.distance_error * 1e3,
            tilt_deg: report.panel.tilt().to_degrees(),
            rms_mm: report.panel.rms * 1e3,
            beams: report.beams.beams.len(),
            strays: report.beams.strays,
            edges_deg: report.panel.sector.edges.map(f64::to_degrees),
            rejected_directions: report.panel.sector.rejected.len(),
        });

        // Terms of the profile
        let steps = profile.steps.as_slice().iter();
        Self {
            material: profile.material.clone(),
            verdict: VerdictReport::of(verdict),
            panels: panels.collect(),
            steps_mm: steps
                .map(|step| [step.from * 1e3, step.step * 1e3])
                .collect(),
            neighbour_correlation: profile.correlation.neighbour(),
            fixed_pattern_neighbour_correlation: profile.correlation.fixed_pattern_neighbour(),
            copies: calibration.neighbour_correlation.copies,
            fixed_pattern: profile.correlation.fixed_pattern(),
            glare: profile.glare.as_ref().map(GlareRow::of),
            bands: bands(calibration),
            truth: None,
        }
    }
}

fn bands(calibration: &NoiseCalibration) -> Vec<BandRow> {
    let fixed_pattern = calibration.profile.correlation.fixed_pattern_drop();
    let known = calibration.has_drop_outs;
    let band = |number: u32| {
        let [from, to] = [f64::from(number), f64::from(number + 1)].map(|n| n * BAND);
        let bins = calibration.bins.iter();
        let inside: Vec<_> = bins
            .filter(|bin| (from..to).contains(&bin.incidence.to_degrees()))
            .collect();
        let beams: f64 = inside.iter().map(|bin| bin.beams).sum();
        if beams == 0.0 {
            return None;
        }

        // Drop-out with its interval for correlated beams
        let returned: f64 = inside.iter().map(|bin| bin.returned).sum();
        let groups = inside.iter();
        let groups: Vec<[f64; 2]> = groups
            .map(|bin| [bin.drop_out(), bin.effective_samples(fixed_pattern)])
            .collect();
        let samples = groups.iter().map(|[_, samples]| samples).sum::<f64>() / dispersion(&groups);
        let drop_out = 1.0 - returned / beams;

        // Means of the range error, weighted by returned beams
        let mean =
            |value: &dyn Fn(&etendue::calibrate::noise::statistics::NormalEstimate) -> f64| {
                let seen = inside
                    .iter()
                    .filter_map(|bin| Some((bin.ranges, bin.error.as_ref()?)));
                let weight: f64 = seen.clone().map(|(n, _)| n).sum();
                (weight > 0.0)
                    .then(|| seen.map(|(n, error)| n * value(error)).sum::<f64>() / weight)
            };
        Some(BandRow {
            from_deg: from,
            to_deg: to,
            beams,
            bias_mm: mean(&|error| error.mean * 1e3),
            spread_mm: mean(&|error| error.sd * 1e3),
            drop_out: known.then_some(drop_out),
            drop_out_interval: known.then(|| wilson(drop_out * samples, samples)),
        })
    };
    (0..9).filter_map(band).collect()
}

/// Text of several reports.
pub fn text(reports: &[MaterialReport]) -> String {
    let mut text = String::new();
    for report in reports {
        report
            .write(&mut text)
            .expect("writing to a string does not fail");
    }
    text
}

impl MaterialReport {
    /// Material and reasons of its verdict.
    pub fn objection(&self) -> String {
        format!("{}: {}", self.material, self.verdict.reasons.join("; "))
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        // Verdict and panels
        writeln!(out, "{}: {}", self.material, self.verdict.grade.name())?;
        for reason in &self.verdict.reasons {
            writeln!(out, "  {reason}")?;
        }
        for panel in &self.panels {
            panel.write(out)?;
        }

        // Terms besides the curves over incidence
        self.write_steps_and_correlation(out)?;
        if let Some(glare) = &self.glare {
            glare.write(out)?;
        }

        // Table over incidence
        writeln!(
            out,
            "  incidence, deg    beams   bias, mm  spread, mm   drop-out (95 %)"
        )?;
        for band in &self.bands {
            band.write(out)?;
        }
        match &self.truth {
            Some(truth) => truth.write(out),
            None => Ok(()),
        }
    }

    fn write_steps_and_correlation(&self, out: &mut String) -> std::fmt::Result {
        let step = |[from, step]: &[f64; 2]| format!("{step:.3} mm from {from:.0} mm");
        let mut steps: Vec<String> = self.steps_mm.iter().map(step).collect();
        if steps.is_empty() {
            steps.push("none".into());
        }
        writeln!(
            out,
            "  steps: {}; correlation of neighbours {:.2}, {:.0} % are copies; fixed pattern: {:.0} % of the \
             variance, correlation of neighbours {:.2}",
            steps.join(", "),
            self.neighbour_correlation,
            1e2 * self.copies,
            1e2 * self.fixed_pattern,
            self.fixed_pattern_neighbour_correlation
        )
    }
}

impl PanelRow {
    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            "  panel at {:.4} ± {:.4} m, tilt {:.2} deg, rms {:.2} mm below 40 deg, {} beams ({})",
            self.distance_m,
            self.distance_error_mm * 1e-3,
            self.tilt_deg,
            self.rms_mm,
            self.beams,
            self.recording
        )
    }
}

impl GlareRow {
    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            "  glare within {:.0} deg of the normal, centred at {:+.1} deg (positive: left): {:+.2} to {:+.2} mm, \
             up to {:.0} % of the beams lost",
            self.reach_deg,
            self.centre_deg,
            self.bias_mm[0],
            self.bias_mm[1],
            1e2 * self.drop_out
        )
    }
}

impl BandRow {
    fn write(&self, out: &mut String) -> std::fmt::Result {
        let number = |value: Option<f64>| value.map_or("-".into(), |v| format!("{v:.2}"));
        let drop_out = match (self.drop_out, self.drop_out_interval) {
            (Some(value), Some([low, high])) => {
                format!(
                    "{:.1} % ({:.1} to {:.1})",
                    1e2 * value,
                    1e2 * low,
                    1e2 * high
                )
            }
            _ => "not determined".into(),
        };
        writeln!(
            out,
            "  {:>3.0} - {:<3.0}    {:>10.0} {:>10} {:>11}   {drop_out}",
            self.from_deg,
            self.to_deg,
            self.beams,
            number(self.bias_mm),
            number(self.spread_mm),
        )
    }
}

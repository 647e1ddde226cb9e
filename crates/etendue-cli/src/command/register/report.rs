//! Report of a registration as text and JSON.

use super::planes::PlaneCheck;
use super::settings::{MethodName, Settings, SettingsReport};
use etendue::estimate::register::RegistrationResult;
use nalgebra::{Isometry3, Matrix4};
use serde::Serialize;

/// Printed registration.
#[derive(Debug, Serialize)]
pub struct Report {
    a: String,
    b: String,
    method: &'static str,
    planar: bool,
    translation_m: [f64; 3],
    rotation_deg: Rotation,
    /// Rows of the matrix.
    b_from_a_matrix: [[f64; 4]; 4],
    /// Transform from the frame of A to that of B.
    #[serde(skip)]
    pub b_from_a: Isometry3<f64>,
    iterations: usize,
    rms: f64,
    rms_unit: &'static str,
    pairs: usize,
    unpaired: usize,
    /// Fraction of the points of A with a pair in B.
    overlap: f64,
    converged: bool,
    stop: String,
    /// Length of the last step, m and rad together.
    #[serde(skip)]
    last_step: f64,
    verdict: &'static str,
    /// Reasons of a doubtful result.
    pub reasons: Vec<String>,
    /// Check by the planes of both clouds, where they have enough in common.
    planes: Option<PlaneCheck>,
    settings: SettingsReport,
    /// Time of downsampling, local planes and registration. It depends on the computer: it is printed, and no part of the JSON.
    #[serde(skip)]
    seconds: f64,
}

/// Largest last step (m and rad together) of a good registration. Pairs that alternate between neighbours keep smaller steps alive.
const LARGEST_STEP: f64 = 1e-3;

/// Least fraction of the points with a pair of a good registration.
const LEAST_OVERLAP: f64 = 0.4;

/// Least number of pairs of a good registration, for each degree of freedom: the errors of fewer do not average out.
const LEAST_PAIRS: usize = 10;

/// Euler angles, degrees.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rotation {
    /// About z.
    pub yaw: f64,
    /// About y.
    pub pitch: f64,
    /// About x.
    pub roll: f64,
}

impl Rotation {
    /// Angles of a transform.
    pub fn of(transform: &Isometry3<f64>) -> Self {
        let (roll, pitch, yaw) = transform.rotation.euler_angles();
        Self {
            yaw: yaw.to_degrees(),
            pitch: pitch.to_degrees(),
            roll: roll.to_degrees(),
        }
    }
}

impl Report {
    /// Report of the registration of cloud `a` with cloud `b`.
    pub fn new<M>(
        [a, b]: [&str; 2],
        method: MethodName,
        b_from_a: Isometry3<f64>,
        planar: bool,
        settings: &Settings,
        found: &RegistrationResult<M>,
        seconds: f64,
    ) -> Self {
        // The transform as Euler angles and as a matrix
        let rotation_deg = Rotation::of(&b_from_a);
        let matrix: Matrix4<f64> = b_from_a.to_homogeneous();

        // Quality of the result
        let overlap = found.pairs as f64 / (found.pairs + found.unpaired).max(1) as f64;
        let mut reasons = Vec::new();
        if overlap < LEAST_OVERLAP {
            reasons.push(format!(
                "{:.0} % of the points of {a} have a pair in {b}, fewer than {:.0} %",
                100.0 * overlap,
                100.0 * LEAST_OVERLAP
            ));
        }
        let least_pairs = LEAST_PAIRS * if planar { 3 } else { 6 };
        if found.pairs < least_pairs {
            reasons.push(format!(
                "{} pairs are fewer than {least_pairs}, ten for each degree of freedom",
                found.pairs
            ));
        }
        let step = found.log.last().map_or(f64::INFINITY, |last| last.step);
        if !found.stop.converged() && step > LARGEST_STEP {
            reasons.push(format!(
                "the solver did not converge: {}, with a last step of {step:.4} (m and rad)",
                found.stop
            ));
        }
        let verdict = verdict(&reasons);

        // The result
        Self {
            overlap,
            verdict,
            reasons,
            a: a.into(),
            b: b.into(),
            method: method.name(),
            planar,
            translation_m: b_from_a.translation.vector.into(),
            rotation_deg,
            b_from_a_matrix: std::array::from_fn(|i| std::array::from_fn(|j| matrix[(i, j)])),
            b_from_a,
            iterations: found.log.len(),
            rms: found.rms,
            rms_unit: method.residual_unit(),
            pairs: found.pairs,
            unpaired: found.unpaired,
            converged: found.stop.converged(),
            stop: found.stop.to_string(),
            planes: None,
            last_step: step,
            settings: settings.into(),
            seconds,
        }
    }

    /// The report with the check by planes, which can make the result doubtful.
    pub fn checked_by(mut self, planes: Option<PlaneCheck>) -> Self {
        let reasons = planes.iter().flat_map(PlaneCheck::reasons);
        self.reasons.extend(reasons);
        self.verdict = verdict(&self.reasons);
        self.planes = planes;
        self
    }

    /// The report as text.
    pub fn text(&self) -> String {
        // Parts of the text
        let [x, y, z] = self.translation_m;
        let Rotation { yaw, pitch, roll } = self.rotation_deg;
        let rows = self.b_from_a_matrix.map(|row| {
            let numbers = row.map(|value| format!("{value:>12.8}"));
            format!("    {}\n", numbers.join(" "))
        });
        let planes = self.planes.as_ref();
        let planes = planes.map_or_else(String::new, |check| format!("  {}\n", check.text()));
        let degrees_of_freedom = if self.planar {
            "in the plane"
        } else {
            "in space"
        };

        // Transform, quality and settings
        format!(
            "b_from_a: registers {} with {}, {} {}\n  \
             translation {x:.5}, {y:.5}, {z:.5} m\n  \
             rotation yaw {yaw:.4}, pitch {pitch:.4}, roll {roll:.4} deg\n  \
             matrix\n{}  {}\n  {}\n  {:.1} ms\n{}  settings: {}\n",
            self.a,
            self.b,
            self.method,
            degrees_of_freedom,
            rows.concat(),
            self.summary(),
            self.end(),
            self.seconds * 1e3,
            planes,
            self.settings,
        )
    }

    /// Why the solver ended. A good result has a short last step, also where pairs alternate between neighbours.
    fn end(&self) -> String {
        if self.verdict == "good" && !self.converged {
            let step = self.last_step;
            format!(
                "ended with a step of {step:.1e} (m and rad): further steps only exchange pairs with neighbours"
            )
        } else {
            self.stop.clone()
        }
    }

    /// Verdict, iterations, residual and pairs in a line.
    pub fn summary(&self) -> String {
        format!(
            "{}: {} iterations, rms {:.4} {} over {} pairs, {} points without a pair",
            self.verdict, self.iterations, self.rms, self.rms_unit, self.pairs, self.unpaired
        )
    }
}

/// Verdict by the reasons for doubt.
fn verdict(reasons: &[String]) -> &'static str {
    if reasons.is_empty() {
        "good"
    } else {
        "doubtful"
    }
}

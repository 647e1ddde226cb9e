//! Report of a mapped sequence: verdict, flaws, degenerate directions, drift.

use super::flaws;
use super::run::{Drift, Mapped};
use crate::failure::Failure;
use crate::output::counted;
use etendue::estimate::odometry::{
    DegenerateDirection, DegenerateMotion, ScanQuality, ScanRange, ScanVerdict, TrajectoryQuality,
    TrajectoryVerdict,
};
use etendue::physics::statistics::mean;
use serde::Serialize;
use std::fmt::Write;

/// Report of `slam`.
#[derive(Serialize)]
pub struct Report {
    /// "good", "doubtful" or "failed".
    verdict: String,
    /// Reasons of a verdict other than good.
    reasons: Vec<String>,
    scans: usize,
    doubtful_scans: usize,
    lost_scans: usize,
    /// Whether the scans are planar and the lidar moves in a plane.
    planar: bool,
    map_points: usize,
    /// It depends on the computer: it is printed, and no part of the JSON.
    #[serde(skip)]
    seconds_per_scan: f64,
    /// Mean over the registered scans, if there are some.
    mean_overlap: Option<f64>,
    /// Standard deviations of the last position along the axes of the world, relative to the first.
    last_position_sd_m: [f64; 3],
    /// Largest standard deviation of the last rotation.
    last_rotation_sd_deg: f64,
    degenerate: Vec<DegenerateRow>,
    quality: Vec<QualityRow>,
    drift: Option<Drift>,
    #[serde(skip)]
    trajectory: TrajectoryQuality,
}

/// Consecutive scans with a direction of motion that they do not determine.
#[derive(Serialize)]
struct DegenerateRow {
    first_scan: usize,
    last_scan: usize,
    #[serde(flatten)]
    worst: DirectionRow,
}

/// Direction of motion that a scan does not determine.
#[derive(Serialize)]
struct DirectionRow {
    /// "translation" or "rotation".
    motion: &'static str,
    in_world: [f64; 3],
    in_lidar: [f64; 3],
    /// Since the direction was last determined; for translations.
    sd_m: Option<f64>,
    /// For rotations.
    sd_deg: Option<f64>,
}

/// Quality of a scan.
#[derive(Serialize)]
struct QualityRow {
    scan: usize,
    verdict: &'static str,
    flaws: Vec<String>,
    samples: usize,
    overlap: Option<f64>,
    residual_m: Option<f64>,
    expected_residual_m: f64,
    iterations: usize,
    /// Along the axes of the world, relative to the first scan.
    position_sd_m: [f64; 3],
    /// The largest of all axes.
    rotation_sd_deg: f64,
    degenerate: Vec<DirectionRow>,
}

impl Report {
    /// Report of a mapped sequence.
    pub fn new(mapped: &Mapped, drift: Option<Drift>) -> Self {
        let trajectory = TrajectoryQuality::of(&mapped.scans);
        let overlaps: Vec<f64> = mapped
            .scans
            .iter()
            .filter_map(|scan| scan.overlap)
            .collect();
        let last = mapped.scans.last().map(|scan| &scan.uncertainty);
        let doubtful = mapped
            .scans
            .iter()
            .filter(|scan| scan.verdict == ScanVerdict::Doubtful);
        Self {
            verdict: trajectory.verdict.to_string(),
            reasons: flaws::reasons(&trajectory),
            scans: mapped.scans.len(),
            doubtful_scans: doubtful.count(),
            lost_scans: trajectory.lost,
            planar: mapped.planar,
            map_points: mapped.points.len(),
            seconds_per_scan: mapped.seconds,
            mean_overlap: (!overlaps.is_empty()).then(|| mean(&overlaps)),
            last_position_sd_m: last.map_or([0.0; 3], |u| u.position_sd().into()),
            last_rotation_sd_deg: last.map_or(0.0, |u| u.rotation.sd.to_degrees()),
            degenerate: trajectory
                .degenerate
                .iter()
                .map(DegenerateRow::of)
                .collect(),
            quality: mapped
                .scans
                .iter()
                .enumerate()
                .map(QualityRow::of)
                .collect(),
            drift,
            trajectory,
        }
    }

    /// Text of the report.
    pub fn text(&self) -> String {
        // Verdict and its reasons
        let mut text = format!(
            "{} ({} doubtful, {} lost), a map of {} points, {:.1} ms per scan, mean overlap \
             {:.0} %\nverdict: {}\n",
            counted(self.scans, "scan"),
            self.doubtful_scans,
            self.lost_scans,
            self.map_points,
            self.seconds_per_scan * 1e3,
            self.mean_overlap.unwrap_or(0.0) * 1e2,
            self.verdict
        );
        write_lines(&mut text, &self.reasons);
        if self.planar {
            text.push_str("planar scans: mapped in the plane, as sections of vertical walls\n");
        }
        let [x, y, z] = self.last_position_sd_m.map(|sd| sd * 1e3);
        let _ = writeln!(
            text,
            "standard deviation of the last pose relative to the first: {x:.1}, {y:.1}, {z:.1} mm \
             along x, y, z, rotation {}",
            flaws::angle(self.last_rotation_sd_deg.to_radians(), 3)
        );

        // Degenerate directions within the limits
        let within = flaws::within_limits(&self.trajectory);
        if !within.is_empty() {
            text += "held to the prediction, within the limits:\n";
            write_lines(&mut text, &within);
        }

        // Drift
        if let Some(drift) = &self.drift {
            text += &drift.text("compared with the reference");
        }
        text
    }

    /// Error for a trajectory that cannot be trusted.
    pub fn outcome(&self, accept_doubtful: bool, has_odometry: bool) -> Result<(), Failure> {
        let verdict = self.trajectory.verdict;
        let accepted = match verdict {
            TrajectoryVerdict::Good => true,
            TrajectoryVerdict::Doubtful => accept_doubtful,
            TrajectoryVerdict::Failed => false,
        };
        if accepted {
            return Ok(());
        }
        let reason = self.reasons.first().cloned();
        Err(Failure::TrajectoryUntrusted {
            verdict,
            has_odometry,
            reason: reason.unwrap_or_else(|| "there is no scan".into()),
        })
    }
}

fn write_lines(text: &mut String, lines: &[String]) {
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
}

impl DegenerateRow {
    fn of(range: &ScanRange<DegenerateDirection>) -> Self {
        Self {
            first_scan: range.first,
            last_scan: range.last,
            worst: DirectionRow::of(&range.worst),
        }
    }
}

impl DirectionRow {
    fn of(direction: &DegenerateDirection) -> Self {
        let is_translation = direction.motion == DegenerateMotion::Translation;
        Self {
            motion: if is_translation {
                "translation"
            } else {
                "rotation"
            },
            in_world: direction.in_world.into(),
            in_lidar: direction.in_lidar.into(),
            sd_m: is_translation.then_some(direction.sd),
            sd_deg: (!is_translation).then(|| direction.sd.to_degrees()),
        }
    }
}

impl QualityRow {
    fn of((scan, quality): (usize, &ScanQuality)) -> Self {
        Self {
            scan,
            verdict: verdict_name(quality.verdict),
            flaws: quality.flaws.iter().map(flaws::of_scan).collect(),
            samples: quality.samples,
            overlap: quality.overlap,
            residual_m: quality.residual,
            expected_residual_m: quality.expected_residual,
            iterations: quality.iterations,
            position_sd_m: quality.uncertainty.position_sd().into(),
            rotation_sd_deg: quality.uncertainty.rotation.sd.to_degrees(),
            degenerate: quality.degenerate.iter().map(DirectionRow::of).collect(),
        }
    }
}

fn verdict_name(verdict: ScanVerdict) -> &'static str {
    match verdict {
        ScanVerdict::Good => "good",
        ScanVerdict::Doubtful => "doubtful",
        ScanVerdict::Lost => "lost",
    }
}

/// Table of the quality of each scan.
pub fn scans_csv(scans: &[ScanQuality]) -> String {
    let number = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.5}"));
    let mut table = String::from(
        "scan,verdict,samples,overlap,residual_m,expected_residual_m,iterations,degenerate,\
         sd_x_m,sd_y_m,sd_z_m,sd_rotation_deg\n",
    );
    for (scan, quality) in scans.iter().enumerate() {
        let sd = quality.uncertainty.position_sd();
        let _ = writeln!(
            table,
            "{scan},{},{},{},{},{:.5},{},{},{:.5},{:.5},{:.5},{:.4}",
            verdict_name(quality.verdict),
            quality.samples,
            number(quality.overlap),
            number(quality.residual),
            quality.expected_residual,
            quality.iterations,
            quality.degenerate.len(),
            sd.x,
            sd.y,
            sd.z,
            quality.uncertainty.rotation.sd.to_degrees()
        );
    }
    table
}

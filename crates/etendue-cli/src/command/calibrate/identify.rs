//! `etendue calibrate identify`.

use super::ask::Hints;
use super::load;
use crate::failure::Failure;
use crate::output::{print, print_json};
use clap::Args;
use etendue::calibrate::noise::panel::find_panel;
use etendue::calibrate::noise::{PanelBeams, PanelSearch, identify};
use etendue::physics::profile::Profile;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Arguments of `etendue calibrate identify`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: etendue calibrate identify scan.txt --profiles profiles\n\n\
    The profiles of a folder, or the ready ones, are alike beforehand. A profile that was recorded \
    at another distance is carried to the panel's by its law."
)]
pub struct Identify {
    /// A recording of a panel
    scan: PathBuf,
    /// Folder of profiles; without it, the ready ones
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// Use so many scans from the first; without it, all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    scans: Option<u32>,
    #[command(flatten)]
    hints: Hints,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    profile: String,
    material: String,
    probability: f64,
    mean_log_likelihood: f64,
    recorded_at_m: f64,
}

#[derive(Serialize)]
struct Report {
    distance_m: f64,
    beams: usize,
    materials: Vec<Row>,
}

impl Identify {
    /// Tells the materials apart.
    pub fn run(self) -> Result<(), Failure> {
        let loaded = load::recording(&self.scan)?;
        let scans = self.scans.unwrap_or(u32::MAX);
        let recording = loaded.recording.of_scans(|scan| scan < scans);
        let panel = find_panel(&recording, &self.hints.hint(), &PanelSearch::default())?;
        let beams = PanelBeams::of(&recording, &panel);
        let known = load::profiles(self.profiles.as_deref())?;
        let profiles: Vec<&Profile> = known.iter().map(|(_, profile)| &**profile).collect();
        let found = identify(&beams, &profiles)?;
        let rows = found.iter().map(|likelihood| {
            let (name, profile) = &known[likelihood.profile];
            Row {
                profile: name.clone(),
                material: profile.material.clone(),
                probability: likelihood.probability,
                mean_log_likelihood: likelihood.mean_log,
                recorded_at_m: profile.distance,
            }
        });
        let report = Report {
            distance_m: panel.plane.distance,
            beams: beams.beams.len(),
            materials: rows.collect(),
        };
        for warning in &loaded.warnings {
            eprintln!("warning: {warning}");
        }
        if self.json {
            print_json(&report)
        } else {
            print(&report.text())
        }
    }
}

impl Report {
    fn text(&self) -> String {
        let mut text = format!(
            "panel at {:.3} m, {} beams\n  probability  log-likelihood a beam  recorded at  profile\n",
            self.distance_m, self.beams
        );
        for row in &self.materials {
            writeln!(
                text,
                "  {:>11.4} {:>22.3} {:>10.3} m  {} ({})",
                row.probability,
                row.mean_log_likelihood,
                row.recorded_at_m,
                row.profile,
                row.material
            )
            .expect("a string takes all");
        }
        text
    }
}

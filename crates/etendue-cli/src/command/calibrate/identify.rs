//! `etendue calibrate identify`.

use super::hints::Hints;
use super::load;
use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::output::{print_report, warn};
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
    The profiles of a folder, or the built-in ones, have equal prior probabilities. A profile of \
    another distance is extrapolated to the distance of the panel by its model."
)]
pub struct Identify {
    /// Recording of a panel
    scan: PathBuf,
    /// Folder of profiles [default: the built-in profiles]
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// Number of scans to use, from the first [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    scans: Option<u32>,
    #[command(flatten)]
    lidar: LidarOptions,
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
    /// Identifies the material and prints the probabilities.
    pub fn run(self) -> Result<(), Failure> {
        // Panel in the recording
        let loaded = load::recording(&self.scan, &self.lidar)?;
        let scans = self.scans.unwrap_or(u32::MAX);
        let recording = loaded.recording.of_scans(|scan| scan < scans);
        let panel = find_panel(&recording, &self.hints.hint(), &PanelSearch::default())?;
        let beams = PanelBeams::of(&recording, &panel);

        // Likelihood of each profile
        let known = load::profiles(self.profiles.as_deref())?;
        let profiles: Vec<&Profile> = known.iter().map(|(_, profile)| &**profile).collect();
        let found = identify(&beams, &profiles)?;

        // Report
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
        warn(&loaded.warnings);
        print_report(self.json, &report, Report::text)
    }
}

impl Report {
    fn text(&self) -> String {
        let mut text = format!(
            "panel at {:.3} m, {} beams\n  probability  log-likelihood/beam  recorded at  profile\n",
            self.distance_m, self.beams
        );
        for row in &self.materials {
            writeln!(
                text,
                "  {:>11.4} {:>19.3} {:>10.3} m  {} ({})",
                row.probability,
                row.mean_log_likelihood,
                row.recorded_at_m,
                row.profile,
                row.material
            )
            .expect("writing to a string does not fail");
        }
        text
    }
}

//! `etendue experiment`.

mod depth;
mod depth_pictures;
mod depth_tables;
mod figures;
mod report;

use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::print_report;
use clap::{Args, ValueEnum};
use depth::DepthArguments;
use etendue_experiments::arena::{ArenaExperiment, ExperimentEffort, urg_04lx};
use report::Report;
use std::path::PathBuf;

/// Arguments of `etendue experiment`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: etendue experiment localise -o out\n          \
    etendue experiment track-mirror --starts 20 --json\n          \
    etendue experiment localise-complex --noise-mm 10 -o out\n\n\
    The experiments of Heiden et al. 2019, section IV (arXiv:1912.01652), in an arena of \
    1.85 x 0.92 m, without noise and at 3, 10 and 30 mm, with registration baselines with default \
    and with tuned settings. Errors of poses are SE(2) distances, m and rad together.\n\
    corridor and board are those of Agishev et al. 2023 (doi:10.1109/LRA.2023.3287791), simulated \
    with an Ouster OS0-128: the effect of depth correction on held-out maps and on SLAM, and the \
    bias of a rotated board. verdicts trains corrections on many simulated drives and compares the \
    verdicts with the truth; it fails if a usable correction is worse than none.\n\
    Output: the tables as CSV, everything as text (experiment.md), and the figures as SVG and PNG."
)]
pub struct Experiment {
    /// Experiment
    #[arg(value_enum, value_name = "EXPERIMENT")]
    name: Name,
    /// Number of random starts
    #[arg(long, default_value_t = ExperimentEffort::default().starts, value_parser = clap::value_parser!(u32).range(1..))]
    starts: u32,
    /// Number of noise seeds per row of the tables over noise
    #[arg(long, default_value_t = ExperimentEffort::default().seeds, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
    /// Standard deviations of the ranges, mm, one row of the tables each; the first is used for the
    /// pictures and the random starts
    #[arg(long, value_delimiter = ',', value_name = "MM,...", default_values_t = [0.0, 3.0, 10.0, 30.0], value_parser = noise)]
    noise_mm: Vec<f64>,
    #[command(flatten)]
    depth: DepthArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Folder for tables and figures
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Name {
    /// Pose of the sensor in the empty arena
    Localise,
    /// Pose of the sensor among mirrors, a pane and a box
    LocaliseComplex,
    /// Pose of a mirror
    TrackMirror,
    /// Reflectances and bias of the receiver from a striped board
    Checkerboard,
    /// Depth correction in a corridor: maps and SLAM
    Corridor,
    /// Depth bias of a rotated board
    Board,
    /// Verdicts of depth correction over simulated drives, compared with the truth
    Verdicts,
}

fn noise(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    number
        .filter(|mm| (0.0..=1000.0).contains(mm))
        .ok_or_else(|| "expected 0 to 1000 mm".to_owned())
}

impl Name {
    /// Experiment in the arena; `None` for those on depth correction.
    fn in_arena(self) -> Option<ArenaExperiment> {
        Some(match self {
            Self::Localise => ArenaExperiment::Localise,
            Self::LocaliseComplex => ArenaExperiment::LocaliseComplex,
            Self::TrackMirror => ArenaExperiment::TrackMirror,
            Self::Checkerboard => ArenaExperiment::Checkerboard,
            Self::Corridor | Self::Board | Self::Verdicts => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Corridor => "corridor",
            Self::Board => "board",
            Self::Verdicts => "verdicts",
            _ => self.in_arena().map_or("", ArenaExperiment::name),
        }
    }
}

impl Experiment {
    /// Runs the experiment, writes tables and figures, and prints the tables.
    pub fn run(self) -> Result<(), Failure> {
        let (outcome, pictures) = self.outcome()?;
        let report = Report::new(self.name.name(), &outcome);
        if let Some(path) = &self.output {
            let mut folder = Folder::new(path);
            report.add_to(&mut folder)?;
            if pictures.is_empty() {
                figures::add_to(&mut folder, &outcome)?;
            }
            for (name, picture) in &pictures {
                folder.picture(name, picture)?;
            }
            folder.commit_and_list()?;
        }
        print_report(self.json, &report, Report::text)?;
        match self.name {
            Name::Verdicts => depth::check_verdicts(&outcome),
            _ => Ok(()),
        }
    }

    fn outcome(&self) -> depth::Found {
        let effort = ExperimentEffort {
            starts: self.starts,
            seeds: self.seeds,
            noise: self.noise_mm.iter().map(|mm| 1e-3 * mm).collect(),
        };
        match self.name {
            Name::Corridor => depth::corridor(&self.depth),
            Name::Board => depth::board(&self.depth),
            Name::Verdicts => depth::verdicts(&self.depth),
            _ => {
                let experiment = self.name.in_arena();
                let experiment = experiment.unwrap_or(ArenaExperiment::Localise);
                Ok((experiment.run(&urg_04lx(), &effort)?, Vec::new()))
            }
        }
    }
}

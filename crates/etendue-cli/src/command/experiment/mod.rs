//! `etendue experiment`.

mod figures;
mod report;

use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::{print, print_json};
use clap::{Args, ValueEnum};
use etendue::estimate::experiments::{Effort, Experiment as Known, Outcome, urg_04lx};
use report::Report;
use std::path::PathBuf;

/// Arguments of `etendue experiment`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: etendue experiment localise -o out\n          \
    etendue experiment track-mirror --starts 20 --json\n\n\
    The experiments of Heiden et al. 2019, section IV (arXiv:1912.01652), in an arena of \
    1.85 x 0.92 m, without noise and at 3, 10 and 30 mm, beside registration baselines with their \
    default and with tuned settings. Errors of poses are SE(2) distances, m and rad together.\n\
    The folder gets the tables as CSV, all of it as text (experiment.md), and the figures as SVG \
    and PNG."
)]
pub struct Experiment {
    /// Which
    #[arg(value_enum)]
    which: Which,
    /// Random starts
    #[arg(long, default_value_t = Effort::default().starts, value_parser = clap::value_parser!(u32).range(1..))]
    starts: u32,
    /// Seeds of noise in every row of the tables of noise
    #[arg(long, default_value_t = Effort::default().seeds, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Folder for tables and figures
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Which {
    /// The sensor's pose in the empty arena
    Localise,
    /// The same among mirrors, a pane and a box
    LocaliseComplex,
    /// The pose of a mirror
    TrackMirror,
    /// Reflectances and the receiver's bias from a striped board
    Checkerboard,
}

impl Which {
    fn known(self) -> Known {
        match self {
            Self::Localise => Known::Localise,
            Self::LocaliseComplex => Known::LocaliseComplex,
            Self::TrackMirror => Known::TrackMirror,
            Self::Checkerboard => Known::Checkerboard,
        }
    }
}

impl Experiment {
    /// Runs it, prints its tables and writes them with figures.
    pub fn run(self) -> Result<(), Failure> {
        let outcome = self.outcome()?;
        let report = Report::new(self.which.known().name(), &outcome);
        if let Some(path) = &self.output {
            let mut folder = Folder::new(path);
            report.add_to(&mut folder)?;
            figures::add_to(&mut folder, &outcome)?;
            for path in folder.commit()? {
                eprintln!("wrote {}", path.display());
            }
        }
        if self.json {
            print_json(&report)
        } else {
            print(&report.text())
        }
    }

    fn outcome(&self) -> Result<Outcome, Failure> {
        let effort = Effort {
            starts: self.starts,
            seeds: self.seeds,
        };
        Ok(self.which.known().run(&urg_04lx(), effort)?)
    }
}

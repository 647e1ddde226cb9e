//! `etendue experiment`.

mod depth;
mod figures;
mod report;

use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::{print, print_json};
use clap::{Args, ValueEnum};
use etendue_experiments::arena::{Effort, Experiment as Known, urg_04lx};
use report::Report;
use std::path::PathBuf;

/// Arguments of `etendue experiment`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: etendue experiment localise -o out\n          \
    etendue experiment track-mirror --starts 20 --json\n          \
    etendue experiment localise-complex --noise-mm 10 -o out\n\n\
    The experiments of Heiden et al. 2019, section IV (arXiv:1912.01652), in an arena of \
    1.85 x 0.92 m, without noise and at 3, 10 and 30 mm, beside registration baselines with their \
    default and with tuned settings. Errors of poses are SE(2) distances, m and rad together.\n\
    corridor and board are those of Agishev et al. 2023 (doi:10.1109/LRA.2023.3287791), simulated with an Ouster \
    OS0-128: what depth correction does to held-out maps and to SLAM, and the bias of a turned board.\n\
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
    /// Standard deviations of the ranges, mm: one row of the tables each; the first is that of the
    /// pictures and of random starts
    #[arg(long, value_delimiter = ',', value_name = "MM,...", default_values_t = [0.0, 3.0, 10.0, 30.0], value_parser = noise)]
    noise_mm: Vec<f64>,
    /// corridor: stops, in eight sub-sequences; at least 32 but with --export
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(2..))]
    stops: u32,
    /// corridor, board: columns of the lidar
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(64..))]
    columns: u32,
    /// corridor: noise of the poses that are learnt from
    #[arg(long, num_args = 2, value_names = ["M", "DEG"], default_values_t = [0.01, 0.2])]
    pose_noise: Vec<f64>,
    /// corridor: another place to drive through (a scene file or the name of a built-in scene), with
    /// the stops in --trajectory
    #[arg(long, value_name = "SCENE", requires = "trajectory")]
    scene: Option<PathBuf>,
    /// corridor: the stops, a TUM file
    #[arg(long, value_name = "FILE", requires = "scene")]
    trajectory: Option<PathBuf>,
    /// corridor: write the drive, as a sequence that `etendue correct` and `slam` read (scans as
    /// KITTI .bin, the true poses in poses.txt, those with --pose-noise in poses_noisy.txt), and stop
    /// there
    #[arg(long, value_name = "DIR")]
    export: Option<PathBuf>,
    /// corridor --export: put the known bias, with a centimetre of noise, in place of the receiver's
    #[arg(long, requires = "export")]
    known_bias: bool,
    /// board: a depth model that corrects it
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
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
    /// Depth correction in a corridor: maps and SLAM
    Corridor,
    /// The depth bias of a board that is turned
    Board,
}

fn noise(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    number
        .filter(|mm| (0.0..=1000.0).contains(mm))
        .ok_or_else(|| "give millimetres from 0 to 1000".to_owned())
}

impl Which {
    /// The experiment of the library; none of those of depth correction.
    fn known(self) -> Option<Known> {
        Some(match self {
            Self::Localise => Known::Localise,
            Self::LocaliseComplex => Known::LocaliseComplex,
            Self::TrackMirror => Known::TrackMirror,
            Self::Checkerboard => Known::Checkerboard,
            Self::Corridor | Self::Board => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Corridor => "corridor",
            Self::Board => "board",
            _ => self.known().map_or("", Known::name),
        }
    }
}

impl Experiment {
    /// Runs it, prints its tables and writes them with figures.
    pub fn run(self) -> Result<(), Failure> {
        let (outcome, pictures) = self.outcome()?;
        let report = Report::new(self.which.name(), &outcome);
        if let Some(path) = &self.output {
            let mut folder = Folder::new(path);
            report.add_to(&mut folder)?;
            if pictures.is_empty() {
                figures::add_to(&mut folder, &outcome)?;
            }
            for (name, picture) in &pictures {
                folder.picture(name, picture)?;
            }
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

    fn outcome(&self) -> depth::Found {
        let effort = Effort {
            starts: self.starts,
            seeds: self.seeds,
            noise: self.noise_mm.iter().map(|mm| 1e-3 * mm).collect(),
        };
        match self.which {
            Which::Corridor => depth::corridor(self),
            Which::Board => depth::board(self),
            _ => {
                let known = self.which.known().unwrap_or(Known::Localise);
                Ok((known.run(&urg_04lx(), &effort)?, Vec::new()))
            }
        }
    }
}

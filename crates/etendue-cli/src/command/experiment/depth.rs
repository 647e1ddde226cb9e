//! Experiments on depth correction.

use super::depth_pictures::{bias_curves, board_chart, side, trajectories};
use super::depth_tables::{
    KNOWN_BIAS, MISLEADING, SWEEPS, bias_table, board_table, first_split, loss_table, mean,
    mean_table, names, split_table, verdict_table,
};
use crate::command::correct::pictures::masks;
use crate::failure::Failure;
use crate::output::commit;
use crate::sequence::bar;
use crate::source;
use clap::Args;
use etendue::calibrate::depth::{DepthLoss, DepthMap, DepthMapOptions, DepthModel, PolynomialBias};
use etendue::config::depth_model;
use etendue::config::sensor::preset;
use etendue::io::output::OutputSet;
use etendue::io::sequence::read_poses;
use etendue::io::trajectory::kitti_text;
use etendue::scene::Scene;
use etendue::sensors::lidar::{Columns, Lidar, ScanPattern};
use etendue_experiments::arena::ExperimentResults;
use etendue_experiments::depth::board;
use etendue_experiments::depth::corridor::{
    self, AS_BUILT, CorridorBias, CorridorDrive, CorridorSettings, ExperimentError, LossRow, ROWS,
    STOPS_OF_LOSSES, SplitRow, bias_by_incidence, drive, losses, splits, verdict_cases,
};
use etendue_experiments::depth::{corridor_scene, stops};
use etendue_plot::Drawing;
use nalgebra::Isometry3;
use std::path::{Path, PathBuf};

/// Arguments of the experiments on depth correction.
#[derive(Debug, Args)]
pub struct DepthArguments {
    /// corridor, verdicts: number of stops; the corridor has eight sub-sequences and needs at least 32
    /// unless with --export, the verdicts use a quarter for the truth
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(2..))]
    stops: u32,
    /// corridor, board, verdicts: columns per sweep of the lidar
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(64..))]
    columns: u32,
    /// corridor: noise of the poses used for learning
    #[arg(long, num_args = 2, value_names = ["M", "DEG"], default_values_t = [0.01, 0.2])]
    pose_noise: Vec<f64>,
    /// corridor: another scene (a file or the name of a built-in scene), with the stops in
    /// --trajectory
    #[arg(long, value_name = "SCENE", requires = "trajectory")]
    scene: Option<PathBuf>,
    /// corridor: poses of the stops, a TUM file
    #[arg(long, value_name = "FILE", requires = "scene")]
    trajectory: Option<PathBuf>,
    /// corridor: only write the drive as a sequence for `etendue correct` and `slam` (scans as KITTI
    /// .bin, the true poses in poses.txt, those with --pose-noise in poses_noisy.txt)
    #[arg(long, value_name = "DIR")]
    export: Option<PathBuf>,
    /// corridor --export: a known bias with noise of 1 cm instead of that of the receiver
    #[arg(long, requires = "export")]
    known_bias: bool,
    /// corridor: seed of all noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// verdicts: number of simulated drives
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    drives: u32,
    /// board: depth model for a correction
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
}

/// Outcome of an experiment with its pictures by name.
pub type Found = Result<(ExperimentResults, Vec<(&'static str, Drawing)>), Failure>;

/// Standard deviation of the depths with the known bias, m.
const NOISE: f64 = 0.01;
/// Smallest number of stops for eight sub-sequences.
const FEWEST_STOPS: usize = 32;
/// Titles of the tables of means.
const HELD_OUT: &str =
    "Means over the splits, SLAM over the held-out stops only (Table II of Agishev et al. 2023)";
const WHOLE: &str = "Means over the splits, SLAM through the whole corridor";

/// Experiment in the corridor: a known bias with each loss, then the bias of the receiver in four
/// splits.
pub fn corridor(arguments: &DepthArguments) -> Found {
    // Lidar, scene, stops and settings
    let corridor = Corridor::of(arguments)?;
    if let Some(folder) = &arguments.export {
        return corridor.export(folder, arguments.known_bias);
    }
    if corridor.stops.len() < FEWEST_STOPS {
        return Err(Failure::argument(
            format!(
                "{} stops are too few for eight sub-sequences",
                corridor.stops.len()
            ),
            format!("give at least {FEWEST_STOPS}, or --export fewer"),
        ));
    }

    // Known bias with each loss
    let by_loss = corridor.losses()?;

    // Bias of the receiver
    let drive = corridor.drive(&corridor.settings)?;
    let progress = bar("learning and mapping", ROWS);
    let Corridor {
        scene,
        lidar,
        settings,
        ..
    } = &corridor;
    let rows = splits(scene, lidar, &drive, settings, &mut || progress.inc(1))?;
    progress.finish_and_clear();

    // Bias over incidence, of the receiver and of the models
    let every_scan: Vec<usize> = (0..drive.scans.len()).collect();
    let learnt: Vec<&DepthModel> = first_split(&rows)
        .filter_map(|row| row.model.as_ref())
        .collect();
    let bins = bias_by_incidence(&drive, &every_scan, &learnt);

    // Pictures and tables
    let pictures = vec![
        ("masks", picture_of_masks(&drive)?),
        ("bias", bias_curves(&bins, &rows)),
        ("trajectories", trajectories(&drive, &rows)),
        ("side", side(&drive, &rows)),
    ];
    let outcome = ExperimentResults {
        tables: vec![
            loss_table(&by_loss),
            bias_table(&bins, &rows),
            split_table(&rows),
            mean_table(&rows, HELD_OUT, |row| row.held_out),
            mean_table(&rows, WHOLE, |row| row.whole),
        ],
        remarks: remarks(&by_loss, &rows),
        ..ExperimentResults::default()
    };
    Ok((outcome, pictures))
}

/// Inputs of the experiment in the corridor.
struct Corridor {
    lidar: Lidar,
    scene: Scene,
    /// True poses of the stops, world from lidar.
    stops: Vec<Isometry3<f64>>,
    /// Settings with the bias of the receiver.
    settings: CorridorSettings,
}

impl Corridor {
    fn of(arguments: &DepthArguments) -> Result<Self, Failure> {
        let (scene, stops) = scene_and_stops(arguments)?;
        let pose_noise = [
            arguments.pose_noise[0],
            arguments.pose_noise[1].to_radians(),
        ];
        let settings = CorridorSettings {
            stops: stops.len(),
            pose_noise,
            seed: arguments.seed,
            ..CorridorSettings::default()
        };
        Ok(Self {
            lidar: os0(arguments.columns)?,
            scene,
            stops,
            settings,
        })
    }

    /// Settings with a known bias instead of that of the receiver.
    fn settings_with_known_bias(&self) -> CorridorSettings {
        CorridorSettings {
            bias: CorridorBias::Known(known_bias(), NOISE),
            ..self.settings.clone()
        }
    }

    /// Scans at all stops.
    fn drive(&self, settings: &CorridorSettings) -> Result<CorridorDrive, Failure> {
        let progress = bar("scanning", self.stops.len());
        let mut advance = || progress.inc(1);
        let drive = drive(
            &self.scene,
            &self.lidar,
            &self.stops,
            settings,
            &mut advance,
        )?;
        progress.finish_and_clear();
        Ok(drive)
    }

    /// Results of each loss for a known bias, at the first stops.
    fn losses(&self) -> Result<Vec<LossRow>, Failure> {
        let first = &self.stops[..STOPS_OF_LOSSES.min(self.stops.len())];
        let settings = self.settings_with_known_bias();
        let distorted = drive(&self.scene, &self.lidar, first, &settings, &mut || {})?;
        Ok(losses(&distorted, &known_bias())?)
    }

    /// Writes the drive as a sequence of files.
    fn export(&self, folder: &Path, with_known_bias: bool) -> Found {
        // Simulate
        let drive = if with_known_bias {
            self.drive(&self.settings_with_known_bias())?
        } else {
            self.drive(&self.settings)?
        };

        // Scans
        let mut outputs = OutputSet::new();
        for (number, scan) in drive.scans.iter().enumerate() {
            let path = folder.join(format!("scan{number:04}.bin"));
            let numbers = scan.iter().flat_map(|p| [p.x, p.y, p.z, 0.0]);
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the precision of the format"
            )]
            let bytes: Vec<u8> = numbers.flat_map(|v| (v as f32).to_le_bytes()).collect();
            outputs.add(&path, |file| file.write_all(&bytes))?;
        }

        // Poses
        for (name, poses) in [
            ("poses.txt", &drive.truth),
            ("poses_noisy.txt", &drive.noisy),
        ] {
            let text = kitti_text(poses);
            outputs.add(&folder.join(name), |file| file.write_all(text.as_bytes()))?;
        }

        // Outcome without tables
        let written = commit(outputs)?.len();
        let remark = format!("{written} files in {}", folder.display());
        let outcome = ExperimentResults {
            remarks: vec![remark],
            ..ExperimentResults::default()
        };
        Ok((outcome, Vec::new()))
    }
}

fn known_bias() -> DepthModel {
    DepthModel::Polynomial(PolynomialBias::plain(KNOWN_BIAS))
}

/// Masks of the neighbourhoods at the first stops.
fn picture_of_masks(drive: &CorridorDrive) -> Result<Drawing, Failure> {
    let first = STOPS_OF_LOSSES.min(drive.scans.len());
    let map = DepthMap::build(
        &drive.scans[..first],
        &drive.truth[..first],
        &DepthMapOptions::sparse(),
    )
    .map_err(ExperimentError::from)?;
    Ok(masks(&map, &map.measured_points()))
}

/// Experiment with a rotated board.
pub fn board(arguments: &DepthArguments) -> Found {
    let lidar = os0(arguments.columns)?;
    let learnt = arguments
        .model
        .as_deref()
        .map(depth_model::load)
        .transpose()?;
    let model = learnt.as_ref().map(|l| &l.model);
    let progress = bar("rotating the board", board::ANGLES);
    let rows = board::run(&lidar, model, SWEEPS, 1, &mut || progress.inc(1))?;
    progress.finish_and_clear();
    let outcome = ExperimentResults {
        tables: vec![board_table(&lidar.name, &rows)],
        ..ExperimentResults::default()
    };
    Ok((outcome, vec![("board", board_chart(&rows))]))
}

/// Verdicts on corrections of many drives, compared with the truth.
pub fn verdicts(arguments: &DepthArguments) -> Found {
    let lidar = os0(arguments.columns)?;
    let (scene, stops) = scene_and_stops(arguments)?;
    let cases = verdict_cases(u64::from(arguments.drives));
    let progress = bar("driving and learning", cases.len());
    let rows = corridor::verdicts(&scene, &lidar, &stops, &cases, &mut || progress.inc(1))?;
    progress.finish_and_clear();
    let usable = rows.iter().filter(|row| row.tested.verdict.is_usable());
    let outcome = ExperimentResults {
        remarks: vec![format!(
            "{} models of {} drives: {} usable, of which {} are worse than no correction.",
            rows.len(),
            cases.len(),
            usable.count(),
            rows.iter().filter(|row| row.is_misleading()).count()
        )],
        tables: vec![verdict_table(&rows)],
        ..ExperimentResults::default()
    };
    Ok((outcome, Vec::new()))
}

/// Fails if a usable model is worse than no correction.
pub fn check_verdicts(outcome: &ExperimentResults) -> Result<(), Failure> {
    let rows = outcome.tables.iter().flat_map(|table| &table.rows);
    let misleading = rows
        .filter(|row| row.last() == Some(&MISLEADING.into()))
        .count();
    if misleading == 0 {
        return Ok(());
    }
    Err(Failure::usage(
        format!("{misleading} models are called usable, but are worse than no correction"),
        "the tests of the training are not strict enough: see the last column",
    ))
}

/// OS0-128 with a number of columns per sweep.
fn os0(columns: u32) -> Result<Lidar, Failure> {
    let mut lidar = preset("ouster-os0-128")?.lidar;
    if let ScanPattern::Spinning(spinning) = &mut lidar.pattern {
        spinning.columns = Columns::PerSweep {
            columns,
            fired: None,
        };
    }
    Ok(lidar)
}

/// Scene and true poses of the stops.
fn scene_and_stops(arguments: &DepthArguments) -> Result<(Scene, Vec<Isometry3<f64>>), Failure> {
    if let (Some(scene), Some(trajectory)) = (&arguments.scene, &arguments.trajectory) {
        let scene = source::scene(Some(scene))?.scene;
        return Ok((scene, read_poses(trajectory)?.1));
    }
    let scene = corridor_scene().expect("the built-in corridor is a scene");
    Ok((scene, stops(arguments.stops as usize)))
}

/// Conclusions from the results.
fn remarks(by_loss: &[LossRow], rows: &[SplitRow]) -> Vec<String> {
    let trace = by_loss.iter().find(|row| row.loss == DepthLoss::Trace);
    let mut remarks = Vec::new();
    if let Some(row) = trace {
        remarks.push(format!(
            "The trace fell by {:.1} %, with {:.1} mm rms error of the bias curve: a lower loss \
             does not prove a better model.",
            row.reduction * 1e2,
            row.curve_rms * 1e3
        ));
    }
    let learnt = names(rows)
        .into_iter()
        .filter(|name| !["none", AS_BUILT].contains(name));
    let maps = learnt.map(|name| (mean(rows, name, |r| r.map_rms), name));
    if let Some((best, name)) = maps.min_by(|a, b| a.0.total_cmp(&b.0)) {
        remarks.push(format!(
            "Held-out map: {:.2} mm without correction, {:.2} mm with the {name} model, the best of \
             those learnt.",
            mean(rows, "none", |r| r.map_rms) * 1e3,
            best * 1e3,
        ));
    }
    remarks
}

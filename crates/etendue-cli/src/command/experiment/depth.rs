//! The experiments of depth correction.

use super::Experiment;
use crate::command::correct::pictures::masks;
use crate::failure::Failure;
use crate::sequence::bar;
use crate::source;
use crate::view::layers::{Layer, LayerPanels};
use etendue::calibrate::depth::{DepthLoss, DepthMap, DepthModel, Polynomial, correct_scan};
use etendue::config::depth_model;
use etendue::config::sensor::{SensorModel, preset};
use etendue::estimate::geometry::CellOptions;
use etendue::io::output::OutputSet;
use etendue::io::sequence::read_poses;
use etendue::io::trajectory::kitti_text;
use etendue::scene::Scene;
use etendue::sensors::lidar::{Columns, Lidar, ScanPattern};
use etendue_experiments::arena::{Cell, Outcome, Table};
use etendue_experiments::depth::board::{self, BoardRow};
use etendue_experiments::depth::corridor::{
    AS_BUILT, Bias, BiasBin, Drift, Drive, ExperimentError, LossRow, Poses, ROWS, STOPS_OF_LOSSES,
    Settings, SplitRow, bias_by_incidence, drive, losses, map_options, splits,
};
use etendue_experiments::depth::{corridor_scene, stops};
use etendue_plot::{Axis, Color, Drawing, Figure, Plot, palette};
use nalgebra::{Isometry3, Vector3};
use std::path::Path;

/// An outcome with its pictures.
pub type Found = Result<(Outcome, Vec<(&'static str, Drawing)>), Failure>;

/// The bias that is put in where it is known.
const KNOWN: [f64; 2] = [0.004, 0.008];
/// Standard deviation of its depths, m.
const NOISE: f64 = 0.01;
/// Fewest stops that are split into eight sub-sequences.
const FEWEST_STOPS: usize = 32;
/// Titles of the tables of means.
const HELD_OUT: &str =
    "Means over the splits, SLAM over the held-out stops alone (Table II of Agishev et al. 2023)";
const WHOLE: &str = "Means over the splits, SLAM through the whole corridor";
/// Sweeps at each angle of the board.
const SWEEPS: u32 = 4;

/// The corridor: a known bias with each loss, then the receiver's bias in four splits.
pub fn corridor(asked: &Experiment) -> Found {
    let scanner = os0(asked.columns)?;
    let (scene, truth) = place(asked)?;
    let noise = [asked.pose_noise[0], asked.pose_noise[1].to_radians()];
    let settings = Settings {
        stops: truth.len(),
        pose_noise: noise,
        ..Settings::default()
    };
    let known = DepthModel::Polynomial(Polynomial::plain(KNOWN));
    let of_known = Settings {
        bias: Bias::Known(known.clone(), NOISE),
        ..settings.clone()
    };
    if let Some(folder) = &asked.export {
        let settings = if asked.known_bias {
            &of_known
        } else {
            &settings
        };
        return export(folder, &scene, &scanner, &truth, settings);
    }
    if truth.len() < FEWEST_STOPS {
        return Err(Failure::Usage {
            message: format!("{} stops are too few for eight sub-sequences", truth.len()),
            remedy: format!("give at least {FEWEST_STOPS}, or --export fewer"),
        });
    }
    let first = &truth[..STOPS_OF_LOSSES.min(truth.len())];
    let distorted = drive(&scene, &scanner, first, &of_known, &mut || {})?;
    let by_loss = losses(&distorted, &known)?;
    let progress = bar("scanning", truth.len());
    let drive = drive(&scene, &scanner, &truth, &settings, &mut || progress.inc(1))?;
    progress.finish_and_clear();
    let progress = bar("learning and mapping", ROWS);
    let rows = splits((&scene, &scanner), &drive, &settings, &mut || {
        progress.inc(1);
    })?;
    progress.finish_and_clear();
    let first = STOPS_OF_LOSSES.min(drive.scans.len());
    let seen_by_masks =
        DepthMap::build(&drive.scans[..first], &drive.truth[..first], &map_options())
            .map_err(ExperimentError::from)?;
    let everything: Vec<usize> = (0..drive.scans.len()).collect();
    let learnt: Vec<&DepthModel> = first_split(&rows)
        .filter_map(|row| row.model.as_ref())
        .collect();
    let bins = bias_by_incidence(&drive, &everything, &learnt);
    let pictures = vec![
        (
            "masks",
            masks(&seen_by_masks, &seen_by_masks.measured_points()),
        ),
        ("bias", curves(&bins, &rows)),
        ("trajectories", trajectories(&drive, &rows)),
        ("side", side(&drive, &rows)),
    ];
    let outcome = Outcome {
        tables: vec![
            loss_table(&by_loss),
            bias_table(&bins, &rows),
            split_table(&rows),
            mean_table(&rows, HELD_OUT, |row| row.held_out),
            mean_table(&rows, WHOLE, |row| row.whole),
        ],
        curves: Vec::new(),
        remarks: remarks(&by_loss, &rows),
        ..Outcome::default()
    };
    Ok((outcome, pictures))
}

/// The drive as files.
fn export(
    folder: &Path,
    scene: &Scene,
    scanner: &Lidar,
    truth: &[Isometry3<f64>],
    settings: &Settings,
) -> Found {
    let progress = bar("scanning", truth.len());
    let drive = drive(scene, scanner, truth, settings, &mut || progress.inc(1))?;
    progress.finish_and_clear();
    let _guard = crate::interrupt::writing();
    let mut outputs = OutputSet::new();
    for (number, scan) in drive.scans.iter().enumerate() {
        let path = folder.join(format!("scan{number:04}.bin"));
        let numbers = scan.iter().flat_map(|p| [p.x, p.y, p.z, 0.0]);
        #[expect(clippy::cast_possible_truncation, reason = "the format's precision")]
        let bytes: Vec<u8> = numbers.flat_map(|v| (v as f32).to_le_bytes()).collect();
        outputs.add(&path, |file| file.write_all(&bytes))?;
    }
    for (name, poses) in [
        ("poses.txt", &drive.truth),
        ("poses_noisy.txt", &drive.noisy),
    ] {
        let text = kitti_text(poses);
        outputs.add(&folder.join(name), |file| file.write_all(text.as_bytes()))?;
    }
    let written = outputs.commit()?.len();
    let remark = format!("{written} files in {}", folder.display());
    let outcome = Outcome {
        remarks: vec![remark],
        ..Outcome::default()
    };
    Ok((outcome, Vec::new()))
}

/// The turned board.
pub fn board(asked: &Experiment) -> Found {
    let scanner = os0(asked.columns)?;
    let learnt = asked.model.as_deref().map(depth_model::load).transpose()?;
    let model = learnt.as_ref().map(|l| &l.model);
    let progress = bar("turning", board::ANGLES);
    let rows = board::run(&scanner, model, SWEEPS, 1, &mut || progress.inc(1))?;
    progress.finish_and_clear();
    let mut table = Table::new(
        format!(
            "{}: a board of 0.5 x 1.15 m, {SWEEPS} sweeps an angle",
            scanner.name
        ),
        &[
            "side",
            "distance, m",
            "incidence, deg",
            "points",
            "behind the face, mm",
            "depth error, mm",
            "corrected, mm",
        ],
    );
    for row in &rows {
        table.push(vec![
            row.side.into(),
            row.distance.into(),
            row.angle.to_degrees().round().into(),
            row.points.into(),
            (row.offset * 1e3).into(),
            (row.depth_error * 1e3).into(),
            row.corrected
                .map_or(Cell::Text("-".into()), |c| (c * 1e3).into()),
        ]);
    }
    let outcome = Outcome {
        tables: vec![table],
        ..Outcome::default()
    };
    Ok((outcome, vec![("board", board_chart(&rows))]))
}

fn os0(columns: u32) -> Result<Lidar, Failure> {
    let SensorModel::Scanner(mut scanner) = preset("ouster-os0-128")?.model else {
        unreachable!("the OS0 is a scanning lidar");
    };
    if let ScanPattern::Spinning(spinning) = &mut scanner.pattern {
        spinning.columns = Columns::PerSweep {
            columns,
            fired: None,
        };
    }
    Ok(scanner)
}

fn place(asked: &Experiment) -> Result<(Scene, Vec<Isometry3<f64>>), Failure> {
    if let (Some(scene), Some(trajectory)) = (&asked.scene, &asked.trajectory) {
        let scene = source::scene(Some(scene))?.scene;
        return Ok((scene, read_poses(trajectory)?.1));
    }
    let scene = corridor_scene().expect("the built-in corridor is a scene");
    Ok((scene, stops(asked.stops as usize)))
}

fn loss_table(rows: &[LossRow]) -> Table {
    let mut table = Table::new(
        format!(
            "A known bias {} g^2 + {} g^4 with 1 cm of noise, from {STOPS_OF_LOSSES} stops",
            KNOWN[0], KNOWN[1]
        ),
        &["loss", "poses", "loss fell by, %", "bias curve rms, mm"],
    );
    for row in rows {
        let poses = match row.poses {
            Poses::True => "true",
            Poses::Noisy => "noisy, taken as they are",
            Poses::Learnt => "noisy, learnt too",
        };
        table.push(vec![
            format!("{:?}", row.loss).as_str().into(),
            poses.into(),
            (row.fell * 1e2).into(),
            (row.curve_rms * 1e3).into(),
        ]);
    }
    table
}

fn split_table(rows: &[SplitRow]) -> Table {
    let mut table = Table::new(
        "The receiver's bias: four splits",
        &[
            "split",
            "correction",
            "bias left, mm",
            "held-out map rms, mm",
            "held-out SLAM, deg",
            "held-out SLAM, mm",
            "whole corridor, deg",
            "whole corridor, mm",
        ],
    );
    for row in rows {
        table.push(vec![
            row.split.into(),
            row.name.into(),
            (row.bias_left * 1e3).into(),
            (row.map_rms * 1e3).into(),
            row.held_out.rotation.to_degrees().into(),
            (row.held_out.translation * 1e3).into(),
            row.whole.rotation.to_degrees().into(),
            (row.whole.translation * 1e3).into(),
        ]);
    }
    table
}

/// Means over the splits of a column.
fn mean(rows: &[SplitRow], name: &str, column: impl Fn(&SplitRow) -> f64) -> f64 {
    let of_name = rows.iter().filter(|row| row.name == name).map(column);
    let (sum, count) = of_name.fold((0.0, 0.0), |(s, n), v| (s + v, n + 1.0));
    sum / count
}

/// The names of the rows of one split, in order.
fn names(rows: &[SplitRow]) -> Vec<&'static str> {
    rows.iter()
        .filter(|row| row.split == 0)
        .map(|row| row.name)
        .collect()
}

/// Drift of SLAM over some stops, by what is taken off the scans.
fn mean_table(rows: &[SplitRow], title: &str, of: impl Fn(&SplitRow) -> Drift) -> Table {
    let mut table = Table::new(
        title,
        &[
            "correction",
            "bias left, mm",
            "held-out map rms, mm",
            "rotation, deg",
            "translation, mm",
            "rotation better by, %",
            "translation better by, %",
        ],
    );
    let rotation = |row: &SplitRow| of(row).rotation;
    let translation = |row: &SplitRow| of(row).translation;
    for name in names(rows) {
        table.push(vec![
            name.into(),
            (mean(rows, name, |r| r.bias_left) * 1e3).into(),
            (mean(rows, name, |r| r.map_rms) * 1e3).into(),
            mean(rows, name, rotation).to_degrees().into(),
            (mean(rows, name, translation) * 1e3).into(),
            better(rows, name, rotation).into(),
            better(rows, name, translation).into(),
        ]);
    }
    table
}

/// By how much a column's mean is below that without correction, %.
fn better(rows: &[SplitRow], name: &str, column: impl Fn(&SplitRow) -> f64) -> f64 {
    100.0 * (1.0 - mean(rows, name, &column) / mean(rows, "none", &column))
}

fn remarks(by_loss: &[LossRow], rows: &[SplitRow]) -> Vec<String> {
    let trace = by_loss.iter().find(|row| row.loss == DepthLoss::Trace);
    let mut remarks = Vec::new();
    if let Some(row) = trace {
        remarks.push(format!(
            "The trace fell by {:.1} % and left the bias {:.1} mm off: a lower loss proves nothing.",
            row.fell * 1e2,
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

const COLORS: [Color; 5] = [
    Color::hex(0xD0021B),
    Color::hex(0x0072B2),
    Color::hex(0x009E73),
    Color::hex(0xE69F00),
    Color::hex(0xCC79A7),
];

fn first_split(rows: &[SplitRow]) -> impl Iterator<Item = &SplitRow> {
    rows.iter().filter(|row| row.split == 0)
}

/// The true bias over true incidences beside what the models of the first split take off.
fn curves(bins: &[BiasBin], rows: &[SplitRow]) -> Drawing {
    let line = |of: &dyn Fn(&BiasBin) -> f64| -> Vec<[f64; 2]> {
        let seen = bins.iter().filter(|bin| bin.readings >= FEWEST);
        seen.map(|bin| [bin.incidence.to_degrees(), of(bin) * 1e3])
            .collect()
    };
    let mut lines = vec![("true".to_owned(), line(&|bin| bin.truth))];
    let learnt = first_split(rows).filter(|row| row.model.is_some());
    for (number, row) in learnt.enumerate() {
        lines.push((row.name.to_owned(), line(&|bin| bin.taken_off[number])));
    }
    let y = Axis::new("mean over the measurements of planes, mm");
    let mut plot = Plot::new(Axis::new("incidence, degrees"), y);
    plot.add_marked_curves(lines);
    Figure::new("Bias of the receiver, and correction by each model (first split)")
        .with_plot(plot)
        .draw()
}

/// Bins with fewer readings are not drawn.
const FEWEST: usize = 50;

fn bias_table(bins: &[BiasBin], rows: &[SplitRow]) -> Table {
    let learnt = first_split(rows).filter(|row| row.model.is_some());
    let mut columns = vec!["incidence, deg", "readings", "true bias, mm"];
    columns.extend(learnt.map(|row| row.name));
    let mut table = Table::new(
        "The receiver's bias by incidence: means over readings on planes, and what the models of the \
         first split take off, mm",
        &columns,
    );
    for bin in bins.iter().filter(|bin| bin.readings >= FEWEST) {
        let mut cells: Vec<Cell> = vec![
            bin.incidence.to_degrees().into(),
            bin.readings.into(),
            (bin.truth * 1e3).into(),
        ];
        cells.extend(bin.taken_off.iter().map(|taken| Cell::from(taken * 1e3)));
        table.push(cells);
    }
    table
}

/// How far each pose is from the first, m.
fn from_first(poses: &[Isometry3<f64>]) -> Vec<f64> {
    let first = poses
        .first()
        .map_or_else(Vector3::zeros, |p| p.translation.vector);
    let away = |pose: &Isometry3<f64>| (pose.translation.vector - first).norm();
    poses.iter().map(away).collect()
}

/// Errors of the trajectories of the first split in the lidar's axes.
fn trajectories(drive: &Drive, rows: &[SplitRow]) -> Drawing {
    let way = from_first(&drive.truth);
    let panel = |axis: usize| -> Vec<Layer> {
        let of_row = |(row, color): (&SplitRow, Color)| {
            let both = row.trajectory.iter().zip(&drive.truth).zip(&way);
            let points = both.map(|((e, t), way)| {
                let off = t.rotation.inverse() * (e.translation.vector - t.translation.vector);
                [*way, off[axis] * 1e3]
            });
            Layer::line(row.name, color, points.collect())
        };
        first_split(rows).zip(COLORS).map(of_row).collect()
    };
    LayerPanels {
        title: "Drift of SLAM through the corridor",
        subtitle: "error of the position beside the truth, first split",
        axes: ["from the first stop, m", "error, mm"],
        to_scale: false,
        panels: vec![
            ("forward".into(), panel(0)),
            ("to the left".into(), panel(1)),
            ("upwards".into(), panel(2)),
        ],
    }
    .draw()
}

/// The map from the side, by SLAM without correction and with the last model.
fn side(drive: &Drive, rows: &[SplitRow]) -> Drawing {
    let ends = [drive.truth.first(), drive.truth.last()];
    let [start, end] = ends.map(|p| p.map_or_else(Vector3::zeros, |p| p.translation.vector));
    let along = (end - start).try_normalize(0.0).unwrap_or(Vector3::x());
    let panel = |row: &SplitRow, color| {
        let cells = CellOptions::default();
        let nothing = DepthModel::Polynomial(Polynomial::plain([0.0; 2]));
        let model = row.model.as_ref().unwrap_or(&nothing);
        let mut points = Vec::new();
        for (scan, pose) in drive.scans.iter().zip(&row.trajectory) {
            let corrected = correct_scan(scan, model, &cells);
            points.extend(corrected.points.iter().step_by(97).map(|p| {
                let placed = pose * p;
                [(placed.coords - start).dot(&along), placed.z]
            }));
        }
        let truth = drive.truth.iter().map(|p| {
            let way = (p.translation.vector - start).dot(&along);
            [way, p.translation.z]
        });
        vec![
            Layer::points(row.name, color, points),
            Layer::line("true trajectory", palette::INK, truth.collect()),
        ]
    };
    let mut panels = Vec::new();
    if let Some(row) = first_split(rows).next() {
        panels.push(("without correction".into(), panel(row, COLORS[0])));
    }
    if let Some(row) = first_split(rows).filter(|row| row.name != AS_BUILT).last() {
        panels.push((format!("corrected: {}", row.name), panel(row, COLORS[1])));
    }
    LayerPanels {
        title: "The corridor from the side, as SLAM maps it",
        subtitle: "heights are stretched",
        axes: ["along the way, m", "height, m"],
        to_scale: false,
        panels,
    }
    .draw()
}

fn board_chart(rows: &[BoardRow]) -> Drawing {
    let mut lines: Vec<(String, Vec<[f64; 2]>)> = Vec::new();
    for row in rows {
        let name = format!("{}, {} m", row.side, row.distance);
        let point = [row.angle.to_degrees(), row.depth_error * 1e3];
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => lines.push((name, vec![point])),
        }
    }
    let y = Axis::new("mean depth error, mm");
    let mut plot = Plot::new(Axis::new("incidence, degrees"), y);
    plot.add_marked_curves(lines);
    Figure::new("Depth error of a rotated board")
        .with_plot(plot)
        .draw()
}

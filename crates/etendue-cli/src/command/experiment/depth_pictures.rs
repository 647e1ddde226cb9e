//! Pictures of the experiments on depth correction.

use super::depth_tables::{FEWEST_READINGS, first_split};
use crate::view::layers::{LayerPanels, PanelLayer};
use etendue::calibrate::depth::{DepthModel, PolynomialBias, correct_scan};
use etendue::estimate::geometry::CellOptions;
use etendue_experiments::depth::board::BoardErrorRow;
use etendue_experiments::depth::corridor::{AS_BUILT, BiasBin, CorridorDrive, SplitRow};
use etendue_plot::{Axis, Color, Drawing, Figure, Plot, palette};
use nalgebra::{Isometry3, Vector3};

/// Colours of the corrections.
const COLORS: [Color; 5] = [
    Color::hex(0xD0021B),
    Color::hex(0x0072B2),
    Color::hex(0x009E73),
    Color::hex(0xE69F00),
    Color::hex(0xCC79A7),
];

/// Step between the drawn points of a scan.
const POINT_STEP: usize = 97;

/// True bias over true incidences, and the corrections by the models of the first split.
pub fn bias_curves(bins: &[BiasBin], rows: &[SplitRow]) -> Drawing {
    let line = |of: &dyn Fn(&BiasBin) -> f64| -> Vec<[f64; 2]> {
        let seen = bins.iter().filter(|bin| bin.readings >= FEWEST_READINGS);
        seen.map(|bin| [bin.incidence.to_degrees(), of(bin) * 1e3])
            .collect()
    };
    let mut lines = vec![("true".to_owned(), line(&|bin| bin.truth))];
    let learnt = first_split(rows).filter(|row| row.model.is_some());
    for (number, row) in learnt.enumerate() {
        lines.push((row.name.to_owned(), line(&|bin| bin.corrections[number])));
    }
    let y = Axis::new("mean over the measurements of planes, mm");
    let mut plot = Plot::new(Axis::new("incidence, degrees"), y);
    plot.add_marked_curves(lines);
    Figure::new("Bias of the receiver, and correction by each model (first split)")
        .with_plot(plot)
        .draw()
}

/// Distance of each pose from the first, m.
fn distances_from_first(poses: &[Isometry3<f64>]) -> Vec<f64> {
    let first = poses
        .first()
        .map_or_else(Vector3::zeros, |p| p.translation.vector);
    let away = |pose: &Isometry3<f64>| (pose.translation.vector - first).norm();
    poses.iter().map(away).collect()
}

/// Errors of the trajectories of the first split along the axes of the lidar.
pub fn trajectories(drive: &CorridorDrive, rows: &[SplitRow]) -> Drawing {
    // Errors of each trajectory along one axis of the lidar, over the distance driven
    let distances = distances_from_first(&drive.truth);
    let panel = |axis: usize| -> Vec<PanelLayer> {
        let of_row = |(row, color): (&SplitRow, Color)| {
            let both = row.trajectory.iter().zip(&drive.truth).zip(&distances);
            let points = both.map(|((estimate, truth), distance)| {
                let error = estimate.translation.vector - truth.translation.vector;
                [*distance, (truth.rotation.inverse() * error)[axis] * 1e3]
            });
            PanelLayer::line(row.name, color, points.collect())
        };
        first_split(rows).zip(COLORS).map(of_row).collect()
    };

    // One panel per axis
    LayerPanels {
        title: "Drift of SLAM through the corridor",
        subtitle: "position error, first split",
        axes: ["distance from the first stop, m", "error, mm"],
        to_scale: false,
        panels: vec![
            ("forward".into(), panel(0)),
            ("to the left".into(), panel(1)),
            ("upwards".into(), panel(2)),
        ],
    }
    .draw()
}

/// Map from the side by SLAM, without correction and with the last model.
pub fn side(drive: &CorridorDrive, rows: &[SplitRow]) -> Drawing {
    // First and last row of the first split
    let side_view = SideView::of(&drive.truth);
    let mut panels = Vec::new();
    if let Some(row) = first_split(rows).next() {
        let layers = side_view.layers(drive, row, COLORS[0]);
        panels.push(("without correction".into(), layers));
    }
    if let Some(row) = first_split(rows).filter(|row| row.name != AS_BUILT).last() {
        let layers = side_view.layers(drive, row, COLORS[1]);
        panels.push((format!("corrected: {}", row.name), layers));
    }

    // Draw
    LayerPanels {
        title: "The corridor from the side, as SLAM maps it",
        subtitle: "vertical scale exaggerated",
        axes: ["along the corridor, m", "height, m"],
        to_scale: false,
        panels,
    }
    .draw()
}

/// Vertical plane through the corridor.
struct SideView {
    /// Position of the first stop, m.
    start: Vector3<f64>,
    /// Horizontal axis of the view: direction from the first to the last stop.
    along: Vector3<f64>,
}

impl SideView {
    fn of(trajectory: &[Isometry3<f64>]) -> Self {
        let position = |pose: Option<&Isometry3<f64>>| {
            pose.map_or_else(Vector3::zeros, |pose| pose.translation.vector)
        };
        let start = position(trajectory.first());
        let end = position(trajectory.last());
        let along = (end - start).try_normalize(0.0).unwrap_or(Vector3::x());
        Self { start, along }
    }

    /// Distance along the corridor and height, m.
    fn project(&self, position: &Vector3<f64>) -> [f64; 2] {
        [(position - self.start).dot(&self.along), position.z]
    }

    /// Map of a row, thinned, and the true trajectory.
    fn layers(&self, drive: &CorridorDrive, row: &SplitRow, color: Color) -> Vec<PanelLayer> {
        // Points of the corrected scans at the estimated poses
        let cells = CellOptions::default();
        let uncorrected = DepthModel::Polynomial(PolynomialBias::plain([0.0; 2]));
        let model = row.model.as_ref().unwrap_or(&uncorrected);
        let mut points = Vec::new();
        for (scan, pose) in drive.scans.iter().zip(&row.trajectory) {
            let corrected = correct_scan(scan, model, &cells);
            let thinned = corrected.points.iter().step_by(POINT_STEP);
            points.extend(thinned.map(|point| self.project(&(pose * point).coords)));
        }

        // True trajectory
        let poses = drive.truth.iter();
        let truth = poses.map(|pose| self.project(&pose.translation.vector));
        vec![
            PanelLayer::points(row.name, color, points),
            PanelLayer::line("true trajectory", palette::INK, truth.collect()),
        ]
    }
}

/// Depth error of the board over its angle.
pub fn board_chart(rows: &[BoardErrorRow]) -> Drawing {
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

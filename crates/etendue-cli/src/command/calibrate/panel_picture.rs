//! Picture of what was taken as the panel.

use etendue::calibrate::noise::verdict::Verdict;
use etendue::calibrate::noise::{DirectionCell, Panel, PanelBeams, PanelRecording};
use etendue_plot::{
    Color, Drawing, Extent, Figure, Marker, Plot, Point, Series, Stroke, Symbol, palette,
};
use nalgebra::Vector3;
use std::collections::BTreeSet;

const LARGEST_PLOT: Point = [720.0, 560.0];
const SENSOR: Point = [0.0, 0.0];
/// Line from edge to edge of the panel.
const PANEL: Stroke = Stroke::new(palette::INK, 2.0);

/// Points of a picture, by class, m.
struct Classes {
    panel: Vec<Point>,
    rejected: Vec<Point>,
    outliers: Vec<Point>,
    others: Vec<Point>,
    edges: [Point; 2],
}

/// Top view of a recording with the beams that were taken as the panel, those rejected next to other objects, outliers
/// and the edges. The heading states the verdict.
pub fn draw(recording: &PanelRecording, panel: &Panel, verdict: &Verdict, title: &str) -> Drawing {
    let classes = Classes::of(recording, panel);
    let mut plot = classes.axes();

    // Points by class
    let blue = palette::category(0, 1.0).color;
    let orange = palette::category(1, 1.0).color;
    let mut add = |name: &str, points: &[Point], marker: Marker, radius: f64, color: Color| {
        plot.add(Series::Markers {
            points: points.to_vec(),
            marker,
            radius,
            color,
        });
        let label = format!("{name} ({})", points.len());
        plot.legend
            .add(Symbol::Marker(marker, radius + 1.0, color), label);
    };
    add(
        "other directions",
        &classes.others,
        Marker::Dot,
        1.6,
        palette::FAINT,
    );
    add("panel", &classes.panel, Marker::Dot, 2.6, blue);
    add(
        "rejected directions",
        &classes.rejected,
        Marker::Cross,
        3.5,
        orange,
    );
    add(
        "outlying ranges",
        &classes.outliers,
        Marker::Ring,
        2.2,
        palette::ALERT,
    );

    // Edges, plane and sensor
    plot.add(Series::Segments {
        segments: classes.edges.iter().map(|edge| [SENSOR, *edge]).collect(),
        stroke: Stroke::new(palette::FAINT, 1.0),
    });
    plot.add(Series::Segments {
        segments: vec![classes.edges],
        stroke: PANEL,
    });
    plot.legend.add(Symbol::Line(PANEL), "fitted plane");
    for (points, name) in [(classes.edges.to_vec(), "edges"), (vec![SENSOR], "sensor")] {
        let marker = if name == "edges" {
            Marker::Ring
        } else {
            Marker::Diamond
        };
        plot.add(Series::Markers {
            points,
            marker,
            radius: 6.0,
            color: palette::INK,
        });
        plot.legend
            .add(Symbol::Marker(marker, 5.0, palette::INK), name);
    }
    let heading = format!("{title}: {}", verdict.grade().name());
    Figure::new(heading).with_plot(plot).draw()
}

impl Classes {
    fn of(recording: &PanelRecording, panel: &Panel) -> Self {
        let expected = |cell: &DirectionCell| panel.plane.range(&cell.direction);
        let point = |cell: &DirectionCell, range: f64| flat(cell.direction * range);
        let main = |cell: &DirectionCell| {
            let modes = cell.modes();
            let main = modes.iter().max_by_key(|mode| mode.count)?.median;
            Some(point(cell, main))
        };

        // Directions of the panel, rejected and other directions
        let cells = &recording.cells;
        let sector = &panel.sector;
        let used: BTreeSet<usize> = sector
            .cells
            .iter()
            .chain(&sector.rejected)
            .copied()
            .collect();
        let on_panel = |cell: &DirectionCell| {
            let mode = cell.mode_near(expected(cell))?;
            Some(point(cell, mode.median))
        };
        let others = cells
            .iter()
            .enumerate()
            .filter(|(number, _)| !used.contains(number));
        Self {
            panel: sector
                .cells
                .iter()
                .filter_map(|cell| on_panel(&cells[*cell]))
                .collect(),
            rejected: sector
                .rejected
                .iter()
                .filter_map(|cell| main(&cells[*cell]))
                .collect(),
            outliers: PanelBeams::stray_points(recording, panel)
                .into_iter()
                .map(flat)
                .collect(),
            others: others.filter_map(|(_, cell)| main(cell)).collect(),
            edges: edges(recording, panel),
        }
    }

    /// Axes to scale around the panel and the sensor, with a margin for what is beside and behind the panel.
    fn axes(&self) -> Plot {
        let reach = 1.25
            * self
                .panel
                .iter()
                .map(|[x, y]| x.hypot(*y))
                .fold(0.1, f64::max);
        let beside = self.others.iter().chain(&self.outliers);
        let beside = beside.filter(|[x, y]| x.hypot(*y) < reach);
        let panel = self.panel.iter().chain(&self.rejected).chain(&self.edges);
        let all = panel.chain(beside).copied().chain([SENSOR]);
        Plot::to_scale(Extent::of(all).padded(), ["x, m", "y, m"], LARGEST_PLOT)
    }
}

/// Ends of the panel: on its plane at the edges; of a cloud, its outermost points.
fn edges(recording: &PanelRecording, panel: &Panel) -> [Point; 2] {
    if recording.planar {
        return panel.sector.edges.map(|edge| {
            let angle = panel.bearing() + edge;
            let direction = Vector3::new(angle.cos(), angle.sin(), 0.0);
            flat(direction * panel.plane.range(&direction))
        });
    }
    let ends = [panel.sector.cells.first(), panel.sector.cells.last()];
    ends.map(|end| {
        let direction = end.map_or(Vector3::x(), |cell| recording.cells[*cell].direction);
        flat(direction * panel.plane.range(&direction))
    })
}

fn flat(point: Vector3<f64>) -> Point {
    [point.x, point.y]
}

//! The chart of a still sensor's spread over range, one series per recording.

use crate::{Anchor, Axis, Drawing, Legend, Marker, Plot, Stroke, Symbol, palette};

/// What one recording contributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The recording's name.
    pub name: String,
    /// Median range of a beam, m, and its standard deviation, m.
    pub beams: Vec<[f64; 2]>,
    /// Middle of a range bin, m, and the median standard deviation there, m.
    pub medians: Vec<[f64; 2]>,
}

const FRAME: [f64; 4] = [74.0, 64.0, 774.0, 464.0];

/// Draws single beams as dots and medians as a line.
pub fn draw(title: &str, series: &[Series]) -> Drawing {
    let top = top(series);
    let plot = Plot {
        frame: FRAME,
        x: Axis {
            limits: [0.0, farthest(series)],
            label: "median range of a beam, m".into(),
        },
        y: Axis {
            limits: [0.0, top * 1e3],
            label: "standard deviation, mm".into(),
        },
    };
    let mut legend = Legend::default();
    let mut drawing = Drawing::new(0.0, FRAME[3] + 60.0);
    plot.draw_grid(&mut drawing);
    for (index, series) in series.iter().enumerate() {
        let stroke = palette::category(2 * index, 2.6);
        draw_beams(&plot, series, stroke, &mut drawing);
        legend.add(Symbol::Line(stroke), format!("{}: median", series.name));
        let dot = Symbol::Marker(Marker::Dot, 2.4, stroke.color.fade(0.6));
        legend.add(dot, format!("one beam ({} in all)", series.beams.len()));
        let above = series.beams.iter().filter(|[_, sd]| *sd > top).count();
        if above > 0 {
            legend.add(
                Symbol::Heading,
                format!("({above} of them spread more than shown)"),
            );
        }
    }
    for (index, series) in series.iter().enumerate() {
        draw_medians(
            &plot,
            series,
            palette::category(2 * index, 2.6),
            &mut drawing,
        );
    }
    plot.draw_axes(&mut drawing);
    drawing.text([FRAME[0], 34.0], title, 19.0, Anchor::Start);
    legend.draw(&mut drawing, [FRAME[2] + 24.0, FRAME[1]]);
    drawing.width = FRAME[2] + legend.width() + 44.0;
    drawing
}

fn draw_beams(plot: &Plot, series: &Series, stroke: Stroke, drawing: &mut Drawing) {
    let seen = series.beams.iter().map(|[range, sd]| [*range, sd * 1e3]);
    let at = seen
        .filter(|[x, y]| plot.contains(*x, *y))
        .map(|[x, y]| plot.place(x, y));
    drawing.markers(Marker::Dot, at.collect(), 1.7, stroke.color.fade(0.35));
}

fn draw_medians(plot: &Plot, series: &Series, stroke: Stroke, drawing: &mut Drawing) {
    let medians = series.medians.iter().map(|[range, sd]| [*range, sd * 1e3]);
    let at: Vec<_> = medians
        .filter(|[x, y]| plot.contains(*x, *y))
        .map(|[x, y]| plot.place(x, y))
        .collect();
    drawing.lines(vec![at.clone()], stroke);
    drawing.markers(Marker::Dot, at, 4.2, stroke.color);
}

fn farthest(series: &[Series]) -> f64 {
    let beams = series.iter().flat_map(|series| &series.beams);
    1.1 * beams.map(|beam| beam[0]).fold(1e-6, f64::max)
}

/// Twice the largest median, m: single beams at edges spread ten times as much, and would press
/// everything else to the floor.
fn top(series: &[Series]) -> f64 {
    let medians = series.iter().flat_map(|series| &series.medians);
    2.0 * medians.map(|median| median[1]).fold(1e-6, f64::max)
}

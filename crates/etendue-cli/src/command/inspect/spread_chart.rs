//! Chart of the range noise of a stationary sensor over range, one series per recording.

use etendue_plot::{Axis, Drawing, Figure, Marker, Plot, Point, Series, Symbol, palette};

/// Range noise of one recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeNoise {
    /// Name of the recording.
    pub name: String,
    /// Median range of each beam (m) and its standard deviation (m).
    pub beams: Vec<[f64; 2]>,
    /// Centre of each range bin (m) and the median standard deviation in it (m).
    pub medians: Vec<[f64; 2]>,
}

/// Draws single beams as dots and medians as lines.
pub fn draw(title: &str, recordings: &[RangeNoise]) -> Drawing {
    let highest = highest(recordings);
    let x = Axis::new("median range of a beam, m").with_limits([0.0, farthest(recordings)]);
    let y = Axis::new("standard deviation, mm").with_limits([0.0, 1e3 * highest]);
    let mut plot = Plot::new(x, y);

    // Beams
    for (index, recording) in recordings.iter().enumerate() {
        let stroke = palette::category(2 * index, 2.6);
        plot.add(Series::Markers {
            points: millimetres(&recording.beams),
            marker: Marker::Dot,
            radius: 1.7,
            color: stroke.color.fade(0.35),
        });
        let line = Symbol::Line(stroke);
        plot.legend.add(line, format!("{}: median", recording.name));
        let dot = Symbol::Marker(Marker::Dot, 2.4, stroke.color.fade(0.6));
        let beams = recording.beams.len();
        plot.legend.add(dot, format!("one beam ({beams} in total)"));
        let above = recording.beams.iter().filter(|[_, sd]| *sd > highest);
        let above = above.count();
        if above > 0 {
            let text = format!("({above} of them above the axis)");
            plot.legend.add(Symbol::Heading, text);
        }
    }

    // Medians, above the beams of all recordings
    for (index, recording) in recordings.iter().enumerate() {
        let stroke = palette::category(2 * index, 2.6);
        let points = millimetres(&recording.medians);
        plot.add(Series::Line {
            points: points.clone(),
            stroke,
        });
        plot.add(Series::Markers {
            points,
            marker: Marker::Dot,
            radius: 4.2,
            color: stroke.color,
        });
    }
    Figure::new(title).with_plot(plot).draw()
}

fn millimetres(metres: &[[f64; 2]]) -> Vec<Point> {
    metres
        .iter()
        .map(|[range, sd]| [*range, 1e3 * sd])
        .collect()
}

fn farthest(recordings: &[RangeNoise]) -> f64 {
    let beams = recordings.iter().flat_map(|recording| &recording.beams);
    1.1 * beams.map(|beam| beam[0]).fold(1e-6, f64::max)
}

/// Twice the largest median, m. Single beams at edges have ten times the standard deviation and
/// would set the scale.
fn highest(recordings: &[RangeNoise]) -> f64 {
    let medians = recordings.iter().flat_map(|recording| &recording.medians);
    2.0 * medians.map(|median| median[1]).fold(1e-6, f64::max)
}

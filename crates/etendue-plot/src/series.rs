//! Series of data in a plot.

use crate::drawing::{Drawing, Marker, Point, Shape};
use crate::extent::Extent;
use crate::frame::Frame;
use crate::palette;
use crate::style::{Color, Stroke};

/// Largest number of drawn markers of a series; longer series are thinned evenly.
const MOST_MARKERS: usize = 16_000;

/// Outline of an arrow that points to the right, page units from its origin.
const ARROW: [Point; 4] = [[20.0, 0.0], [-9.0, 10.0], [-4.0, 0.0], [-9.0, -10.0]];

/// Data of one kind in a plot, in the units of the axes, clipped to the axes.
#[derive(Clone, Debug, PartialEq)]
pub enum Series {
    /// Points joined by a line; points that are not finite are omitted.
    Line {
        /// Points in their order.
        points: Vec<Point>,
        /// Style of the line.
        stroke: Stroke,
    },
    /// Separate line segments.
    Segments {
        /// Ends of each.
        segments: Vec<[Point; 2]>,
        /// Style of the lines.
        stroke: Stroke,
    },
    /// Markers; at most 16,000 are drawn, evenly thinned.
    Markers {
        /// Their positions.
        points: Vec<Point>,
        /// Their sign.
        marker: Marker,
        /// Their radius, page units.
        radius: f64,
        /// Their colour.
        color: Color,
    },
    /// Area between two curves, such as a confidence band; does not widen limits from the data.
    Band {
        /// x, lower and upper end.
        intervals: Vec<[f64; 3]>,
        /// Colour of the area.
        fill: Color,
    },
    /// Vertical lines, such as confidence intervals of single points; do not widen limits from the
    /// data.
    ErrorBars {
        /// x, lower and upper end.
        intervals: Vec<[f64; 3]>,
        /// Style of the lines.
        stroke: Stroke,
    },
    /// Vertical bars from zero, such as a histogram.
    Bars {
        /// Left edge, right edge and height.
        bars: Vec<[f64; 3]>,
        /// Their colour.
        fill: Color,
    },
    /// Vertical stripes over the full height, such as ranges without data.
    Stripes {
        /// Left and right edge.
        stripes: Vec<[f64; 2]>,
        /// Their colour.
        fill: Color,
    },
    /// Arrowhead of a fixed size, such as the pose of a sensor.
    Arrow {
        /// Its position.
        at: Point,
        /// Its direction; any length.
        direction: Point,
        /// Its colour.
        color: Color,
    },
}

impl Series {
    /// Extent for limits from the data; empty on an axis without values.
    pub(crate) fn extent(&self) -> Extent {
        match self {
            Self::Line { points, .. } | Self::Markers { points, .. } => {
                Extent::of(points.iter().copied().filter(is_finite))
            }
            Self::Segments { segments, .. } => Extent::of(segments.iter().copied().flatten()),
            Self::Band { .. } | Self::ErrorBars { .. } => Extent::EMPTY,
            Self::Bars { bars, .. } => {
                let corners = bars.iter().flat_map(|[a, b, top]| [[*a, 0.0], [*b, *top]]);
                Extent::of(corners)
            }
            Self::Stripes { stripes, .. } => {
                Extent::of(stripes.iter().copied().flatten().map(|x| [x, f64::NAN]))
            }
            Self::Arrow { at, .. } => Extent::of([*at]),
        }
    }

    /// Draws the series, clipped to the axes.
    pub(crate) fn draw(&self, frame: &Frame, drawing: &mut Drawing) {
        match self {
            // Lines and markers, clipped to the axes
            Self::Line { points, stroke } => {
                let finite: Vec<Point> = points.iter().copied().filter(is_finite).collect();
                drawing.lines(frame.clip_polyline(&finite), *stroke);
            }
            Self::Segments { segments, stroke } => {
                let inside = segments.iter().filter_map(|[a, b]| frame.clip(*a, *b));
                drawing.lines(inside.map(Vec::from).collect(), *stroke);
            }
            Self::Markers {
                points,
                marker,
                radius,
                color,
            } => {
                let step = points.len().div_ceil(MOST_MARKERS).max(1);
                let inside = points.iter().filter(|point| frame.contains(**point));
                let placed = inside
                    .step_by(step)
                    .map(|point| frame.page_position(*point));
                drawing.markers(*marker, placed.collect(), *radius, *color);
            }

            // Intervals and bars, clamped to the axes
            Self::Band { intervals, fill } => draw_band(intervals, *fill, frame, drawing),
            Self::ErrorBars { intervals, stroke } => {
                let inside = intervals
                    .iter()
                    .filter(|[x, low, high]| frame.contains_x(*x) && high >= low);
                let bars = inside.map(|[x, low, high]| {
                    [low, high]
                        .map(|y| frame.clamped_page_position([*x, *y]))
                        .to_vec()
                });
                drawing.lines(bars.collect(), *stroke);
            }
            Self::Bars { bars, fill } => {
                let outlines = bars.iter().map(|[left, right, top]| {
                    [[*left, 0.0], [*right, 0.0], [*right, *top], [*left, *top]]
                });
                let edge = Stroke::new(palette::PAPER, 1.0);
                draw_areas(outlines, *fill, Some(edge), frame, drawing);
            }
            Self::Stripes { stripes, fill } => {
                let low = f64::NEG_INFINITY;
                let high = f64::INFINITY;
                let outlines = stripes
                    .iter()
                    .map(|[a, b]| [[*a, low], [*b, low], [*b, high], [*a, high]]);
                draw_areas(outlines, *fill, None, frame, drawing);
            }

            // Symbols
            Self::Arrow {
                at,
                direction,
                color,
            } => draw_arrow(frame.page_position(*at), *direction, *color, drawing),
        }
    }
}

fn is_finite(point: &Point) -> bool {
    point.iter().all(|v| v.is_finite())
}

fn draw_band(intervals: &[[f64; 3]], fill: Color, frame: &Frame, drawing: &mut Drawing) {
    let finite = intervals
        .iter()
        .filter(|interval| interval.iter().all(|v| v.is_finite()));
    let upper = finite
        .clone()
        .map(|[x, _, high]| frame.clamped_page_position([*x, *high]));
    let lower = finite
        .rev()
        .map(|[x, low, _]| frame.clamped_page_position([*x, *low]));
    let outline: Vec<Point> = upper.chain(lower).collect();
    if outline.len() > 2 {
        drawing.shapes.push(Shape::Areas {
            outlines: vec![outline],
            fill,
            stroke: None,
        });
    }
}

fn draw_areas(
    outlines: impl Iterator<Item = [Point; 4]>,
    fill: Color,
    stroke: Option<Stroke>,
    frame: &Frame,
    drawing: &mut Drawing,
) {
    let outlines: Vec<Vec<Point>> = outlines
        .map(|corners| {
            corners
                .map(|corner| frame.clamped_page_position(corner))
                .to_vec()
        })
        .collect();
    if !outlines.is_empty() {
        drawing.shapes.push(Shape::Areas {
            outlines,
            fill,
            stroke,
        });
    }
}

fn draw_arrow([left, down]: Point, direction: Point, color: Color, drawing: &mut Drawing) {
    let length = direction[0].hypot(direction[1]).max(f64::MIN_POSITIVE);
    let cos = direction[0] / length;
    let sin = -direction[1] / length;
    let outline = ARROW.map(|[along, across]| {
        [
            left + along * cos - across * sin,
            down + along * sin + across * cos,
        ]
    });
    drawing.shapes.push(Shape::Areas {
        outlines: vec![outline.to_vec()],
        fill: color,
        stroke: Some(Stroke::new(palette::PAPER, 1.5)),
    });
}

//! Drawings: lists of shapes on a page.

use crate::palette;
use crate::style::{Color, Stroke};

/// Point in a plane. On a page: right and down, page units (96 per inch); in a plot: x and y in the
/// units of its axes.
pub type Point = [f64; 2];

/// Position of a text relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at the point.
    Start,
    /// The text is centred on the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// Line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct TextLabel {
    /// Point on its base line.
    pub at: Point,
    /// The characters.
    pub content: String,
    /// Size of the font, page units.
    pub size: f64,
    /// Colour of the glyphs.
    pub color: Color,
    /// Alignment of the text relative to the point.
    pub anchor: Anchor,
    /// Rotated by a quarter turn anticlockwise.
    pub vertical: bool,
}

/// Element of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Open polylines with one style.
    Lines {
        /// Corners of each polyline.
        lines: Vec<Vec<Point>>,
        /// Their style.
        stroke: Stroke,
    },
    /// Polygons with one style.
    Areas {
        /// Corners of each polygon.
        outlines: Vec<Vec<Point>>,
        /// Colour of the inside.
        fill: Color,
        /// Style of the edge; `None` for no edge.
        stroke: Option<Stroke>,
    },
    /// Circles of one size and style.
    Circles {
        /// Their centres.
        centres: Vec<Point>,
        /// Their radius, page units.
        radius: f64,
        /// Colour of the inside; `None` for open circles.
        fill: Option<Color>,
        /// Style of the edge; `None` for no edge.
        stroke: Option<Stroke>,
    },
    /// Text.
    Text(TextLabel),
}

/// Page of shapes, drawn in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Width of the page, page units.
    pub width: f64,
    /// Height of the page, page units.
    pub height: f64,
    /// Shapes: later ones cover earlier ones.
    pub shapes: Vec<Shape>,
}

/// Symbol of a data point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// Filled circle.
    Dot,
    /// Filled square on its corner.
    Diamond,
    /// Diagonal cross.
    Cross,
    /// Open circle.
    Ring,
}

impl Drawing {
    /// Empty page.
    pub fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            shapes: Vec::new(),
        }
    }

    /// Adds polylines; an empty list adds nothing.
    pub fn lines(&mut self, lines: Vec<Vec<Point>>, stroke: Stroke) {
        if !lines.is_empty() {
            self.shapes.push(Shape::Lines { lines, stroke });
        }
    }

    /// Adds a horizontal text in the colour of axes; an empty text adds nothing.
    ///
    /// ```
    /// use etendue_plot::{Anchor, Drawing};
    /// let mut drawing = Drawing::new(200.0, 50.0);
    /// drawing.text([100.0, 30.0], "range, m", 13.0, Anchor::Middle);
    /// assert_eq!(drawing.shapes.len(), 1);
    /// ```
    pub fn text(&mut self, at: Point, content: impl Into<String>, size: f64, anchor: Anchor) {
        let content = content.into();
        if !content.is_empty() {
            self.shapes.push(Shape::Text(TextLabel {
                at,
                content,
                size,
                color: palette::INK,
                anchor,
                vertical: false,
            }));
        }
    }

    /// Adds markers of one radius; an empty list adds nothing.
    pub fn markers(&mut self, marker: Marker, at: Vec<Point>, radius: f64, color: Color) {
        if at.is_empty() {
            return;
        }
        self.shapes.push(match marker {
            // Circles
            Marker::Dot => Shape::Circles {
                centres: at,
                radius,
                fill: Some(color),
                stroke: None,
            },
            Marker::Ring => Shape::Circles {
                centres: at,
                radius,
                fill: None,
                stroke: Some(Stroke::new(color, radius * 0.3)),
            },

            // Polygons and lines
            Marker::Diamond => Shape::Areas {
                outlines: at.iter().map(|at| diamond(*at, radius)).collect(),
                fill: color,
                stroke: None,
            },
            Marker::Cross => Shape::Lines {
                lines: at.iter().flat_map(|at| cross(*at, radius)).collect(),
                stroke: Stroke::new(color, radius * 0.45),
            },
        });
    }
}

fn diamond([x, y]: Point, radius: f64) -> Vec<Point> {
    let r = radius * 1.25;
    vec![[x - r, y], [x, y - r], [x + r, y], [x, y + r]]
}

fn cross([x, y]: Point, radius: f64) -> [Vec<Point>; 2] {
    let r = radius * 0.85;
    [
        vec![[x - r, y - r], [x + r, y + r]],
        vec![[x - r, y + r], [x + r, y - r]],
    ]
}

//! The list of shapes that a picture is.

/// A place on the page: right and down, page units (96 per inch).
pub type Point = [f64; 2];

/// An sRGB colour with opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color {
    /// Red, green, blue.
    pub rgb: [u8; 3],
    /// 0 is clear, 1 is solid.
    pub opacity: f32,
}

impl Color {
    /// A solid colour from `0xRRGGBB`.
    pub const fn hex(rgb: u32) -> Self {
        let [_, red, green, blue] = rgb.to_be_bytes();
        Self {
            rgb: [red, green, blue],
            opacity: 1.0,
        }
    }

    /// The same colour, less solid.
    pub const fn fade(self, opacity: f32) -> Self {
        Self { opacity, ..self }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub color: Color,
    /// Its width, page units.
    pub width: f64,
    /// Lengths of dash and gap, or none where the line is solid.
    pub dash: Option<[f64; 2]>,
}

impl Stroke {
    /// A solid line.
    pub const fn new(color: Color, width: f64) -> Self {
        Self {
            color,
            width,
            dash: None,
        }
    }
}

/// Where a text stands relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at the point.
    Start,
    /// The text is centred on the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Where its base line is.
    pub at: Point,
    /// What it says.
    pub words: String,
    /// Size of the font, page units.
    pub size: f64,
    /// Its colour.
    pub color: Color,
    /// Which end is at the point.
    pub anchor: Anchor,
    /// Written upwards, a quarter turn anticlockwise.
    pub upwards: bool,
}

/// One thing on the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Open lines that share a stroke.
    Lines {
        /// The corners of each line.
        lines: Vec<Vec<Point>>,
        /// How they are drawn.
        stroke: Stroke,
    },
    /// Closed areas that share a filling.
    Areas {
        /// The corners of each area.
        outlines: Vec<Vec<Point>>,
        /// The filling.
        fill: Color,
        /// The edge, if it is drawn.
        stroke: Option<Stroke>,
    },
    /// Circles of one size.
    Circles {
        /// Their centres.
        centres: Vec<Point>,
        /// Their radius, page units.
        radius: f64,
        /// The filling, if any.
        fill: Option<Color>,
        /// The edge, if it is drawn.
        stroke: Option<Stroke>,
    },
    /// A text.
    Text(Text),
}

/// A page of shapes, drawn in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Width of the page, page units.
    pub width: f64,
    /// Height of the page, page units.
    pub height: f64,
    /// What is on it.
    pub shapes: Vec<Shape>,
}

/// The sign that stands for a point of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A filled circle.
    Dot,
    /// A filled square on its corner.
    Diamond,
    /// A slanting cross.
    Cross,
    /// An open circle.
    Ring,
}

impl Drawing {
    /// An empty page.
    pub fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            shapes: Vec::new(),
        }
    }

    /// Adds lines, if there are any.
    pub fn lines(&mut self, lines: Vec<Vec<Point>>, stroke: Stroke) {
        if !lines.is_empty() {
            self.shapes.push(Shape::Lines { lines, stroke });
        }
    }

    /// Adds a text.
    pub fn text(&mut self, at: Point, text: impl Into<String>, size: f64, anchor: Anchor) {
        self.shapes.push(Shape::Text(Text {
            at,
            words: text.into(),
            size,
            color: crate::palette::INK,
            anchor,
            upwards: false,
        }));
    }

    /// Adds markers of radius `radius`, if there are any.
    pub fn markers(&mut self, marker: Marker, at: Vec<Point>, radius: f64, color: Color) {
        if at.is_empty() {
            return;
        }
        self.shapes.push(match marker {
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

//! PNG files.

use crate::drawing::{Anchor, Drawing, Point, Shape, TextLabel};
use crate::font;
use crate::style::{Color, Stroke};
use thiserror::Error;
use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform,
};

/// Error of rendering a drawing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The page has no area or is too large.
    #[error("a picture of {width} x {height} pixels cannot be rendered: it is empty or too large")]
    Size {
        /// Width, pixels.
        width: f64,
        /// Height, pixels.
        height: f64,
    },
    /// The PNG encoder failed.
    #[error("the PNG encoder failed: {0}")]
    Encoding(String),
}

/// The drawing as a PNG file with `scale` pixels per page unit.
///
/// # Errors
/// If the page has no area or is too large.
///
/// ```
/// use etendue_plot::{Drawing, png};
/// assert!(png::render(&Drawing::new(40.0, 30.0), 2.0)?.starts_with(b"\x89PNG"));
/// # Ok::<(), png::RenderError>(())
/// ```
pub fn render(drawing: &Drawing, scale: f64) -> Result<Vec<u8>, RenderError> {
    encode(&pixmap(drawing, scale)?)
}

/// Pixels as a PNG file.
pub(crate) fn encode(pixmap: &Pixmap) -> Result<Vec<u8>, RenderError> {
    let encoded = pixmap.encode_png();
    encoded.map_err(|error| RenderError::Encoding(error.to_string()))
}

/// Pixels of the drawing, with `scale` pixels per page unit.
pub(crate) fn pixmap(drawing: &Drawing, scale: f64) -> Result<Pixmap, RenderError> {
    let width = drawing.width * scale;
    let height = drawing.height * scale;
    let mut pixmap = Pixmap::new(width.ceil() as u32, height.ceil() as u32)
        .ok_or(RenderError::Size { width, height })?;
    pixmap.fill(tiny_skia::Color::WHITE);
    let mut page = Page {
        pixmap,
        transform: Transform::from_scale(scale as f32, scale as f32),
    };
    for shape in &drawing.shapes {
        page.draw(shape);
    }
    Ok(page.pixmap)
}

struct Page {
    pixmap: Pixmap,
    transform: Transform,
}

impl Page {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Lines { lines, stroke } => {
                self.stroke(polylines(lines, false), Some(*stroke));
            }
            Shape::Areas {
                outlines,
                fill,
                stroke,
            } => {
                self.fill(polylines(outlines, true), Some(*fill));
                self.stroke(polylines(outlines, true), *stroke);
            }
            Shape::Circles {
                centres,
                radius,
                fill,
                stroke,
            } => {
                self.fill(circles(centres, *radius), *fill);
                self.stroke(circles(centres, *radius), *stroke);
            }
            Shape::Text(text) => self.fill(text_path(text), Some(text.color)),
        }
    }

    fn fill(&mut self, path: Option<Path>, color: Option<Color>) {
        if let (Some(path), Some(color)) = (path, color) {
            let paint = paint(color);
            self.pixmap
                .fill_path(&path, &paint, FillRule::Winding, self.transform, None);
        }
    }

    fn stroke(&mut self, path: Option<Path>, stroke: Option<Stroke>) {
        if let (Some(path), Some(stroke)) = (path, stroke) {
            let line = tiny_skia::Stroke {
                width: stroke.width as f32,
                line_join: LineJoin::Round,
                line_cap: LineCap::Butt,
                dash: stroke
                    .dash
                    .and_then(|lengths| StrokeDash::new(lengths.map(|l| l as f32).to_vec(), 0.0)),
                ..tiny_skia::Stroke::default()
            };
            let paint = paint(stroke.color);
            self.pixmap
                .stroke_path(&path, &paint, &line, self.transform, None);
        }
    }
}

fn paint(color: Color) -> Paint<'static> {
    let [red, green, blue] = color.rgb;
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (color.opacity * 255.0).round() as u8);
    paint.anti_alias = true;
    paint
}

fn polylines(lines: &[Vec<Point>], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for line in lines {
        for (i, point) in line.iter().enumerate() {
            let [x, y] = point.map(|v| v as f32);
            match i {
                0 => builder.move_to(x, y),
                _ => builder.line_to(x, y),
            }
        }
        if closed {
            builder.close();
        }
    }
    builder.finish()
}

fn circles(centres: &[Point], radius: f64) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for [x, y] in centres {
        builder.push_circle(*x as f32, *y as f32, radius as f32);
    }
    builder.finish()
}

fn text_path(text: &TextLabel) -> Option<Path> {
    let shift = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -0.5,
        Anchor::End => -1.0,
    } * font::width(&text.content, text.size);
    let glyphs = font::outline(&text.content, |pen| Glyph {
        path: PathBuilder::new(),
        pen,
        placement: GlyphPlacement {
            at: text.at,
            shift,
            size: text.size,
            vertical: text.vertical,
        },
    });
    let mut all = PathBuilder::new();
    for path in glyphs.into_iter().filter_map(|glyph| glyph.path.finish()) {
        all.push_path(&path);
    }
    all.finish()
}

/// Transform from font units to the page.
#[derive(Clone, Copy)]
struct GlyphPlacement {
    at: Point,
    shift: f64,
    size: f64,
    vertical: bool,
}

struct Glyph {
    path: PathBuilder,
    pen: f64,
    placement: GlyphPlacement,
}

impl Glyph {
    fn on_page(&self, x: f32, y: f32) -> (f32, f32) {
        let units = font::units_per_em();
        let along = self.placement.shift + (self.pen + f64::from(x) / units) * self.placement.size;
        let above = f64::from(y) / units * self.placement.size;
        let [left, down] = self.placement.at;
        let [x, y] = if self.placement.vertical {
            [left - above, down - along]
        } else {
            [left + along, down - above]
        };
        (x as f32, y as f32)
    }
}

impl ttf_parser::OutlineBuilder for Glyph {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.on_page(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.on_page(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (x1, y1) = self.on_page(x1, y1);
        let (x, y) = self.on_page(x, y);
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (x1, y1) = self.on_page(x1, y1);
        let (x2, y2) = self.on_page(x2, y2);
        let (x, y) = self.on_page(x, y);
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::Marker;

    #[test]
    fn a_dot_is_drawn_at_its_point() {
        let mut drawing = Drawing::new(40.0, 20.0);
        drawing.markers(Marker::Dot, vec![[30.0, 5.0]], 3.0, Color::hex(0xFF0000));
        let png = render(&drawing, 2.0).expect("it renders");
        let pixmap = Pixmap::decode_png(&png).expect("a PNG");
        assert_eq!((pixmap.width(), pixmap.height()), (80, 40));
        let inside = pixmap.pixel(60, 10).expect("inside").demultiply();
        assert_eq!((inside.red(), inside.green()), (255, 0));
        let outside = pixmap.pixel(20, 30).expect("inside").demultiply();
        assert_eq!((outside.red(), outside.green()), (255, 255));
    }

    #[test]
    fn text_is_drawn_at_its_anchor() {
        let mut drawing = Drawing::new(60.0, 20.0);
        drawing.text([30.0, 15.0], "Ha", 16.0, Anchor::Middle);
        let png = render(&drawing, 1.0).expect("it renders");
        let pixmap = Pixmap::decode_png(&png).expect("a PNG");
        let dark = |x: std::ops::Range<u32>| {
            let pixels = x.flat_map(|x| (0..20).map(move |y| (x, y)));
            pixels
                .filter(|&(x, y)| pixmap.pixel(x, y).is_some_and(|p| p.red() < 128))
                .count()
        };
        assert!(dark(18..42) > 20, "{}", dark(18..42));
        assert_eq!(dark(0..15) + dark(45..60), 0);
    }

    #[test]
    fn a_page_without_area_is_an_error() {
        assert!(matches!(
            render(&Drawing::new(0.0, 5.0), 1.0),
            Err(RenderError::Size { .. })
        ));
    }
}

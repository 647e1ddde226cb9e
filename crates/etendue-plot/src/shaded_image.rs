//! Images of one number per cell, with the scale of their shades.

use crate::axis::Axis;
use crate::drawing::{Anchor, Drawing, Point, Shape};
use crate::frame::Frame;
use crate::palette;
use crate::png::{self, RenderError};
use crate::style::{Color, Stroke};
use crate::ticks::ticks;
use tiny_skia::{Pixmap, PixmapPaint, PremultipliedColorU8, Transform};

/// Smallest height of the image, pixels; the rows of a smaller image are stretched.
const LEAST_HEIGHT: usize = 128;

/// Space of the row numbers to the left of the cells, and above the cells, pixels.
const LEFT: f64 = 60.0;
const TOP: f64 = 10.0;

/// Space to the right of the cells, pixels.
const RIGHT: f64 = 12.0;

/// Space of the column numbers below the cells, pixels.
const AXIS_HEIGHT: f64 = 54.0;

/// Height of the scale, pixels.
const SCALE_HEIGHT: f64 = 52.0;

/// Smallest width of the page, which contains the scale with its texts, pixels.
const LEAST_WIDTH: f64 = 630.0;

/// Left, top, right and bottom of the scale's bar.
const BAR: [f64; 4] = [LEFT, 10.0, LEFT + 260.0, 26.0];

/// Left, top, right and bottom of the symbol for cells without a number.
const MISSING: [f64; 4] = [LEFT + 470.0, 10.0, LEFT + 486.0, 26.0];

/// Number of shades in the scale's bar.
const BAR_STEPS: u32 = 65;

/// Assignment of greys to numbers from zero to the largest one. The grey changes with the square
/// root of the number, so that small numbers are distinguished best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shading {
    /// Small numbers are bright, such as ranges.
    BrightToDark,
    /// Small numbers are dark, such as intensities.
    DarkToBright,
}

impl Shading {
    /// Grey (0 to 255) of a number from 0 to 1; numbers outside are clamped.
    fn grey(self, number: f64) -> u8 {
        let root = number.clamp(0.0, 1.0).sqrt();
        match self {
            Self::BrightToDark => (235.0 - 215.0 * root) as u8,
            Self::DarkToBright => (20.0 + 235.0 * root) as u8,
        }
    }
}

/// Image of one number per cell in shades of grey, one pixel per column, with its axes, and with its scale below.
///
/// The last shade is that of the 98th percentile of the numbers and of all larger numbers.
///
/// ```
/// use etendue_plot::{Color, ShadedImage, Shading};
/// let image = ShadedImage {
///     columns: 2,
///     axes: ["column", "ring"],
///     values: vec![1.0, 2.0, 3.0, f64::NAN],
///     label: "range, m",
///     shading: Shading::BrightToDark,
///     missing: (Color::hex(0x18286E), "no return"),
/// };
/// assert!(image.png()?.starts_with(b"\x89PNG"));
/// # Ok::<(), etendue_plot::png::RenderError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ShadedImage<'a> {
    /// Number of columns.
    pub columns: usize,
    /// Names of the columns, counted from the left, and of the rows, counted from the bottom, both from 0.
    pub axes: [&'a str; 2],
    /// Numbers, row by row from the top; not finite for cells without a number.
    pub values: Vec<f64>,
    /// The quantity with its unit.
    pub label: &'a str,
    /// Assignment of greys to numbers.
    pub shading: Shading,
    /// Colour of cells without a number, and its label.
    pub missing: (Color, &'a str),
}

impl ShadedImage<'_> {
    /// The image with its scale as a PNG file.
    ///
    /// # Errors
    /// If the image has no cells or is too large.
    pub fn png(&self) -> Result<Vec<u8>, RenderError> {
        let top = percentile_98(&self.values).max(1e-12);

        // Cells, each row stretched to an equal number of pixels
        let rows = self.values.len() / self.columns.max(1);
        let stretch = LEAST_HEIGHT.div_ceil(rows.max(1));
        let mut cells = blank(self.columns as f64, (rows * stretch) as f64)?;
        for (i, pixel) in cells.pixels_mut().iter_mut().enumerate() {
            let row = i / self.columns / stretch;
            let value = self.values[row * self.columns + i % self.columns];
            *pixel = opaque(self.color(value / top));
        }

        // Page with the cells above the scale
        let [columns, height] = [self.columns as f64, f64::from(cells.height())];
        let width = (LEFT + columns + RIGHT).max(LEAST_WIDTH);
        let frame_height = TOP + height + AXIS_HEIGHT;
        let scale = png::pixmap(&self.scale(width, top), 1.0)?;
        let axes = self.axes([columns, height], rows, [width, frame_height]);
        let axes = png::pixmap(&axes, 1.0)?;
        let mut page = blank(width, frame_height + SCALE_HEIGHT)?;
        page.fill(tiny_skia::Color::WHITE);
        for ([x, y], image) in [
            ([0.0, 0.0], &axes),
            ([LEFT, TOP], &cells),
            ([0.0, frame_height], &scale),
        ] {
            let paint = PixmapPaint::default();
            let [x, y] = [x as i32, y as i32];
            page.draw_pixmap(x, y, image.as_ref(), &paint, Transform::identity(), None);
        }
        png::encode(&page)
    }

    /// Drawing of the frame of the cells with the numbers of columns and rows.
    fn axes(&self, [columns, height]: [f64; 2], rows: usize, [width, bottom]: [f64; 2]) -> Drawing {
        let mut drawing = Drawing::new(width, bottom);
        let [x, y] = self.axes.map(Axis::new);
        let frame = Frame {
            rectangle: [
                LEFT - 1.0,
                TOP - 1.0,
                LEFT + columns + 1.0,
                TOP + height + 1.0,
            ],
            x: (&x.whole(), [-0.5, columns - 0.5]),
            y: (&y.whole(), [-0.5, rows as f64 - 0.5]),
        };
        frame.draw_axes(&mut drawing);
        drawing
    }

    /// Colour of a number relative to the one with the last shade.
    fn color(&self, relative: f64) -> [u8; 3] {
        if relative.is_finite() {
            [self.shading.grey(relative); 3]
        } else {
            self.missing.0.rgb
        }
    }

    /// Drawing of the scale up to `top`.
    fn scale(&self, width: f64, top: f64) -> Drawing {
        let mut drawing = Drawing::new(width, SCALE_HEIGHT);

        // Bar of shades
        let [left, bar_top, right, bottom] = BAR;
        let step = (right - left) / f64::from(BAR_STEPS);
        for i in 0..BAR_STEPS {
            let from = left + f64::from(i) * step;
            let outline = [from, bar_top, from + step + 0.5, bottom];
            let middle = (f64::from(i) + 0.5) / f64::from(BAR_STEPS);
            fill_rectangle(&mut drawing, outline, self.color(middle));
        }
        let mut edge = corners(BAR);
        edge.push(edge[0]);
        drawing.lines(vec![edge], thin());

        // Ticks
        let (values, decimals) = ticks([0.0, top], 5);
        for value in values {
            let x = left + value / top * (right - left);
            drawing.lines(vec![vec![[x, bottom], [x, bottom + 4.0]]], thin());
            let number = format!("{value:.decimals$}");
            drawing.text([x, bottom + 17.0], number, 12.0, Anchor::Middle);
        }

        // Labels
        let label = format!("{} (larger: last shade)", self.label);
        drawing.text([right + 10.0, bottom - 4.0], label, 12.0, Anchor::Start);
        fill_rectangle(&mut drawing, MISSING, self.missing.0.rgb);
        let beside = [MISSING[2] + 8.0, bottom - 4.0];
        drawing.text(beside, self.missing.1, 12.0, Anchor::Start);
        drawing
    }
}

/// 98th percentile of the finite values; 1 without any.
fn percentile_98(values: &[f64]) -> f64 {
    let mut finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    finite.sort_by(f64::total_cmp);
    let index = finite.len().saturating_sub(1) * 98 / 100;
    finite.get(index).copied().unwrap_or(1.0)
}

fn blank(width: f64, height: f64) -> Result<Pixmap, RenderError> {
    Pixmap::new(width as u32, height as u32).ok_or(RenderError::Size { width, height })
}

fn opaque([red, green, blue]: [u8; 3]) -> PremultipliedColorU8 {
    PremultipliedColorU8::from_rgba(red, green, blue, 255)
        .unwrap_or(PremultipliedColorU8::TRANSPARENT)
}

fn corners([left, top, right, bottom]: [f64; 4]) -> Vec<Point> {
    vec![[left, top], [right, top], [right, bottom], [left, bottom]]
}

fn fill_rectangle(drawing: &mut Drawing, rectangle: [f64; 4], rgb: [u8; 3]) {
    drawing.shapes.push(Shape::Areas {
        outlines: vec![corners(rectangle)],
        fill: Color { rgb, opacity: 1.0 },
        stroke: None,
    });
}

fn thin() -> Stroke {
    Stroke::new(palette::INK, 1.0)
}

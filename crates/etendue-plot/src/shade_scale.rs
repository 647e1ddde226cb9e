//! What the shades of an image mean.

use crate::ticks::ticks;
use crate::{Anchor, Color, Drawing, Point, Shape, Stroke, palette};

/// Height of the scale, page units.
pub const HEIGHT: f64 = 52.0;

/// Least width of the scale with its texts, page units.
pub const LEAST_WIDTH: f64 = 570.0;

/// Left, top, right and bottom of the bar.
const BAR: [f64; 4] = [12.0, 10.0, 272.0, 26.0];

/// The sign of what has no number.
const NONE: [f64; 4] = [482.0, 10.0, 498.0, 26.0];

const STEPS: u32 = 65;

/// The shades of numbers from zero to the one from which on they stay the same.
pub struct ShadeScale<'a> {
    /// What is shown, with its unit.
    pub label: &'a str,
    /// The number whose shade all greater ones have.
    pub top: f64,
    /// The grey of a number, 0 to 255.
    pub grey: &'a dyn Fn(f64) -> f64,
    /// The colour of what has no number.
    pub none: [u8; 3],
}

impl ShadeScale<'_> {
    /// Draws the scale on a page of that width.
    pub fn draw(&self, width: f64) -> Drawing {
        let mut drawing = Drawing::new(width, HEIGHT);
        let [left, top, right, bottom] = BAR;
        let step = (right - left) / f64::from(STEPS);
        for i in 0..STEPS {
            let from = left + f64::from(i) * step;
            let number = (f64::from(i) + 0.5) / f64::from(STEPS) * self.top;
            let outline = [from, top, from + step + 0.5, bottom];
            area(&mut drawing, outline, [(self.grey)(number) as u8; 3]);
        }
        frame(&mut drawing, BAR);
        let (values, decimals) = ticks(0.0, self.top, 5);
        for value in values {
            let x = left + value / self.top * (right - left);
            drawing.lines(vec![vec![[x, bottom], [x, bottom + 4.0]]], edge());
            let number = format!("{value:.decimals$}");
            drawing.text([x, bottom + 17.0], number, 12.0, Anchor::Middle);
        }
        let label = format!("{}; all beyond as the end", self.label);
        drawing.text([right + 10.0, bottom - 4.0], label, 12.0, Anchor::Start);
        area(&mut drawing, NONE, self.none);
        drawing.text(
            [NONE[2] + 8.0, bottom - 4.0],
            "no return",
            12.0,
            Anchor::Start,
        );
        drawing
    }
}

fn corners([left, top, right, bottom]: [f64; 4]) -> Vec<Point> {
    vec![[left, top], [right, top], [right, bottom], [left, bottom]]
}

fn area(drawing: &mut Drawing, outline: [f64; 4], rgb: [u8; 3]) {
    drawing.shapes.push(Shape::Areas {
        outlines: vec![corners(outline)],
        fill: Color { rgb, opacity: 1.0 },
        stroke: None,
    });
}

fn frame(drawing: &mut Drawing, outline: [f64; 4]) {
    let mut line = corners(outline);
    line.push(line[0]);
    drawing.lines(vec![line], edge());
}

fn edge() -> Stroke {
    Stroke::new(palette::INK, 1.0)
}

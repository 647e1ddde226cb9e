//! What the signs mean.

use crate::{Anchor, Color, Drawing, Marker, Point, Stroke, font};

const SIZE: f64 = 13.0;
const LINE_HEIGHT: f64 = 20.0;
const SYMBOL_WIDTH: f64 = 24.0;

/// The sign of a legend's entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Symbol {
    /// A short line.
    Line(Stroke),
    /// A marker of a radius.
    Marker(Marker, f64, Color),
    /// No sign: a heading.
    Heading,
}

/// Signs with their meaning, one below the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Legend {
    entries: Vec<(Symbol, String)>,
}

impl Legend {
    /// Adds an entry.
    pub fn add(&mut self, symbol: Symbol, text: impl Into<String>) {
        self.entries.push((symbol, text.into()));
    }

    /// Width on the page.
    pub fn width(&self) -> f64 {
        let texts = self.entries.iter().map(|(_, text)| font::width(text, SIZE));
        SYMBOL_WIDTH + 8.0 + texts.fold(0.0, f64::max)
    }

    /// Height on the page.
    pub fn height(&self) -> f64 {
        self.entries
            .iter()
            .map(|(symbol, _)| line_height(*symbol))
            .sum()
    }

    /// Draws the legend with its left upper corner at a point.
    pub fn draw(&self, drawing: &mut Drawing, [left, top]: Point) {
        let mut y = top;
        for (symbol, text) in &self.entries {
            y += line_height(*symbol);
            let middle = y - LINE_HEIGHT / 2.0;
            let x = match symbol {
                Symbol::Heading => left,
                _ => left + SYMBOL_WIDTH + 8.0,
            };
            draw_symbol(drawing, *symbol, [left, middle]);
            drawing.text([x, middle + 4.5], text, SIZE, Anchor::Start);
        }
    }
}

fn line_height(symbol: Symbol) -> f64 {
    match symbol {
        Symbol::Heading => LINE_HEIGHT + 6.0,
        _ => LINE_HEIGHT,
    }
}

fn draw_symbol(drawing: &mut Drawing, symbol: Symbol, [left, y]: Point) {
    match symbol {
        Symbol::Line(stroke) => {
            drawing.lines(vec![vec![[left, y], [left + SYMBOL_WIDTH, y]]], stroke);
        }
        Symbol::Marker(marker, radius, color) => {
            drawing.markers(marker, vec![[left + SYMBOL_WIDTH / 2.0, y]], radius, color);
        }
        Symbol::Heading => {}
    }
}

//! Legends: symbols with their meaning.

use crate::drawing::{Anchor, Drawing, Marker, Point};
use crate::font;
use crate::style::{Color, Stroke};

const TEXT_SIZE: f64 = 13.0;
const LINE_HEIGHT: f64 = 20.0;
const SYMBOL_WIDTH: f64 = 24.0;
const SYMBOL_GAP: f64 = 8.0;

/// Symbol of an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Symbol {
    /// Short line.
    Line(Stroke),
    /// Marker with its radius (page units) and colour.
    Marker(Marker, f64, Color),
    /// No symbol: the text is a heading of the entries below.
    Heading,
}

/// Symbols with their meaning, one below the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Legend {
    entries: Vec<(Symbol, String)>,
}

impl Legend {
    /// Adds an entry.
    ///
    /// ```
    /// use etendue_plot::{Legend, Symbol};
    /// let mut legend = Legend::default();
    /// legend.add(Symbol::Heading, "Measurements");
    /// assert!(!legend.is_empty());
    /// ```
    pub fn add(&mut self, symbol: Symbol, text: impl Into<String>) {
        self.entries.push((symbol, text.into()));
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds the missing entries of other legends, and returns the added entries.
    pub(crate) fn extend_from<'a>(&mut self, others: impl Iterator<Item = &'a Self>) -> Self {
        let mut added = Self::default();
        for entry in others.flat_map(|other| &other.entries) {
            if !self.entries.contains(entry) {
                self.entries.push(entry.clone());
                added.entries.push(entry.clone());
            }
        }
        added
    }

    /// Width, page units.
    pub(crate) fn width(&self) -> f64 {
        let widths = self.entries.iter().map(|(symbol, text)| {
            let text = font::width(text, TEXT_SIZE);
            text_offset(*symbol) + text
        });
        widths.fold(0.0, f64::max)
    }

    /// Height, page units.
    pub(crate) fn height(&self) -> f64 {
        let heights = self.entries.iter().map(|(symbol, _)| line_height(*symbol));
        heights.sum()
    }

    /// Draws the legend with its left upper corner at a point of the page.
    pub(crate) fn draw(&self, drawing: &mut Drawing, [left, top]: Point) {
        let mut y = top;
        for (symbol, text) in &self.entries {
            y += line_height(*symbol);
            let middle = y - LINE_HEIGHT / 2.0;
            draw_symbol(drawing, *symbol, [left, middle]);
            let at = [left + text_offset(*symbol), middle + 4.5];
            drawing.text(at, text, TEXT_SIZE, Anchor::Start);
        }
    }
}

fn text_offset(symbol: Symbol) -> f64 {
    match symbol {
        Symbol::Heading => 0.0,
        Symbol::Line(_) | Symbol::Marker(..) => SYMBOL_WIDTH + SYMBOL_GAP,
    }
}

fn line_height(symbol: Symbol) -> f64 {
    match symbol {
        Symbol::Heading => LINE_HEIGHT + 6.0,
        Symbol::Line(_) | Symbol::Marker(..) => LINE_HEIGHT,
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

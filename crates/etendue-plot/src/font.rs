//! The embedded font: widths for layout, outlines for PNG.

use std::sync::LazyLock;
use ttf_parser::{Face, OutlineBuilder};

static FACE: LazyLock<Face<'static>> = LazyLock::new(|| {
    Face::parse(include_bytes!("font/Roboto-Regular.ttf"), 0).expect("the embedded font is valid")
});

/// Width of `text` at font size `size`, page units.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// Outlines of the glyphs of `text`. `glyph_at` creates the builder of a glyph at a position, in
/// font sizes from the start of the text.
pub fn outline<B: OutlineBuilder>(text: &str, mut glyph_at: impl FnMut(f64) -> B) -> Vec<B> {
    let mut pen = 0.0;
    let mut glyphs = Vec::new();
    for letter in text.chars() {
        let mut builder = glyph_at(pen);
        FACE.outline_glyph(glyph(letter), &mut builder);
        glyphs.push(builder);
        pen += advance(letter);
    }
    glyphs
}

/// Font units per font size.
pub fn units_per_em() -> f64 {
    f64::from(FACE.units_per_em())
}

fn glyph(letter: char) -> ttf_parser::GlyphId {
    FACE.glyph_index(letter).unwrap_or_default()
}

fn advance(letter: char) -> f64 {
    f64::from(FACE.glyph_hor_advance(glyph(letter)).unwrap_or(0)) / units_per_em()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_grows_with_size_and_letters() {
        let one = width("x, m", 10.0);
        assert!(one > 10.0 && one < 40.0, "{one}");
        assert!((width("x, m", 20.0) - 2.0 * one).abs() < 1e-9);
        assert!(width("iii", 10.0) < width("WWW", 10.0));
    }
}

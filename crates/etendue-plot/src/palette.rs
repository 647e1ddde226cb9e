//! Colours that readers with colour-vision deficiency can distinguish.
//!
//! The eight hues of Okabe and Ito (2008), "Color Universal Design", reordered so that the first
//! ones also differ most in lightness; further entries repeat the hues with dashed lines.

use crate::style::{Color, Stroke};

/// Colour of text and axes.
pub const INK: Color = Color::hex(0x222222);
/// Colour of the page.
pub const PAPER: Color = Color::hex(0xFFFFFF);
/// Colour of grid lines.
pub const GRID: Color = Color::hex(0xE6E6E6);
/// Colour of data in the background.
pub const FAINT: Color = Color::hex(0xC4C4C4);
/// Colour of warnings.
pub const ALERT: Color = Color::hex(0xD0021B);

const HUES: [Color; 7] = [
    Color::hex(0x0072B2),
    Color::hex(0xE69F00),
    Color::hex(0x009E73),
    Color::hex(0x56B4E9),
    Color::hex(0xCC79A7),
    Color::hex(0xD55E00),
    Color::hex(0xB8A800),
];

const DASHES: [Option<[f64; 2]>; 3] = [None, Some([7.0, 3.0]), Some([2.5, 2.5])];

/// Stroke of the `index`-th category: the first 21 all differ.
///
/// ```
/// use etendue_plot::palette::category;
/// assert_ne!(category(0, 2.0), category(7, 2.0));
/// ```
pub fn category(index: usize, width: f64) -> Stroke {
    Stroke {
        color: HUES[index % HUES.len()],
        width,
        dash: DASHES[(index / HUES.len()) % DASHES.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_21_categories_all_differ() {
        let strokes: Vec<_> = (0..21).map(|i| category(i, 1.0)).collect();
        for (i, a) in strokes.iter().enumerate() {
            assert!(strokes[i + 1..].iter().all(|b| a != b), "category {i}");
        }
    }
}

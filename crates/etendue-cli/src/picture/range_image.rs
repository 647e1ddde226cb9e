//! The range image of a sweep.

use super::png::RenderError;
use etendue::sensors::pulsed::PointSweep;
use tiny_skia::{Pixmap, PremultipliedColorU8};

/// Most rows that are stretched: images of few rings are made taller.
const LEAST_HEIGHT: usize = 128;

/// The range image as a PNG file: one pixel column a column, rings from top to bottom, near ranges
/// bright and far ones dark, no returns blue.
///
/// # Errors
/// Where the image has no area.
pub fn png(sweep: &PointSweep) -> Result<Vec<u8>, RenderError> {
    let (width, rows) = (sweep.columns as usize, usize::from(sweep.channels));
    let stretch = LEAST_HEIGHT.div_ceil(rows).max(1);
    let image = sweep.range_image();
    let far = farthest(&image);
    let height = rows * stretch;
    let size = RenderError::Size {
        width: width as f64,
        height: height as f64,
    };
    let mut pixmap = Pixmap::new(width as u32, height as u32).ok_or(size)?;
    for (i, pixel) in pixmap.pixels_mut().iter_mut().enumerate() {
        *pixel = color(image[i / width / stretch * width + i % width], far);
    }
    pixmap
        .encode_png()
        .map_err(|error| RenderError::Encoding(error.to_string()))
}

/// The range that 98 of 100 stay below.
fn farthest(image: &[f64]) -> f64 {
    let mut ranges: Vec<f64> = image
        .iter()
        .copied()
        .filter(|range| range.is_finite())
        .collect();
    ranges.sort_by(f64::total_cmp);
    ranges
        .get(ranges.len().saturating_sub(1) * 98 / 100)
        .copied()
        .unwrap_or(1.0)
}

fn color(range: f64, far: f64) -> PremultipliedColorU8 {
    let [red, green, blue] = if range.is_finite() {
        let grey = (235.0 - 215.0 * (range / far).clamp(0.0, 1.0).sqrt()) as u8;
        [grey; 3]
    } else {
        [24, 40, 110]
    };
    PremultipliedColorU8::from_rgba(red, green, blue, 255)
        .unwrap_or(PremultipliedColorU8::TRANSPARENT)
}

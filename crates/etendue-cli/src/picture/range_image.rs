//! The range image and the intensity image of a sweep.

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
    let image = sweep.range_image();
    let far = high(&image);
    encode(sweep, &image, |range| {
        235.0 - 215.0 * (range / far).clamp(0.0, 1.0).sqrt()
    })
}

/// The intensity image likewise: strong echoes bright, weak ones dark, no returns blue.
///
/// # Errors
/// Where the image has no area.
pub fn intensity_png(sweep: &PointSweep) -> Result<Vec<u8>, RenderError> {
    let image = sweep.image(|sweep, shot| {
        let first = sweep.points_of(shot).first();
        first.map_or(f64::INFINITY, |point| point.intensity)
    });
    let bright = high(&image);
    encode(sweep, &image, |intensity| {
        20.0 + 235.0 * (intensity / bright).clamp(0.0, 1.0).sqrt()
    })
}

/// An image of one number a shot as a PNG file; `grey` gives the shade of a finite number.
fn encode(
    sweep: &PointSweep,
    image: &[f64],
    grey: impl Fn(f64) -> f64,
) -> Result<Vec<u8>, RenderError> {
    let (width, rows) = (sweep.columns as usize, usize::from(sweep.channels));
    let stretch = LEAST_HEIGHT.div_ceil(rows).max(1);
    let height = rows * stretch;
    let size = RenderError::Size {
        width: width as f64,
        height: height as f64,
    };
    let mut pixmap = Pixmap::new(width as u32, height as u32).ok_or(size)?;
    for (i, pixel) in pixmap.pixels_mut().iter_mut().enumerate() {
        *pixel = color(image[i / width / stretch * width + i % width], &grey);
    }
    pixmap
        .encode_png()
        .map_err(|error| RenderError::Encoding(error.to_string()))
}

/// The number that 98 of 100 stay below, and no less than a tiny one.
fn high(image: &[f64]) -> f64 {
    let mut numbers: Vec<f64> = image
        .iter()
        .copied()
        .filter(|number| number.is_finite())
        .collect();
    numbers.sort_by(f64::total_cmp);
    numbers
        .get(numbers.len().saturating_sub(1) * 98 / 100)
        .copied()
        .unwrap_or(1.0)
        .max(1e-12)
}

fn color(number: f64, grey: impl Fn(f64) -> f64) -> PremultipliedColorU8 {
    let [red, green, blue] = if number.is_finite() {
        [grey(number) as u8; 3]
    } else {
        [24, 40, 110]
    };
    PremultipliedColorU8::from_rgba(red, green, blue, 255)
        .unwrap_or(PremultipliedColorU8::TRANSPARENT)
}

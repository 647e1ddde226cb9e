//! The range image and the intensity image of a sweep.

use etendue::sensors::lidar::Sweep;
use etendue_plot::png::{RenderError, pixmap};
use etendue_plot::shade_scale::{HEIGHT, LEAST_WIDTH, ShadeScale};
use std::f64::consts::{PI, TAU};
use tiny_skia::{Pixmap, PixmapPaint, PremultipliedColorU8, Transform};

/// The colour of no return.
const NONE: [u8; 3] = [24, 40, 110];

/// Most rows that are stretched: images of few rings are made taller.
const LEAST_HEIGHT: usize = 128;

/// The range image as a PNG file: one pixel column a column, rings from top to bottom, near ranges
/// bright and far ones dark, no returns blue, with the scale below. What stands above each other in a full turn does so in
/// the picture: rows of lasers that look ahead of the others, or behind, are shifted.
///
/// # Errors
/// Where the image has no area.
pub fn png(sweep: &Sweep) -> Result<Vec<u8>, RenderError> {
    let image = sweep.range_image();
    let far = high(&image);
    let scale = ShadeScale {
        label: "range, m",
        top: far,
        grey: &|range| 235.0 - 215.0 * (range / far).clamp(0.0, 1.0).sqrt(),
        none: NONE,
    };
    encode(sweep, &image, &scale)
}

/// The intensity image likewise: strong echoes bright, weak ones dark, no returns blue.
///
/// # Errors
/// Where the image has no area.
pub fn intensity_png(sweep: &Sweep) -> Result<Vec<u8>, RenderError> {
    let image = sweep.image(|sweep, shot| {
        let first = sweep.points_of(shot).first();
        first.map_or(f64::INFINITY, |point| point.intensity)
    });
    let bright = high(&image);
    let scale = ShadeScale {
        label: "intensity",
        top: bright,
        grey: &|intensity| 20.0 + 235.0 * (intensity / bright).clamp(0.0, 1.0).sqrt(),
        none: NONE,
    };
    encode(sweep, &image, &scale)
}

/// An image of one number a shot as a PNG file, with its scale below.
fn encode(sweep: &Sweep, image: &[f64], scale: &ShadeScale) -> Result<Vec<u8>, RenderError> {
    let (width, rows) = (sweep.columns as usize, usize::from(sweep.channels));
    let stretch = LEAST_HEIGHT.div_ceil(rows).max(1);
    let height = rows * stretch;
    let mut pixels = blank(width as f64, height as f64)?;
    let shifts = shifts(sweep);
    for (i, pixel) in pixels.pixels_mut().iter_mut().enumerate() {
        let row = i / width / stretch;
        let column = (i % width + width - shifts[row]) % width;
        *pixel = color(image[row * width + column], scale);
    }
    let page_width = (width as f64).max(LEAST_WIDTH);
    let below = pixmap(&scale.draw(page_width), 1.0)?;
    let mut page = blank(page_width, height as f64 + HEIGHT)?;
    page.fill(tiny_skia::Color::WHITE);
    let under = pixels.height().cast_signed();
    for (top, part) in [(0, &pixels), (under, &below)] {
        let (paint, still) = (PixmapPaint::default(), Transform::identity());
        page.draw_pixmap(0, top, part.as_ref(), &paint, still, None);
    }
    page.encode_png()
        .map_err(|error| RenderError::Encoding(error.to_string()))
}

fn blank(width: f64, height: f64) -> Result<Pixmap, RenderError> {
    Pixmap::new(width as u32, height as u32).ok_or(RenderError::Size { width, height })
}

/// By how many columns each row is shifted to the right, so that equal azimuths stand above each
/// other: as far as its laser looks ahead of the middle one, in a full turn.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "columns of a sweep, from 0 on"
)]
fn shifts(sweep: &Sweep) -> Vec<usize> {
    let (width, rows) = (f64::from(sweep.columns), usize::from(sweep.channels));
    let mut shifts = vec![0; rows];
    let first = |number: usize| sweep.shots.get(number).map(|shot| shot.azimuth);
    let (Some(middle), Some(next)) = (first(rows / 2), first(rows + rows / 2)) else {
        return shifts;
    };
    let step = between(middle, next);
    if (step.abs() * width / TAU - 1.0).abs() > 0.01 {
        return shifts;
    }
    for (channel, ring) in sweep.rings.iter().enumerate() {
        let ahead = first(channel).map_or(0.0, |azimuth| between(middle, azimuth) / step);
        shifts[rows - 1 - usize::from(*ring)] = ahead.round().rem_euclid(width) as usize;
    }
    shifts
}

/// From one azimuth to another the shorter way round, rad.
fn between(from: f64, to: f64) -> f64 {
    (to - from + PI).rem_euclid(TAU) - PI
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

fn color(number: f64, scale: &ShadeScale) -> PremultipliedColorU8 {
    let [red, green, blue] = if number.is_finite() {
        [(scale.grey)(number) as u8; 3]
    } else {
        scale.none
    };
    PremultipliedColorU8::from_rgba(red, green, blue, 255)
        .unwrap_or(PremultipliedColorU8::TRANSPARENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue::formats::scene::parse;
    use etendue::formats::sensor::{SensorModel, preset};
    use etendue::formats::toml_file::Document;
    use etendue::sensors::lidar::{SweepSettings, simulate};
    use etendue::sensors::transport::World;
    use nalgebra::Isometry3;

    /// The upright edge of a wall stands in one column, though the lasers of an OS0 look up to 11
    /// degrees to its side: measured within 2 columns; 51 without the shifts.
    #[test]
    fn an_upright_edge_is_upright_in_the_picture() {
        let text = "version = 1\n[materials.paint]\ndiffuse = { reflectance = 0.8 }\n\
                    [[objects]]\nname = \"wall\"\nshape.box = { size_m = [0.2, 8, 60] }\n\
                    position_m = [5, 4, 0]\nmaterial = \"paint\"\n";
        let loaded = parse(&Document::new("wall.toml", text.to_owned())).expect("a scene");
        let model = preset("ouster-os0-128").expect("a preset").model;
        let SensorModel::Scanner(scanner) = model else {
            panic!("it scans");
        };
        let world = World::at_wavelength(&loaded.scene, scanner.wavelength).expect("grey");
        let still = |_| Isometry3::identity();
        let sweep = simulate(&world, &scanner, &SweepSettings::default(), still);
        let (image, shifts) = (sweep.range_image(), shifts(&sweep));
        let width = sweep.columns as usize;
        // Of the rows of the middle half, where the edge is at 5 m.
        let edges = (32..96).map(|row| {
            let seen =
                |x: &usize| image[row * width + (x + width - shifts[row]) % width].is_finite();
            let lit: Vec<usize> = (0..width).filter(seen).collect();
            let after_gap = lit.windows(2).find(|pair| pair[1] > pair[0] + 100);
            after_gap.map_or(lit[0], |pair| pair[1])
        });
        let edges: Vec<usize> = edges.collect();
        let (least, most) = (edges.iter().min(), edges.iter().max());
        let spread = most.expect("rows") - least.expect("rows");
        assert!(spread <= 2, "{spread}: {edges:?}");
    }
}

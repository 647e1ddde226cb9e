//! Range image and intensity image of a sweep.

use etendue::physics::angle::wrap_to_pi;
use etendue::sensors::lidar::Sweep;
use etendue_plot::png::RenderError;
use etendue_plot::{Color, ShadedImage, Shading};
use std::f64::consts::TAU;

/// Colour of shots without a return, and its label.
const NO_RETURN: (Color, &str) = (Color::hex(0x18286E), "no return");

/// Names of the columns and of the rows.
const AXES: [&str; 2] = ["column", "ring"];

/// Range image as a PNG file: one pixel column per column of the sweep, rings from top to bottom,
/// near ranges bright and far ones dark. Rows of lasers with an azimuth offset are shifted, so that
/// pixels of one azimuth are in one column of a full rotation.
///
/// # Errors
/// If the image has no area.
pub fn png(sweep: &Sweep) -> Result<Vec<u8>, RenderError> {
    let image = ShadedImage {
        columns: sweep.columns as usize,
        axes: AXES,
        values: shifted(sweep, &sweep.range_image()),
        label: "range, m",
        shading: Shading::BrightToDark,
        missing: NO_RETURN,
    };
    image.png()
}

/// Intensity image of the first returns as a PNG file, in the layout of [`png`]: strong returns
/// bright and weak ones dark.
///
/// # Errors
/// If the image has no area.
pub fn intensity_png(sweep: &Sweep) -> Result<Vec<u8>, RenderError> {
    let intensities = sweep.image(|sweep, shot| {
        let first = sweep.points_of(shot).first();
        first.map_or(f64::INFINITY, |point| point.intensity)
    });
    let image = ShadedImage {
        columns: sweep.columns as usize,
        axes: AXES,
        values: shifted(sweep, &intensities),
        label: "intensity",
        shading: Shading::DarkToBright,
        missing: NO_RETURN,
    };
    image.png()
}

/// An image with each row shifted by the azimuth offset of its laser.
fn shifted(sweep: &Sweep, image: &[f64]) -> Vec<f64> {
    let width = sweep.columns as usize;
    let rows = image.chunks(width.max(1)).zip(shifts(sweep));
    let shifted = rows.flat_map(|(row, shift)| {
        let (start, end) = row.split_at(width - shift.min(width));
        end.iter().chain(start).copied()
    });
    shifted.collect()
}

/// Columns by which each row is shifted to the right: the azimuth offset of its laser from that of
/// the middle one. Zero unless the sweep is a full rotation.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "columns of a sweep, counted from 0"
)]
fn shifts(sweep: &Sweep) -> Vec<usize> {
    let width = f64::from(sweep.columns);
    let rows = usize::from(sweep.channels);
    let mut shifts = vec![0; rows];
    let azimuth = |shot: usize| sweep.shots.get(shot).map(|shot| shot.azimuth);
    let (Some(middle), Some(next)) = (azimuth(rows / 2), azimuth(rows + rows / 2)) else {
        return shifts;
    };
    let step = signed_angle(middle, next);
    if (step.abs() * width / TAU - 1.0).abs() > 0.01 {
        return shifts;
    }
    for (channel, ring) in sweep.rings.iter().enumerate() {
        let offset = azimuth(channel).map_or(0.0, |a| signed_angle(middle, a) / step);
        shifts[rows - 1 - usize::from(*ring)] = offset.round().rem_euclid(width) as usize;
    }
    shifts
}

/// Difference of two azimuths in [-pi, pi), rad.
fn signed_angle(from: f64, to: f64) -> f64 {
    wrap_to_pi(to - from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue::config::scene::parse;
    use etendue::config::sensor::preset;
    use etendue::config::toml_file::Document;
    use etendue::sensors::lidar::{SweepSettings, simulate};
    use etendue::sensors::transport::World;
    use nalgebra::Isometry3;

    /// The vertical edge of a wall is in one column, although the lasers of an OS0 have azimuth offsets
    /// of up to 11 degrees: measured within 2 columns; 51 without the shifts.
    #[test]
    fn a_vertical_edge_is_vertical_in_the_picture() {
        let text = "version = 1\n[materials.paint]\ndiffuse = { reflectance = 0.8 }\n\
                    [[objects]]\nname = \"wall\"\nshape.box = { size_m = [0.2, 8, 60] }\n\
                    position_m = [5, 4, 0]\nmaterial = \"paint\"\n";
        let loaded = parse(&Document::new("wall.toml", text.to_owned())).expect("a scene");
        let scanner = preset("ouster-os0-128").expect("a preset").lidar;
        let world = World::at_wavelength(&loaded.scene, scanner.wavelength).expect("grey");
        let still = |_| Isometry3::identity();
        let sweep = simulate(&world, &scanner, &SweepSettings::default(), still);
        let image = sweep.range_image();
        let shifts = shifts(&sweep);
        let width = sweep.columns as usize;
        // The rows of the middle half, where the edge is at 5 m
        let edges = (32..96).map(|row| {
            let seen =
                |x: &usize| image[row * width + (x + width - shifts[row]) % width].is_finite();
            let lit: Vec<usize> = (0..width).filter(seen).collect();
            let after_gap = lit.windows(2).find(|pair| pair[1] > pair[0] + 100);
            after_gap.map_or(lit[0], |pair| pair[1])
        });
        let edges: Vec<usize> = edges.collect();
        let least = edges.iter().min();
        let most = edges.iter().max();
        let spread = most.expect("rows") - least.expect("rows");
        assert!(spread <= 2, "{spread}: {edges:?}");
    }
}

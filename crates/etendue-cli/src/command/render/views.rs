//! Ground truth of frames as pictures.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "values are clamped to the range of a pixel"
)]

use etendue::sensors::camera::{ClassMap, FrameTruth};
use std::f64::consts::{PI, TAU};

/// Depth in millimetres, 0 without a surface, saturated at 65535.
pub fn depth_millimetres(truth: &FrameTruth) -> Vec<u16> {
    let number = |depth: &f32| match depth {
        depth if depth.is_nan() => 0,
        depth => (f64::from(*depth) * 1e3).round().clamp(1.0, 65535.0) as u16,
    };
    truth.depth.iter().map(number).collect()
}

/// Depth as grey levels, linear in its inverse: bright where near, black without a surface.
pub fn depth(truth: &FrameTruth) -> Vec<u8> {
    let finite = truth
        .depth
        .iter()
        .copied()
        .filter(|depth| depth.is_finite());
    let (near, far) = finite.fold((f32::INFINITY, f32::NEG_INFINITY), |(near, far), depth| {
        (near.min(depth), far.max(depth))
    });
    let byte = |depth: &f32| {
        if depth.is_nan() {
            return 0;
        }
        // Linear in the inverse depth, which resolves near surfaces best
        let fraction = (1.0 / depth - 1.0 / far) / (1.0 / near - 1.0 / far).max(1e-9);
        (30.0 + 225.0 * fraction.clamp(0.0, 1.0)).round() as u8
    };
    truth.depth.iter().map(byte).collect()
}

/// Normals as colours: x, y, z from -1 to 1 as red, green, blue from 0 to 255.
pub fn normals(truth: &FrameTruth) -> Vec<u8> {
    let byte = |component: &f32| {
        if component.is_nan() {
            return 0;
        }
        (127.5 + 127.5 * component).round().clamp(0.0, 255.0) as u8
    };
    truth.normal.iter().flatten().map(byte).collect()
}

/// Object numbers from 1; 0 without a surface.
pub fn instances(truth: &FrameTruth) -> Vec<u16> {
    let number = |object: &Option<_>| match object {
        Some(etendue::scene::ObjectId(number)) => u16::try_from(number + 1).unwrap_or(u16::MAX),
        None => 0,
    };
    truth.object.iter().map(number).collect()
}

/// Class numbers; 0 without a surface.
pub fn classes(truth: &FrameTruth, classes: &ClassMap) -> Vec<u16> {
    let pairs = truth.object.iter().zip(&truth.material);
    pairs
        .map(|(object, material)| classes.of(*object, *material))
        .collect()
}

/// Numbers as distinguishable colours; 0 is black.
pub fn coloured(numbers: &[u16]) -> Vec<u8> {
    let colour = |number: &u16| match number {
        0 => [0; 3],
        number => {
            // Steps of the golden angle separate the hues of consecutive numbers
            let hue = (f64::from(*number) * 0.618_034).fract();
            let value = [1.0, 0.75, 0.9][usize::from(*number) % 3];
            colour_of(hue, 0.65, value)
        }
    };
    numbers.iter().flat_map(colour).collect()
}

/// Optical flow as colours: the hue is the direction, the saturation the speed relative to the
/// largest.
pub fn flow(truth: &FrameTruth) -> Vec<u8> {
    let speed = |[right, down]: &[f32; 2]| f64::from(right.hypot(*down));
    let speeds = truth
        .flow
        .iter()
        .map(speed)
        .filter(|speed| speed.is_finite());
    let fastest = speeds.fold(1e-6, f64::max);
    let colour = |flow: &[f32; 2]| {
        if flow[0].is_nan() {
            return [0; 3];
        }
        let hue = (f64::from(flow[1]).atan2(f64::from(flow[0])) + PI) / TAU;
        colour_of(hue, speed(flow) / fastest, 1.0)
    };
    truth.flow.iter().flat_map(colour).collect()
}

/// Red, green and blue of a hue (a turn is 1), saturation and value.
fn colour_of(hue: f64, saturation: f64, value: f64) -> [u8; 3] {
    [0.0, 2.0, 4.0].map(|shift: f64| {
        let distance = ((hue * 6.0 + 6.0 - shift + 3.0).rem_euclid(6.0) - 3.0).abs();
        let pure = (2.0 - distance).clamp(0.0, 1.0);
        (255.0 * value * (1.0 - saturation * (1.0 - pure))).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hues_are_red_green_and_blue_a_third_of_a_turn_apart() {
        assert_eq!(colour_of(0.0, 1.0, 1.0), [255, 0, 0]);
        assert_eq!(colour_of(1.0 / 3.0, 1.0, 1.0), [0, 255, 0]);
        assert_eq!(colour_of(2.0 / 3.0, 1.0, 1.0), [0, 0, 255]);
        assert_eq!(colour_of(0.4, 0.0, 1.0), [255; 3]);
    }

    #[test]
    fn consecutive_numbers_have_different_colours() {
        let colours = coloured(&[0, 1, 2, 3]);
        assert_eq!(colours[..3], [0, 0, 0]);
        assert_ne!(colours[3..6], colours[6..9]);
        assert_ne!(colours[6..9], colours[9..12]);
    }
}

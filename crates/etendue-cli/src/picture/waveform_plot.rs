//! The received power of one beam over range.

use super::{Anchor, Axis, Drawing, Plot, palette};
use etendue::physics::SPEED_OF_LIGHT;
use etendue::physics::pulse::Waveform;

const FRAME: [f64; 4] = [74.0, 64.0, 774.0, 464.0];
/// Smallest power shown over the largest.
const FLOOR: f64 = 1e-5;

/// Draws a waveform, its power on a logarithmic scale.
pub fn draw(title: &str, waveform: &Waveform) -> Drawing {
    let most = waveform
        .samples
        .iter()
        .copied()
        .fold(f64::MIN_POSITIVE, f64::max);
    let range = |i: usize| 0.5 * SPEED_OF_LIGHT * waveform.time(i as f64);
    let seen = waveform
        .samples
        .iter()
        .rposition(|power| *power > 1e-3 * most)
        .unwrap_or(0);
    let plot = Plot {
        frame: FRAME,
        x: Axis {
            limits: [0.0, 1.2 * range(seen) + 2.0],
            label: "half the optical path, m".into(),
        },
        y: Axis {
            limits: [(FLOOR * most).log10(), most.log10() + 0.2],
            label: "log10 of the received power, 1/(m² sr)".into(),
        },
    };
    let mut drawing = Drawing::new(FRAME[2] + 44.0, FRAME[3] + 60.0);
    plot.draw_grid(&mut drawing);
    let samples = waveform.samples.iter().enumerate();
    let line = samples
        .map(|(i, power)| [range(i), power.max(FLOOR * most).log10()])
        .filter(|[x, y]| plot.contains(*x, *y))
        .map(|[x, y]| plot.place(x, y));
    drawing.lines(vec![line.collect()], palette::category(0, 1.6));
    plot.draw_axes(&mut drawing);
    drawing.text([FRAME[0], 34.0], title, 19.0, Anchor::Start);
    drawing
}

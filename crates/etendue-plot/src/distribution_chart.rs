//! The distribution functions of two samples.

use crate::{Anchor, Axis, Drawing, Legend, Plot, Symbol, palette};

const FRAME: [f64; 4] = [74.0, 64.0, 674.0, 404.0];
/// Most corners of a curve.
const CORNERS: usize = 400;

/// Draws the share of each sample that is not above a value.
pub fn draw(title: &str, label: &str, samples: &[(&str, &[f64])]) -> Drawing {
    let sorted: Vec<(&str, Vec<f64>)> = samples.iter().map(|(n, s)| (*n, sorted(s))).collect();
    let all = sorted.iter().flat_map(|(_, sample)| sample);
    let least = all.clone().copied().fold(f64::MAX, f64::min);
    let most = all.copied().fold(f64::MIN, f64::max).max(least + 1e-9);
    let plot = Plot {
        frame: FRAME,
        x: Axis {
            limits: [least, most],
            label: label.into(),
        },
        y: Axis {
            limits: [0.0, 1.0],
            label: "share that is not above".into(),
        },
    };
    let mut drawing = Drawing::new(0.0, FRAME[3] + 60.0);
    let mut legend = Legend::default();
    plot.draw_grid(&mut drawing);
    for (index, (name, sample)) in sorted.iter().enumerate() {
        let stroke = palette::category(index, 2.2);
        let step = sample.len().div_ceil(CORNERS).max(1);
        let corner = |i: usize| plot.place(sample[i], (i + 1) as f64 / sample.len() as f64);
        let line = (0..sample.len()).step_by(step).map(corner);
        drawing.lines(vec![line.collect()], stroke);
        legend.add(Symbol::Line(stroke), *name);
    }
    plot.draw_axes(&mut drawing);
    drawing.text([FRAME[0], 34.0], title, 19.0, Anchor::Start);
    legend.draw(&mut drawing, [FRAME[2] + 24.0, FRAME[1]]);
    drawing.width = FRAME[2] + legend.width() + 44.0;
    drawing
}

fn sorted(sample: &[f64]) -> Vec<f64> {
    let mut finite: Vec<f64> = sample.iter().copied().filter(|x| x.is_finite()).collect();
    finite.sort_by(f64::total_cmp);
    finite
}

//! A panel from above, with the beams that meet it.

use crate::{Anchor, Color, Drawing, Extent, Legend, Marker, Point, Stroke, Symbol, palette};

/// A direction towards the panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam {
    /// Where it meets the panel, m.
    pub at: Point,
    /// From 0 to 1: what its colour tells.
    pub share: f64,
}

/// A panel from above.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelView<'a> {
    /// The heading.
    pub title: &'a str,
    /// What the colour tells.
    pub legend: &'a str,
    /// What full and no colour mean.
    pub ends: [&'a str; 2],
    /// The beams.
    pub beams: Vec<Beam>,
    /// The panel's ends, m.
    pub panel: [Point; 2],
    /// Other points seen, m.
    pub others: Vec<Point>,
}

const FRAME: [f64; 2] = [84.0, 64.0];
const LARGEST: Point = [640.0, 480.0];
/// Classes of colour.
const CLASSES: u32 = 10;

impl PanelView<'_> {
    /// Draws it.
    pub fn draw(&self) -> Drawing {
        let inside = self.beams.iter().map(|beam| beam.at);
        let all = inside.chain(self.panel).chain([[0.0, 0.0]]);
        let plot = Extent::of(all).padded().plot(FRAME, LARGEST);
        let mut drawing = Drawing::new(0.0, plot.frame[3] + 60.0);
        plot.draw_grid(&mut drawing);
        let others = self.others.iter().filter(|[x, y]| plot.contains(*x, *y));
        let others = others.map(|[x, y]| plot.place(*x, *y)).collect();
        drawing.markers(Marker::Dot, others, 1.6, palette::FAINT);
        for class in 0..CLASSES {
            let color = color(class);
            let beams = self
                .beams
                .iter()
                .filter(|beam| class_of(beam.share) == class);
            let lines = beams
                .clone()
                .filter_map(|beam| plot.clip([0.0, 0.0], beam.at));
            drawing.lines(
                lines.map(|line| line.to_vec()).collect(),
                Stroke::new(color.fade(0.35), 1.0),
            );
            let ends = beams.filter(|beam| plot.contains(beam.at[0], beam.at[1]));
            let ends = ends
                .map(|beam| plot.place(beam.at[0], beam.at[1]))
                .collect();
            drawing.markers(Marker::Dot, ends, 3.0, color);
        }
        let panel = plot.clip(self.panel[0], self.panel[1]);
        let wall = Stroke::new(palette::INK, 2.0);
        drawing.lines(panel.map(|line| line.to_vec()).into_iter().collect(), wall);
        let origin = plot.place(0.0, 0.0);
        drawing.markers(Marker::Diamond, vec![origin], 6.0, palette::INK);
        plot.draw_axes(&mut drawing);
        drawing.text([FRAME[0], 34.0], self.title, 19.0, Anchor::Start);
        let legend = self.legend();
        legend.draw(&mut drawing, [plot.frame[2] + 24.0, FRAME[1]]);
        let heading = FRAME[0] + crate::font::width(self.title, 19.0);
        drawing.width = (plot.frame[2] + legend.width()).max(heading) + 44.0;
        drawing
    }

    fn legend(&self) -> Legend {
        let mut legend = Legend::default();
        legend.add(Symbol::Heading, self.legend);
        let dot = |class| Symbol::Marker(Marker::Dot, 4.0, color(class));
        legend.add(dot(CLASSES - 1), self.ends[0]);
        legend.add(dot(CLASSES / 2), "half");
        legend.add(dot(0), self.ends[1]);
        legend.add(Symbol::Line(Stroke::new(palette::INK, 2.0)), "panel");
        legend.add(Symbol::Marker(Marker::Diamond, 5.0, palette::INK), "sensor");
        if !self.others.is_empty() {
            legend.add(
                Symbol::Marker(Marker::Dot, 2.0, palette::FAINT),
                "seen elsewhere",
            );
        }
        legend
    }
}

fn class_of(share: f64) -> u32 {
    ((share * f64::from(CLASSES)) as u32).min(CLASSES - 1)
}

/// From vermilion over yellow to blue: told apart by colour-blind readers.
fn color(class: u32) -> Color {
    let t = f64::from(class) / f64::from(CLASSES - 1);
    let ends: [[f64; 3]; 3] = [
        [213.0, 94.0, 0.0],
        [222.0, 200.0, 90.0],
        [0.0, 114.0, 178.0],
    ];
    let (from, to, t) = if t < 0.5 {
        (ends[0], ends[1], 2.0 * t)
    } else {
        (ends[1], ends[2], 2.0 * t - 1.0)
    };
    let mix = |i: usize| (from[i] + t * (to[i] - from[i])).round() as u8;
    Color {
        rgb: [mix(0), mix(1), mix(2)],
        opacity: 1.0,
    }
}

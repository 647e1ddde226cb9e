//! Pictures of panels from above, with the beams that hit them.

use etendue_plot::{
    Color, Drawing, Extent, Figure, Marker, Plot, Point, Series, Stroke, Symbol, palette,
};

/// Beam from the sensor to the panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanelBeam {
    /// Intersection with the panel, m.
    pub at: Point,
    /// Value from 0 to 1 that the colour shows.
    pub fraction: f64,
}

/// View of a panel from above.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelView<'a> {
    /// Heading.
    pub title: &'a str,
    /// Quantity that the colour shows.
    pub legend: &'a str,
    /// Meanings of the values 1 and 0.
    pub ends: [&'a str; 2],
    /// Beams.
    pub beams: Vec<PanelBeam>,
    /// Ends of the panel, m.
    pub panel: [Point; 2],
    /// Other points measured, m.
    pub others: Vec<Point>,
}

const LARGEST_PLOT: Point = [640.0, 480.0];
const SENSOR: Point = [0.0, 0.0];
const PANEL: Stroke = Stroke::new(palette::INK, 2.0);
/// Number of classes of the colour scale.
const CLASSES: u32 = 10;

impl PanelView<'_> {
    /// Draws the view.
    pub fn draw(&self) -> Drawing {
        let hit = self.beams.iter().map(|beam| beam.at);
        let extent = Extent::of(hit.chain(self.panel).chain([SENSOR])).padded();
        let mut plot = Plot::to_scale(extent, ["x, m", "y, m"], LARGEST_PLOT);
        plot.add(Series::Markers {
            points: self.others.clone(),
            marker: Marker::Dot,
            radius: 1.6,
            color: palette::FAINT,
        });

        // Beams by class of colour
        for class in 0..CLASSES {
            let color = class_color(class);
            let beams = self.beams.iter();
            let beams = beams.filter(|beam| class_of(beam.fraction) == class);
            plot.add(Series::Segments {
                segments: beams.clone().map(|beam| [SENSOR, beam.at]).collect(),
                stroke: Stroke::new(color.fade(0.35), 1.0),
            });
            plot.add(Series::Markers {
                points: beams.map(|beam| beam.at).collect(),
                marker: Marker::Dot,
                radius: 3.0,
                color,
            });
        }

        // Panel and sensor
        plot.add(Series::Segments {
            segments: vec![self.panel],
            stroke: PANEL,
        });
        plot.add(Series::Markers {
            points: vec![SENSOR],
            marker: Marker::Diamond,
            radius: 6.0,
            color: palette::INK,
        });
        self.add_legend(&mut plot);
        Figure::new(self.title).with_plot(plot).draw()
    }

    fn add_legend(&self, plot: &mut Plot) {
        let legend = &mut plot.legend;
        let dot = |class| Symbol::Marker(Marker::Dot, 4.0, class_color(class));
        legend.add(Symbol::Heading, self.legend);
        legend.add(dot(CLASSES - 1), self.ends[0]);
        legend.add(dot(CLASSES / 2), "half");
        legend.add(dot(0), self.ends[1]);
        legend.add(Symbol::Line(PANEL), "panel");
        legend.add(Symbol::Marker(Marker::Diamond, 5.0, palette::INK), "sensor");
        if !self.others.is_empty() {
            let faint = Symbol::Marker(Marker::Dot, 2.0, palette::FAINT);
            legend.add(faint, "other points");
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a class from 0 to 9"
)]
fn class_of(fraction: f64) -> u32 {
    ((fraction * f64::from(CLASSES)) as u32).min(CLASSES - 1)
}

/// Colour of a class, from vermilion over yellow to blue, which readers with colour-vision
/// deficiency can distinguish.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mixture of colour channels is from 0 to 255"
)]
fn class_color(class: u32) -> Color {
    const VERMILION: [f64; 3] = [213.0, 94.0, 0.0];
    const YELLOW: [f64; 3] = [222.0, 200.0, 90.0];
    const BLUE: [f64; 3] = [0.0, 114.0, 178.0];
    let t = 2.0 * f64::from(class) / f64::from(CLASSES - 1);
    let (from, to, t) = if t < 1.0 {
        (VERMILION, YELLOW, t)
    } else {
        (YELLOW, BLUE, t - 1.0)
    };
    Color {
        rgb: [0, 1, 2].map(|i| (from[i] + t * (to[i] - from[i])).round() as u8),
        opacity: 1.0,
    }
}

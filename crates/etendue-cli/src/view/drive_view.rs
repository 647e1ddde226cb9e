//! The picture of a drive: walls from above, ways and points.

use super::slice::slice;
use super::walls::{Walls, draw_scale, draw_sensor};
use etendue::scene::Scene;
use etendue_plot::{
    Anchor, Color, Drawing, Extent, Legend, Marker, Point, Stroke, Symbol, palette,
};
use nalgebra::Isometry3;

/// What a view of a drive shows.
pub struct DriveView<'a> {
    /// The heading.
    pub title: &'a str,
    /// A line below it.
    pub subtitle: &'a str,
    /// The walls; cut at the height of the robot's sensor.
    pub scene: &'a Scene,
    /// Where the robot's sensor is shown.
    pub world_from_sensor: Isometry3<f64>,
    /// Ways and points, the lowest first.
    pub layers: Vec<Layer>,
}

/// Ways or points that belong together.
pub struct Layer {
    /// What they are.
    pub name: String,
    /// Where, m in the world.
    pub points: Vec<Point>,
    /// How they are drawn.
    pub look: Look,
}

/// How a layer is drawn.
#[derive(Clone, Copy)]
pub enum Look {
    /// Joined by a line.
    Way(Color),
    /// Each a dot of a radius, page units.
    Dots(Color, f64),
}

const LARGEST_PLOT: [f64; 2] = [820.0, 680.0];
const LEFT: f64 = 74.0;
const TOP: f64 = 72.0;
/// No more points of a layer than this are drawn.
const POINTS_SHOWN: usize = 16_000;

impl DriveView<'_> {
    /// Draws the picture.
    pub fn draw(&self) -> Drawing {
        let slice = slice(self.scene, &self.world_from_sensor);
        let cut = slice.cut.iter().flat_map(|(_, segment)| *segment);
        let ways = self
            .layers
            .iter()
            .filter(|layer| matches!(layer.look, Look::Way(_)));
        let shown = Extent::of(ways.flat_map(|layer| layer.points.iter().copied()));
        let plot = shown
            .widened_to(&Extent::of(cut))
            .padded()
            .plot([LEFT, TOP], LARGEST_PLOT);
        let walls = Walls::of(&slice, &plot);
        let mut legend = Legend::default();
        walls.name(self.scene, &mut legend);
        legend.add(Symbol::Heading, "Drive");
        let [left, top, right, bottom] = plot.frame;
        let mut drawing = Drawing::new(0.0, 0.0);
        drawing.text([left, 30.0], self.title, 19.0, Anchor::Start);
        drawing.text([left, 52.0], self.subtitle, 13.0, Anchor::Start);
        plot.draw_grid(&mut drawing);
        walls.draw_elsewhere(&mut drawing);
        walls.draw_cut(&mut drawing);
        for layer in &self.layers {
            layer.draw(&plot, &mut drawing, &mut legend);
        }
        draw_sensor(&plot, &self.world_from_sensor, palette::INK, &mut drawing);
        plot.draw_axes(&mut drawing);
        legend.draw(&mut drawing, [right + 24.0, top]);
        let scale_at = top + legend.height() + 26.0;
        draw_scale(&plot, [right + 24.0, scale_at], &mut drawing);
        drawing.width = right + legend.width() + 44.0;
        drawing.height = (bottom + 60.0).max(scale_at + 34.0);
        drawing
    }
}

impl Layer {
    fn draw(&self, plot: &etendue_plot::Plot, drawing: &mut Drawing, legend: &mut Legend) {
        match self.look {
            Look::Way(color) => {
                let pairs = self.points.windows(2);
                let clipped = pairs.filter_map(|pair| plot.clip(pair[0], pair[1]));
                let stroke = Stroke::new(color, 1.8);
                drawing.lines(clipped.map(Vec::from).collect(), stroke);
                legend.add(Symbol::Line(stroke), self.name.as_str());
            }
            Look::Dots(color, radius) => {
                let every = self.points.len().div_ceil(POINTS_SHOWN).max(1);
                let inside = self.points.iter().filter(|[x, y]| plot.contains(*x, *y));
                let at = inside.step_by(every).map(|[x, y]| plot.place(*x, *y));
                drawing.markers(Marker::Dot, at.collect(), radius, color);
                let symbol = Symbol::Marker(Marker::Dot, radius.max(2.0), color);
                legend.add(symbol, format!("{} ({})", self.name, self.points.len()));
            }
        }
    }
}

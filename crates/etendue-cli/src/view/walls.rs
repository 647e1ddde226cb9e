//! What pictures from above share: walls, the sensor, and the scale.

use super::slice::Slice;
use etendue::scene::{MaterialId, Scene};
use etendue_plot::{
    Anchor, Color, Drawing, Legend, Plot, Point, Shape, Stroke, Symbol, palette, ticks,
};
use nalgebra::{Isometry3, Vector3};
use std::collections::BTreeMap;

const WALL_WIDTH: f64 = 3.6;

/// The scene's lines on the page.
pub struct Walls {
    cut: BTreeMap<MaterialId, Vec<Vec<Point>>>,
    elsewhere: Vec<Vec<Point>>,
}

impl Walls {
    /// The lines of a slice that a plot shows.
    pub fn of(slice: &Slice, plot: &Plot) -> Self {
        let mut cut = BTreeMap::<_, Vec<_>>::new();
        for (material, [from, to]) in &slice.cut {
            if let Some(line) = plot.clip(*from, *to) {
                cut.entry(*material).or_default().push(Vec::from(line));
            }
        }
        let elsewhere = slice.elsewhere.iter();
        Self {
            cut,
            elsewhere: elsewhere
                .filter_map(|[from, to]| plot.clip(*from, *to).map(Vec::from))
                .collect(),
        }
    }

    /// Draws what the plane does not cut.
    pub fn draw_elsewhere(&self, drawing: &mut Drawing) {
        let faint = Stroke::new(palette::FAINT, 0.8);
        drawing.lines(self.elsewhere.clone(), faint);
    }

    /// Draws what the plane cuts, each material in its own way.
    pub fn draw_cut(&self, drawing: &mut Drawing) {
        for (index, lines) in self.cut.values().enumerate() {
            drawing.lines(lines.clone(), palette::category(index, WALL_WIDTH));
        }
    }

    /// Adds what the lines mean.
    pub fn name(&self, scene: &Scene, legend: &mut Legend) {
        legend.add(Symbol::Heading, "Surfaces in the sensor's plane");
        for (index, id) in self.cut.keys().enumerate() {
            let name = &scene.materials()[id.0 as usize].name;
            legend.add(Symbol::Line(palette::category(index, WALL_WIDTH)), name);
        }
        if !self.elsewhere.is_empty() {
            let faint = Stroke::new(palette::FAINT, 1.2);
            legend.add(Symbol::Line(faint), "above or below it");
        }
    }
}

/// Draws an arrow where a sensor stands, the way it looks.
pub fn draw_sensor(
    plot: &Plot,
    world_from_sensor: &Isometry3<f64>,
    color: Color,
    drawing: &mut Drawing,
) {
    let at = &world_from_sensor.translation;
    let forward = world_from_sensor * Vector3::x();
    let length = forward.xy().norm().max(f64::MIN_POSITIVE);
    let (cos, sin) = (forward.x / length, -forward.y / length);
    let [left, down] = plot.place(at.x, at.y);
    let outline = [[20.0, 0.0], [-9.0, 10.0], [-4.0, 0.0], [-9.0, -10.0]];
    let turned = outline.map(|[along, across]: Point| {
        [
            left + along * cos - across * sin,
            down + along * sin + across * cos,
        ]
    });
    drawing.shapes.push(Shape::Areas {
        outlines: vec![turned.to_vec()],
        fill: color,
        stroke: Some(Stroke::new(palette::PAPER, 1.5)),
    });
}

/// A bar of a round length.
pub fn draw_scale(plot: &Plot, [left, y]: Point, drawing: &mut Drawing) {
    let [from, to] = plot.x.limits;
    let scale = (plot.frame[2] - plot.frame[0]) / (to - from);
    let length = ticks::step(60.0 / scale, 1);
    let right = left + length * scale;
    let ink = Stroke::new(palette::INK, 1.6);
    let ends = [left, right].map(|x| vec![[x, y - 5.0], [x, y + 5.0]]);
    drawing.lines(
        [vec![vec![[left, y], [right, y]]], ends.to_vec()].concat(),
        ink,
    );
    drawing.text(
        [right + 8.0, y + 4.5],
        format!("{length} m"),
        13.0,
        Anchor::Start,
    );
}

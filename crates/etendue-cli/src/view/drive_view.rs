//! Pictures of drives: surfaces, trajectories and points from above.

use super::floor_plan::{AXES, add_surfaces, sensor_arrow};
use super::section::Section;
use etendue::scene::Scene;
use etendue_plot::{
    Color, Drawing, Extent, Figure, Marker, Plot, Point, Series, Stroke, Symbol, palette,
};
use nalgebra::Isometry3;

/// View of a drive from above.
pub struct DriveView<'a> {
    /// Heading.
    pub title: &'a str,
    /// Line below the heading.
    pub subtitle: &'a str,
    /// Surfaces, in a section at the height of the sensor.
    pub scene: &'a Scene,
    /// Pose at which the sensor is drawn.
    pub world_from_sensor: Isometry3<f64>,
    /// Trajectories and points in the order of drawing.
    pub layers: Vec<DriveLayer>,
}

/// Trajectory or points of one kind.
pub struct DriveLayer {
    /// Name in the legend.
    pub name: String,
    /// Positions in the world, m.
    pub points: Vec<Point>,
    /// Appearance.
    pub style: LayerStyle,
}

/// Appearance of a layer.
#[derive(Clone, Copy)]
pub enum LayerStyle {
    /// Points joined by a line.
    Line(Color),
    /// Dots with a radius, page units.
    Dots(Color, f64),
}

const LARGEST_PLOT: Point = [820.0, 680.0];

impl DriveView<'_> {
    /// Draws the view. Its extent includes the trajectories and nearby surfaces.
    pub fn draw(&self) -> Drawing {
        let section = Section::of(self.scene, &self.world_from_sensor);
        let trajectories = self
            .layers
            .iter()
            .filter(|layer| matches!(layer.style, LayerStyle::Line(_)));
        let shown = Extent::of(trajectories.flat_map(|layer| layer.points.iter().copied()));
        let extent = shown.widened_to(&section.extent()).padded();
        let mut plot = Plot::to_scale(extent, AXES, LARGEST_PLOT).with_scale_bar("m");

        add_surfaces(&mut plot, self.scene, &section);
        plot.legend.add(Symbol::Heading, "Drive");
        for layer in &self.layers {
            layer.add_to(&mut plot);
        }
        plot.add(sensor_arrow(&self.world_from_sensor, palette::INK));
        Figure::new(self.title)
            .with_subtitle(self.subtitle)
            .with_plot(plot)
            .draw()
    }
}

impl DriveLayer {
    fn add_to(&self, plot: &mut Plot) {
        match self.style {
            LayerStyle::Line(color) => {
                plot.add_curve(&self.name, self.points.clone(), Stroke::new(color, 1.8));
            }
            LayerStyle::Dots(color, radius) => {
                plot.add(Series::Markers {
                    points: self.points.clone(),
                    marker: Marker::Dot,
                    radius,
                    color,
                });
                let symbol = Symbol::Marker(Marker::Dot, radius.max(2.0), color);
                let text = format!("{} ({})", self.name, self.points.len());
                plot.legend.add(symbol, text);
            }
        }
    }
}

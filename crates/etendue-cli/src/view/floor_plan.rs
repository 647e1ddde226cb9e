//! Floor plans: surfaces and sensors from above, in a plot to scale.

use super::section::Section;
use etendue::scene::{MaterialId, Scene};
use etendue_plot::{Color, Plot, Point, Series, Stroke, Symbol, palette};
use nalgebra::{Isometry3, Vector3};
use std::collections::BTreeMap;

const WALL_WIDTH: f64 = 3.6;

/// Labels of the axes of a floor plan.
pub const AXES: [&str; 2] = ["x, m", "y, m"];

/// Adds the surfaces of a section, those in the plane by material, with their legend.
pub fn add_surfaces(plot: &mut Plot, scene: &Scene, section: &Section) {
    plot.legend
        .add(Symbol::Heading, "Surfaces in the sensor's plane");

    // Surfaces above or below the plane, under the others
    let elsewhere: Vec<[Point; 2]> = section
        .elsewhere
        .iter()
        .copied()
        .filter(|segment| plot.intersects(*segment))
        .collect();
    let has_elsewhere = !elsewhere.is_empty();
    plot.add(Series::Segments {
        segments: elsewhere,
        stroke: Stroke::new(palette::FAINT, 0.8),
    });

    // Surfaces in the plane, one style per material
    let mut by_material = BTreeMap::<MaterialId, Vec<[Point; 2]>>::new();
    for (material, segment) in &section.cut {
        if plot.intersects(*segment) {
            by_material.entry(*material).or_default().push(*segment);
        }
    }
    for (index, (material, segments)) in by_material.into_iter().enumerate() {
        let stroke = palette::category(index, WALL_WIDTH);
        plot.add(Series::Segments { segments, stroke });
        let name = &scene.materials()[material.0 as usize].name;
        plot.legend.add(Symbol::Line(stroke), name);
    }
    if has_elsewhere {
        let faint = Stroke::new(palette::FAINT, 1.2);
        plot.legend.add(Symbol::Line(faint), "above or below it");
    }
}

/// Arrow at the position of a sensor, in the direction of its x axis.
pub fn sensor_arrow(world_from_sensor: &Isometry3<f64>, color: Color) -> Series {
    let position = &world_from_sensor.translation;
    let forward = world_from_sensor * Vector3::x();
    Series::Arrow {
        at: [position.x, position.y],
        direction: [forward.x, forward.y],
        color,
    }
}

//! Pictures of scenes and scan patterns.

use super::floor_plan::{AXES, add_surfaces, sensor_arrow};
use super::section::Section;
use etendue::config::scene::LoadedScene;
use etendue::config::sensor::Sensor;
use etendue_plot::{Axis, Color, Drawing, Extent, Figure, Marker, Plot, Point, Series, palette};
use nalgebra::Isometry3;

const LARGEST_PLOT: Point = [820.0, 680.0];
const PATTERN_SIZE: Point = [820.0, 420.0];
/// Approximate number of beams drawn.
const BEAMS_SHOWN: usize = 20_000;
const BEAM: Color = Color::hex(0x2A6EBB);
/// Least half length of an axis, degrees: planar lidars have one elevation.
const LEAST_HALF_AXIS: f64 = 5.0;

/// A section of a scene at the height of its sensor, or else at half the height of the scene, from above.
pub fn scene(loaded: &LoadedScene) -> Drawing {
    let [low, high] = loaded.scene.bounds();
    let middle = Isometry3::translation(0.0, 0.0, 0.5 * (low.z + high.z));
    let sensor = loaded.sensor.as_ref();
    let pose = sensor.map_or(middle, |sensor| sensor.world_from_sensor);
    let section = Section::of(&loaded.scene, &pose);
    let outline = Extent::of([[low.x, low.y], [high.x, high.y]]);
    let extent = if section.cut.is_empty() {
        outline
    } else {
        section.extent()
    };
    let mut plot = Plot::to_scale(extent.padded(), AXES, LARGEST_PLOT).with_scale_bar("m");
    add_surfaces(&mut plot, &loaded.scene, &section);
    if sensor.is_some() {
        plot.add(sensor_arrow(&pose, palette::INK));
    }
    let height = pose.translation.z;
    Figure::new(&loaded.name)
        .with_subtitle(format!("section at a height of {height:.2} m, from above"))
        .with_plot(plot)
        .draw()
}

/// The directions of the beams of a sweep.
pub fn sensor(sensor: &Sensor) -> Drawing {
    let lidar = &sensor.lidar;
    let shots = lidar.shots(0);
    // Odd, so that the steps cycle through all channels
    let step = shots.len().div_ceil(BEAMS_SHOWN) | 1;
    let directions = shots.iter().step_by(step).map(|shot| {
        let direction = shot.direction();
        let elevation = direction.z.atan2(direction.x.hypot(direction.y));
        [direction.y.atan2(direction.x), elevation].map(f64::to_degrees)
    });
    let points: Vec<Point> = directions.collect();

    // Axes with room for one elevation
    let extent = Extent::of(points.iter().copied());
    let limits = |axis: usize, least: f64| {
        let middle = 0.5 * (extent.min[axis] + extent.max[axis]);
        let half = (0.55 * extent.size()[axis]).max(least);
        [middle - half, middle + half]
    };
    let azimuth = Axis::new("azimuth, degrees").with_limits(limits(0, LEAST_HALF_AXIS));
    let elevation = Axis::new("elevation, degrees").with_limits(limits(1, LEAST_HALF_AXIS));
    let mut plot = Plot::new(azimuth, elevation).with_size(PATTERN_SIZE);
    let [rings, beams] = [lidar.channels.len(), shots.len()];
    plot.add(Series::Markers {
        points,
        marker: Marker::Dot,
        radius: 0.8,
        color: BEAM,
    });
    let rate = 1.0 / lidar.sweep_duration();
    Figure::new(&sensor.name)
        .with_subtitle(format!(
            "directions of {beams} beams of {rings} channels in one sweep, {rate:.1} sweeps per second"
        ))
        .with_plot(plot)
        .draw()
}

//! Pictures of fits: start, iterations and result from above.

use super::floor_plan::{AXES, add_surfaces, sensor_arrow};
use super::section::Section;
use etendue::scene::Scene;
use etendue_plot::{
    Color, Drawing, Extent, Figure, Marker, Plot, Point, Series, Stroke, Symbol, palette,
};
use nalgebra::Isometry3;

/// View of a fit from above.
#[derive(Clone, Debug)]
pub struct FitView<'a> {
    /// Heading.
    pub title: &'a str,
    /// Line below the heading.
    pub subtitle: &'a str,
    /// Scene at the start and with the result.
    pub scenes: [&'a Scene; 2],
    /// Poses of the sensor at the start and with the result, one per scan.
    pub sensors: [&'a [Isometry3<f64>]; 2],
    /// Measured points in the world by the poses of the start and of the result, m.
    pub points: [Vec<Point>; 2],
    /// Positions of every unknown pose after each iteration, m.
    pub tracks: Vec<Vec<Point>>,
}

const LARGEST_PLOT: Point = [900.0, 640.0];
const START: Color = Color::hex(0xD55E00);
const RESULT: Color = palette::INK;
const TRACK: Color = Color::hex(0xC2007A);
/// Outline at the start of a surface that the fit moved.
const MOVED: Stroke = Stroke::new(START, 2.2).dashed(6.0, 4.0);

impl FitView<'_> {
    /// Draws the view.
    pub fn draw(&self) -> Drawing {
        let height = self.sensors[1]
            .first()
            .map_or_else(Isometry3::identity, |pose| *pose);
        let [before, after] = self.scenes.map(|scene| Section::of(scene, &height));
        let extent = self.extent(&after);
        let mut plot = Plot::to_scale(extent, AXES, LARGEST_PLOT).with_scale_bar("m");

        // Surfaces of the result, and start positions of those that moved
        add_surfaces(&mut plot, self.scenes[1], &after);
        let moved = moved(&before, &after);
        if moved.iter().any(|segment| plot.intersects(*segment)) {
            plot.legend
                .add(Symbol::Line(MOVED), "position at the start");
        }
        plot.add(Series::Segments {
            segments: moved,
            stroke: MOVED,
        });

        // Measured points and sensors, at the start and with the result
        for (points, color) in self.points.iter().zip([START, RESULT]) {
            plot.add(Series::Markers {
                points: points.clone(),
                marker: Marker::Dot,
                radius: 1.7,
                color: color.fade(0.8),
            });
        }
        for (poses, color) in self.sensors.iter().zip([START, RESULT]) {
            for pose in *poses {
                plot.add(sensor_arrow(pose, color));
            }
        }

        // Iterations
        for track in &self.tracks {
            plot.add(Series::Line {
                points: track.clone(),
                stroke: Stroke::new(TRACK, 1.4),
            });
            plot.add(Series::Markers {
                points: track.clone(),
                marker: Marker::Dot,
                radius: 2.6,
                color: TRACK,
            });
        }
        self.add_legend(&mut plot);
        Figure::new(self.title)
            .with_subtitle(self.subtitle)
            .with_plot(plot)
            .draw()
    }

    /// Extent of the scene and points of the result, and of nearby points of the start.
    fn extent(&self, after: &Section) -> Extent {
        let tracks = self.tracks.iter().flatten();
        let sensors = self.sensors.iter().copied().flatten();
        let positions = sensors.map(|pose| [pose.translation.x, pose.translation.y]);
        let result = self.points[1].iter().chain(tracks).copied();
        Extent::of(result.chain(positions))
            .widened_to(&after.extent())
            .widened_to(&Extent::of(self.points[0].iter().copied()))
            .padded()
    }

    fn add_legend(&self, plot: &mut Plot) {
        let dot = |color| Symbol::Marker(Marker::Dot, 3.0, color);
        let legend = &mut plot.legend;
        legend.add(Symbol::Heading, "Measured points, sensor");
        if self.points[0].is_empty() {
            legend.add(dot(RESULT), "measured");
        } else {
            legend.add(dot(START), "from the pose at the start");
            legend.add(dot(RESULT), "from the fitted pose");
        }
        if !self.tracks.is_empty() {
            legend.add(Symbol::Heading, "Search");
            legend.add(dot(TRACK), "start, iterations and result");
        }
    }
}

/// Segments of the start that are not in the result.
fn moved(before: &Section, after: &Section) -> Vec<[Point; 2]> {
    let stays = |segment: &[Point; 2]| after.cut.iter().any(|(_, other)| other == segment);
    let segments = before.cut.iter().map(|(_, segment)| *segment);
    segments.filter(|segment| !stays(segment)).collect()
}

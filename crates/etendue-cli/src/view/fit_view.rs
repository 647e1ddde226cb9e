//! A fit from above: start, steps and result in the scene.

use super::slice::{Slice, slice};
use super::walls::{Walls, draw_scale, draw_sensor};
use etendue::scene::Scene;
use etendue_plot::{
    Anchor, Color, Drawing, Extent, Legend, Marker, Plot, Point, Stroke, Symbol, palette,
};
use nalgebra::Isometry3;

/// What a picture of a fit shows.
#[derive(Clone, Debug)]
pub struct FitView<'a> {
    /// The heading.
    pub title: &'a str,
    /// A line below it.
    pub subtitle: &'a str,
    /// The scene at the start and at the end.
    pub scenes: [&'a Scene; 2],
    /// Where the sensor stands at the start and at the end, scan by scan.
    pub sensors: [&'a [Isometry3<f64>]; 2],
    /// The measured points, placed from the sensor at the start and at the end, m.
    pub points: [Vec<Point>; 2],
    /// The places of every unknown pose, step by step, m.
    pub tracks: Vec<Vec<Point>>,
}

const LARGEST_PLOT: Point = [900.0, 640.0];
const LEFT: f64 = 74.0;
const TOP: f64 = 72.0;
const BEFORE: Color = Color::hex(0xD55E00);
const AFTER: Color = palette::INK;
const TRACK: Color = Color::hex(0xC2007A);

impl FitView<'_> {
    /// Draws the picture.
    pub fn draw(&self) -> Drawing {
        let height = self.sensors[1]
            .first()
            .map_or_else(Isometry3::identity, |pose| *pose);
        let [before, after] = self.scenes.map(|scene| slice(scene, &height));
        let plot = self.plot(&after);
        let walls = Walls::of(&after, &plot);
        let moved = moved(&before, &after, &plot);
        let legend = self.legend(&walls, !moved.is_empty());

        let [_, top, right, bottom] = plot.frame;
        let page_height = (bottom + 60.0).max(top + legend.height() + 60.0);
        let mut drawing = Drawing::new(right + legend.width() + 44.0, page_height);
        drawing.text([LEFT, 30.0], self.title, 19.0, Anchor::Start);
        drawing.text([LEFT, 52.0], self.subtitle, 13.0, Anchor::Start);
        plot.draw_grid(&mut drawing);
        walls.draw_elsewhere(&mut drawing);
        walls.draw_cut(&mut drawing);
        drawing.lines(moved, old_place());
        for (points, color) in self.points.iter().zip([BEFORE, AFTER]) {
            draw_points(&plot, points, color, &mut drawing);
        }
        for (poses, color) in self.sensors.iter().zip([BEFORE, AFTER]) {
            for pose in *poses {
                draw_sensor(&plot, pose, color, &mut drawing);
            }
        }
        self.draw_tracks(&plot, &mut drawing);
        plot.draw_axes(&mut drawing);
        legend.draw(&mut drawing, [right + 24.0, top]);
        let scale = [right + 24.0, top + legend.height() + 26.0];
        draw_scale(&plot, scale, &mut drawing);
        drawing
    }

    /// Shows the scene and the points at the end; those at the start as far as they are near.
    fn plot(&self, after: &Slice) -> Plot {
        let tracks = self.tracks.iter().flatten();
        let sensors = self.sensors.iter().copied().flatten();
        let places = sensors.map(|pose| [pose.translation.x, pose.translation.y]);
        let shown = Extent::of(self.points[1].iter().chain(tracks).copied().chain(places));
        let whole = Extent::of(after.cut.iter().flat_map(|(_, segment)| *segment));
        let started = Extent::of(self.points[0].iter().copied());
        shown
            .widened_to(&whole)
            .widened_to(&started)
            .padded()
            .plot([LEFT, TOP], LARGEST_PLOT)
    }

    fn draw_tracks(&self, plot: &Plot, drawing: &mut Drawing) {
        for track in &self.tracks {
            let at: Vec<Point> = track.iter().map(|[x, y]| plot.place(*x, *y)).collect();
            drawing.lines(vec![at.clone()], Stroke::new(TRACK, 1.4));
            drawing.markers(Marker::Dot, at, 2.6, TRACK);
        }
    }

    fn legend(&self, walls: &Walls, moved: bool) -> Legend {
        let mut legend = Legend::default();
        walls.name(self.scenes[1], &mut legend);
        if moved {
            legend.add(Symbol::Line(old_place()), "where the search began");
        }
        legend.add(Symbol::Heading, "Measured points, sensor");
        let point = |color| Symbol::Marker(Marker::Dot, 3.0, color);
        if self.points[0].is_empty() {
            legend.add(point(AFTER), "measured");
        } else {
            legend.add(point(BEFORE), "placed from the start");
            legend.add(point(AFTER), "placed from the result");
        }
        if !self.tracks.is_empty() {
            legend.add(Symbol::Heading, "Search");
            legend.add(point(TRACK), "start, steps and result");
        }
        legend
    }
}

fn old_place() -> Stroke {
    Stroke {
        dash: Some([6.0, 4.0]),
        ..Stroke::new(BEFORE, 2.2)
    }
}

/// Lines of the start that are no lines of the end.
fn moved(before: &Slice, after: &Slice, plot: &Plot) -> Vec<Vec<Point>> {
    let stays = |segment: &[Point; 2]| after.cut.iter().any(|(_, known)| known == segment);
    let gone = before.cut.iter().filter(|(_, segment)| !stays(segment));
    gone.filter_map(|(_, [from, to])| plot.clip(*from, *to).map(Vec::from))
        .collect()
}

fn draw_points(plot: &Plot, points: &[Point], color: Color, drawing: &mut Drawing) {
    let seen = points.iter().filter(|[x, y]| plot.contains(*x, *y));
    let at = seen.map(|[x, y]| plot.place(*x, *y)).collect();
    drawing.markers(Marker::Dot, at, 1.7, color.fade(0.8));
}

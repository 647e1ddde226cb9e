//! The picture of a scan: walls, beams and measured points, from above.

use super::slice::{Slice, slice};
use super::walls::{Walls, draw_scale, draw_sensor};
use etendue::scene::Scene;
use etendue::sensors::{Measurement, PlanarSweep, RangeReading};
use etendue_plot::{
    Anchor, Color, Drawing, Extent, Legend, Marker, Plot, Point, Stroke, Symbol, palette,
};
use nalgebra::{Isometry3, Point3};
use std::collections::BTreeMap;

/// What a top view shows.
#[derive(Clone, Copy, Debug)]
pub struct TopView<'a> {
    /// The heading.
    pub title: &'a str,
    /// A line below it.
    pub subtitle: &'a str,
    /// The walls; cut at the height of the first sweep's pose.
    pub scene: &'a Scene,
    /// The measurements; beams are drawn for the first sweep only.
    pub sweeps: &'a [PlanarSweep],
    /// The sensor's longest range, m: bounds what is shown.
    pub max_range: f64,
}

const LARGEST_PLOT: [f64; 2] = [900.0, 640.0];
const LEFT: f64 = 74.0;
const TOP: f64 = 72.0;
const BELOW: f64 = 60.0;

/// About so many beams are drawn, however many there are.
const BEAMS_SHOWN: usize = 170;
/// No more points than this are drawn.
const POINTS_SHOWN: usize = 20_000;

/// Beams without a range are drawn at most so many times as long as the longest with one.
const UNMEASURED_REACH: f64 = 1.5;

const BEAM: Color = Color::hex(0x6FA8DC).fade(0.45);
const POINT: Color = Color::hex(0x111111);
const MIXED: Color = Color::hex(0xC2007A);
const UNMEASURED: Color = Color::hex(0x8A8A8A);

impl TopView<'_> {
    /// Draws the picture.
    pub fn draw(&self) -> Drawing {
        let pose = self
            .sweeps
            .first()
            .map_or_else(Isometry3::identity, |sweep| sweep.world_from_sensor);
        let slice = slice(self.scene, &pose);
        let signs = Signs::of(self.sweeps, self.reach());
        let plot = Self::plot(&slice, &signs);
        let walls = Walls::of(&slice, &plot);
        let legend = self.legend(&walls, &signs);

        let [left, top, right, bottom] = plot.frame;
        let height = (bottom + BELOW).max(top + legend.height() + 60.0);
        let mut drawing = Drawing::new(right + legend.width() + 44.0, height);
        drawing.text([left, 30.0], self.title, 19.0, Anchor::Start);
        drawing.text([left, 52.0], self.subtitle, 13.0, Anchor::Start);
        plot.draw_grid(&mut drawing);
        walls.draw_elsewhere(&mut drawing);
        self.draw_beams(&plot, &mut drawing);
        walls.draw_cut(&mut drawing);
        signs.draw(&plot, &mut drawing);
        draw_sensor(&plot, &pose, palette::INK, &mut drawing);
        plot.draw_axes(&mut drawing);
        legend.draw(&mut drawing, [right + 24.0, top]);
        draw_scale(
            &plot,
            [right + 24.0, top + legend.height() + 26.0],
            &mut drawing,
        );
        drawing
    }

    /// How long beams without a range are drawn, m: to a surface up to the longest range; where there is
    /// none, not so long that what was measured becomes a dot.
    fn reach(&self) -> [f64; 2] {
        let measurements = self.sweeps.iter().flat_map(|sweep| &sweep.measurements);
        let ranges = measurements.filter_map(|one| one.reading.range());
        let farthest = ranges.fold(0.0, f64::max);
        let reach = if farthest > 0.0 {
            (UNMEASURED_REACH * farthest).min(self.max_range)
        } else {
            self.max_range
        };
        [self.max_range, reach]
    }

    fn plot(slice: &Slice, signs: &Signs) -> Plot {
        let shown = Extent::of(signs.places());
        let whole = Extent::of(slice.cut.iter().flat_map(|(_, segment)| *segment));
        shown
            .widened_to(&whole)
            .padded()
            .plot([LEFT, TOP], LARGEST_PLOT)
    }

    fn draw_beams(&self, plot: &Plot, drawing: &mut Drawing) {
        let Some(sweep) = self.sweeps.first() else {
            return;
        };
        let origin = from_above(&sweep.world_from_sensor.translation.vector.into());
        let reach = self.reach();
        let every = sweep.measurements.len().div_ceil(BEAMS_SHOWN).max(1);
        let beams = sweep.measurements.iter().step_by(every);
        let lines = beams.filter_map(|measurement| {
            let end = place(&sweep.world_from_sensor, measurement, reach);
            plot.clip(origin, end).map(Vec::from)
        });
        drawing.lines(lines.collect(), Stroke::new(BEAM, 0.7));
    }

    fn legend(&self, walls: &Walls, signs: &Signs) -> Legend {
        let mut legend = Legend::default();
        walls.name(self.scene, &mut legend);
        legend.add(Symbol::Heading, format!("Measurements ({})", signs.total()));
        for (kind, places) in &signs.kinds {
            let (marker, radius, color) = kind.sign();
            let text = format!("{} ({})", kind.text(), places.len());
            legend.add(Symbol::Marker(marker, radius.max(2.5), color), text);
        }
        legend.add(Symbol::Line(Stroke::new(BEAM.fade(0.9), 1.2)), "beam");
        legend
    }
}

/// What a measurement is drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    NoReturn,
    TooNear,
    Point,
    Mixed,
    Error(u8),
}

impl Kind {
    fn of(measurement: &Measurement) -> Self {
        match measurement.reading {
            RangeReading::Range(_) if measurement.is_mixed() => Self::Mixed,
            RangeReading::Range(_) => Self::Point,
            RangeReading::NoReturn => Self::NoReturn,
            RangeReading::TooNear => Self::TooNear,
            RangeReading::Error(code) => Self::Error(code),
        }
    }

    fn sign(self) -> (Marker, f64, Color) {
        match self {
            Self::NoReturn => (Marker::Ring, 1.9, UNMEASURED),
            Self::TooNear => (Marker::Ring, 2.6, palette::ALERT),
            Self::Point => (Marker::Dot, 1.7, POINT),
            Self::Mixed => (Marker::Diamond, 3.2, MIXED),
            Self::Error(_) => (Marker::Cross, 4.2, palette::ALERT),
        }
    }

    fn text(self) -> String {
        match self {
            Self::NoReturn => "no return".into(),
            Self::TooNear => "too near".into(),
            Self::Point => "measured point".into(),
            Self::Mixed => "mixed pixel".into(),
            Self::Error(code) => format!("error code {code}"),
        }
    }
}

/// Where each kind of measurement is marked, m in the world.
struct Signs {
    kinds: BTreeMap<Kind, Vec<Point>>,
    origins: Vec<Point>,
}

impl Signs {
    fn of(sweeps: &[PlanarSweep], reach: [f64; 2]) -> Self {
        let mut kinds = BTreeMap::<_, Vec<_>>::new();
        for sweep in sweeps {
            for measurement in &sweep.measurements {
                let at = place(&sweep.world_from_sensor, measurement, reach);
                kinds.entry(Kind::of(measurement)).or_default().push(at);
            }
        }
        let origins = sweeps
            .iter()
            .map(|sweep| from_above(&sweep.world_from_sensor.translation.vector.into()));
        Self {
            kinds,
            origins: origins.collect(),
        }
    }

    fn total(&self) -> usize {
        self.kinds.values().map(Vec::len).sum()
    }

    fn places(&self) -> impl Iterator<Item = Point> {
        let marked = self.kinds.values().flatten();
        marked.chain(&self.origins).copied()
    }

    fn draw(&self, plot: &Plot, drawing: &mut Drawing) {
        let every = self.total().div_ceil(POINTS_SHOWN).max(1);
        for (kind, places) in &self.kinds {
            let (marker, radius, color) = kind.sign();
            let seen = places
                .iter()
                .step_by(every)
                .filter(|[x, y]| plot.contains(*x, *y));
            let at = seen.map(|[x, y]| plot.place(*x, *y)).collect();
            drawing.markers(marker, at, radius, color);
        }
    }
}

/// Where a measurement is drawn: at its point; without one, on the surface it missed, at the longest
/// range at most; without one, at `reach`.
fn place(
    world_from_sensor: &Isometry3<f64>,
    measurement: &Measurement,
    [max_range, reach]: [f64; 2],
) -> Point {
    let surface = measurement
        .truth
        .map_or(reach, |truth| truth.range.min(max_range));
    let range = measurement.reading.range().unwrap_or(surface);
    let (sin_azimuth, cos_azimuth) = measurement.azimuth.sin_cos();
    let (sin_elevation, cos_elevation) = measurement.elevation.sin_cos();
    let level = range * cos_elevation;
    let in_sensor = Point3::new(
        level * cos_azimuth,
        level * sin_azimuth,
        range * sin_elevation,
    );
    from_above(&(world_from_sensor * in_sensor))
}

fn from_above(point: &Point3<f64>) -> Point {
    [point.x, point.y]
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue::physics::{Spectrum, surface};
    use etendue::scene::{MaterialId, Mesh, MeshId, NamedMaterial, Object, ObjectId, SceneBuilder};
    use etendue::sensors::Truth;
    use etendue_plot::{png, svg};
    use std::sync::Arc;

    /// Four upright walls around the origin, 2 m x 1 m, the last one a mirror.
    fn room() -> Scene {
        let corners = [[-1.0, -0.5], [1.0, -0.5], [1.0, 0.5], [-1.0, 0.5]];
        let material = |name: &str, lobe| NamedMaterial {
            name: name.into(),
            material: surface::Material { lobes: vec![lobe] },
        };
        let half = Spectrum::Constant(0.5);
        let reflectance = half.clone();
        let mesh = Mesh {
            vertices: corners
                .iter()
                .flat_map(|[x, y]| [-0.1, 0.2].map(|z| Point3::new(*x, *y, z)))
                .collect(),
            triangles: (0..4)
                .flat_map(|i| {
                    let [a, b] = [2 * i, (2 * i + 2) % 8];
                    [[a, b, b + 1], [a, b + 1, a + 1]]
                })
                .collect(),
            materials: (0..8).map(|i| MaterialId(i / 6)).collect(),
        };
        let parts = SceneBuilder {
            materials: vec![
                material("paint", surface::Lobe::lambert(reflectance)),
                material("mirror", surface::Lobe::mirror(half)),
            ],
            meshes: vec![Arc::new(mesh)],
            objects: vec![Object {
                name: "walls".into(),
                mesh: MeshId(0),
                world_from_object: Isometry3::identity(),
                material: MaterialId(0),
                mask: u32::MAX,
            }],
        };
        parts.build().expect("a scene")
    }

    fn measurement(beam: u32, reading: RangeReading, returns: u16) -> Measurement {
        Measurement {
            beam,
            time: 0.0,
            azimuth: f64::from(beam) * 0.01,
            elevation: 0.0,
            reading,
            power: 1.0,
            returns,
            truth: Some(Truth {
                range: 0.9,
                object: ObjectId(0),
                material: MaterialId(0),
                incidence: 0.0,
            }),
        }
    }

    #[test]
    fn every_kind_of_measurement_and_every_material_is_named() {
        let readings = [
            (RangeReading::Range(0.8), 1),
            (RangeReading::Range(0.7), 2),
            (RangeReading::Error(8), 0),
            (RangeReading::NoReturn, 0),
            (RangeReading::TooNear, 0),
        ];
        let measurements = (0..).zip(readings);
        let sweep = PlanarSweep {
            index: 0,
            start: 0.0,
            world_from_sensor: Isometry3::identity(),
            measurements: measurements
                .map(|(beam, (r, n))| measurement(beam, r, n))
                .collect(),
        };
        let view = TopView {
            title: "A room",
            subtitle: "five beams",
            scene: &room(),
            sweeps: &[sweep],
            max_range: 5.6,
        };
        let drawing = view.draw();
        let svg = svg::write(&drawing);
        for text in [
            "A room",
            "five beams",
            "paint",
            "mirror",
            "measured point (1)",
            "mixed pixel (1)",
            "error code 8 (1)",
            "no return (1)",
            "too near (1)",
            "x, m",
            "y, m",
            "Measurements (5)",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(png::render(&drawing, 1.0).expect("it renders").len() > 5_000);
    }
}

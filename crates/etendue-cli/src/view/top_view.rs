//! Pictures of sweeps: surfaces, beams and measurements from above.

use super::floor_plan::{AXES, add_surfaces, sensor_arrow};
use super::section::Section;
use etendue::scene::Scene;
use etendue::sensors::{BeamMeasurement, BeamSweep, RangeReading};
use etendue_plot::{
    Color, Drawing, Extent, Figure, Marker, Plot, Point, Series, Stroke, Symbol, palette,
};
use nalgebra::{Isometry3, Point3};
use std::collections::BTreeMap;

/// View of sweeps from above.
pub struct TopView<'a> {
    /// Heading.
    pub title: &'a str,
    /// Line below the heading.
    pub subtitle: &'a str,
    /// Surfaces, in a section at the height of the sensor in the first sweep.
    pub scene: &'a Scene,
    /// Measurements; beams are drawn for the first sweep only.
    pub sweeps: &'a [BeamSweep],
    /// Origin of the range of each measurement of each sweep.
    pub origins: &'a [Vec<Origin>],
    /// Pose of the sensor at a time of the run, s.
    pub world_from_sensor: &'a dyn Fn(f64) -> Isometry3<f64>,
    /// Path of a moving sensor during the run, m; empty at rest.
    pub path: Vec<Point>,
    /// Longest range of the sensor, m: bounds the extent of the view.
    pub max_range: f64,
}

/// What scattered the light of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A surface on the beam, also through glass.
    Surface,
    /// Another surface than the mirror on the beam, seen in it.
    MirrorImage,
    /// The air, or noise without light.
    NoSurface,
}

const LARGEST_PLOT: Point = [900.0, 640.0];

/// Approximate number of beams drawn.
const BEAMS_SHOWN: usize = 170;

/// Longest beam without a range, in units of the longest measured range.
const UNMEASURED_REACH: f64 = 1.5;

// Colours of measurements differ from those of surfaces.
const BEAM: Color = Color::hex(0x6FA8DC);
const POINT: Color = Color::hex(0x111111);
const MIXED: Color = Color::hex(0xC2007A);
const MIRROR_IMAGE: Color = Color::hex(0x6A3DC2);
const NO_SURFACE: Color = Color::hex(0x8B4513);
const PATH: Color = Color::hex(0x14307A);
const UNMEASURED: Color = Color::hex(0x8A8A8A);

impl TopView<'_> {
    /// Draws the view.
    pub fn draw(&self) -> Drawing {
        let first = self.sweeps.first();
        let pose = first.map_or_else(Isometry3::identity, |sweep| sweep.world_from_sensor);
        let section = Section::of(self.scene, &pose);
        let marks = self.marks();
        let extent = self.extent(&section, &marks);
        let mut plot = Plot::to_scale(extent, AXES, LARGEST_PLOT).with_scale_bar("m");

        // Beams of the first sweep, below the surfaces
        plot.add(Series::Segments {
            segments: first.map_or_else(Vec::new, |sweep| self.beams(sweep)),
            stroke: Stroke::new(BEAM.fade(0.45), 0.7),
        });
        add_surfaces(&mut plot, self.scene, &section);

        // Path of the sensor
        if !self.path.is_empty() {
            let stroke = Stroke::new(PATH, 1.8);
            plot.add_curve("path of the sensor", self.path.clone(), stroke);
        }

        // Measurements by outcome
        let total: usize = marks.values().map(Vec::len).sum();
        let heading = format!("Measurements ({total})");
        plot.legend.add(Symbol::Heading, heading);
        for (outcome, points) in marks {
            let (marker, radius, color) = outcome.sign();
            let text = format!("{} ({})", outcome.name(), points.len());
            let sign = Symbol::Marker(marker, radius.max(2.5), color);
            plot.legend.add(sign, text);
            plot.add(Series::Markers {
                points,
                marker,
                radius,
                color,
            });
        }
        let beam = Symbol::Line(Stroke::new(BEAM.fade(0.9), 1.2));
        plot.legend.add(beam, "beam");
        plot.add(sensor_arrow(&pose, palette::INK));
        Figure::new(self.title)
            .with_subtitle(self.subtitle)
            .with_plot(plot)
            .draw()
    }

    /// Extent of the measurements and sensors, and of nearby surfaces.
    fn extent(&self, section: &Section, marks: &BTreeMap<Outcome, Vec<Point>>) -> Extent {
        let poses = self.sweeps.iter().map(|sweep| &sweep.world_from_sensor);
        let sensors = poses.map(|pose| [pose.translation.x, pose.translation.y]);
        let sensors = sensors.chain(self.path.iter().copied());
        let measured = marks.values().flatten().copied();
        Extent::of(measured.chain(sensors))
            .widened_to(&section.extent())
            .padded()
    }

    /// Drawn length of a beam without a hit, m: bounded so that the measured part of the scene
    /// fills the view.
    fn reach(&self) -> f64 {
        let measurements = self.sweeps.iter().flat_map(|sweep| &sweep.measurements);
        let ranges = measurements.filter_map(|one| one.reading.range());
        let farthest = ranges.fold(0.0, f64::max);
        if farthest > 0.0 {
            (UNMEASURED_REACH * farthest).min(self.max_range)
        } else {
            self.max_range
        }
    }

    /// Positions of all measurements in the world by outcome, m.
    fn marks(&self) -> BTreeMap<Outcome, Vec<Point>> {
        let reach = self.reach();
        let mut marks = BTreeMap::<Outcome, Vec<Point>>::new();
        for (sweep, origins) in self.sweeps.iter().zip(self.origins) {
            for (measurement, origin) in sweep.measurements.iter().zip(origins) {
                let at = self.position(measurement, reach);
                let outcome = Outcome::of(measurement, *origin);
                marks.entry(outcome).or_default().push(at);
            }
        }
        marks
    }

    /// Some beams of a sweep, from the sensor to their measurements.
    fn beams(&self, sweep: &BeamSweep) -> Vec<[Point; 2]> {
        let reach = self.reach();
        let step = sweep.measurements.len().div_ceil(BEAMS_SHOWN).max(1);
        let shown = sweep.measurements.iter().step_by(step);
        let ends = shown.map(|one| {
            let origin = (self.world_from_sensor)(one.time).translation;
            [[origin.x, origin.y], self.position(one, reach)]
        });
        ends.collect()
    }

    /// Position of a measurement in the world, m: its point; without a range, the surface on its axis, at
    /// the longest range at most; without a surface, `reach` along the beam.
    fn position(&self, measurement: &BeamMeasurement, reach: f64) -> Point {
        let surface = measurement
            .truth
            .map_or(reach, |truth| truth.range.min(self.max_range));
        let range = measurement.reading.range().unwrap_or(surface);
        let (sin_azimuth, cos_azimuth) = measurement.azimuth.sin_cos();
        let (sin_elevation, cos_elevation) = measurement.elevation.sin_cos();
        let horizontal = range * cos_elevation;
        let in_sensor = Point3::new(
            horizontal * cos_azimuth,
            horizontal * sin_azimuth,
            range * sin_elevation,
        );
        let in_world = (self.world_from_sensor)(measurement.time) * in_sensor;
        [in_world.x, in_world.y]
    }
}

/// Outcome of a measurement, in the order of drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    NoReturn,
    TooNear,
    Point,
    MirrorImage,
    NoSurface,
    Mixed,
    Error(u8),
}

impl Outcome {
    fn of(measurement: &BeamMeasurement, origin: Origin) -> Self {
        match measurement.reading {
            RangeReading::Range(_) if origin == Origin::NoSurface => Self::NoSurface,
            RangeReading::Range(_) if measurement.is_mixed() => Self::Mixed,
            RangeReading::Range(_) if origin == Origin::MirrorImage => Self::MirrorImage,
            RangeReading::Range(_) => Self::Point,
            RangeReading::NoReturn => Self::NoReturn,
            RangeReading::TooNear => Self::TooNear,
            RangeReading::Error(code) => Self::Error(code),
        }
    }

    /// Marker, radius (page units) and colour.
    fn sign(self) -> (Marker, f64, Color) {
        match self {
            Self::NoReturn => (Marker::Ring, 1.9, UNMEASURED),
            Self::TooNear => (Marker::Ring, 2.6, palette::ALERT),
            Self::Point => (Marker::Dot, 1.7, POINT),
            Self::MirrorImage => (Marker::Dot, 2.0, MIRROR_IMAGE),
            Self::NoSurface => (Marker::Cross, 2.6, NO_SURFACE),
            Self::Mixed => (Marker::Diamond, 3.2, MIXED),
            Self::Error(_) => (Marker::Cross, 4.2, palette::ALERT),
        }
    }

    fn name(self) -> String {
        match self {
            Self::NoReturn => "no return, at the end of its beam".into(),
            Self::TooNear => "too near".into(),
            Self::Point => "measured point".into(),
            Self::MirrorImage => "seen in a mirror".into(),
            Self::NoSurface => "of the air or of noise".into(),
            Self::Mixed => "mixed pixel".into(),
            Self::Error(code) => format!("error code {code}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue::physics::{Spectrum, surface};
    use etendue::scene::{MaterialId, Mesh, MeshId, NamedMaterial, Object, ObjectId, SceneBuilder};
    use etendue::sensors::Truth;
    use etendue_plot::{png, svg};
    use std::sync::Arc;

    /// Four vertical walls around the origin, 2 m x 1 m, the last one a mirror.
    fn room() -> Scene {
        // Corners of the walls, and two triangles per wall
        let corners = [[-1.0, -0.5], [1.0, -0.5], [1.0, 0.5], [-1.0, 0.5]];
        let mesh = Mesh {
            vertices: corners
                .iter()
                .flat_map(|[x, y]| [-0.1, 0.2].map(|z| Point3::new(*x, *y, z)))
                .collect(),
            triangles: (0..4)
                .flat_map(|i| {
                    let a = 2 * i;
                    let b = (2 * i + 2) % 8;
                    [[a, b, b + 1], [a, b + 1, a + 1]]
                })
                .collect(),
            materials: (0..8).map(|i| MaterialId(i / 6)).collect(),
        };

        // Scene with two materials
        let material = |name: &str, lobe| NamedMaterial {
            name: name.into(),
            material: surface::Material { lobes: vec![lobe] },
        };
        let half = Spectrum::Constant(0.5);
        let parts = SceneBuilder {
            materials: vec![
                material("paint", surface::Lobe::lambert(half.clone())),
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
            ..SceneBuilder::default()
        };
        parts.build().expect("a scene")
    }

    fn measurement(beam: u32, reading: RangeReading, returns: u16) -> BeamMeasurement {
        BeamMeasurement {
            beam,
            time: 0.0,
            azimuth: f64::from(beam) * 0.01,
            elevation: 0.0,
            reading,
            position: None,
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
    fn marks_have_other_colours_than_surfaces() {
        for mark in [
            BEAM,
            POINT,
            MIXED,
            MIRROR_IMAGE,
            NO_SURFACE,
            PATH,
            UNMEASURED,
        ] {
            for category in 0..7 {
                assert_ne!(mark, palette::category(category, 1.0).color);
            }
        }
    }

    #[test]
    fn every_kind_of_measurement_and_every_material_is_named() {
        // Sweep with one beam of each kind
        let readings = [
            (RangeReading::Range(0.8), 1),
            (RangeReading::Range(0.7), 2),
            (RangeReading::Error(8), 0),
            (RangeReading::NoReturn, 0),
            (RangeReading::TooNear, 0),
            (RangeReading::Range(0.3), 1),
            (RangeReading::Range(1.3), 1),
        ];
        let measurements = (0..).zip(readings);
        let sweep = BeamSweep {
            index: 0,
            start: 0.0,
            world_from_sensor: Isometry3::identity(),
            measurements: measurements
                .map(|(beam, (r, n))| measurement(beam, r, n))
                .collect(),
        };

        // Draw it
        let view = TopView {
            title: "A room",
            subtitle: "seven beams",
            scene: &room(),
            sweeps: &[sweep],
            origins: &[[
                &[Origin::Surface; 5][..],
                &[Origin::NoSurface, Origin::MirrorImage],
            ]
            .concat()],
            world_from_sensor: &|_| Isometry3::identity(),
            path: vec![[0.0, 0.0], [0.1, 0.0]],
            max_range: 5.6,
        };
        let drawing = view.draw();

        // The legend names the kinds and the materials
        let svg = svg::write(&drawing);
        for text in [
            "A room",
            "seven beams",
            "paint",
            "mirror",
            "measured point (1)",
            "mixed pixel (1)",
            "error code 8 (1)",
            "no return, at the end of its beam (1)",
            "too near (1)",
            "of the air or of noise (1)",
            "seen in a mirror (1)",
            "path of the sensor",
            "x, m",
            "y, m",
            "Measurements (7)",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(png::render(&drawing, 1.0).expect("it renders").len() > 5_000);
    }
}

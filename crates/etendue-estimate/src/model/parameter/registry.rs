//! Names of what can be unknown.

use super::air;
use super::sensor::Sensor;
use super::{Model, coefficients};
use crate::manifold::{Chart, OutOfBounds, Variable};
use etendue_physics::surface;
use etendue_scene::{MaterialId, ObjectId};
use etendue_sensors::lidar::{PulsedReceiver, Receiver};
use std::ops::Range;
use thiserror::Error;

/// What can be unknown.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Parameter {
    /// `sensor.pose` (the first scan's) or `scans.N.pose`: where the sensor stood.
    SensorPose {
        /// Number of the scan.
        scan: usize,
    },
    /// `objects.NAME.pose`.
    ObjectPose(ObjectId),
    /// `materials.NAME.PARAMETER`, or `materials.NAME.LOBE.PARAMETER` where several lobes have it.
    Material {
        /// The material.
        material: MaterialId,
        /// Its parameter.
        parameter: surface::Parameter,
    },
    /// `sensor.receiver.bias.c`, `.b`, `.a`: a coefficient of the power-dependent bias.
    Bias {
        /// The power of the received power it belongs to.
        power: usize,
    },
    /// `sensor.beam.divergence`: full angle of divergence of a continuous-wave lidar, rad.
    Divergence,
    /// `sensor.beam.divergence.horizontal`, `.vertical`: full angle of divergence of a scanner, as
    /// its beam states it, rad.
    Width {
        /// 0 for horizontal, 1 for vertical.
        axis: usize,
    },
    /// `sensor.receiver.pulse_width`, `.threshold`, `.reference` of a pulsed receiver.
    Timing(Timed),
    /// `atmosphere.fog_visibility_m`, `.visibility_m`, `.rain_mm_h`, `.snow_mm_h`, `.dust_g_m3`: how
    /// much there is of something that the air between a scanner and its surfaces has.
    Weather {
        /// Its number in the air.
        number: usize,
    },
    /// `sensor.beams.N.azimuth_offset` (rad), `sensor.channels.N.azimuth_offset` where the sensor is
    /// a scanner; `*` frees all.
    AzimuthOffset {
        /// Number of the beam or channel.
        beam: usize,
    },
    /// `sensor.beams.N.elevation_offset` (rad), or `sensor.channels.N...`; `*` frees all.
    ElevationOffset {
        /// Number of the beam or channel.
        beam: usize,
    },
    /// `sensor.beams.N.range_offset` (m), or `sensor.channels.N...`, added to the reported range;
    /// `*` frees all.
    RangeOffset {
        /// Number of the beam or channel.
        beam: usize,
    },
    /// `objects.NAME.facets.N.scattering`: a factor on what a triangle sends straight back, 1 where
    /// it is as its material says; `*` frees all triangles'.
    Facet {
        /// The object.
        object: ObjectId,
        /// The triangle's number in its mesh.
        triangle: u32,
    },
}

/// What times a pulsed receiver's echoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// `pulse_width`: full width of the pulse at half its peak, s.
    PulseWidth,
    /// `threshold`: power that an echo must reach, 1/(m² sr).
    Threshold,
    /// `reference`: power whose range reads right, 1/(m² sr).
    Reference,
}

/// The names of what times a pulsed receiver's echoes.
const TIMED: [(&str, Timed); 3] = [
    ("pulse_width", Timed::PulseWidth),
    ("threshold", Timed::Threshold),
    ("reference", Timed::Reference),
];

/// The names of the directions that a scanner's beam diverges in.
const WIDTHS: [&str; 2] = ["horizontal", "vertical"];

impl Timed {
    fn of(self, receiver: &PulsedReceiver) -> f64 {
        match self {
            Self::PulseWidth => receiver.pulse.fwhm,
            Self::Threshold => receiver.threshold,
            Self::Reference => receiver.reference,
        }
    }
}

/// How something unknown may move.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Freedom {
    /// A pose in all six degrees of freedom; a number without bounds, but for what the air has: that
    /// stays above zero.
    Whole,
    /// A pose in the plane: height and tilt stay.
    Planar,
    /// A pose in the plane whose position stays in a box, m.
    Boxed {
        /// Lower corner.
        lower: [f64; 2],
        /// Upper corner.
        upper: [f64; 2],
    },
    /// A number between bounds, in its own unit.
    Interval {
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
}

/// A path names nothing.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("there is no parameter \"{path}\"{}", suggestion.as_ref().map_or(String::new(), |s| format!(", did you mean \"{s}\"?")))]
pub struct UnknownPath {
    /// The path.
    pub path: String,
    /// The nearest path that names something.
    pub suggestion: Option<String>,
}

impl Parameter {
    /// Whether few beams depend on it: such are differentiated beam by beam.
    pub(super) fn is_local(&self) -> bool {
        matches!(
            self,
            Self::AzimuthOffset { .. }
                | Self::ElevationOffset { .. }
                | Self::RangeOffset { .. }
                | Self::Facet { .. }
        )
    }
}

pub(super) fn number(value: f64) -> Variable {
    Variable::Number(Chart::real(value))
}

pub(super) fn bounded(value: f64, lower: f64, upper: f64) -> Result<Variable, OutOfBounds> {
    Ok(Variable::Number(
        if upper == f64::INFINITY && lower == 0.0 {
            Chart::positive(value)?
        } else {
            Chart::interval(value, lower, upper)?
        },
    ))
}

const BEAM_OFFSETS: [&str; 3] = ["azimuth_offset", "elevation_offset", "range_offset"];

impl Model {
    /// Every path that names something, with `*` for all beams, channels and facets.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = vec!["sensor.pose".to_owned()];
        match &self.sensor {
            Sensor::ContinuousWave(_) => {
                paths.push("sensor.beam.divergence".to_owned());
                paths.extend(["a", "b", "c"].map(|name| format!("sensor.receiver.bias.{name}")));
            }
            Sensor::Scanner(own) => {
                paths.extend(WIDTHS.map(|name| format!("sensor.beam.divergence.{name}")));
                let timed = TIMED.iter().filter(|_| own.is_pulsed());
                paths.extend(timed.map(|(name, _)| format!("sensor.receiver.{name}")));
                paths.extend(self.weather_paths().map(|(path, _)| path));
            }
        }
        paths.extend((1..self.scans()).map(|scan| format!("scans.{scan}.pose")));
        paths.extend(
            self.objects()
                .iter()
                .map(|o| format!("objects.{}.pose", o.name)),
        );
        for number in 0..self.parts.materials.len() {
            paths.extend(
                self.material_paths(number)
                    .into_iter()
                    .map(|(path, _)| path),
            );
        }
        let lines = self.sensor.lines_name();
        paths.extend(BEAM_OFFSETS.map(|name| format!("sensor.{lines}.*.{name}")));
        let objects = self.objects().iter();
        paths.extend(objects.map(|o| format!("objects.{}.facets.*.scattering", o.name)));
        paths
    }

    /// What a path names: one thing, or one a beam where the beam is `*`.
    ///
    /// # Errors
    /// Where it names nothing.
    pub fn resolve(&self, path: &str) -> Result<Vec<(String, Parameter)>, UnknownPath> {
        let found = self
            .one(path)
            .map(|parameter| vec![(path.to_owned(), parameter)]);
        found
            .or_else(|| self.several_lines(path))
            .or_else(|| self.facets(path))
            .ok_or_else(|| UnknownPath {
                path: path.to_owned(),
                suggestion: self.nearest(path),
            })
    }

    fn one(&self, path: &str) -> Option<Parameter> {
        if path == "sensor.pose" {
            return Some(Parameter::SensorPose { scan: 0 });
        }
        if let Some(known) = self.of_receiver(path) {
            return Some(known);
        }
        if let Some((_, parameter)) = self.weather_paths().find(|(known, _)| known == path) {
            return Some(parameter);
        }
        if let Some(scan) = inner(path, "scans.", ".pose") {
            let scan = scan.parse().ok().filter(|scan| *scan < self.scans())?;
            return Some(Parameter::SensorPose { scan });
        }
        if let Some(name) = inner(path, "objects.", ".pose") {
            let number = self.objects().iter().position(|o| o.name == name)?;
            return Some(Parameter::ObjectPose(ObjectId(u32::try_from(number).ok()?)));
        }
        self.material(path)
    }

    /// A parameter of the sensor's beam or receiver.
    fn of_receiver(&self, path: &str) -> Option<Parameter> {
        let inner = path.strip_prefix("sensor.")?;
        match &self.sensor {
            Sensor::ContinuousWave(_) if inner == "beam.divergence" => Some(Parameter::Divergence),
            Sensor::ContinuousWave(_) => {
                let name = inner.strip_prefix("receiver.bias.")?;
                let power = ["c", "b", "a"].iter().position(|n| *n == name)?;
                Some(Parameter::Bias { power })
            }
            Sensor::Scanner(own) => {
                if let Some(name) = inner.strip_prefix("beam.divergence.") {
                    let axis = WIDTHS.iter().position(|known| *known == name)?;
                    return Some(Parameter::Width { axis });
                }
                let name = inner
                    .strip_prefix("receiver.")
                    .filter(|_| own.is_pulsed())?;
                let known = TIMED.iter().find(|(known, _)| *known == name)?;
                Some(Parameter::Timing(known.1))
            }
        }
    }

    /// What the air has, where the sensor sees it.
    fn weather_paths(&self) -> impl Iterator<Item = (String, Parameter)> {
        let sees_air = matches!(self.sensor, Sensor::Scanner(_));
        let weather = self.air.atmosphere.weather.iter().enumerate();
        weather
            .filter(move |_| sees_air)
            .filter_map(|(number, weather)| {
                let (name, _) = air::name_and_unit(weather)?;
                Some((format!("atmosphere.{name}"), Parameter::Weather { number }))
            })
    }

    fn material(&self, path: &str) -> Option<Parameter> {
        (0..self.parts.materials.len())
            .flat_map(|number| self.material_paths(number))
            .find(|(known, _)| known == path)
            .map(|(_, parameter)| parameter)
    }

    /// Every parameter of a material by its shortest unambiguous path.
    fn material_paths(&self, number: usize) -> Vec<(String, Parameter)> {
        let named = &self.parts.materials[number];
        let mut parameters = Vec::new();
        named
            .material
            .try_map(|parameter, _| {
                parameters.push(parameter);
                Ok::<(), std::convert::Infallible>(())
            })
            .ok();
        let material = MaterialId(u32::try_from(number).expect("materials are numbered by u32"));
        let path = |p: &surface::Parameter| {
            let alone = parameters
                .iter()
                .filter(|other| other.name == p.name)
                .count()
                == 1;
            if alone {
                format!("materials.{}.{}", named.name, p.name)
            } else {
                format!("materials.{}.{}.{}", named.name, p.lobe, p.name)
            }
        };
        let of = |&parameter: &surface::Parameter| {
            (
                path(&parameter),
                Parameter::Material {
                    material,
                    parameter,
                },
            )
        };
        parameters.iter().map(of).collect()
    }

    /// Offsets of beams or channels.
    fn several_lines(&self, path: &str) -> Option<Vec<(String, Parameter)>> {
        let lines = self.sensor.lines_name();
        let own = path.strip_prefix("sensor.")?.strip_prefix(lines)?;
        let (which, name) = own.strip_prefix('.')?.rsplit_once('.')?;
        let kind = BEAM_OFFSETS.iter().position(|offset| *offset == name)?;
        let parameter = |beam| match kind {
            0 => Parameter::AzimuthOffset { beam },
            1 => Parameter::ElevationOffset { beam },
            _ => Parameter::RangeOffset { beam },
        };
        let named = |line| (format!("sensor.{lines}.{line}.{name}"), parameter(line));
        Some(numbers(which, self.sensor.lines())?.map(named).collect())
    }

    /// Factors on what facets scatter.
    fn facets(&self, path: &str) -> Option<Vec<(String, Parameter)>> {
        let inner = path.strip_prefix("objects.")?.strip_suffix(".scattering")?;
        let (name, which) = inner.rsplit_once(".facets.")?;
        let number = self.objects().iter().position(|o| o.name == name)?;
        let triangles = self.scene.mesh(self.objects()[number].mesh).triangles.len();
        let object = ObjectId(u32::try_from(number).ok()?);
        let named = |facet: usize| {
            let triangle = u32::try_from(facet).unwrap_or(u32::MAX);
            let path = format!("objects.{name}.facets.{facet}.scattering");
            (path, Parameter::Facet { object, triangle })
        };
        Some(numbers(which, triangles)?.map(named).collect())
    }

    fn nearest(&self, path: &str) -> Option<String> {
        let distance = |known: &String| strsim::damerau_levenshtein(known, path);
        let nearest = self.paths().into_iter().min_by_key(distance)?;
        (distance(&nearest) <= path.len() / 2).then_some(nearest)
    }

    /// What a number is in the model now.
    pub(super) fn value_of(&self, parameter: &Parameter) -> f64 {
        match parameter {
            Parameter::Material {
                material,
                parameter,
            } => self.material_value(*material, *parameter),
            Parameter::Facet { .. } => 1.0,
            Parameter::Weather { number } => {
                let weather = &self.air.atmosphere.weather[*number];
                weather.amount() / air::name_and_unit(weather).map_or(1.0, |(_, unit)| unit)
            }
            _ => self.value_of_sensor(parameter),
        }
    }

    fn value_of_sensor(&self, parameter: &Parameter) -> f64 {
        match (&self.sensor, parameter) {
            (Sensor::ContinuousWave(lidar), Parameter::Bias { power }) => {
                coefficients(&lidar.receiver.bias)[*power]
            }
            (Sensor::ContinuousWave(lidar), Parameter::Divergence) => {
                2.0 * lidar.half_tangent.atan()
            }
            (Sensor::Scanner(own), Parameter::Width { axis }) => own.widths()[*axis],
            (Sensor::Scanner(own), Parameter::Timing(which)) => match &own.scanner.receiver {
                Receiver::Pulsed(receiver) => which.of(receiver),
                _ => 0.0,
            },
            _ => 0.0,
        }
    }

    fn material_value(&self, material: MaterialId, wanted: surface::Parameter) -> f64 {
        let mut value = f64::NAN;
        let named = &self.parts.materials[material.0 as usize];
        named
            .material
            .try_map(|parameter, spectrum| {
                if parameter == wanted {
                    value = spectrum.at(self.sensor.wavelength()).unwrap_or(f64::NAN);
                }
                Ok::<(), std::convert::Infallible>(())
            })
            .ok();
        value
    }
}

/// Numbers below `count` that `which` stands for: all of them where it is `*`.
fn numbers(which: &str, count: usize) -> Option<Range<usize>> {
    if which == "*" {
        return Some(0..count);
    }
    let number: usize = which.parse().ok().filter(|n| *n < count)?;
    Some(number..number + 1)
}

fn inner<'a>(path: &'a str, before: &str, after: &str) -> Option<&'a str> {
    path.strip_prefix(before)?.strip_suffix(after)
}

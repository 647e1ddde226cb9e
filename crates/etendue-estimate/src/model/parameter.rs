//! Names of what can be unknown.

use super::{Model, coefficients};
use crate::manifold::{Chart, OutOfBounds, Variable};
use etendue_physics::surface;
use etendue_scene::{MaterialId, ObjectId};
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
    /// `sensor.beam.divergence`: full angle of divergence, rad.
    Divergence,
    /// `sensor.beams.N.azimuth_offset` (rad); `*` frees all beams'.
    AzimuthOffset {
        /// Number of the beam.
        beam: usize,
    },
    /// `sensor.beams.N.elevation_offset` (rad); `*` frees all beams'.
    ElevationOffset {
        /// Number of the beam.
        beam: usize,
    },
    /// `sensor.beams.N.range_offset` (m), added to the reported range; `*` frees all beams'.
    RangeOffset {
        /// Number of the beam.
        beam: usize,
    },
}

/// How something unknown may move.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Freedom {
    /// A pose in all six degrees of freedom; a number without bounds.
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
    /// Whether it changes what one beam alone reports.
    pub(super) fn beam(&self) -> Option<usize> {
        match self {
            Self::AzimuthOffset { beam }
            | Self::ElevationOffset { beam }
            | Self::RangeOffset { beam } => Some(*beam),
            _ => None,
        }
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
    /// Every path that names something, with `sensor.beams.*` for all beams.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = vec![
            "sensor.pose".to_owned(),
            "sensor.beam.divergence".to_owned(),
        ];
        paths.extend(["a", "b", "c"].map(|name| format!("sensor.receiver.bias.{name}")));
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
        paths.extend(BEAM_OFFSETS.map(|name| format!("sensor.beams.*.{name}")));
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
            .or_else(|| self.beams(path))
            .ok_or_else(|| UnknownPath {
                path: path.to_owned(),
                suggestion: self.nearest(path),
            })
    }

    fn one(&self, path: &str) -> Option<Parameter> {
        match path {
            "sensor.pose" => return Some(Parameter::SensorPose { scan: 0 }),
            "sensor.beam.divergence" => return Some(Parameter::Divergence),
            _ => {}
        }
        if let Some(name) = path.strip_prefix("sensor.receiver.bias.") {
            let power = ["c", "b", "a"].iter().position(|n| *n == name)?;
            return Some(Parameter::Bias { power });
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

    fn beams(&self, path: &str) -> Option<Vec<(String, Parameter)>> {
        let (which, name) = path.strip_prefix("sensor.beams.")?.rsplit_once('.')?;
        let kind = BEAM_OFFSETS.iter().position(|offset| *offset == name)?;
        let count = self.lidar.beams.len();
        let numbers = match which {
            "*" => 0..count,
            number => {
                let number: usize = number.parse().ok().filter(|n| *n < count)?;
                number..number + 1
            }
        };
        let parameter = |beam| match kind {
            0 => Parameter::AzimuthOffset { beam },
            1 => Parameter::ElevationOffset { beam },
            _ => Parameter::RangeOffset { beam },
        };
        let named = |beam| (format!("sensor.beams.{beam}.{name}"), parameter(beam));
        Some(numbers.map(named).collect())
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
            Parameter::Bias { power } => coefficients(&self.lidar.receiver.bias)[*power],
            Parameter::Divergence => 2.0 * self.lidar.half_tangent.atan(),
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
                    value = spectrum.at(self.lidar.wavelength).unwrap_or(f64::NAN);
                }
                Ok::<(), std::convert::Infallible>(())
            })
            .ok();
        value
    }
}

fn inner<'a>(path: &'a str, before: &str, after: &str) -> Option<&'a str> {
    path.strip_prefix(before)?.strip_suffix(after)
}

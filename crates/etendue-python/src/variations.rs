//! Changes of scene and sensor from one environment to another: poses of objects and numbers.

use crate::arrays::{array, check_finite, floats, wrong_shape};
use crate::errors::Outcome;
use crate::lidar::Lidar;
use crate::pose::{pose as read_pose, poses as read_poses};
use crate::scene::Scene;
use crate::simulate::{seed_of, world_of};
use etendue::config::scene::LoadedScene;
use etendue::config::toml_file::UnknownName;
use etendue::estimate::model::{MaterialParameter, material_parameters};
use etendue::physics::surface::Material;
use etendue::physics::{Purpose, Stream};
use etendue::raycast::ObjectId;
use etendue::scene::Scene as Objects;
use etendue::sensors::lidar::Lidar as Description;
use etendue::sensors::transport::World;
use nalgebra::Isometry3;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::borrow::Cow;
use std::convert::Infallible;
#[cfg(feature = "gpu")]
use std::ops::Range;

/// Start of the paths of numbers in sensor files.
const SENSOR: &str = "sensor.";

/// Values of each environment.
#[derive(Default)]
pub struct Variations {
    /// Poses of objects, world from object.
    bodies: Vec<(ObjectId, Vec<Isometry3<f64>>)>,
    /// Parameters of materials.
    materials: Vec<(MaterialParameter, Vec<f64>)>,
    /// Values by dotted keys of the sensor file.
    keys: Vec<(String, Vec<f64>)>,
}

impl Variations {
    /// The argument `bodies`, a pose for each name.
    pub fn of_bodies(scene: &Scene, bodies: Option<&Bound<'_, PyDict>>) -> Outcome<Self> {
        let mut all = Self::default();
        all.add_bodies(scene, bodies, |name, value| {
            Ok(vec![read_pose(name, value)?])
        })?;
        Ok(all)
    }

    /// The arguments `bodies`, a pose for each name, and `values`, a number for each path.
    pub fn single(
        scene: &Scene,
        lidar: &Lidar,
        bodies: Option<&Bound<'_, PyDict>>,
        values: Option<&Bound<'_, PyDict>>,
    ) -> Outcome<Self> {
        let mut all = Self::of_bodies(scene, bodies)?;
        all.add_values(scene, lidar, values, |name, value| {
            let wrong = |_| PyTypeError::new_err(format!("{name}: expected a number"));
            Ok(vec![value.extract().map_err(wrong)?])
        })?;
        Ok(all)
    }

    /// The arguments `bodies` and `values` with `count` poses and numbers each, and the argument `randomise` with
    /// limits, between which the numbers of each environment are drawn.
    pub fn batch(
        scene: &Scene,
        lidar: &Lidar,
        [bodies, values, randomise]: [Option<&Bound<'_, PyDict>>; 3],
        seed: u64,
        count: usize,
    ) -> Outcome<Self> {
        let mut all = Self::default();
        all.add_bodies(scene, bodies, |name, value| {
            let poses = read_poses(name, value)?;
            check_count(name, poses.len(), count)?;
            Ok(poses)
        })?;
        all.add_values(scene, lidar, values, |name, value| {
            let numbers = floats(name, value)?;
            if numbers.shape.len() != 1 {
                return Err(wrong_shape(name, "(n,)", &numbers.shape));
            }
            check_count(name, numbers.values.len(), count)?;
            Ok(numbers.values)
        })?;
        let given = values.map(|values| values.keys().extract::<Vec<String>>());
        let given = given.transpose()?.unwrap_or_default();
        let drawn = drawn("randomise", randomise, seed, count)?;
        for (path, values) in drawn {
            if given.contains(&path) {
                let text = format!(
                    "randomise[\"{path}\"]: values has this path, too\nhelp: omit one of them"
                );
                return Err(PyValueError::new_err(text).into());
            }
            all.add_value(scene, lidar, &path, values)?;
        }
        Ok(all)
    }

    /// Whether all environments are the given one.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty() && self.materials.is_empty() && self.keys.is_empty()
    }

    /// Whether materials or the lidar differ from the given ones.
    #[cfg(feature = "gpu")]
    pub fn has_values(&self) -> bool {
        !self.materials.is_empty() || !self.keys.is_empty()
    }

    /// The poses of objects in some environments.
    #[cfg(feature = "gpu")]
    pub fn bodies(&self, environments: Range<usize>) -> Vec<(ObjectId, Vec<Isometry3<f64>>)> {
        let own =
            |(object, poses): &(ObjectId, Vec<_>)| (*object, poses[environments.clone()].to_vec());
        self.bodies.iter().map(own).collect()
    }

    /// The objects of an environment. Meshes and their acceleration structures are shared.
    pub fn objects<'a>(&self, number: usize, objects: &'a Objects) -> Cow<'a, Objects> {
        if self.bodies.is_empty() {
            return Cow::Borrowed(objects);
        }
        let mut edit = objects.clone().edit();
        for (object, poses) in &self.bodies {
            edit = edit.with_pose(*object, poses[number]);
        }
        Cow::Owned(edit.finish())
    }

    /// The lidar of an environment.
    pub fn lidar<'a>(&self, number: usize, lidar: &'a Lidar) -> Outcome<Cow<'a, Description>> {
        if self.keys.is_empty() {
            return Ok(Cow::Borrowed(&lidar.sensor().lidar));
        }
        let values = self.keys.iter();
        let changed =
            lidar.with_numbers(values.map(|(key, values)| (key.as_str(), values[number])))?;
        let [own, other] = [&lidar.sensor().lidar, &changed.sensor().lidar];
        let shape = |lidar: &Description| [lidar.channels.len(), lidar.columns() as usize];
        if shape(own) != shape(other) {
            let text = format!(
                "values: {:?} channels and columns become {:?}\nhelp: change the number of beams by Lidar.replace",
                shape(own),
                shape(other)
            );
            return Err(PyValueError::new_err(text).into());
        }
        Ok(Cow::Owned(other.clone()))
    }

    /// The world of an environment.
    pub fn world<'a>(
        &self,
        number: usize,
        loaded: &'a LoadedScene,
        objects: &'a Objects,
        lidar: &Description,
    ) -> Outcome<World<'a, f64>> {
        let mut world = World::at_wavelength(objects, lidar.wavelength)?;
        for (parameter, values) in &self.materials {
            let changed = with_number(
                world.material(parameter.material),
                parameter,
                values[number],
            );
            world = world.with_material(parameter.material, changed);
        }
        Ok(world_of(world, loaded))
    }

    /// Adds poses of named objects.
    fn add_bodies(
        &mut self,
        scene: &Scene,
        bodies: Option<&Bound<'_, PyDict>>,
        read: impl Fn(&str, &Bound<'_, PyAny>) -> PyResult<Vec<Isometry3<f64>>>,
    ) -> Outcome<()> {
        let objects = scene.loaded().scene.objects();
        for (name, poses) in bodies.into_iter().flatten() {
            let wrong = |_| PyTypeError::new_err("bodies: expected names of objects as keys");
            let name: String = name.extract().map_err(wrong)?;
            let number = objects.iter().position(|object| object.name == name);
            let known = || objects.iter().map(|object| object.name.clone());
            let number = number.ok_or_else(|| UnknownName::new("object", &name, known()))?;
            let poses = read(&format!("bodies[\"{name}\"]"), &poses)?;
            let object = ObjectId(u32::try_from(number).unwrap_or(u32::MAX));
            self.bodies.push((object, poses));
        }
        Ok(())
    }

    /// Adds numbers of paths.
    fn add_values(
        &mut self,
        scene: &Scene,
        lidar: &Lidar,
        values: Option<&Bound<'_, PyDict>>,
        read: impl Fn(&str, &Bound<'_, PyAny>) -> PyResult<Vec<f64>>,
    ) -> Outcome<()> {
        for (path, value) in values.into_iter().flatten() {
            let wrong = |_| PyTypeError::new_err("values: expected paths as keys");
            let path: String = path.extract().map_err(wrong)?;
            let name = format!("values[\"{path}\"]");
            let numbers = read(&name, &value)?;
            check_finite(&name, &numbers)?;
            self.add_value(scene, lidar, &path, numbers)?;
        }
        Ok(())
    }

    /// Adds the numbers of a path, after a check of the least and the greatest.
    fn add_value(
        &mut self,
        scene: &Scene,
        lidar: &Lidar,
        path: &str,
        values: Vec<f64>,
    ) -> Outcome<()> {
        let least = values.iter().copied().reduce(f64::min);
        let greatest = values.iter().copied().reduce(f64::max);
        let ends = || least.into_iter().chain(greatest);
        // Numbers of the sensor
        if let Some(key) = path.strip_prefix(SENSOR) {
            for end in ends() {
                lidar.with_numbers([(key, end)])?;
            }
            self.keys.push((key.to_owned(), values));
            return Ok(());
        }

        // Numbers of materials
        let materials = scene.loaded().scene.materials();
        let known = material_parameters(materials);
        let found = known.iter().find(|(known, _)| known == path);
        let Some((_, parameter)) = found else {
            let keys = lidar
                .number_keys()
                .into_iter()
                .map(|key| format!("{SENSOR}{key}"));
            let known = known.into_iter().map(|(path, _)| path).chain(keys);
            return Err(UnknownName::new("path", path, known).into());
        };
        let world = World::at_wavelength(&scene.loaded().scene, lidar.sensor().lidar.wavelength)?;
        let material = world.material(parameter.material);
        for end in ends() {
            with_number(material, parameter, end)
                .validate()
                .map_err(|error| PyValueError::new_err(format!("{path}: {error}")))?;
        }
        self.materials.push((*parameter, values));
        Ok(())
    }
}

/// A material with another value of a parameter.
fn with_number(
    material: &Material<f64>,
    parameter: &MaterialParameter,
    number: f64,
) -> Material<f64> {
    let replaced = material.try_map(|own, value| {
        let is_it = own == parameter.parameter;
        Ok::<f64, Infallible>(if is_it { number } else { *value })
    });
    let Ok(replaced) = replaced;
    replaced
}

/// Checks that there is a value for each of `count` environments.
fn check_count(name: &str, found: usize, count: usize) -> PyResult<()> {
    if found == count {
        return Ok(());
    }
    let text = format!("{name}: expected one for each of the {count} poses, got {found}");
    Err(PyValueError::new_err(text))
}

/// Draw the numbers of environments.
///
/// They are uniform and independent. Those of one path are the same with any other paths, and the first are the
/// same with any number of environments.
///
/// Parameters
/// ----------
/// randomise : dict of str to (float, float)
///     Least and greatest number by path, as the argument `randomise` of `simulate_batch`.
/// count : int
///     Number of environments, n.
/// seed : int, default 1
///     Seed.
///
/// Returns
/// -------
/// dict of str to float64 (n,)
///     The numbers by path: those that `simulate_batch` draws with the same seed.
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> drawn = et.draw({"materials.wall.reflectance": (0.2, 0.8)}, 1000, seed=1)
/// >>> numbers = drawn["materials.wall.reflectance"]
/// >>> bool(0.2 <= numbers.min() < 0.21), bool(0.79 < numbers.max() <= 0.8)
/// (True, True)
#[pyfunction]
#[pyo3(signature = (randomise, count, *, seed = 1))]
pub fn draw<'py>(
    py: Python<'py>,
    randomise: &Bound<'py, PyDict>,
    count: usize,
    #[pyo3(from_py_with = seed_of)] seed: u64,
) -> Outcome<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    for (path, values) in drawn("randomise", Some(randomise), seed, count)? {
        result.set_item(path, array(py, values, &[count])?)?;
    }
    Ok(result)
}

/// Numbers of `count` environments by path, drawn between the limits of the argument `name`.
fn drawn(
    name: &str,
    limits: Option<&Bound<'_, PyDict>>,
    seed: u64,
    count: usize,
) -> PyResult<Vec<(String, Vec<f64>)>> {
    let of_path = |(path, limits): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        // Read the limits.
        let wrong = |_| PyTypeError::new_err(format!("{name}: expected paths as keys"));
        let path: String = path.extract().map_err(wrong)?;
        let argument = format!("{name}[\"{path}\"]");
        let [low, high]: [f64; 2] = limits.extract().map_err(|_| {
            PyTypeError::new_err(format!(
                "{argument}: expected the least and the greatest number"
            ))
        })?;
        check_finite(&argument, &[low, high])?;
        if low > high {
            let text = format!("{argument}: the least number {low} is above the greatest {high}");
            return Err(PyValueError::new_err(text));
        }

        // Draw.
        let address = address_of(&path);
        let value = |number: usize| {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let share = Stream::new(seed, 0, number, address, Purpose::World).uniform();
            low + share * (high - low)
        };
        Ok((path, (0..count).map(value).collect()))
    };
    limits.into_iter().flatten().map(of_path).collect()
}

/// Address of the random numbers of a path: its hash (FNV-1a, Fowler, Noll, Vo, 32 bits).
fn address_of(path: &str) -> u32 {
    let add = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    path.bytes().fold(0x811c_9dc5, add)
}

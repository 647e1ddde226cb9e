//! Numbers of a session as parameters.

use crate::message::content;
use crate::refusal::Refusal;
use crate::session::pose::to_numbers;
use crate::session::{Document, Edit, Session, Step, WeatherOptions};
use etendue::config::material::{MaterialFile, Spectral, find};
use serde_json::{Map, Value as Json, json};

/// Longest list of numbers that is a parameter.
const MAX_NUMBERS: usize = 6;

/// A number or a short list of numbers of the session.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name: the place in the file, with dots.
    pub name: String,
    /// Its value.
    pub value: Json,
    place: Place,
}

#[derive(Clone, Debug, PartialEq)]
enum Place {
    /// A value of the sensor file.
    Sensor(Vec<Step>),
    /// A value of a lobe of a material.
    Material(Box<MaterialPlace>),
    /// An amount of the weather in place of that of the scene, by its key.
    Weather(String, WeatherOptions),
    Pose,
    Seed,
}

#[derive(Clone, Debug, PartialEq)]
struct MaterialPlace {
    material: String,
    lobe: String,
    key: String,
    /// The numbers of the lobe.
    table: Map<String, Json>,
    /// Whether the scene file has a table for the material, and for its lobe.
    is_own: [bool; 2],
}

/// The parameters of a session: materials, sensor, weather, pose of the sensor, seed.
pub fn parameters(session: &Session) -> Vec<Parameter> {
    let (inputs, loaded) = (session.inputs(), session.loaded());
    let mut found = Vec::new();
    let mut add = |name: String, value: Json, place: Place| {
        found.push(Parameter { name, value, place });
    };

    // Materials of the scene, at the wavelength of the sensor
    let scene = content(&inputs.scene);
    let wavelength = loaded.lidar().wavelength;
    for named in loaded.scene.scene.materials() {
        let own = scene["materials"].get(&named.name);
        let file = match own {
            Some(table) => serde_json::from_value::<MaterialFile>(table.clone()).ok(),
            None => find(&named.name).ok().map(|material| material.file.clone()),
        };
        let file = file.and_then(|file| serde_json::to_value(file.resolved().ok()?).ok());
        let lobes = file.as_ref().and_then(Json::as_object);
        for (lobe, table) in lobes.into_iter().flatten() {
            let Some(table) = table.as_object().filter(|_| lobe != "measured") else {
                continue;
            };
            for (key, value) in table {
                let Some(number) = at_wavelength(value, wavelength) else {
                    continue;
                };
                let place = MaterialPlace {
                    material: named.name.clone(),
                    lobe: lobe.clone(),
                    key: key.clone(),
                    table: table.clone(),
                    is_own: [
                        own.is_some(),
                        own.is_some_and(|table| table.get(lobe).is_some()),
                    ],
                };
                add(
                    format!("materials.{}.{lobe}.{key}", named.name),
                    json!(number),
                    Place::Material(Box::new(place)),
                );
            }
        }
    }

    // Numbers of the sensor file
    let sensor = content(&loaded.sensor_file);
    for_each_number(&sensor, &mut Vec::new(), &mut |keys, value| {
        let steps = keys.iter().map(|key| Step::Key(key.clone())).collect();
        let name = format!("sensor.{}", keys.join("."));
        add(name, value.clone(), Place::Sensor(steps));
    });

    // Weather, pose and seed
    let weather = serde_json::to_value(inputs.weather).unwrap_or_default();
    for (key, value) in weather.as_object().into_iter().flatten() {
        // An omitted amount is that of the scene, and has no number here
        let is_fall = !key.starts_with("visibility") && !key.starts_with("fog");
        let value = match value.as_f64() {
            Some(amount) => json!(amount),
            None if is_fall => json!(0.0),
            None => continue,
        };
        let place = Place::Weather(key.clone(), inputs.weather);
        add(format!("weather.{key}"), value, place);
    }
    let pose = inputs
        .pose
        .unwrap_or_else(|| to_numbers(&loaded.world_from_sensor));
    add("pose".into(), json!(pose), Place::Pose);
    add("seed".into(), json!(inputs.seed), Place::Seed);
    found
}

/// The number of a constant or a table over wavelength (m).
fn at_wavelength(value: &Json, wavelength: f64) -> Option<f64> {
    if let Some(number) = value.as_f64() {
        return Some(number);
    }
    let table = value.as_object()?;
    let spectral: Spectral = serde_json::from_value(Json::Object(table.clone())).ok()?;
    spectral.spectrum().ok()?.at(wavelength).ok()
}

/// Visits the numbers and the short lists of numbers of tables.
fn for_each_number(value: &Json, keys: &mut Vec<String>, visit: &mut impl FnMut(&[String], &Json)) {
    match value {
        Json::Object(table) => {
            for (key, entry) in table {
                keys.push(key.clone());
                for_each_number(entry, keys, visit);
                keys.pop();
            }
        }
        Json::Number(_) if keys != &["version"] => visit(keys, value),
        Json::Array(list) if is_short_list(list) => visit(keys, value),
        _ => {}
    }
}

/// Whether a list is a parameter.
fn is_short_list(list: &[Json]) -> bool {
    (1..=MAX_NUMBERS).contains(&list.len()) && list.iter().all(Json::is_number)
}

impl Parameter {
    /// The parameter in the protocol.
    pub fn to_json(&self) -> Json {
        let mut json = json!({ "name": self.name, "value": self.value });
        // Without a type, 2.0 could be read as a whole number
        if self.value.is_f64() {
            json["type"] = "float64".into();
        } else if self.value.is_array() {
            json["type"] = "float64_array".into();
        }
        json
    }

    /// The edit that gives the parameter a value.
    ///
    /// # Errors
    /// If the value has another form. Its domain is checked when the file is read.
    pub fn edit(&self, value: &Json) -> Result<Edit, Refusal> {
        let numbers = self.value.as_array();
        let is_same_form = match (numbers, value.as_array()) {
            (None, None) => value.is_number(),
            (Some(old), Some(new)) => old.len() == new.len() && new.iter().all(Json::is_number),
            _ => false,
        };
        if !is_same_form {
            let remedy = numbers.map_or("give a number".into(), |old| {
                format!("give {} numbers", old.len())
            });
            let message = format!("{value} is no value of {}", self.name);
            return Err(Refusal::new(message, remedy));
        }
        let wrong = || {
            Refusal::new(
                format!("{value} is no value of {}", self.name),
                "give a whole number of at least 0",
            )
        };
        Ok(match &self.place {
            Place::Sensor(path) => Edit::Set {
                document: Document::Sensor,
                path: path.clone(),
                value: value.clone(),
            },
            Place::Material(place) => place.edit(value),
            Place::Weather(key, weather) => {
                let mut amounts = serde_json::to_value(weather).unwrap_or_default();
                amounts[key] = value.clone();
                let weather = serde_json::from_value(amounts).map_err(|_| wrong())?;
                Edit::Weather(weather)
            }
            Place::Pose => Edit::Pose(serde_json::from_value(value.clone()).ok()),
            Place::Seed => Edit::Seed(value.as_u64().ok_or_else(wrong)?),
        })
    }
}

impl MaterialPlace {
    /// A material or a lobe that the scene file lacks is written as a whole.
    fn edit(&self, value: &Json) -> Edit {
        let mut lobe = self.table.clone();
        lobe.insert(self.key.clone(), value.clone());
        let steps: &[&str] = match self.is_own {
            [true, true] => &[&self.lobe, &self.key],
            [true, false] => &[&self.lobe],
            [false, _] => &[],
        };
        let value = match self.is_own {
            [true, true] => value.clone(),
            [true, false] => Json::Object(lobe),
            [false, _] => json!({ "base": self.material, self.lobe.as_str(): lobe }),
        };
        let path = ["materials", &self.material].into_iter();
        let path = path.chain(steps.iter().copied());
        Edit::Set {
            document: Document::Scene,
            path: path.map(|key| Step::Key(key.into())).collect(),
            value,
        }
    }
}

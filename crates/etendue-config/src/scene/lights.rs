//! Lights of a scene.

use super::{RotationDeg, pose_of_angles};
use crate::ConfigError;
use crate::toml_file::resolve;
use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_io::image::read_picture;
use etendue_physics::Spectrum;
use etendue_physics::light::{CieSky, ClearAir, SkyDome, lamp_flux};
use etendue_scene::lighting::{
    AreaLamp, Environment, EnvironmentMap, Light, Lighting, PointLamp, SkyLight, SpotLamp, Sun,
};
use nalgebra::{Point3, Vector3};
use schemars::JsonSchema;
use serde::Deserialize;
use std::f64::consts::PI;
use std::path::PathBuf;
use toml::Spanned;

/// Lights of the scene, for cameras. Lidars have their own emitter.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LightsTable {
    /// Sun and sky of a clear day.
    #[schemars(with = "Option<DaylightTable>")]
    pub daylight: Option<Spanned<DaylightTable>>,
    /// An overcast sky without a sun; alternative to `daylight`.
    #[schemars(with = "Option<OvercastTable>")]
    pub overcast: Option<Spanned<OvercastTable>>,
    /// An environment map; alternative to a sky.
    #[schemars(with = "Option<EnvironmentTable>")]
    pub environment: Option<Spanned<EnvironmentTable>>,
    /// Isotropic point lights.
    pub points: Vec<PointTable>,
    /// Spot lights.
    pub spots: Vec<SpotTable>,
    /// Rectangular area lights.
    pub areas: Vec<AreaTable>,
}

/// Sun and sky of a clear day.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DaylightTable {
    /// Azimuth of the sun, anticlockwise from x.
    pub sun_azimuth_deg: f64,
    /// Elevation of the sun, above 0 and up to 90.
    pub sun_elevation_deg: f64,
    /// Aerosol optical depth at 1 µm: 0.05 clear, 0.3 hazy.
    #[serde(default = "clear")]
    pub haze: f64,
    /// Reflectance of the ground below the horizon.
    #[serde(default = "ground")]
    pub ground_reflectance: f64,
}

fn clear() -> f64 {
    0.08
}

fn ground() -> f64 {
    0.2
}

/// An overcast sky.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OvercastTable {
    /// Horizontal illuminance: 2000 dark to 20000 bright.
    pub illuminance_lx: f64,
    /// Reflectance of the ground below the horizon.
    #[serde(default = "ground")]
    pub ground_reflectance: f64,
}

/// An equirectangular environment map: the zenith at the top, x forward at the centre.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentTable {
    /// A .hdr or .png image, relative to the folder of this file.
    #[schemars(with = "String")]
    pub file: Spanned<String>,
    /// Luminance of a pixel with the value 1.
    #[serde(default = "hundred")]
    pub luminance_cd_per_m2: f64,
    /// Anticlockwise rotation of the map.
    #[serde(default)]
    pub yaw_deg: f64,
}

fn hundred() -> f64 {
    100.0
}

/// An isotropic point light.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PointTable {
    /// Position.
    pub position_m: [f64; 3],
    /// Luminous flux.
    #[schemars(with = "f64")]
    pub flux_lm: Spanned<f64>,
    /// Correlated colour temperature.
    #[serde(default = "neutral")]
    #[schemars(with = "f64")]
    pub temperature_k: Spanned<f64>,
}

/// A spot light.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpotTable {
    /// Position.
    pub position_m: [f64; 3],
    /// Target point of the axis.
    #[schemars(with = "[f64; 3]")]
    pub target_m: Spanned<[f64; 3]>,
    /// Half angle of the cone.
    #[schemars(with = "f64")]
    pub half_angle_deg: Spanned<f64>,
    /// Luminous flux, all inside the cone.
    #[schemars(with = "f64")]
    pub flux_lm: Spanned<f64>,
    /// Correlated colour temperature.
    #[serde(default = "neutral")]
    #[schemars(with = "f64")]
    pub temperature_k: Spanned<f64>,
}

/// A rectangular area light that emits in the direction of its +z. It is visible to cameras and
/// casts no shadow.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AreaTable {
    /// Position of the centre.
    #[schemars(with = "[f64; 3]")]
    pub position_m: Spanned<[f64; 3]>,
    /// Rotation; a roll of 180 directs the light downwards.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
    /// Lengths along its x and y.
    #[schemars(with = "[f64; 2]")]
    pub size_m: Spanned<[f64; 2]>,
    /// Luminous flux.
    #[schemars(with = "f64")]
    pub flux_lm: Spanned<f64>,
    /// Correlated colour temperature.
    #[serde(default = "neutral")]
    #[schemars(with = "f64")]
    pub temperature_k: Spanned<f64>,
}

fn neutral() -> Spanned<f64> {
    Spanned::new(0..0, 4000.0)
}

/// Angular radius of the sun, rad.
const SUN_HALF_ANGLE: f64 = 0.004_65;
/// Correlated colour temperature of an overcast sky, K.
const OVERCAST_TEMPERATURE: f64 = 6500.0;

/// Converts the lights; also returns the files that were read.
pub(super) fn lighting(
    document: &Document,
    table: &LightsTable,
) -> Result<(Lighting, Vec<PathBuf>), ConfigError> {
    // Require at most one environment
    let mut lighting = Lighting::default();
    let mut files = vec![];
    let given = [
        table.daylight.as_ref().map(Spanned::span),
        table.overcast.as_ref().map(Spanned::span),
        table.environment.as_ref().map(Spanned::span),
    ];
    if let Some(second) = given.into_iter().flatten().nth(1) {
        let problem = TomlProblem::value(
            "the scene has two environments",
            "keep one of daylight, overcast and environment",
        );
        return Err(document.error(second, problem).into());
    }
    // Build the environment
    if let Some(daylight) = &table.daylight {
        let (sun, sky) = day(document, daylight)?;
        lighting.lights.push(sun);
        lighting.environment = sky;
    }
    if let Some(overcast) = &table.overcast {
        lighting.environment = clouds(document, overcast)?;
    }
    if let Some(environment) = &table.environment {
        let (map, file) = around(document, environment.get_ref())?;
        lighting.environment = map;
        files.push(file);
    }
    // Add the lamps
    for lamp in &table.points {
        lighting.lights.push(lamp.light(document)?);
    }
    for lamp in &table.spots {
        lighting.lights.push(lamp.light(document)?);
    }
    for lamp in &table.areas {
        lighting.lights.push(lamp.light(document)?);
    }
    Ok((lighting, files))
}

/// Sun and sky of a clear day; `None` if the sun is not above the horizon. The azimuth is
/// anticlockwise from x, the elevation is above the horizon, both in rad.
pub fn daylight(
    azimuth: f64,
    elevation: f64,
    haze: f64,
    ground: f64,
) -> Option<(Light, Environment)> {
    if !(elevation > 0.0 && elevation <= PI / 2.0 + 1e-9 && azimuth.is_finite()) {
        return None;
    }
    // Compute the direction of the sun in clear air
    let air = ClearAir {
        haze,
        ..ClearAir::default()
    };
    let to_sun = Vector3::new(
        elevation.cos() * azimuth.cos(),
        elevation.cos() * azimuth.sin(),
        elevation.sin(),
    );

    // Tabulate the irradiance of sun and sky, and the radiance of the ground
    let sun = table(|wavelength| air.sun(wavelength, elevation));
    let sky = table(|wavelength| air.sky(wavelength, elevation));
    let below = table(|wavelength| {
        let down =
            air.sun(wavelength, elevation) * elevation.sin() + air.sky(wavelength, elevation);
        ground * down / PI
    });
    Some((
        Light::Sun(Sun {
            to_sun,
            irradiance: sun,
            half_angle: SUN_HALF_ANGLE,
        }),
        Environment::Sky(SkyLight {
            dome: SkyDome::new(CieSky::CLEAR, to_sun),
            irradiance: sky,
            ground: below,
        }),
    ))
}

/// Tabulates a function of the wavelength over the visible and the near infrared.
fn table(value: impl Fn(f64) -> f64) -> Spectrum {
    let wavelengths = (300..=1100).step_by(10).map(|nm| f64::from(nm) * 1e-9);
    Spectrum::Table(
        wavelengths
            .map(|wavelength| (wavelength, value(wavelength)))
            .collect(),
    )
}

fn day(
    document: &Document,
    table: &Spanned<DaylightTable>,
) -> Result<(Light, Environment), DocumentError> {
    let daylit = table.get_ref();
    let elevation = daylit.sun_elevation_deg.to_radians();
    let azimuth = daylit.sun_azimuth_deg.to_radians();
    let reasonable =
        (0.0..=5.0).contains(&daylit.haze) && (0.0..=1.0).contains(&daylit.ground_reflectance);
    let light = reasonable
        .then(|| daylight(azimuth, elevation, daylit.haze, daylit.ground_reflectance))
        .flatten();
    light.ok_or_else(|| {
        let problem = TomlProblem::value(
            format!(
                "invalid daylight: elevation {} degrees, haze {}, ground {}",
                daylit.sun_elevation_deg, daylit.haze, daylit.ground_reflectance
            ),
            "give an elevation above 0 and up to 90 degrees, a haze from 0 to 5 and a ground of 0 \
             to 1; use lamps at night",
        );
        document.error(table.span(), problem)
    })
}

fn clouds(
    document: &Document,
    table: &Spanned<OvercastTable>,
) -> Result<Environment, DocumentError> {
    let OvercastTable {
        illuminance_lx,
        ground_reflectance,
    } = *table.get_ref();
    if !(illuminance_lx > 0.0
        && illuminance_lx.is_finite()
        && (0.0..=1.0).contains(&ground_reflectance))
    {
        let problem = TomlProblem::value(
            format!("an overcast sky of {illuminance_lx} lx over a ground of {ground_reflectance}"),
            "give an illuminance above zero and a ground reflectance of 0 to 1",
        );
        return Err(document.error(table.span(), problem));
    }
    let irradiance = lamp_flux(illuminance_lx, OVERCAST_TEMPERATURE);
    Ok(Environment::Sky(SkyLight {
        dome: SkyDome::new(CieSky::OVERCAST, Vector3::z()),
        ground: scaled(&irradiance, ground_reflectance / PI),
        irradiance,
    }))
}

fn scaled(spectrum: &Spectrum, factor: f64) -> Spectrum {
    match spectrum {
        Spectrum::Table(points) => Spectrum::Table(
            points
                .iter()
                .map(|(at, value)| (*at, value * factor))
                .collect(),
        ),
        other => other.clone(),
    }
}

fn around(
    document: &Document,
    table: &EnvironmentTable,
) -> Result<(Environment, PathBuf), ConfigError> {
    let path = resolve(document, &table.file)?;
    let picture = read_picture(&path)?;
    // Spectral radiance (per metre of wavelength) of white light of the luminance, constant over
    // the visible: 683 lm/W times the integral of the photopic response, 107 nm.
    let scale = table.luminance_cd_per_m2 / (683.0 * 107e-9);
    let map = EnvironmentMap::new(
        picture.width,
        picture.pixels,
        scale,
        table.yaw_deg.to_radians(),
    );
    let map = map.map_err(|error| {
        let problem = TomlProblem::value(error.to_string(), "save the image again");
        document.error(table.file.span(), problem)
    })?;
    Ok((Environment::Map(map.into()), path))
}

/// Spectral flux of a lamp, W/m.
fn flux(
    document: &Document,
    lumens: &Spanned<f64>,
    temperature: &Spanned<f64>,
    share: f64,
) -> Result<Spectrum, DocumentError> {
    if !(*lumens.get_ref() > 0.0 && lumens.get_ref().is_finite()) {
        let problem = TomlProblem::value(
            format!("the luminous flux is {} lm", lumens.get_ref()),
            "give its luminous flux, above zero: a common bulb emits 800 lm",
        );
        return Err(document.error(lumens.span(), problem));
    }
    if !(1000.0..=40_000.0).contains(temperature.get_ref()) {
        let problem = TomlProblem::value(
            format!("the colour temperature is {} K", temperature.get_ref()),
            "give 1000 to 40000 K: 2700 is warm, 4000 neutral, 6500 daylight",
        );
        return Err(document.error(temperature.span(), problem));
    }
    Ok(lamp_flux(*lumens.get_ref() * share, *temperature.get_ref()))
}

impl PointTable {
    fn light(&self, document: &Document) -> Result<Light, DocumentError> {
        let share = 1.0 / (4.0 * PI);
        Ok(Light::Point(PointLamp {
            position: Point3::from(self.position_m),
            intensity: flux(document, &self.flux_lm, &self.temperature_k, share)?,
        }))
    }
}

impl SpotTable {
    fn light(&self, document: &Document) -> Result<Light, DocumentError> {
        let outer = self.half_angle_deg.get_ref().to_radians();
        if !(outer > 0.0 && outer <= PI) {
            let problem = TomlProblem::value(
                format!(
                    "the half angle of the cone is {} degrees",
                    self.half_angle_deg.get_ref()
                ),
                "give the angle between axis and edge, above 0 and up to 180 degrees",
            );
            return Err(document.error(self.half_angle_deg.span(), problem));
        }
        let away = Point3::from(*self.target_m.get_ref()) - Point3::from(self.position_m);
        let Some(axis) = away.try_normalize(1e-9) else {
            let problem = TomlProblem::value(
                "target_m equals the position of the lamp",
                "give another target_m",
            );
            return Err(document.error(self.target_m.span(), problem));
        };
        let inner = 0.8 * outer;
        // The smooth step of the edge emits about as much as a sharp edge at its middle.
        let solid_angle = 2.0 * PI * (1.0 - (0.5 * (inner + outer)).cos());
        Ok(Light::Spot(SpotLamp {
            position: Point3::from(self.position_m),
            axis,
            intensity: flux(
                document,
                &self.flux_lm,
                &self.temperature_k,
                1.0 / solid_angle,
            )?,
            inner,
            outer,
        }))
    }
}

impl AreaTable {
    fn light(&self, document: &Document) -> Result<Light, DocumentError> {
        let size = *self.size_m.get_ref();
        if !size
            .iter()
            .all(|length| *length > 0.0 && length.is_finite())
        {
            let problem = TomlProblem::value(
                format!("the size of the lamp is {} x {} m", size[0], size[1]),
                "give lengths above zero",
            );
            return Err(document.error(self.size_m.span(), problem));
        }
        let share = 1.0 / (PI * size[0] * size[1]);
        Ok(Light::Area(AreaLamp {
            world_from_lamp: pose_of_angles(
                document,
                Some(&self.position_m),
                self.rotation_deg.as_ref(),
            )?,
            size,
            radiance: flux(document, &self.flux_lm, &self.temperature_k, share)?,
        }))
    }
}

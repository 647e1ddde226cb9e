//! Ambient light of a scene.

use super::DaylightTable;
use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_physics::light::ClearAir;
use etendue_sensors::transport::{AmbientLight, Sun};
use nalgebra::Vector3;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// One nanometre of wavelength, m.
const NANOMETRE: f64 = 1e-9;

/// Ambient light. It adds photon noise to receivers with a `window` table. Default: the light
/// of `lights.daylight`, if the scene has it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AmbientTable {
    /// The sun, or another distant lamp.
    pub sun: Option<SunTable>,
    /// Isotropic irradiance from the sky and the surroundings at the sensor's wavelength, W/m² per
    /// nm. Default: a clear sky with the sun.
    pub sky_w_per_m2_nm: Option<f64>,
    /// Temperature of all surfaces for thermal emission, K. Default: no emission.
    pub temperature_k: Option<f64>,
}

/// Directional light.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SunTable {
    /// Azimuth, anticlockwise from x, degrees.
    #[serde(default)]
    pub azimuth_deg: f64,
    /// Elevation, degrees.
    pub elevation_deg: f64,
    /// Irradiance on a surface normal to the light, at the sensor's wavelength, W/m² per nm.
    /// Default: the sun through a clear sky at its elevation.
    pub irradiance_w_per_m2_nm: Option<f64>,
}

/// The light of an `[ambient]` table.
pub(super) fn light(
    document: &Document,
    table: &Spanned<AmbientTable>,
) -> Result<AmbientLight, DocumentError> {
    let span = table.span();
    let table = table.get_ref();

    // Check the numbers
    let require = |name: &str, value: f64, fits: bool, domain: &str| {
        if fits && value.is_finite() {
            return Ok(());
        }
        let problem = TomlProblem::value(
            format!("{name} is {value}"),
            format!("write a number {domain}"),
        );
        Err(document.error(span.clone(), problem))
    };
    let not_negative = |name: &str, value: f64| require(name, value, value >= 0.0, "zero or more");
    if let Some(sky) = table.sky_w_per_m2_nm {
        not_negative("sky_w_per_m2_nm", sky)?;
    }
    if let Some(kelvin) = table.temperature_k {
        not_negative("temperature_k", kelvin)?;
    }
    if let Some(sun) = &table.sun {
        require("sun.azimuth_deg", sun.azimuth_deg, true, "finite")?;
        let fits = sun.elevation_deg.abs() <= 90.0;
        require(
            "sun.elevation_deg",
            sun.elevation_deg,
            fits,
            "from -90 to 90",
        )?;
        if let Some(irradiance) = sun.irradiance_w_per_m2_nm {
            not_negative("sun.irradiance_w_per_m2_nm", irradiance)?;
        }
    }

    // Convert them to SI units
    Ok(AmbientLight {
        sun: table.sun.as_ref().map(SunTable::sun),
        sky_irradiance: table.sky_w_per_m2_nm.map(|sky| sky / NANOMETRE),
        air: ClearAir::default(),
        temperature: table.temperature_k,
    })
}

/// The light of the daylight of cameras, for scenes without an `[ambient]` table.
pub(super) fn by_day(table: &DaylightTable) -> AmbientLight {
    AmbientLight {
        sun: Some(Sun {
            towards: towards(table.sun_azimuth_deg, table.sun_elevation_deg),
            irradiance: None,
        }),
        air: ClearAir {
            haze: table.haze,
            ..ClearAir::default()
        },
        ..AmbientLight::default()
    }
}

/// Unit vector of a direction.
fn towards(azimuth_deg: f64, elevation_deg: f64) -> Vector3<f64> {
    let azimuth = azimuth_deg.to_radians();
    let elevation = elevation_deg.to_radians();
    Vector3::new(
        elevation.cos() * azimuth.cos(),
        elevation.cos() * azimuth.sin(),
        elevation.sin(),
    )
}

impl SunTable {
    fn sun(&self) -> Sun {
        let irradiance = self.irradiance_w_per_m2_nm;
        Sun {
            towards: towards(self.azimuth_deg, self.elevation_deg),
            irradiance: irradiance.map(|irradiance| irradiance / NANOMETRE),
        }
    }
}

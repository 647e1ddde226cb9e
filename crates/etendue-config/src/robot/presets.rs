//! Embedded devices, and device files.

use super::{BarometerTable, GnssTable, ImuTable};
use crate::ConfigError;
use crate::presets::{DEVICES, Preset};
use crate::toml_file::resolve;
use crate::toml_file::{Document, TomlProblem};
use etendue_sensors::rig::{Device, Gnss};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// All embedded devices: inertial units, GNSS receivers, barometers.
pub fn device_presets() -> &'static [Preset] {
    DEVICES.all()
}

/// The embedded device with the name: one of [`device_presets`], or a lidar of
/// [`sensor::presets`](crate::sensor::presets).
///
/// ```
/// use etendue_config::robot::preset_device;
/// use etendue_sensors::rig::Device;
/// assert!(matches!(preset_device("stim300"), Some(Device::Imu(_))));
/// assert!(matches!(preset_device("velodyne-vlp-16"), Some(Device::Lidar(_))));
/// assert!(preset_device("stim3000").is_none());
/// ```
pub fn preset_device(name: &str) -> Option<Device> {
    if let Ok(sensor) = crate::sensor::preset(name) {
        return Some(Device::Lidar(Box::new(sensor.lidar)));
    }
    let file: DeviceFile = DEVICES.find(name).ok()?.document().parse().ok()?;
    let receiver = |gnss: &GnssTable| gnss.receiver().ok();
    let imu = file
        .imu
        .as_ref()
        .and_then(|imu| imu.imu().ok())
        .map(|imu| Device::Imu(Box::new(imu)));
    let gnss = file.gnss.as_ref().and_then(receiver).map(|receiver| {
        Device::Gnss(Gnss {
            receiver,
            has_occlusion: true,
        })
    });
    let barometer = file
        .barometer
        .as_ref()
        .and_then(|table| table.barometer().ok());
    imu.or(gnss).or(barometer.map(Device::Barometer))
}

/// A device file: a description of the device, and one table with its parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeviceFile {
    #[schemars(with = "u32")]
    pub version: Spanned<u32>,
    #[expect(dead_code, reason = "documentation only")]
    pub name: String,
    #[serde(default)]
    #[expect(dead_code, reason = "documentation only")]
    pub description: String,
    #[serde(default)]
    #[expect(dead_code, reason = "documentation only")]
    pub sources: Vec<String>,
    pub imu: Option<ImuTable>,
    pub gnss: Option<GnssTable>,
    pub barometer: Option<BarometerTable>,
}

/// Reads the device file of a table.
pub(super) fn device_file(
    document: &Document,
    preset: Option<&Spanned<String>>,
    file: Option<&Spanned<String>>,
) -> Result<Option<(Document, DeviceFile)>, ConfigError> {
    let found = match (preset, file) {
        (None, None) => return Ok(None),
        (Some(preset), None) => {
            let known = DEVICES.find(preset.get_ref());
            let known = known.map_err(|error| document.error(preset.span(), error.into()))?;
            known.document()
        }
        (None, Some(file)) => Document::read(&resolve(document, file)?)?,
        (Some(_), Some(file)) => {
            let problem = TomlProblem::value("the device is defined twice", "give preset or file");
            return Err(document.error(file.span(), problem).into());
        }
    };
    let parsed: DeviceFile = found.parse()?;
    found.check_version(&parsed.version, super::file::VERSION)?;
    Ok(Some((found, parsed)))
}

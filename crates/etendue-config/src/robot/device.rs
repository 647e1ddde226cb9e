//! Devices of mounted sensors.

use super::presets::{DeviceFile, device_file};
use super::{GnssTable, ImuTable, MagnetometerTable};
use crate::ConfigError;
use crate::camera;
use crate::sensor::{self, Sensor};
use crate::toml_file::resolve;
use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_physics::ambient::Barometer;
use etendue_physics::odometry::WheelEncoder;
use etendue_sensors::camera::LightTransport;
use etendue_sensors::rig::{Device, Gnss, MountedCamera};
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// The device, with one key: `device.imu = { .. }` and so on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceTable {
    /// An inertial measurement unit.
    Imu(Box<ImuTable>),
    /// A GNSS receiver.
    Gnss(GnssTable),
    /// A magnetometer.
    Magnetometer(MagnetometerTable),
    /// A barometer.
    Barometer(BarometerTable),
    /// A wheel encoder; the wheel rolls along the x axis of its frame.
    WheelEncoder(WheelEncoderTable),
    /// A lidar.
    Lidar(LidarTable),
    /// A camera.
    Camera(CameraTable),
}

/// A camera: a preset or a camera file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CameraTable {
    /// Name of a camera preset.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub preset: Option<Spanned<String>>,
    /// A camera file, relative to the folder of this file.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub file: Option<Spanned<String>>,
    /// Rays per pixel.
    #[serde(default = "four")]
    #[schemars(with = "u32")]
    #[schemars(range(min = 1, max = 65_536))]
    pub samples: Spanned<u32>,
    /// Whether to trace light paths over any number of surfaces.
    #[serde(default)]
    pub paths: bool,
    /// Whether to record the true planar depth of each pixel with the images.
    #[serde(default)]
    pub depth: bool,
}

fn four() -> Spanned<u32> {
    Spanned::new(0..0, 4)
}

/// A lidar: a preset or a sensor file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LidarTable {
    /// Name of a lidar preset.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub preset: Option<Spanned<String>>,
    /// A sensor file, relative to the folder of this file.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub file: Option<Spanned<String>>,
}

/// A barometer: a preset, a file, or parameters.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BarometerTable {
    /// Name of a barometer preset.
    #[schemars(with = "Option<String>")]
    pub preset: Option<Spanned<String>>,
    /// A device file, relative to the folder of this file.
    #[schemars(with = "Option<String>")]
    pub file: Option<Spanned<String>>,
    /// Standard deviation of each sample.
    #[schemars(range(min = 0.0))]
    pub noise_pa: f64,
    /// Standard deviation of the constant offset between units.
    #[schemars(range(min = 0.0))]
    pub offset_spread_pa: f64,
    /// Standard deviation of the drift.
    #[schemars(range(min = 0.0))]
    pub drift_pa: f64,
    /// Correlation time of the drift.
    #[schemars(range(min = 1e-09))]
    pub drift_time_s: f64,
    /// Quantisation step of the output.
    #[schemars(range(min = 1e-09))]
    pub resolution_pa: Option<f64>,
}

/// A wheel encoder.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WheelEncoderTable {
    /// Nominal radius, used by the robot.
    #[schemars(with = "f64")]
    #[schemars(range(min = 1e-09))]
    pub radius_m: Spanned<f64>,
    /// Counts per rotation.
    #[schemars(with = "u32")]
    #[schemars(range(min = 1))]
    pub counts_per_turn: Spanned<u32>,
    /// Standard deviation of the true radius.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub radius_spread_percent: f64,
    /// Slip: standard deviation of the distance error per square root of the distance, mm/√m.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub slip_mm_rtm: f64,
}

impl DeviceTable {
    /// Converts the device; `span` is the position of the sensor's name.
    pub(super) fn device(
        &self,
        document: &Document,
        span: Range<usize>,
    ) -> Result<Device, ConfigError> {
        match self {
            Self::Imu(table) => table.device(document, span),
            Self::Gnss(table) => table.device(document, span),
            Self::Magnetometer(table) => {
                let triad = table
                    .triad()
                    .map_err(|problem| document.error(span, problem))?;
                Ok(Device::Magnetometer(triad))
            }
            Self::Barometer(table) => table.device(document, span),
            Self::WheelEncoder(table) => Ok(Device::WheelEncoder(table.encoder(document)?)),
            Self::Lidar(table) => Ok(Device::Lidar(Box::new(table.sensor(document, span)?.lidar))),
            Self::Camera(table) => table.device(document, span),
        }
    }
}

/// Error of a device file without the table.
fn other_device(document: &Document, span: Range<usize>, table: &str) -> DocumentError {
    let problem = TomlProblem::value(
        format!("the device file has no table [{table}]"),
        format!("use a device file with [{table}]"),
    );
    document.error(span, problem)
}

/// Position of the preset or the file of a table.
fn source_span(
    preset: Option<&Spanned<String>>,
    file: Option<&Spanned<String>>,
) -> Option<Range<usize>> {
    preset.or(file).map(Spanned::span)
}

/// The device of a table, or of the device file that it refers to.
fn from_table_or_file<T>(
    document: &Document,
    span: Range<usize>,
    kind: &str,
    [preset, file]: [Option<&Spanned<String>>; 2],
    own: impl FnOnce() -> Result<T, TomlProblem>,
    of_file: impl FnOnce(&DeviceFile) -> Option<Result<T, TomlProblem>>,
) -> Result<T, ConfigError> {
    let Some((device_document, found)) = device_file(document, preset, file)? else {
        return own().map_err(|problem| document.error(span, problem).into());
    };
    let named = source_span(preset, file).unwrap_or(span);
    let result = of_file(&found).ok_or_else(|| other_device(document, named, kind))?;
    result.map_err(|problem| device_document.error(0..0, problem).into())
}

/// Checks that a table with a preset or a file has no parameters, because they would be ignored.
fn check_exclusive(
    document: &Document,
    named: Option<Range<usize>>,
    has_numbers: bool,
) -> Result<(), DocumentError> {
    match named {
        Some(span) if has_numbers => Err(document.error(
            span,
            TomlProblem::value(
                "the device has both a preset or a file and parameters",
                "keep one of them; copy the parameters of the preset to change some",
            ),
        )),
        _ => Ok(()),
    }
}

impl ImuTable {
    fn device(&self, document: &Document, span: Range<usize>) -> Result<Device, ConfigError> {
        let sources = [self.preset.as_ref(), self.file.as_ref()];
        let named = source_span(sources[0], sources[1]);
        check_exclusive(document, named, self.has_numbers())?;
        let of_file = |file: &DeviceFile| Some(file.imu.as_ref()?.imu());
        let imu = from_table_or_file(document, span, "imu", sources, || self.imu(), of_file)?;
        Ok(Device::Imu(Box::new(imu)))
    }
}

impl GnssTable {
    fn device(&self, document: &Document, span: Range<usize>) -> Result<Device, ConfigError> {
        let sources = [self.preset.as_ref(), self.file.as_ref()];
        let named = source_span(sources[0], sources[1]);
        check_exclusive(document, named, self.has_numbers())?;
        let of_file = |file: &DeviceFile| Some(file.gnss.as_ref()?.receiver());
        let own = || self.receiver();
        let receiver = from_table_or_file(document, span, "gnss", sources, own, of_file)?;
        Ok(Device::Gnss(Gnss {
            receiver,
            has_occlusion: self.sky,
        }))
    }
}

impl BarometerTable {
    fn device(&self, document: &Document, span: Range<usize>) -> Result<Device, ConfigError> {
        let sources = [self.preset.as_ref(), self.file.as_ref()];
        let named = source_span(sources[0], sources[1]);
        check_exclusive(document, named, self.noise_pa > 0.0 || self.drift_pa > 0.0)?;
        let of_file = |file: &DeviceFile| Some(file.barometer.as_ref()?.barometer());
        let own = || self.barometer();
        let barometer = from_table_or_file(document, span, "barometer", sources, own, of_file)?;
        Ok(Device::Barometer(barometer))
    }

    pub(super) fn barometer(&self) -> Result<Barometer, TomlProblem> {
        let spreads = [self.noise_pa, self.offset_spread_pa, self.drift_pa];
        if spreads.iter().any(|sd| *sd < 0.0) || (self.drift_pa > 0.0 && self.drift_time_s <= 0.0) {
            return Err(TomlProblem::value(
                "the barometer has a negative spread, or a drift without a time",
                "give spreads of zero or more, and drift_time_s above zero",
            ));
        }
        Ok(Barometer {
            noise: self.noise_pa,
            offset: self.offset_spread_pa,
            drift: self.drift_pa,
            drift_time: self.drift_time_s,
            resolution: self.resolution_pa,
        })
    }
}

impl WheelEncoderTable {
    fn encoder(&self, document: &Document) -> Result<WheelEncoder, DocumentError> {
        let radius = *self.radius_m.get_ref();
        if !(radius > 0.0 && radius.is_finite()) {
            let problem = TomlProblem::value(
                format!("the wheel's radius is {radius} m"),
                "give a radius above zero",
            );
            return Err(document.error(self.radius_m.span(), problem));
        }
        if *self.counts_per_turn.get_ref() == 0 {
            let problem = TomlProblem::value("counts_per_turn is 0", "give 1 or more");
            return Err(document.error(self.counts_per_turn.span(), problem));
        }
        Ok(WheelEncoder {
            radius,
            counts_per_turn: *self.counts_per_turn.get_ref(),
            radius_spread: self.radius_spread_percent * 0.01,
            slip: self.slip_mm_rtm * 1e-3,
        })
    }
}

impl LidarTable {
    /// The sensor of the table.
    pub(super) fn sensor(
        &self,
        document: &Document,
        span: Range<usize>,
    ) -> Result<Sensor, ConfigError> {
        match (&self.preset, &self.file) {
            (Some(preset), None) => sensor::preset(preset.get_ref())
                .map_err(|unknown| document.error(preset.span(), unknown.into()).into()),
            (None, Some(file)) => sensor::load(&resolve(document, file)?),
            _ => {
                let problem = TomlProblem::value(
                    "the lidar needs either a preset or a file",
                    "give preset = \"...\" (`etendue sensors` lists them) or file = \"...\"",
                );
                Err(document.error(span, problem).into())
            }
        }
    }
}

impl CameraTable {
    fn device(&self, document: &Document, span: Range<usize>) -> Result<Device, ConfigError> {
        // Load the camera
        let camera = match (&self.preset, &self.file) {
            (Some(preset), None) => camera::preset(preset.get_ref())
                .map_err(|unknown| document.error(preset.span(), unknown.into()))?,
            (None, Some(file)) => camera::load(&resolve(document, file)?)?,
            _ => {
                let problem = TomlProblem::value(
                    "the camera needs either a preset or a file",
                    "give preset = \"...\" or file = \"...\"",
                );
                return Err(document.error(span, problem).into());
            }
        };
        // Check the number of rays per pixel
        let samples = *self.samples.get_ref();
        if samples == 0 {
            let problem = TomlProblem::value("samples is 0", "give samples = 1 or more");
            return Err(document.error(self.samples.span(), problem).into());
        }
        // Mount it
        let light = if self.paths {
            LightTransport::paths()
        } else {
            LightTransport::default()
        };
        Ok(Device::Camera(Box::new(MountedCamera {
            camera,
            samples,
            light,
            depth: self.depth,
        })))
    }
}

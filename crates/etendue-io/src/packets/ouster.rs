//! Ouster lidar packets and their metadata.

use super::sweep_assembler::{Row, SweepAssembler};
use super::{u16_at, u32_at, u64_at};
use crate::input::{read_text, without_compression};
use crate::{FileLocation, FormatError};
use etendue_sensors::lidar::{Channel, number_rings};
use serde_json::Value;
use std::f64::consts::{PI, TAU};
use std::path::{Path, PathBuf};

/// Model of a sensor whose metadata do not name it.
pub(super) const UNNAMED: &str = "Ouster";

/// The metadata of an Ouster sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct OusterMetadata {
    /// Model, for example "OS-1-128".
    pub model: String,
    /// Channels from the highest to the lowest; azimuths are relative to the encoder angle.
    pub channels: Vec<Channel>,
    /// Columns per rotation.
    pub columns: u32,
    /// Columns per packet.
    columns_per_packet: usize,
    profile: Profile,
    /// Serial number of the sensor, if the metadata have it.
    serial: Option<u64>,
}

/// Layout of the pixels in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Profile {
    Legacy,
    Single,
    Dual,
    LowRate,
}

impl Profile {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "LEGACY" => Self::Legacy,
            "RNG19_RFL8_SIG16_NIR16" => Self::Single,
            "RNG19_RFL8_SIG16_NIR16_DUAL" => Self::Dual,
            "RNG15_RFL8_NIR8" => Self::LowRate,
            _ => return None,
        })
    }

    /// Bytes per pixel.
    fn pixel(self) -> usize {
        match self {
            Self::Legacy | Self::Single => 12,
            Self::Dual => 16,
            Self::LowRate => 4,
        }
    }

    /// Bytes before and after the columns.
    fn around(self) -> [usize; 2] {
        match self {
            Self::Legacy => [0, 0],
            _ => [32, 32],
        }
    }

    /// Bytes before and after the pixels of a column.
    fn column(self) -> [usize; 2] {
        match self {
            Self::Legacy => [16, 4],
            _ => [12, 0],
        }
    }
}

/// Reads the metadata (JSON) that Ouster's tools save next to a capture.
///
/// # Errors
/// As [`parse_ouster_metadata`], or if the file cannot be read.
pub fn read_ouster_metadata(path: &Path) -> Result<OusterMetadata, FormatError> {
    parse_ouster_metadata(path, &read_text(path)?)
}

/// Metadata next to a capture, as [`PacketMetadata::InPackets`](super::PacketMetadata::InPackets) describes; `None` without
/// a file that fits.
///
/// # Errors
/// If several files fit, or the one that fits cannot be read.
pub(super) fn read_metadata_beside(capture: &Path) -> Result<Option<OusterMetadata>, FormatError> {
    // The file of the same name
    let own = without_compression(capture).with_extension("json");
    if own != capture && own.is_file() {
        return read_ouster_metadata(&own).map(Some);
    }
    // The files of similar names
    let folder = match own.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut fitting: Vec<PathBuf> = entries
        .map(|entry| own.with_file_name(entry.file_name()))
        .filter(|path| are_of_one_recording(path, &own) && has_beams(path))
        .collect();
    fitting.sort();
    match &fitting[..] {
        [] => Ok(None),
        [only] => read_ouster_metadata(only).map(Some),
        several => {
            let names = several.iter().map(|path| path.display().to_string());
            let names = names.collect::<Vec<_>>().join(", ");
            Err(FormatError::malformed(
                capture,
                FileLocation::File,
                format!("the names of several files of Ouster metadata fit the capture: {names}"),
                "give the metadata of its sensor: --metadata FILE.json",
            ))
        }
    }
}

/// Whether a path has the ending of `other` (`.json`), and the stem of one begins with that of the other, at a character
/// that is no letter or digit: `run_0` and `run`, but not `run10` and `run1`.
fn are_of_one_recording(path: &Path, other: &Path) -> bool {
    let [stem, other_stem] =
        [path, other].map(|path| path.file_stem().unwrap_or_default().to_string_lossy());
    let begins = |long: &str, short: &str| {
        let rest = long.strip_prefix(short);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    path.extension() == other.extension()
        && (begins(&stem, &other_stem) || begins(&other_stem, &stem))
}

/// Whether a file is JSON with the beams of an Ouster sensor.
fn has_beams(path: &Path) -> bool {
    let text = read_text(path).ok();
    let json = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    json.is_some_and(|json| find(&json, "beam_altitude_angles").is_some())
}

/// Parses the metadata, flat (firmware 2) or grouped (firmware 3). Errors name `path`.
///
/// # Errors
/// If the text is not JSON, a table of beams is missing, or the profile is not supported.
pub fn parse_ouster_metadata(path: &Path, text: &str) -> Result<OusterMetadata, FormatError> {
    // Parse the JSON
    let wrong = |message: String| {
        let remedy = "give the JSON that Ouster's tools save (`ouster-cli source SENSOR metadata`)";
        FormatError::malformed(path, FileLocation::File, message, remedy)
    };
    let json: Value = serde_json::from_str(text).map_err(|error| {
        let place = FileLocation::LineColumn(error.line(), error.column());
        FormatError::malformed(path, place, error.to_string(), "give the sensor's metadata")
    })?;
    // Read the angles of the beams
    let missing = |key: &str| wrong(format!("there is no \"{key}\""));
    let altitudes = numbers(&json, "beam_altitude_angles");
    let altitudes = altitudes.ok_or_else(|| missing("beam_altitude_angles"))?;
    let azimuths = numbers(&json, "beam_azimuth_angles");
    let azimuths = azimuths.ok_or_else(|| missing("beam_azimuth_angles"))?;
    if altitudes.len() != azimuths.len() || altitudes.is_empty() {
        return Err(wrong(format!(
            "there are {} altitude and {} azimuth angles",
            altitudes.len(),
            azimuths.len()
        )));
    }
    // Read the number of columns and the packet format
    let mode = find(&json, "lidar_mode").and_then(Value::as_str);
    let per_mode = mode.and_then(|mode| mode.split('x').next()?.parse().ok());
    let columns = whole(&json, "columns_per_frame").or(per_mode);
    let profile = find(&json, "udp_profile_lidar").and_then(Value::as_str);
    let profile = profile.unwrap_or("LEGACY");
    Ok(OusterMetadata {
        model: find(&json, "prod_line")
            .and_then(Value::as_str)
            .unwrap_or(UNNAMED)
            .to_owned(),
        channels: channels(&json, &altitudes, &azimuths),
        columns: columns.ok_or_else(|| missing("columns_per_frame"))?,
        columns_per_packet: whole(&json, "columns_per_packet").unwrap_or(16) as usize,
        serial: find(&json, "prod_sn").and_then(serial_number),
        profile: Profile::of(profile).ok_or_else(|| FormatError::Unsupported {
            path: path.to_owned(),
            message: format!("packets of the profile {profile} are not supported"),
            remedy: "record LEGACY, RNG19_RFL8_SIG16_NIR16, its DUAL variant or RNG15_RFL8_NIR8"
                .into(),
        })?,
    })
}

/// Distance of the beam origins from the axis, and height of the lidar frame above the base of an OS1 of
/// generation 1, mm (Ouster software user guide 1.14). Metadata of that generation omit them.
const GENERATION_1: [f64; 2] = [12.163, 36.18];

/// Channels in the sensor frame. Beams originate at the distance $n$ from the axis; ranges include
/// the offset $n$. Metadata without them are those of an OS1 of generation 1, unless they name another model.
fn channels(json: &Value, altitudes: &[f64], azimuths: &[f64]) -> Vec<Channel> {
    let origin = find(json, "lidar_origin_to_beam_origin_mm").and_then(Value::as_f64);
    let model = find(json, "prod_line").and_then(Value::as_str);
    let is_os1 = model.is_none_or(|model| model.starts_with("OS-1"));
    let [own_origin, own_height] = if is_os1 { GENERATION_1 } else { [0.0; 2] };
    let offset = origin.unwrap_or(own_origin) * 1e-3;
    let transform = numbers(json, "lidar_to_sensor_transform");
    let height = transform
        .and_then(|t| t.get(11).copied())
        .unwrap_or(own_height)
        * 1e-3;
    let channel = |(altitude, azimuth): (&f64, &f64)| Channel {
        elevation: altitude.to_radians(),
        azimuth: -azimuth.to_radians(),
        radius: offset,
        range_offset: offset,
        height,
        ..Channel::default()
    };
    let mut channels: Vec<Channel> = altitudes.iter().zip(azimuths).map(channel).collect();
    number_rings(&mut channels);
    channels
}

/// The first value with the key, at any depth.
fn find<'a>(json: &'a Value, key: &str) -> Option<&'a Value> {
    match json {
        Value::Object(map) => map
            .get(key)
            .or_else(|| map.values().find_map(|inner| find(inner, key))),
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            None
        }
    }
}

/// A list of numbers; nested lists are flattened.
fn numbers(json: &Value, key: &str) -> Option<Vec<f64>> {
    let list = find(json, key)?.as_array()?;
    let nested = |value: &Value| match value {
        Value::Array(inner) => inner.iter().filter_map(Value::as_f64).collect(),
        other => other.as_f64().into_iter().collect::<Vec<f64>>(),
    };
    Some(list.iter().flat_map(nested).collect())
}

/// A serial number, which is text or a number.
fn serial_number(value: &Value) -> Option<u64> {
    let text = value.as_str().map(str::parse);
    text.map_or(value.as_u64(), Result::ok)
}

fn whole(json: &Value, key: &str) -> Option<u32> {
    u32::try_from(find(json, key)?.as_u64()?).ok()
}

impl OusterMetadata {
    /// Bytes of a lidar packet.
    pub(super) fn packet_size(&self) -> usize {
        let [before, after] = self.profile.around();
        before + self.columns_per_packet * self.column_size() + after
    }

    /// Serial number in the header of a packet: 40 bits after 7 bytes. Packets of the legacy profile have none.
    pub(super) fn serial_of_packet(&self, bytes: &[u8]) -> Option<u64> {
        if self.profile == Profile::Legacy {
            return None;
        }
        let number = u64_at(bytes, 7)? & 0xff_ffff_ffff;
        (number > 0).then_some(number)
    }

    /// Warning where packets of a sensor with a serial number are read with the metadata of another one.
    pub(super) fn other_sensor(&self, serial: u64) -> Option<String> {
        let own = self.serial?;
        (own != serial).then(|| {
            format!(
                "the packets are of the Ouster with the serial number {serial}, and the metadata of another one, {} with \
                 {own}: the directions of the beams are probably wrong; give the metadata of its sensor",
                self.model
            )
        })
    }

    fn column_size(&self) -> usize {
        let [before, after] = self.profile.column();
        before + self.channels.len() * self.profile.pixel() + after
    }
}

/// Appends the points of a packet.
pub(super) fn read(
    sweeps: &mut SweepAssembler,
    bytes: &[u8],
    metadata: &OusterMetadata,
) -> Result<(), String> {
    let start = metadata.profile.around()[0];
    let size = metadata.column_size();
    for column in bytes[start..]
        .chunks_exact(size)
        .take(metadata.columns_per_packet)
    {
        read_column(sweeps, column, metadata).ok_or("a packet is damaged")?;
    }
    Ok(())
}

fn read_column(sweeps: &mut SweepAssembler, bytes: &[u8], metadata: &OusterMetadata) -> Option<()> {
    let number = u16_at(bytes, 8)?;
    let status = match metadata.profile {
        Profile::Legacy => u32_at(bytes, bytes.len() - 4)? == u32::MAX,
        _ => u16_at(bytes, 10)? & 1 == 1,
    };
    if !status {
        return Some(());
    }
    let turned = f64::from(number) / f64::from(metadata.columns);
    sweeps.column(turned);
    sweeps.set_column(number.into());
    let seconds = u64_at(bytes, 0)? as f64 * 1e-9;
    let time = sweeps.since_first(seconds, f64::INFINITY);
    // The encoder angle is clockwise and zero at the rear.
    let rotor = TAU * (1.0 - turned) + PI;
    let pixels = &bytes[metadata.profile.column()[0]..];
    let pixels = pixels.chunks_exact(metadata.profile.pixel());
    for (channel, pixel) in metadata.channels.iter().zip(pixels) {
        for (echo, return_number) in metadata
            .profile
            .echoes(pixel)?
            .into_iter()
            .flatten()
            .zip(1..)
        {
            sweeps.push(Row {
                position: channel.point(rotor, echo.range),
                range: echo.range,
                intensity: echo.reflectivity.into(),
                ring: channel.ring,
                time,
                return_number,
                ambient: Some(echo.ambient),
            });
        }
    }
    Some(())
}

/// One echo of a pixel; `range` is in m.
struct Echo {
    /// m.
    range: f64,
    reflectivity: u8,
    ambient: u16,
}

impl Profile {
    fn echoes(self, pixel: &[u8]) -> Option<[Option<Echo>; 2]> {
        // Decode the echo of a pixel; a range of zero means no return.
        let word = u32_at(pixel, 0)?;
        let echo = |millimetres: u32, reflectivity: u8, ambient: u16| {
            (millimetres > 0).then(|| Echo {
                range: f64::from(millimetres) * 1e-3,
                reflectivity,
                ambient,
            })
        };
        // Unpack the fields of the profile.
        Some(match self {
            Self::Legacy => [echo(word & 0xf_ffff, pixel[4], u16_at(pixel, 8)?), None],
            Self::Single => [echo(word & 0x7_ffff, pixel[4], u16_at(pixel, 8)?), None],
            Self::Dual => {
                let second = u32_at(pixel, 4)?;
                let ambient = u16_at(pixel, 12)?;
                [
                    echo(word & 0x7_ffff, pixel[3], ambient),
                    echo(second & 0x7_ffff, pixel[7], ambient),
                ]
            }
            Self::LowRate => {
                let ambient = u16::from(pixel[3]) << 4;
                [echo((word & 0x7fff) << 3, pixel[2], ambient), None]
            }
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// Distance from the axis, range offset and height of the first beam, mm.
    fn origin(more: &str) -> [f64; 3] {
        let text = format!(
            "{{\"beam_altitude_angles\": [1.0, -1.0], \"beam_azimuth_angles\": [0.0, 0.5], \
             \"lidar_mode\": \"1024x10\"{more}}}"
        );
        let metadata = parse_ouster_metadata(Path::new("os.json"), &text).unwrap();
        let channel = metadata.channels[0];
        [channel.radius, channel.range_offset, channel.height]
            .map(|length| (length * 1e6).round() / 1e3)
    }

    #[test]
    fn metadata_without_beam_origins_are_those_of_generation_1() {
        assert_eq!(origin(""), [12.163, 12.163, 36.18]);
        assert_eq!(origin(", \"prod_line\": \"OS-1-64\"")[0], 12.163);
        assert_eq!(origin(", \"prod_line\": \"OS-2-128\""), [0.0; 3]);
        let given = ", \"lidar_origin_to_beam_origin_mm\": 15.806";
        assert_eq!(origin(given)[..2], [15.806; 2]);
    }

    #[test]
    fn packets_of_another_serial_number_are_reported() {
        let text = "{\"beam_altitude_angles\": [1.0], \"beam_azimuth_angles\": [0.0], \
                    \"lidar_mode\": \"1024x10\", \"prod_sn\": \"122201000998\", \
                    \"udp_profile_lidar\": \"RNG15_RFL8_NIR8\"}";
        let metadata = parse_ouster_metadata(Path::new("os.json"), text).unwrap();
        let mut packet = vec![0xff; metadata.packet_size()];
        packet[7..12].copy_from_slice(&122_201_000_998_u64.to_le_bytes()[..5]);
        let serial = metadata.serial_of_packet(&packet).unwrap();
        assert_eq!(metadata.other_sensor(serial), None);
        let warning = metadata.other_sensor(122_150_000_150).unwrap();
        assert!(warning.contains("122150000150") && warning.contains("122201000998"));
        packet[7..12].fill(0);
        assert_eq!(metadata.serial_of_packet(&packet), None);
        // The columns of a legacy packet begin at its first byte.
        let legacy = text.replace("RNG15_RFL8_NIR8", "LEGACY");
        let legacy = parse_ouster_metadata(Path::new("os.json"), &legacy).unwrap();
        assert_eq!(legacy.serial_of_packet(&[7; 64]), None);
    }
}

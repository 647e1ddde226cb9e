//! The firing table.

use crate::toml_file::TomlProblem;
use etendue_sensors::lidar::Channel;
use schemars::JsonSchema;
use serde::Deserialize;

/// Firing table: lists with one number per laser. Omitted lists are zero.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelsTable {
    /// Whether azimuths of this table are clockwise, seen from above.
    #[serde(default)]
    pub clockwise: bool,
    /// Elevation of each beam, degrees.
    #[schemars(inner(range(min = -90.0, max = 90.0)))]
    pub elevation_deg: Vec<f64>,
    /// Azimuth of each beam relative to the rotor, degrees.
    #[serde(default)]
    pub azimuth_deg: Vec<f64>,
    /// Firing time of each laser after the start of its column, us.
    #[serde(default)]
    #[schemars(inner(range(min = 0.0)))]
    pub time_us: Vec<f64>,
    /// Height of the origin of each beam, mm: one number for all, or a list.
    #[serde(default)]
    pub height_mm: OneOrMany,
    /// Distance of the origin of each beam from the axis of rotation, mm: one number for all, or a
    /// list.
    #[serde(default)]
    pub radius_mm: OneOrMany,
    /// Offset of each reported range, mm: one number for all, or a list.
    #[serde(default)]
    pub range_offset_mm: OneOrMany,
}

/// One number for all channels, or one for each.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One for all.
    One(f64),
    /// One for each.
    Many(Vec<f64>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::One(0.0)
    }
}

impl ChannelsTable {
    /// The channels; an error names the key of its list.
    pub(super) fn channels(&self) -> Result<Vec<Channel>, (&'static str, TomlProblem)> {
        let count = self.elevation_deg.len();
        let azimuth = listed("azimuth_deg", &self.azimuth_deg, count)?;
        let time = listed("time_us", &self.time_us, count)?;
        let height = self.height_mm.spread("height_mm", count)?;
        let radius = self.radius_mm.spread("radius_mm", count)?;
        let range_offset = self.range_offset_mm.spread("range_offset_mm", count)?;
        let sense = if self.clockwise { -1.0 } else { 1.0 };
        let channel = |i: usize| Channel {
            elevation: self.elevation_deg[i].to_radians(),
            azimuth: sense * azimuth[i].to_radians(),
            time: time[i] * 1e-6,
            range_offset: range_offset[i] * 1e-3,
            radius: radius[i] * 1e-3,
            height: height[i] * 1e-3,
            ring: 0,
        };
        Ok((0..count).map(channel).collect())
    }
}

impl OneOrMany {
    fn spread(
        &self,
        key: &'static str,
        count: usize,
    ) -> Result<Vec<f64>, (&'static str, TomlProblem)> {
        match self {
            Self::One(value) => Ok(vec![*value; count]),
            Self::Many(values) => listed(key, values, count),
        }
    }
}

/// A list of `count` numbers. Default: zeros.
fn listed(
    key: &'static str,
    values: &[f64],
    count: usize,
) -> Result<Vec<f64>, (&'static str, TomlProblem)> {
    match values.len() {
        0 => Ok(vec![0.0; count]),
        found if found == count => Ok(values.to_vec()),
        found => {
            let problem = TomlProblem::value(
                format!("{key} has {found} numbers, but elevation_deg has {count}"),
                "write one number per laser in every list of the firing table",
            );
            Err((key, problem))
        }
    }
}

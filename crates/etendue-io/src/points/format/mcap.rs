//! Clouds of one topic of an MCAP recording. Each sensor has its own frame.

use super::FormatEntry;
use crate::bag::mcap_scans;
use crate::output::OutputSet;
use crate::precision::single;
use crate::ros2::{LidarRecorder, LidarTopics, RecordedCloud, parse_clouds};
use crate::table::{ColumnData, PointColumn, PointSweeps, PointTable};
use crate::{FileLocation, FormatError};
use etendue_sensors::{RangeReading, Scan};
use nalgebra::Isometry3;
use std::path::Path;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["mcap"],
    recognizes: |_, bytes| bytes.starts_with(::mcap::MAGIC),
    points_only: true,
    in_folders: true,
    is_recorded_cloud: false,
    read: |file| parse(file.path, &file.bytes, file.topic),
    write: Some(|outputs, path, table, _| write_mcap(outputs, path, table)),
    capacity: None,
    editor: None,
};

/// Clouds of a topic. Without a name: of the only topic with clouds, or otherwise of the only topic
/// with planar scans.
fn parse(path: &Path, bytes: &[u8], topic: Option<&str>) -> Result<PointSweeps, FormatError> {
    let recording = parse_clouds(path, bytes)?;

    // Read the scans if the clouds do not determine the topic
    let clouds = topics(recording.clouds.iter().map(|cloud| cloud.topic.as_str()));
    let is_decided = topic.map_or(clouds.len() == 1, |topic| clouds.contains(&topic));
    let scans = if is_decided {
        Vec::new()
    } else {
        mcap_scans(path, bytes)?
    };
    let point_topics = PointTopics {
        clouds,
        scans: topics(scans.iter().map(|(topic, _)| topic.as_str())),
    };
    let topic = point_topics.choose(path, topic)?;

    // Convert the clouds of the topic, or otherwise its scans
    let clouds = recording.clouds.iter();
    let clouds = clouds.filter(|cloud| cloud.topic == topic);
    let mut sweeps: Vec<PointTable> = (0..).zip(clouds).map(cloud_table).collect();
    if sweeps.is_empty() {
        let scans = scans.iter().filter(|(own_topic, _)| own_topic == topic);
        let scans = scans.map(|(_, scan)| scan);
        sweeps = (0..).zip(scans).map(scan_table).collect();
    }
    Ok(PointSweeps {
        sweeps,
        warnings: recording.warnings,
    })
}

/// Unique names of the topics, in file order.
fn topics<'a>(of_messages: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut topics = Vec::new();
    for topic in of_messages {
        if !topics.contains(&topic) {
            topics.push(topic);
        }
    }
    topics
}

/// The topics with points in a recording.
struct PointTopics<'a> {
    clouds: Vec<&'a str>,
    scans: Vec<&'a str>,
}

impl<'a> PointTopics<'a> {
    /// The topic to read; an empty name if there is none.
    fn choose(&self, path: &Path, requested: Option<&'a str>) -> Result<&'a str, FormatError> {
        let usual = if self.clouds.is_empty() {
            &self.scans
        } else {
            &self.clouds
        };
        match (requested, &usual[..]) {
            (Some(topic), _) if self.clouds.contains(&topic) || self.scans.contains(&topic) => {
                Ok(topic)
            }
            (Some(topic), _) => {
                Err(self.unclear(path, &format!("there are no points of the topic {topic}")))
            }
            (None, [only]) => Ok(only),
            (None, []) => Ok(""),
            (None, _) => {
                let several = "there are points of several sensors, each in a frame of its own";
                Err(self.unclear(path, several))
            }
        }
    }

    /// An error that lists all topics.
    fn unclear(&self, path: &Path, why: &str) -> FormatError {
        let clouds = self
            .clouds
            .iter()
            .map(|name| format!("{name} (PointCloud2)"));
        let scans = self.scans.iter().map(|name| format!("{name} (LaserScan)"));
        let names: Vec<String> = clouds.chain(scans).collect();
        let names = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        let message = format!("{why}; topics with points: {names}");
        let remedy = "choose one topic with `etendue convert FILE OUTPUT --topic NAME`";
        FormatError::malformed(path, FileLocation::File, message, remedy)
    }
}

/// A beam of a planar scan with a range.
struct PlanarPoint {
    beam: u32,
    range: f64,
    azimuth: f64,
}

/// The points of a planar scan, at the time of its stamp.
fn scan_table((number, scan): (u32, &Scan)) -> PointTable {
    // Select the beams with a range
    let beams = (0_u32..).zip(&scan.readings).zip(scan.azimuths.iter());
    let point = |((beam, reading), azimuth): ((u32, &RangeReading), &f64)| {
        Some(PlanarPoint {
            beam,
            range: reading.range()?,
            azimuth: *azimuth,
        })
    };
    let points: Vec<PlanarPoint> = beams.filter_map(point).collect();

    // Compute their columns
    let f32s = |value: &dyn Fn(&PlanarPoint) -> f64| {
        ColumnData::F32(points.iter().map(|point| single(value(point))).collect())
    };
    let mut columns = vec![
        PointColumn::new("x", f32s(&|point| point.range * point.azimuth.cos())),
        PointColumn::new("y", f32s(&|point| point.range * point.azimuth.sin())),
        PointColumn::new("z", f32s(&|_| 0.0)),
    ];
    if !scan.intensities.is_empty() {
        let intensity = |point: &PlanarPoint| f64::from(scan.intensities[point.beam as usize]);
        columns.push(PointColumn::new("intensity", f32s(&intensity)));
    }
    let beams = points.iter().map(|point| point.beam).collect();
    columns.extend([
        PointColumn::new("range", f32s(&|point| point.range)),
        PointColumn::new("time", ColumnData::F64(vec![scan.time; points.len()])),
        PointColumn::new("beam", ColumnData::U32(beams)),
        PointColumn::new("sweep", ColumnData::U32(vec![number; points.len()])),
    ]);
    PointTable {
        points: points.len(),
        height: 1,
        columns,
    }
}

/// The table of one cloud. If the fields are missing, `time` is the stamp of the cloud and `sweep`
/// is its number.
fn cloud_table((number, cloud): (u32, &RecordedCloud)) -> PointTable {
    let fields = cloud.fields.iter().zip(&cloud.numbers).enumerate();
    let mut columns: Vec<PointColumn> = fields
        .map(|(field, (name, number))| {
            let values = cloud.values.iter().skip(field).step_by(cloud.fields.len());
            let mut data = ColumnData::of(*number, values.copied().collect());
            if let (ColumnData::F32(offsets), "time") = (&data, name.as_str()) {
                let times = offsets.iter().map(|offset| cloud.time + f64::from(*offset));
                data = ColumnData::F64(times.collect());
            }
            PointColumn::new(name.clone(), data)
        })
        .collect();
    let points = columns.first().map_or(0, |column| column.data.len());
    if !cloud.fields.iter().any(|name| name == "sweep") {
        columns.push(PointColumn::new(
            "sweep",
            ColumnData::U32(vec![number; points]),
        ));
    }
    PointTable {
        points,
        height: cloud.size[0].max(1),
        columns,
    }
}

/// Writes an `.mcap`: every sweep as a `PointCloud2`, stamped with its earliest time, in the frame
/// of a stationary sensor.
///
/// # Errors
/// If the file cannot be written, or a ROS stamp cannot represent a time.
pub fn write_mcap(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
) -> Result<(), FormatError> {
    let mut recorder = LidarRecorder::in_memory(LidarTopics::default())?;
    for sweep in table.sweeps() {
        let (time, sweep) = sweep.stamped();
        recorder.record_cloud(&sweep, time, &Isometry3::identity())?;
    }
    let bytes = recorder.into_bytes()?;
    outputs.add(path, |file| file.write_all(&bytes))
}

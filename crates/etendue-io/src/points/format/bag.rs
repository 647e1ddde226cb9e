//! Points of one topic of a bag: MCAP, ROS 1 or ROS 2. Each sensor has its own frame.

use super::scan_log::scan_table;
use super::{FormatEntry, PointSource};
use crate::FormatError;
use crate::bag::{Bag, Measured, Measurement, RecordedCloud, SensorMotion, SensorTopics};
use crate::packets;
use crate::table::{ColumnData, PointColumn, PointSweeps, PointTable};
use std::collections::BTreeSet;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["bag", "db3"],
    recognizes: |path, bytes| Bag::of(path, bytes).is_some(),
    points_only: true,
    in_folders: false,
    is_recorded_cloud: false,
    read: |file| parse(&file),
    write: None,
    capacity: None,
    editor: None,
};

/// Measurements in the order of preference: clouds have the fields of the driver.
const PREFERRED: [Measurement; 3] = [
    Measurement::Clouds,
    Measurement::Scans,
    Measurement::Packets,
];

/// Fields of the time of a point, in the order of preference: its unit in s, and whether it counts
/// from the stamp of the cloud (etendue and Velodyne's driver, Ouster; not Hesai).
const TIME_FIELDS: [(&str, f64, bool); 3] = [
    ("time", 1.0, true),
    ("t", 1e-9, true),
    ("timestamp", 1.0, false),
];

/// Clouds of a topic. Without a name: of the only topic with clouds, or otherwise of the only topic
/// with planar scans. The poses of the sensor are those of the transforms of the bag.
pub(super) fn parse(file: &PointSource) -> Result<PointSweeps, FormatError> {
    let Some(bag) = Bag::of(file.path, &file.bytes) else {
        return Ok(PointSweeps::default());
    };
    let topics = SensorTopics::of(bag)?;
    let topic = topics.choose(file.options.topic, PREFERRED)?;
    let tree = topics.transforms()?;
    let mut points = PointSweeps::default();
    let mut stamps = Vec::new();
    let mut poses = Vec::new();
    let mut frames = BTreeSet::new();
    let mut add = |table: PointTable, frame: &str, time: f64| {
        points.sweeps.push(table);
        stamps.push(time);
        poses.push(tree.world_from(frame, time));
        frames.insert(frame.to_owned());
    };
    match topics.measurements(topic)? {
        Measured::Clouds(clouds) => {
            for (number, cloud) in (0..).zip(&clouds) {
                add(cloud_table(number, cloud), &cloud.frame, cloud.time);
            }
        }
        Measured::Packets(packets) => {
            points = packets::parse_packets(file.path, &packets, file.options.lidar)?;
            points.warnings.splice(0..0, topics.warnings);
            return Ok(points);
        }
        Measured::Scans(scans) => {
            for (number, recorded) in (0..).zip(&scans) {
                let table = scan_table(number, &recorded.scan);
                add(table, &recorded.frame, recorded.scan.time);
            }
        }
    }
    points.stamps = Some(stamps);
    points.world_from_sensor = poses.into_iter().collect();
    points.motion = match (frames.pop_first(), frames.len()) {
        (Some(frame), 0) => SensorMotion::of(tree, &frame),
        _ => None,
    };
    points.warnings = topics.warnings;
    Ok(points)
}

/// The table of one cloud. Times of points are absolute. If the fields are missing, `sweep` is the
/// number of the cloud.
fn cloud_table(number: u32, cloud: &RecordedCloud) -> PointTable {
    // Copy the fields
    let fields = cloud.fields.iter().zip(&cloud.numbers).enumerate();
    let mut columns: Vec<PointColumn> = fields
        .map(|(field, (name, number))| {
            let data = ColumnData::of(*number, cloud.column(field));
            PointColumn::new(name.clone(), data)
        })
        .collect();

    // Convert the times of the points
    let points = columns.first().map_or(0, |column| column.data.len());
    let own_time = TIME_FIELDS
        .into_iter()
        .find_map(|(name, unit, from_stamp)| {
            let column = columns.iter().position(|column| column.name == name)?;
            Some((column, unit, from_stamp))
        });
    if let Some((column, unit, from_stamp)) = own_time {
        // A field `time` in double precision is absolute
        let column = &mut columns[column];
        let from_stamp = from_stamp && !matches!(column.data, ColumnData::F64(_));
        let origin = if from_stamp { cloud.time } else { 0.0 };
        let times = (0..points).map(|point| origin + unit * column.data.number(point));
        let times = ColumnData::F64(times.collect());
        *column = PointColumn::new("time", times);
    }

    // Number the sweep
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

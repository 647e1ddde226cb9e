//! Points of one topic of a bag: MCAP, ROS 1 or ROS 2. Each sensor has its own frame.

use super::scan_log::scan_table;
use super::{FormatEntry, PointReader, ReadOptions, SweepSource};
use crate::bag::{
    Bag, Container, Measured, Measurement, RecordedCloud, SensorMotion, SensorTopics,
};
use crate::interrupt::Interrupt;
use crate::points::sweeps::{RecordedSweep, SweepSummary, VisitSweep};
use crate::table::{ColumnData, PointColumn, PointTable};
use std::collections::BTreeMap;
use std::rc::Rc;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["bag", "db3"],
    recognizes: |_, bytes| Container::of(bytes).is_some(),
    points_only: true,
    in_folders: false,
    is_recorded_cloud: false,
    read: PointReader::Sweeps(read),
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

/// Visits the clouds of a topic. Without a name: of the only topic with clouds, or otherwise of the only topic
/// with planar scans. The poses of the sensor are those of the transforms of the bag.
pub(super) fn read(
    file: &SweepSource,
    summary: &mut SweepSummary,
    visit: VisitSweep,
) -> Result<(), Interrupt> {
    match Bag::of(file.path, file.content)? {
        Some(bag) => read_bag(bag, file.options, summary, visit),
        None => Ok(()),
    }
}

/// Visits the clouds of a bag as [`read`] does.
pub(super) fn read_bag(
    bag: Bag,
    options: ReadOptions,
    summary: &mut SweepSummary,
    visit: VisitSweep,
) -> Result<(), Interrupt> {
    let topics = SensorTopics::of(bag)?;
    let topic = topics.choose(options.topic, PREFERRED)?;
    summary.warnings.extend(topics.warnings.iter().cloned());

    // Packets of a device
    if topic.measurement() == Some(Measurement::Packets) {
        return topics.visit_sweeps_of_packets(topic, options.lidar, summary, visit);
    }

    // Clouds or planar scans, with the pose of their frame
    let tree = topics.transforms();
    let mut motions: BTreeMap<String, Option<Rc<SensorMotion>>> = BTreeMap::new();
    let mut number: u32 = 0;
    topics.for_each(topic, |measured| {
        let (table, frame, time) = match measured {
            Measured::Cloud(cloud) => (cloud_table(number, &cloud), cloud.frame, cloud.time),
            Measured::Scan(recorded) => {
                let time = recorded.scan.time;
                (scan_table(number, &recorded.scan), recorded.frame, time)
            }
            Measured::Packets(_) => return Ok(()),
        };
        let position = number as usize;
        number += 1;
        let pose = tree.world_from(&frame, time);
        let (odometry, world_from_sensor) = if tree.is_odometry(&frame) {
            (pose, None)
        } else {
            (None, pose)
        };
        let motion = motions
            .entry(frame)
            .or_insert_with_key(|frame| SensorMotion::of(tree.clone(), frame).map(Rc::new));
        visit(RecordedSweep {
            number: position,
            table,
            stamp: Some(time),
            world_from_sensor,
            odometry,
            motion: motion.clone(),
            is_incomplete: false,
        })
    })
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

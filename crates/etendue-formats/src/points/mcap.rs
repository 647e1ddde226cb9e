//! Clouds of ROS 2 recordings.

use super::Points;
use crate::FormatError;
use crate::output::{Column, ColumnData, PointTable};
use crate::ros2::{RecordedCloud, parse_clouds};
use std::path::Path;

pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Points, FormatError> {
    let recording = parse_clouds(path, bytes)?;
    Ok(Points {
        sweeps: (0..).zip(&recording.clouds).map(table).collect(),
        warnings: recording.warnings,
    })
}

/// One cloud; `time` becomes that of the recording, and `sweep` its number, where the cloud does
/// not say.
fn table((number, cloud): (u32, &RecordedCloud)) -> PointTable {
    let fields = cloud.fields.iter().zip(&cloud.numbers).enumerate();
    let mut columns: Vec<Column> = fields
        .map(|(field, (name, number))| {
            let values = cloud.values.iter().skip(field).step_by(cloud.fields.len());
            let mut data = ColumnData::of(*number, values.copied().collect());
            if let (ColumnData::F32(offsets), "time") = (&data, name.as_str()) {
                let times = offsets.iter().map(|offset| cloud.time + f64::from(*offset));
                data = ColumnData::F64(times.collect());
            }
            Column::new(name.clone(), data)
        })
        .collect();
    let points = columns.first().map_or(0, |column| column.data.len());
    if !cloud.fields.iter().any(|name| name == "sweep") {
        columns.push(Column::new("sweep", ColumnData::U32(vec![number; points])));
    }
    PointTable {
        points,
        height: cloud.size[0].max(1),
        columns,
    }
}

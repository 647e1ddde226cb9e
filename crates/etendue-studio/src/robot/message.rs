//! Messages of the data of a run.

use super::data::OutputData;
use super::run::{RobotRun, RunData};
use crate::message::columns::{Column, message};
use crate::session::pose::to_position_and_quaternion;
use etendue::sensors::rig::seconds;
use serde::Serialize;

/// A question about the data of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// What has arrived at a time, ns.
    At(i64),
    /// The numbers of an output over time.
    Series(usize),
    /// A picture of an output, as a PNG file.
    Picture(usize, usize),
    /// The path of the base.
    Path,
    /// The recording of the run: the file that `etendue run -o run.mcap` writes.
    Recording,
}

/// What has arrived at a time.
#[derive(Serialize)]
struct Arrived {
    time: f64,
    /// Whether the run has ended.
    is_done: bool,
    /// Time up to which data have arrived, s.
    until: f64,
    /// Pose of the base, then of each sensor: position and quaternion (x, y, z, w).
    poses: Vec<[f64; 7]>,
    clouds: Vec<Cloud>,
    pictures: Vec<Latest>,
}

/// The last points of an output.
#[derive(Serialize)]
struct Cloud {
    output: usize,
    number: i64,
    points: usize,
    /// Start and arrival of the capture, s.
    start: f64,
    arrival: f64,
}

/// The last picture of an output.
#[derive(Serialize)]
struct Latest {
    output: usize,
    number: usize,
    arrival: f64,
}

/// Columns of a series.
#[derive(Serialize)]
struct SeriesHeader<'a> {
    names: &'a [[&'static str; 2]],
    rows: usize,
}

/// Header without entries.
#[derive(Serialize)]
struct NoHeader {}

impl RobotRun {
    /// The answer to a question; `None` if there are no such data.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the page draws in single precision"
    )]
    pub fn answer(&self, query: Query) -> Option<Vec<u8>> {
        let data = self.data();
        match query {
            Query::At(time) => Some(arrived(&data, time, self.is_done())),
            Query::Series(output) => match data.outputs.get(output)? {
                OutputData::Series(series) => {
                    let header = SeriesHeader {
                        names: &series.columns,
                        rows: series.times.len(),
                    };
                    let times = series.times.iter();
                    let values = series.rows.iter().flatten();
                    let columns = [
                        Column::f32("time", times.map(|time| *time as f32)),
                        Column::f32("values", values.map(|value| *value as f32)),
                    ];
                    Some(message(header, &columns))
                }
                _ => None,
            },
            Query::Picture(output, number) => match data.outputs.get(output)? {
                OutputData::Pictures(pictures) => Some(pictures.get(number)?.png.clone()),
                _ => None,
            },
            Query::Recording => {
                drop(data);
                self.recording()
            }
            Query::Path => {
                let bases = data.poses.iter().filter_map(|(_, poses)| poses.first());
                let positions = bases.flat_map(|base| base.translation.vector.data.0[0]);
                let column = Column::f32("position", positions.map(|value| value as f32));
                Some(message(NoHeader {}, &[column]))
            }
        }
    }
}

/// The last data of each output that arrived at a time (ns) or earlier.
fn arrived(data: &RunData, time: i64, is_done: bool) -> Vec<u8> {
    // The last points and pictures
    let outputs = data.outputs.iter().enumerate();
    let mut frames = Vec::new();
    let mut header = Arrived {
        time: seconds(time),
        is_done,
        until: seconds(data.arrived),
        poses: Vec::new(),
        clouds: Vec::new(),
        pictures: Vec::new(),
    };
    for (output, own) in outputs {
        match own {
            OutputData::Clouds(clouds) => {
                let next = clouds.partition_point(|cloud| cloud.capture[2] <= time);
                let Some(frame) = next.checked_sub(1).map(|last| &clouds[last]) else {
                    continue;
                };
                let [number, start, arrival] = frame.capture;
                header.clouds.push(Cloud {
                    output,
                    number,
                    points: frame.positions.len(),
                    start: seconds(start),
                    arrival: seconds(arrival),
                });
                frames.push(frame);
            }
            OutputData::Pictures(pictures) => {
                let next = pictures.partition_point(|picture| picture.arrival <= time);
                let Some(number) = next.checked_sub(1) else {
                    continue;
                };
                header.pictures.push(Latest {
                    output,
                    number,
                    arrival: seconds(pictures[number].arrival),
                });
            }
            OutputData::Series(_) => {}
        }
    }

    // The poses
    let next = data.poses.partition_point(|(of, _)| *of <= time);
    if let Some((_, poses)) = next.checked_sub(1).and_then(|last| data.poses.get(last)) {
        header.poses = poses.iter().map(to_position_and_quaternion).collect();
    }

    // The points
    let positions = frames.iter().flat_map(|frame| frame.positions.iter());
    let intensities = frames.iter().flat_map(|frame| frame.intensities.iter());
    let columns = [
        Column::f32("position", positions.flatten().copied()),
        Column::f32("intensity", intensities.copied()),
    ];
    message(header, &columns)
}

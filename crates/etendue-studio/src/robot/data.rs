//! Data of a run that are kept for the page.

use crate::refusal::Refusal;
use etendue::config::robot::LoadedRobot;
use etendue::io::image::{Pixels, png};
use etendue::sensors::camera::CameraFrame;
use etendue::sensors::dynamics::StateTrajectory;
use etendue::sensors::rig::{Data, DataKind, Event, MountedSensor, seconds};
use nalgebra::{Isometry3, Point3};

/// Data of one output of a sensor, in the order of their arrival.
#[derive(Debug)]
pub enum OutputData {
    /// Points of a lidar.
    Clouds(Vec<CloudFrame>),
    /// Pictures of a camera.
    Pictures(Vec<Picture>),
    /// Numbers over time.
    Series(Series),
}

/// Points of one capture.
#[derive(Debug)]
pub struct CloudFrame {
    /// Number, start (ns) and arrival (ns) of the capture.
    pub capture: [i64; 3],
    /// Positions in the world, m.
    pub positions: Vec<[f32; 3]>,
    /// Reported intensities.
    pub intensities: Vec<f32>,
}

/// A picture.
#[derive(Debug)]
pub struct Picture {
    /// Arrival, ns.
    pub arrival: i64,
    /// PNG file.
    pub png: Vec<u8>,
}

/// Numbers over time.
#[derive(Debug, Default)]
pub struct Series {
    /// Name and unit of each column.
    pub columns: Vec<[&'static str; 2]>,
    /// End of each capture, s.
    pub times: Vec<f64>,
    /// Rows of numbers; NaN for a fix without a solution.
    pub rows: Vec<Vec<f64>>,
}

impl OutputData {
    /// No data of a kind yet.
    pub fn of(kind: DataKind) -> Self {
        let series = |columns: &[[&'static str; 2]]| {
            Self::Series(Series {
                columns: columns.to_vec(),
                ..Series::default()
            })
        };
        match kind {
            DataKind::Points | DataKind::Cloud => Self::Clouds(Vec::new()),
            DataKind::Image => Self::Pictures(Vec::new()),
            DataKind::Imu => series(&[
                ["angular velocity x", "rad/s"],
                ["angular velocity y", "rad/s"],
                ["angular velocity z", "rad/s"],
                ["specific force x", "m/s²"],
                ["specific force y", "m/s²"],
                ["specific force z", "m/s²"],
            ]),
            DataKind::Fix => series(&[["east", "m"], ["north", "m"], ["up", "m"]]),
            DataKind::MagneticField => {
                series(&[["field x", "µT"], ["field y", "µT"], ["field z", "µT"]])
            }
            DataKind::Pressure => series(&[["pressure", "Pa"]]),
            DataKind::Height => series(&[["height", "m"]]),
            _ => series(&[["counts", ""]]),
        }
    }

    /// Keeps data that arrived, and returns their size in bytes.
    ///
    /// # Errors
    /// If a picture cannot be encoded.
    pub fn keep(
        &mut self,
        event: &Event,
        robot: &LoadedRobot,
        trajectory: &dyn StateTrajectory,
    ) -> Result<usize, Refusal> {
        match self {
            Self::Clouds(frames) => {
                let sensor = &robot.rig.sensors()[event.sensor];
                let frame = CloudFrame::of(event, sensor, trajectory);
                let bytes = 16 * frame.positions.len();
                frames.push(frame);
                Ok(bytes)
            }
            Self::Pictures(pictures) => {
                let Data::Image(frame) = &event.data else {
                    return Ok(0);
                };
                let png = picture(frame)?;
                let bytes = png.len();
                pictures.push(Picture {
                    arrival: event.capture.arrival,
                    png,
                });
                Ok(bytes)
            }
            Self::Series(series) => {
                let row = numbers(&event.data, robot);
                let bytes = 8 * (row.len() + 4);
                series.times.push(seconds(event.capture.end));
                series.rows.push(row);
                Ok(bytes)
            }
        }
    }
}

/// The display image of a frame as a PNG file.
///
/// # Errors
/// If the frame has another number of pixels than its size.
pub fn picture(frame: &CameraFrame) -> Result<Vec<u8>, Refusal> {
    let pixels = match frame.bands {
        1 => Pixels::Grey8(&frame.picture),
        _ => Pixels::Colour8(&frame.picture),
    };
    let encoded = png(frame.width, frame.height, pixels);
    encoded.map_err(|error| Refusal::new(error.to_string(), "report this error"))
}

impl CloudFrame {
    /// The points of an event in the world: each where the sensor was at the point's time.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the page draws in single precision"
    )]
    fn of(event: &Event, sensor: &MountedSensor, trajectory: &dyn StateTrajectory) -> Self {
        let mut known: Option<(f64, Isometry3<f64>)> = None;
        let mut world_from_sensor = |time: f64| match known {
            Some((of, pose)) if of == time => pose,
            _ => {
                let state = trajectory.state_of(sensor.body(), time);
                let pose = state.world_from_body * sensor.body_from_sensor();
                known = Some((time, pose));
                pose
            }
        };
        let capture = event.capture;
        let mut frame = Self {
            capture: [i64::from(capture.number), capture.start, capture.arrival],
            positions: Vec::new(),
            intensities: Vec::new(),
        };
        let mut add = |position: &Point3<f64>, time: f64, intensity: f64| {
            let position = world_from_sensor(time) * position;
            frame
                .positions
                .push(position.coords.map(|v| v as f32).into());
            frame.intensities.push(intensity as f32);
        };
        match &event.data {
            Data::Points(sweep) => {
                for point in &sweep.points {
                    add(&point.position, sweep.shot_of(point).time, point.intensity);
                }
            }
            Data::Cloud(cloud) => {
                for point in &cloud.points {
                    add(&point.position, point.time, point.intensity);
                }
            }
            _ => {}
        }
        frame
    }
}

/// The numbers of a reading, in the units of [`OutputData::of`].
fn numbers(data: &Data, robot: &LoadedRobot) -> Vec<f64> {
    match data {
        Data::Imu(reading) => {
            let [rates, forces] = [reading.angular_velocity, reading.specific_force];
            rates.iter().chain(&forces).copied().collect()
        }
        Data::Fix(fix) => match &fix.solution {
            Some(solution) => {
                let local = robot.environment.frame.local(&solution.position);
                local.coords.iter().copied().collect()
            }
            None => vec![f64::NAN; 3],
        },
        Data::MagneticField(field) => field.iter().map(|tesla| 1e6 * tesla).collect(),
        Data::Pressure(value) | Data::Height(value) => vec![*value],
        Data::WheelCounts(counts) => vec![*counts as f64],
        _ => Vec::new(),
    }
}

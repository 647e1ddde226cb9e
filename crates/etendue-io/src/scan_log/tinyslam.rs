//! The tinySLAM text logs of the Mines ParisTech rover (Steux and El Hamzaoui, CoreSLAM, ICARCV
//! 2010): a Hokuyo URG-04LX and wheel odometry, one scan per line.
//!
//! Fields: 0 time in µs, 2 and 3 ticks of the left and right wheel, 24 to 705 ranges in mm of the
//! sensor steps 44 to 725. A value below 20 is an error code of the sensor.

use super::Geometries;
use crate::FormatError;
use crate::text::{TextContent, TextField};
use etendue_sensors::{RangeReading, Scan, ScanLog};
use nalgebra::{Isometry2, Vector2};
use std::f64::consts::PI;

const FIRST_RANGE: usize = 24;
const BEAMS: usize = 682;
const FIRST_STEP: f64 = 44.0;
const FRONT_STEP: f64 = 384.0;
const STEPS_PER_TURN: f64 = 1024.0;
/// Minimum range, mm; smaller values are error codes.
const MIN_RANGE: u32 = 20;
/// Forward motion per tick of both wheels, m: half the wheel circumference per tick.
const METRES_PER_TICK: f64 = 0.077 * PI / 2000.0;
/// Half the distance between the wheels, m.
const HALF_AXLE: f64 = 0.165;

pub(super) fn parse(text: TextContent<'_>) -> Result<ScanLog, FormatError> {
    let mut log = ScanLog {
        description: "tinySLAM text log, Hokuyo URG-04LX".into(),
        ..ScanLog::default()
    };
    let mut geometries = Geometries::default();
    let mut odometry = Odometry::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let fields: Vec<TextField<'_>> = line.words().collect();
        if fields.len() < FIRST_RANGE + BEAMS {
            if lines.peek().is_none() {
                log.warnings.push(super::truncated_last_line(line));
                break;
            }
            return Err(line.truncated("its 682nd range"));
        }
        log.scans
            .push(scan(&fields, &mut geometries, &mut odometry)?);
    }
    Ok(log)
}

fn scan(
    fields: &[TextField<'_>],
    geometries: &mut Geometries,
    odometry: &mut Odometry,
) -> Result<Scan, FormatError> {
    let step = 2.0 * PI / STEPS_PER_TURN;
    let ticks = [fields[2].parse("a count")?, fields[3].parse("a count")?];
    Ok(Scan {
        time: fields[0].number()? * 1e-6,
        beam_interval: 0.0,
        azimuths: geometries.regular((FIRST_STEP - FRONT_STEP) * step, step, BEAMS),
        elevations: [].into(),
        readings: fields[FIRST_RANGE..FIRST_RANGE + BEAMS]
            .iter()
            .map(|field| reading(*field))
            .collect::<Result<_, _>>()?,
        intensities: Vec::new(),
        odom_from_robot: Some(odometry.moved_to(ticks)),
    })
}

fn reading(field: TextField<'_>) -> Result<RangeReading, FormatError> {
    let millimetres: u32 = field.parse("a range in whole millimetres")?;
    Ok(match u8::try_from(millimetres) {
        Ok(code) if millimetres < MIN_RANGE => RangeReading::Error(code),
        _ => RangeReading::Range(f64::from(millimetres) * 1e-3),
    })
}

/// Dead reckoning from wheel ticks.
#[derive(Default)]
struct Odometry {
    pose: Isometry2<f64>,
    ticks: Option<[i64; 2]>,
}

impl Odometry {
    fn moved_to(&mut self, ticks: [i64; 2]) -> Isometry2<f64> {
        if let Some(before) = self.ticks.replace(ticks) {
            let [left, right] = [0, 1].map(|side| (ticks[side] as f64) - (before[side] as f64));
            let forward = METRES_PER_TICK * (left + right);
            let turn = METRES_PER_TICK * (right - left) / HALF_AXLE;
            self.pose *= Isometry2::new(Vector2::new(forward, 0.0), turn);
        }
        self.pose
    }
}

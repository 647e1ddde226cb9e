//! Tables of the points of simulated sweeps.

use super::SimulatedSweeps;
use crate::precision::single;
use crate::table::{ColumnData, LARGEST_SINGLE, PointColumn, PointTable};
use etendue_sensors::lidar::{Outcome, Return, Sweep};
use etendue_sensors::{BeamMeasurement, BeamSweep};

/// Time zero and type of the field `time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    /// The start of the run, f64.
    Run,
    /// The start of the sweep, f32: the convention of ROS.
    Sweep,
}

/// One row: a point, or an empty cell of a grid.
struct Row<'a> {
    sweep: &'a Sweep,
    shot: usize,
    point: Option<&'a Return>,
}

impl PointTable {
    /// Points of all sweeps of a run in the frame of the simulation; beams without a range have no point.
    ///
    /// Fields: `x y z` (m), `intensity` (received power, 1/(m² sr)), `range` (m), `time` (s),
    /// `sweep`, `beam`, `returns`, and the truth: `incidence` (rad, NaN if the axis of the beam has
    /// no hit), `object` and `material` (indices, -1 for none).
    pub fn of_run(run: SimulatedSweeps<'_>) -> Self {
        // Beams with a range
        let measured: Vec<(&BeamSweep, &BeamMeasurement, [f32; 3])> = run
            .sweeps
            .iter()
            .flat_map(|sweep| {
                sweep.measurements.iter().filter_map(move |beam| {
                    let point = beam.position?;
                    let position = [single(point.x), single(point.y), single(point.z)];
                    Some((sweep, beam, position))
                })
            })
            .collect();
        let mut table = Self {
            points: measured.len(),
            height: 1,
            columns: Vec::new(),
        };
        // Add position and measured values
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            table.add(
                name,
                ColumnData::F32(measured.iter().map(|m| m.2[axis]).collect()),
            );
        }
        let beams = || measured.iter().map(|(_, beam, _)| *beam);
        let number = |id: Option<u32>| id.map_or(-1, |id| i32::try_from(id).unwrap_or(-1));
        table.add(
            "intensity",
            ColumnData::F32(beams().map(|b| single(b.power)).collect()),
        );
        table.add(
            "range",
            ColumnData::F32(beams().map(|b| single(b.reading.rep117())).collect()),
        );
        table.add("time", ColumnData::F64(beams().map(|b| b.time).collect()));
        table.add(
            "sweep",
            ColumnData::U32(measured.iter().map(|m| m.0.index).collect()),
        );
        table.add("beam", ColumnData::U32(beams().map(|b| b.beam).collect()));
        table.add(
            "returns",
            ColumnData::U16(beams().map(|b| b.returns).collect()),
        );
        // Add the truth
        let incidence = |b: &BeamMeasurement| b.truth.map_or(f32::NAN, |t| single(t.incidence));
        table.add(
            "incidence",
            ColumnData::F32(beams().map(incidence).collect()),
        );
        let objects = beams().map(|b| number(b.truth.map(|t| t.object.0)));
        table.add("object", ColumnData::I32(objects.collect()));
        let materials = beams().map(|b| number(b.truth.map(|t| t.material.0)));
        table.add("material", ColumnData::I32(materials.collect()));
        table
    }

    /// Points of some sweeps, sweep by sweep, in the frame of the simulation.
    ///
    /// Fields: `x y z` (m; in double precision if a coordinate exceeds 1 km), `intensity` (counts), `ring`, `time` (s
    /// from the start of the run), `range` (m), `return_number` (the first is 1), `returns`, `column`, `sweep`, `power` (1/(m²
    /// sr)), and the truth: `true_range` (m, NaN for returns of the air), `incidence` (rad),
    /// `instance`, `object` (mesh) and `material` (indices, -1 for none); `velocity` (m/s) if the
    /// receiver measures it.
    pub fn of_scans(sweeps: &[Sweep]) -> Self {
        let rows = sweeps.iter().flat_map(|sweep| {
            let points = sweep.points.iter();
            points.map(move |point| Row {
                sweep,
                shot: point.shot as usize,
                point: Some(point),
            })
        });
        table(&rows.collect::<Vec<_>>(), 1, Clock::Run)
    }

    /// Points of one sweep in the convention of ROS: as [`PointTable::of_scans`], with `time` as
    /// f32 from the start of the sweep.
    pub fn of_scan_for_ros(sweep: &Sweep) -> Self {
        let rows = sweep.points.iter().map(|point| Row {
            sweep,
            shot: point.shot as usize,
            point: Some(point),
        });
        table(&rows.collect::<Vec<_>>(), 1, Clock::Sweep)
    }

    /// One sweep as a dense grid: one row per ring (the highest first), one column per column of
    /// firings. A cell is the first reported echo of a shot. In a cell without an echo, position
    /// and numbers are NaN and `range` is a code of REP 117: +inf no return, -inf too near, NaN not
    /// fired.
    pub fn of_scan_grid(sweep: &Sweep) -> Self {
        let width = sweep.columns as usize;
        let height = usize::from(sweep.channels);
        let mut shots = vec![None; width * height];
        for (number, shot) in sweep.shots.iter().enumerate() {
            let row = height - 1 - usize::from(sweep.rings[usize::from(shot.channel)]);
            shots[row * width + shot.column as usize] = Some(number);
        }
        let rows: Vec<Row> = shots
            .iter()
            .map(|shot| Row {
                sweep,
                shot: shot.unwrap_or(usize::MAX),
                point: shot.and_then(|number| sweep.points_of(number).first()),
            })
            .collect();
        table(&rows, height, Clock::Run)
    }
}

fn table(rows: &[Row], height: usize, clock: Clock) -> PointTable {
    let mut columns = Vec::new();
    let mut add = |name: &'static str, data| columns.push(PointColumn::new(name, data));
    let f32s =
        |of: &dyn Fn(&Row) -> f64| ColumnData::F32(rows.iter().map(|r| single(of(r))).collect());
    let of_point = |of: fn(&Return) -> f64| move |row: &Row| row.point.map_or(f64::NAN, of);

    // Add positions, in double precision far from the origin; clouds of ROS are near it, in the frame of the sensor
    let mut points = rows.iter().filter_map(|row| row.point);
    let is_far = clock == Clock::Run && points.any(|p| p.position.coords.amax() > LARGEST_SINGLE);
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let of = |row: &Row| row.point.map_or(f64::NAN, |point| point.position[axis]);
        let far = || ColumnData::F64(rows.iter().map(of).collect());
        add(name, if is_far { far() } else { f32s(&of) });
    }
    // Add intensity and channel
    add("intensity", f32s(&of_point(|p| p.intensity)));
    add(
        "ring",
        ColumnData::U16(rows.iter().map(Row::ring).collect()),
    );

    // Add time, range and the number of the return
    add(
        "time",
        match clock {
            Clock::Run => ColumnData::F64(rows.iter().map(Row::time).collect()),
            Clock::Sweep => f32s(&|row| row.time() - row.sweep.start),
        },
    );
    add("range", f32s(&|row| row.range()));
    let u16s = |of: &dyn Fn(&Row) -> u16| ColumnData::U16(rows.iter().map(of).collect());
    add(
        "return_number",
        u16s(&|r| r.point.map_or(0, |p| u16::from(p.return_number))),
    );
    add(
        "returns",
        u16s(&|r| r.point.map_or(0, |p| u16::from(p.returns))),
    );
    // Add the column of firings and the sweep
    let u32s = |of: &dyn Fn(&Row) -> u32| ColumnData::U32(rows.iter().map(of).collect());
    add("column", u32s(&|row| row.column()));
    add("sweep", u32s(&|r| r.sweep.index));
    // Add radiometry and the truth
    add("power", f32s(&of_point(|p| p.power)));
    add(
        "true_range",
        f32s(&of_point(|p| p.source.map_or(f64::NAN, |s| s.range))),
    );
    add(
        "incidence",
        f32s(&of_point(|p| p.source.map_or(f64::NAN, |s| s.incidence()))),
    );
    if rows
        .iter()
        .any(|row| row.point.is_some_and(|p| p.ambient > 0.0))
    {
        add("ambient", f32s(&of_point(|p| p.ambient)));
    }
    // Add the labels
    let label = |of: fn(&Return) -> Option<u32>| {
        let number = move |row: &Row| row.point.and_then(of).and_then(|id| i32::try_from(id).ok());
        ColumnData::I32(rows.iter().map(|row| number(row).unwrap_or(-1)).collect())
    };
    add("instance", label(|p| Some(p.source?.instance.0)));
    add("object", label(|p| Some(p.source?.mesh.0)));
    add("material", label(|p| Some(p.source?.material.0)));
    // Add velocity if the receiver measures it
    if rows
        .iter()
        .any(|row| row.point.is_some_and(|p| p.velocity.is_some()))
    {
        add(
            "velocity",
            f32s(&of_point(|p| p.velocity.unwrap_or(f64::NAN))),
        );
    }
    PointTable {
        points: rows.len(),
        height,
        columns,
    }
}

impl Row<'_> {
    fn ring(&self) -> u16 {
        let shot = self.sweep.shots.get(self.shot);
        shot.map_or(0, |shot| self.sweep.rings[usize::from(shot.channel)])
    }

    fn time(&self) -> f64 {
        self.sweep
            .shots
            .get(self.shot)
            .map_or(f64::NAN, |shot| shot.time)
    }

    fn column(&self) -> u32 {
        self.sweep
            .shots
            .get(self.shot)
            .map_or(0, |shot| shot.column)
    }

    fn range(&self) -> f64 {
        match (self.point, self.sweep.outcomes.get(self.shot)) {
            (Some(point), _) => point.range,
            (None, Some(Outcome::TooNear)) => f64::NEG_INFINITY,
            (None, Some(Outcome::Error(_)) | None) => f64::NAN,
            (None, Some(_)) => f64::INFINITY,
        }
    }
}

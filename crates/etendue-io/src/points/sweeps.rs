//! The sweeps of a recording, one after another.

use super::ReadOptions;
use super::format::visit_sweeps;
use crate::FormatError;
use crate::bag::SensorMotion;
use crate::interrupt::Interrupt;
use crate::table::{PointSweeps, PointTable};
use nalgebra::Isometry3;
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;

/// A sweep of a recording.
#[derive(Clone, Debug, Default)]
pub struct RecordedSweep {
    /// Its number: the value of the field `sweep` in a table that it divides, otherwise the position in the file, from 0.
    pub number: usize,
    /// Its points.
    pub table: PointTable,
    /// Its time, s; `None` without stamps in the file.
    pub stamp: Option<f64>,
    /// Pose of the sensor in the world at the time of the sweep, from the transforms of a recording.
    pub world_from_sensor: Option<Isometry3<f64>>,
    /// Pose in the frame of odometry at the time of the sweep: of the sensor, from the transforms of a recording whose root
    /// is `odom` (REP 105), or of the robot, from a scan log.
    pub odometry: Option<Isometry3<f64>>,
    /// Poses between the sweeps, in the frame of the pose of the sweep; `None` if they are known at less than two times.
    pub motion: Option<Rc<SensorMotion>>,
    /// Whether it is incomplete: the first or the last sweep of packets that begin or end within a rotation, with less than a
    /// quarter of the points of the neighbouring sweep.
    pub is_incomplete: bool,
}

impl RecordedSweep {
    /// Pose at the time of the sweep in the root of the transforms: the world, or otherwise the frame of the odometry.
    pub fn root_from_sensor(&self) -> Option<Isometry3<f64>> {
        self.world_from_sensor.or(self.odometry)
    }
}

/// What the reader of a recording reports after its sweeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepSummary {
    /// Name of the lidar, from its packets or metadata.
    pub sensor: Option<String>,
    /// Irregularities that did not prevent reading.
    pub warnings: Vec<String>,
}

/// Receives the sweeps of a file.
pub(crate) type VisitSweep<'a> = &'a mut dyn FnMut(RecordedSweep) -> Result<(), Interrupt>;

/// Reads the sweeps of a file, of the bag in a folder, or of a folder of scans (one sweep each), one after another. One sweep
/// of a bag or a capture is in memory at a time; other files are read as a whole, and a table with the field `sweep` is split.
/// `visit` ends the reading with [`ControlFlow::Break`].
///
/// # Errors
/// As [`read_points`](super::read_points), and those of `visit`.
///
/// ```
/// use etendue_io::FormatError;
/// use etendue_io::packets::PacketSource;
/// use etendue_io::points::{ReadOptions, for_each_sweep};
/// use std::ops::ControlFlow;
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("a.csv");
/// std::fs::write(&path, "x,y,z,sweep\n1,2,3,0\n4,5,6,0\n7,8,9,1\n").unwrap();
/// let device = PacketSource::default();
/// let mut points = Vec::new();
/// for_each_sweep(&path, ReadOptions::new(&device), |sweep| {
///     points.push(sweep.table.points);
///     Ok::<_, FormatError>(ControlFlow::Continue(()))
/// })?;
/// assert_eq!(points, [2, 1]);
/// # Ok::<(), FormatError>(())
/// ```
pub fn for_each_sweep<E: From<FormatError>>(
    path: &Path,
    options: ReadOptions,
    visit: impl FnMut(RecordedSweep) -> Result<ControlFlow<()>, E>,
) -> Result<SweepSummary, E> {
    let mut summary = SweepSummary::default();
    Interrupt::visit(visit, |visit| {
        visit_sweeps(path, options, &mut summary, visit)
    })?;
    Ok(summary)
}

impl PointSweeps {
    /// The sweeps that a reader visits, all in memory.
    pub(super) fn collect(
        read: impl FnOnce(&mut SweepSummary, VisitSweep) -> Result<(), Interrupt>,
    ) -> Result<Self, FormatError> {
        // Read the sweeps
        let mut summary = SweepSummary::default();
        let mut tables = Vec::new();
        let mut stamps = Some(Vec::new());
        let mut poses = Some(Vec::new());
        let mut odometry = Some(Vec::new());
        let mut motions: Vec<Option<Rc<SensorMotion>>> = Vec::new();
        let visited = read(&mut summary, &mut |sweep| {
            tables.push(sweep.table);
            push_to_all(&mut stamps, sweep.stamp);
            push_to_all(&mut poses, sweep.world_from_sensor);
            push_to_all(&mut odometry, sweep.odometry);
            motions.push(sweep.motion);
            Ok(())
        });
        Interrupt::result(visited)?;

        // Keep what every sweep has, and the motion of the only frame
        let first = motions.first().cloned().flatten();
        let is_first = |motion: &Option<Rc<SensorMotion>>| matches!((motion, &first), (Some(a), Some(b)) if Rc::ptr_eq(a, b));
        let is_one = motions.iter().all(is_first);
        drop(motions);
        let of_all = |poses: Option<Vec<_>>| poses.filter(|poses| !poses.is_empty());
        Ok(Self {
            motion: first.filter(|_| is_one).map(Rc::unwrap_or_clone),
            stamps: stamps.filter(|_| !tables.is_empty()),
            world_from_sensor: of_all(poses),
            odometry: of_all(odometry),
            sensor: summary.sensor,
            warnings: summary.warnings,
            sweeps: tables,
        })
    }

    /// The sweeps one by one. Their numbers are those of their field `sweep`, if they have it.
    pub fn into_recorded(self) -> impl Iterator<Item = RecordedSweep> {
        let motion = self.motion.map(Rc::new);
        let mut stamps = self.stamps.into_iter().flatten();
        let mut poses = self.world_from_sensor.into_iter().flatten();
        let mut odometry = self.odometry.into_iter().flatten();
        let tables = self.sweeps.into_iter().enumerate();
        tables.map(move |(position, table)| RecordedSweep {
            number: number_of(&table).unwrap_or(position),
            table,
            stamp: stamps.next(),
            world_from_sensor: poses.next(),
            odometry: odometry.next(),
            motion: motion.clone(),
            is_incomplete: false,
        })
    }
}

/// The first value of the field `sweep`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and saturating above the largest usize"
)]
fn number_of(table: &PointTable) -> Option<usize> {
    let number = table.column("sweep").filter(|column| !column.is_empty())?;
    let number = number.number(0);
    (number >= 0.0).then_some(number as usize)
}

/// Appends a value to those of all sweeps, which are `None` from the first sweep without one.
pub(crate) fn push_to_all<T>(all: &mut Option<Vec<T>>, value: Option<T>) {
    match (all.as_mut(), value) {
        (Some(values), Some(value)) => values.push(value),
        _ => *all = None,
    }
}

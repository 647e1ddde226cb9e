//! Point tables: measured points with named fields.

use crate::bag::SensorMotion;
use crate::precision::single;
use nalgebra::{Isometry3, Point3};
use std::borrow::Cow;

/// Largest time of a point relative to the stamp of its sweep, s.
const LONGEST_SWEEP: f64 = 60.0;

/// Distance from the origin up to which single precision resolves 0.1 mm, m.
pub(crate) const LARGEST_SINGLE: f64 = 1000.0;

/// Encoding of a written point cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Numbers as text.
    Ascii,
    /// Numbers as bytes, little endian.
    #[default]
    Binary,
}

/// Values of one field, one per point.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ColumnData {
    /// 4-byte floating point.
    F32(Vec<f32>),
    /// 8-byte floating point.
    F64(Vec<f64>),
    /// 2-byte unsigned integer.
    U16(Vec<u16>),
    /// 4-byte unsigned integer.
    U32(Vec<u32>),
    /// 4-byte integer.
    I32(Vec<i32>),
}

/// Names of the intensity field.
pub(crate) const INTENSITY_NAMES: &[&str] = &["intensity", "reflectance", "reflectivity"];

/// Prefix of the names of fields in files of CloudCompare.
const CLOUD_COMPARE: &str = "scalar_";

/// Fields of CloudCompare with other names here.
const CLOUD_COMPARE_NAMES: [(&str, &str); 6] = [
    ("Classification", "classification"),
    ("ReturnNumber", "return_number"),
    ("NumberOfReturns", "returns"),
    ("ScanAngleRank", "scan_angle"),
    ("UserData", "user_data"),
    ("PointSourceId", "point_source_id"),
];

/// Name of a field: those of CloudCompare without their prefix; positions and intensities in upper case become lower case.
pub(crate) fn field_name(name: &str) -> String {
    if let Some(own) = name.strip_prefix(CLOUD_COMPARE)
        && !own.is_empty()
    {
        let known = CLOUD_COMPARE_NAMES
            .iter()
            .find(|(theirs, _)| *theirs == own);
        return known.map_or_else(|| field_name(own), |(_, ours)| (*ours).to_owned());
    }
    let lower = name.to_ascii_lowercase();
    let is_usual = ["x", "y", "z", "intensity"].contains(&lower.as_str());
    if is_usual { lower } else { name.to_owned() }
}

/// Type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnType {
    /// 4-byte floating point.
    F32,
    /// 8-byte floating point.
    F64,
    /// 2-byte unsigned integer.
    U16,
    /// 4-byte unsigned integer.
    U32,
    /// 4-byte integer.
    I32,
}

/// One field of all points.
#[derive(Clone, Debug, PartialEq)]
pub struct PointColumn {
    /// Name of the field in the file.
    pub name: Cow<'static, str>,
    /// Values.
    pub data: ColumnData,
}

impl PointColumn {
    /// A field with a name.
    pub fn new(name: impl Into<Cow<'static, str>>, data: ColumnData) -> Self {
        Self {
            name: name.into(),
            data,
        }
    }
}

impl ColumnType {
    /// Type of a field from text or from a format without types.
    pub(crate) fn of_field(name: &str, values: &[f64]) -> Self {
        let fitting = Self::that_holds(values);
        let is_measure = ["x", "y", "z", "intensity", "range", "time"].contains(&name);
        match fitting {
            // Epoch times and map coordinates exceed single precision.
            Self::U16 | Self::U32 | Self::I32 if is_measure && are_single(values) => Self::F32,
            Self::U16 | Self::U32 | Self::I32 if is_measure => Self::F64,
            other => other,
        }
    }

    /// This type, or a wider one if it is an integer type that cannot represent all values.
    pub(crate) fn or_wider(self, values: &[f64]) -> Self {
        match (self, Self::that_holds(values)) {
            (Self::U16, other) => other,
            (Self::U32, Self::I32 | Self::F32 | Self::F64) => Self::F64,
            (own, _) => own,
        }
    }

    /// The narrowest type that represents all values exactly (single precision before double,
    /// unsigned integers before signed).
    fn that_holds(values: &[f64]) -> Self {
        let all = |fits: &dyn Fn(f64) -> bool| values.iter().all(|value| fits(*value));
        let whole = |low: f64, high: f64| {
            move |value: f64| value.fract() == 0.0 && (low..=high).contains(&value)
        };
        if all(&whole(0.0, f64::from(u16::MAX))) {
            Self::U16
        } else if all(&whole(0.0, f64::from(u32::MAX))) {
            Self::U32
        } else if all(&whole(f64::from(i32::MIN), f64::from(i32::MAX))) {
            Self::I32
        } else if are_single(values) {
            Self::F32
        } else {
            Self::F64
        }
    }
}

/// Whether single precision represents all values exactly.
fn are_single(values: &[f64]) -> bool {
    let is_single = |value: &f64| value.is_nan() || f64::from(single(*value)) == *value;
    values.iter().all(is_single)
}

/// A point cloud with named fields of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointTable {
    /// Number of points.
    pub points: usize,
    /// Rows of the grid of an organised cloud, otherwise 1.
    pub height: usize,
    /// The fields, in the order of the file.
    pub columns: Vec<PointColumn>,
}

impl PointTable {
    /// Appends a field.
    pub(crate) fn add(&mut self, name: &'static str, data: ColumnData) {
        self.columns.push(PointColumn::new(name, data));
    }

    /// The field with the name.
    pub fn column(&self, name: &str) -> Option<&ColumnData> {
        let column = self.columns.iter().find(|column| column.name == name)?;
        Some(&column.data)
    }

    /// Concatenation of all tables, with the fields that all of them have.
    pub fn together(tables: Vec<Self>) -> Self {
        let mut tables = tables.into_iter();
        let Some(mut all) = tables.next() else {
            return Self::default();
        };
        for table in tables {
            all.columns
                .retain(|column| table.column(&column.name).is_some());
            for column in &mut all.columns {
                if let Some(more) = table.column(&column.name) {
                    column.data.append(more);
                }
            }
            all.points += table.points;
            all.height = 1;
        }
        all
    }

    /// One table per value of the field `sweep`, in ascending order; the whole table without such a
    /// field.
    pub fn sweeps(&self) -> Vec<Self> {
        let Some(sweeps) = self.column("sweep") else {
            return vec![self.clone()];
        };
        let mut points: Vec<usize> = (0..self.points).collect();
        points.sort_by(|a, b| sweeps.number(*a).total_cmp(&sweeps.number(*b)));
        let groups = points.chunk_by(|a, b| sweeps.number(*a) == sweeps.number(*b));
        let mut tables: Vec<Self> = groups.map(|points| self.pick(points)).collect();
        if let [only] = &mut tables[..] {
            only.height = self.height;
        }
        tables
    }

    /// The points with the given value of the field `sweep`; `None` without such a field.
    ///
    /// ```
    /// use etendue_io::table::{PointColumn, ColumnData, PointTable};
    /// let table = PointTable {
    ///     points: 3,
    ///     height: 1,
    ///     columns: vec![
    ///         PointColumn::new("sweep", ColumnData::U32(vec![1, 2, 1])),
    ///         PointColumn::new("x", ColumnData::F32(vec![5.0, 6.0, 7.0])),
    ///     ],
    /// };
    /// let one = table.of_sweep(1).unwrap();
    /// assert_eq!((one.points, one.number("x", 1)), (2, Some(7.0)));
    /// assert_eq!(table.of_sweep(0).unwrap().points, 0);
    /// ```
    pub fn of_sweep(&self, number: usize) -> Option<Self> {
        let sweeps = self.column("sweep")?;
        let is_of = |point: &usize| sweeps.number(*point) == number as f64;
        let points: Vec<usize> = (0..self.points).filter(is_of).collect();
        Some(self.pick(&points))
    }

    /// Adds the field `class` from the field `instance`: the class of each object, -1 for none.
    pub fn classify(&mut self, of_object: &[i32]) {
        let Some(ColumnData::I32(instances)) = self.column("instance") else {
            return;
        };
        let class = |instance: &i32| {
            let number = usize::try_from(*instance).ok();
            number
                .and_then(|number| of_object.get(number))
                .copied()
                .unwrap_or(-1)
        };
        let classes = instances.iter().map(class).collect();
        self.add("class", ColumnData::I32(classes));
    }

    /// The earliest `time` (0 without such a field), and the table with `time` relative to it in
    /// single precision, the convention of ROS.
    pub fn stamped(self) -> (f64, Self) {
        let Some(times) = self.column("time") else {
            return (0.0, self);
        };
        let times = (0..self.points).map(|point| times.number(point));
        let earliest = times.fold(f64::INFINITY, f64::min);
        let start = if earliest.is_finite() { earliest } else { 0.0 };
        (start, self.since(start))
    }

    /// The table with `time` relative to a stamp, in single precision.
    pub(crate) fn since(mut self, stamp: f64) -> Self {
        if let Some(column) = self.columns.iter_mut().find(|c| c.name == "time") {
            let times = (0..self.points).map(|point| column.data.number(point));
            column.data = ColumnData::F32(times.map(|time| single(time - stamp)).collect());
        }
        self
    }

    /// Times of the points relative to a stamp, s. `None` without times, and for times more than a
    /// minute from the stamp.
    pub(crate) fn times_since(&self, stamp: f64) -> Option<Vec<f64>> {
        let times = self.column("time")?;
        let times: Vec<f64> = (0..self.points)
            .map(|point| times.number(point) - stamp)
            .collect();
        let plausible = times.iter().all(|time| time.abs() < LONGEST_SWEEP);
        (plausible && !times.is_empty()).then_some(times)
    }

    /// Moves the positions by a pose.
    pub fn transform(&mut self, pose: &Isometry3<f64>) {
        self.transform_each(|_| *pose);
    }

    /// Moves the position of each point by its own pose.
    pub(crate) fn transform_each(&mut self, pose: impl Fn(usize) -> Isometry3<f64>) {
        // Compute the moved positions
        let axes = ["x", "y", "z"];
        let mut is_far = false;
        let number = |name, point| self.number(name, point).unwrap_or(f64::NAN);
        let moved = (0..self.points).map(|point| {
            let position = axes.map(|name| number(name, point));
            let pose = pose(point);
            is_far |= pose.translation.vector.amax() > LARGEST_SINGLE;
            pose * Point3::from(position)
        });
        let moved: Vec<Point3<f64>> = moved.collect();

        // Store them
        for (axis, name) in axes.into_iter().enumerate() {
            let Some(column) = self.columns.iter_mut().find(|c| c.name == name) else {
                continue;
            };
            let is_double = is_far || matches!(column.data, ColumnData::F64(_));
            let kind = if is_double {
                ColumnType::F64
            } else {
                ColumnType::F32
            };
            column.data = ColumnData::of(kind, moved.iter().map(|point| point[axis]).collect());
        }
    }

    /// Shifts the field `time` so that it begins at zero if its earliest value is negative, and
    /// returns that value.
    pub fn shift_negative_times(&mut self) -> Option<f64> {
        let points = 0..self.points;
        let column = self.columns.iter_mut().find(|c| c.name == "time")?;
        let times: Vec<f64> = points.map(|point| column.data.number(point)).collect();
        let finite = times.iter().copied().filter(|time| time.is_finite());
        let earliest = finite.fold(0.0, f64::min);
        if earliest == 0.0 {
            return None;
        }
        column.data = ColumnData::F64(times.into_iter().map(|time| time - earliest).collect());
        Some(earliest)
    }

    /// The table of selected points.
    fn pick(&self, points: &[usize]) -> Self {
        let pick =
            |column: &PointColumn| PointColumn::new(column.name.clone(), column.data.pick(points));
        Self {
            points: points.len(),
            height: 1,
            columns: self.columns.iter().map(pick).collect(),
        }
    }

    /// The value of a field of one point, if the field exists.
    pub fn number(&self, name: &str, point: usize) -> Option<f64> {
        Some(self.column(name)?.number(point))
    }

    /// Indices of the points with a finite position.
    pub(crate) fn finite_points(&self) -> impl Iterator<Item = usize> {
        let finite = |name, point| self.number(name, point).is_some_and(f64::is_finite);
        (0..self.points).filter(move |&p| finite("x", p) && finite("y", p) && finite("z", p))
    }

    /// Values of a field at the points with a finite position.
    pub(crate) fn finite_numbers(&self, name: &str) -> impl Iterator<Item = f64> {
        self.finite_points()
            .filter_map(move |point| self.number(name, point))
    }

    /// Encodes the points one after the other, each with all its fields.
    pub(crate) fn encode(&self, encoding: Encoding) -> Vec<u8> {
        let mut bytes = Vec::new();
        for point in 0..self.points {
            for (index, column) in self.columns.iter().enumerate() {
                match encoding {
                    Encoding::Binary => column.data.push_bytes(point, &mut bytes),
                    Encoding::Ascii => {
                        let space = if index == 0 { "" } else { " " };
                        bytes.extend(space.bytes().chain(column.data.text(point).bytes()));
                    }
                }
            }
            if encoding == Encoding::Ascii {
                bytes.push(b'\n');
            }
        }
        bytes
    }
}

/// Points of a file, in file order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointSweeps {
    /// Sweeps (clouds, rotations) of the file. A single table if only the field `sweep`
    /// distinguishes them ([`PointTable::of_sweep`]).
    pub sweeps: Vec<PointTable>,
    /// Time of each sweep, s; `None` without stamps in the file.
    pub stamps: Option<Vec<f64>>,
    /// Pose of the sensor in the world at the time of each sweep, from the transforms of a
    /// recording; `None` if one is missing.
    pub world_from_sensor: Option<Vec<Isometry3<f64>>>,
    /// Pose in the frame of odometry at the time of each sweep: of the sensor, from the transforms of a recording whose root
    /// is `odom` (REP 105), or of the robot, from a scan log; `None` if one is missing.
    pub odometry: Option<Vec<Isometry3<f64>>>,
    /// Poses between the sweeps, in the frame of the poses of the sweeps; `None` if they are known at less than two times.
    pub motion: Option<SensorMotion>,
    /// Name of the lidar, from its packets or metadata.
    pub sensor: Option<String>,
    /// Irregularities that did not prevent reading.
    pub warnings: Vec<String>,
}

impl PointColumn {
    /// Column of numbers, in the type of a file if it has one that represents them (counts cannot be missing), otherwise in the
    /// narrowest type that does.
    #[cfg(any(feature = "feather", feature = "parquet"))]
    pub(crate) fn of_numbers(name: &str, stored: Option<ColumnType>, values: Vec<f64>) -> Self {
        let is_real = matches!(stored, Some(ColumnType::F32 | ColumnType::F64));
        let is_whole = || values.iter().all(|value| !value.is_nan());
        let number = stored
            .filter(|_| is_real || is_whole())
            .unwrap_or_else(|| ColumnType::of_field(name, &values));
        Self::new(name.to_owned(), ColumnData::of(number, values))
    }
}

impl PointSweeps {
    /// One sweep without stamp, pose and warnings.
    pub(crate) fn one(table: PointTable) -> Self {
        Self::new(vec![table], Vec::new())
    }

    /// Sweeps without stamps and poses.
    pub(crate) fn new(sweeps: Vec<PointTable>, warnings: Vec<String>) -> Self {
        Self {
            sweeps,
            warnings,
            ..Self::default()
        }
    }

    /// One table per sweep: a single table is split by its field `sweep`.
    #[must_use]
    pub fn split(mut self) -> Self {
        if let [only] = &self.sweeps[..] {
            let sweeps = only.sweeps();
            if sweeps.len() > 1 {
                self.sweeps = sweeps;
                self.stamps = None;
                self.world_from_sensor = None;
                self.odometry = None;
                self.motion = None;
            }
        }
        self
    }

    /// One of the sweeps, by its number; `None` if it does not exist.
    pub fn only(&self, number: usize) -> Option<Self> {
        let stamp = self.stamps.as_ref().and_then(|stamps| stamps.get(number));
        let pose = self
            .world_from_sensor
            .as_ref()
            .and_then(|poses| poses.get(number));
        let odometry = self.odometry.as_ref().and_then(|poses| poses.get(number));
        Some(Self {
            sweeps: vec![self.sweeps.get(number)?.clone()],
            stamps: stamp.map(|stamp| vec![*stamp]),
            world_from_sensor: pose.map(|pose| vec![*pose]),
            odometry: odometry.map(|pose| vec![*pose]),
            motion: self.motion.clone(),
            sensor: self.sensor.clone(),
            warnings: self.warnings.clone(),
        })
    }

    /// All sweeps in one table, with the fields that all of them have.
    pub fn together(self) -> PointTable {
        PointTable::together(self.sweeps)
    }
}

impl ColumnData {
    /// Converts values to a type, rounded and saturated to its range.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "values beyond the range of the type saturate"
    )]
    pub fn of(number: ColumnType, values: Vec<f64>) -> Self {
        let values = values.into_iter();
        match number {
            ColumnType::F32 => Self::F32(values.map(single).collect()),
            ColumnType::F64 => Self::F64(values.collect()),
            ColumnType::U16 => Self::U16(values.map(|value| value.round() as u16).collect()),
            ColumnType::U32 => Self::U32(values.map(|value| value.round() as u32).collect()),
            ColumnType::I32 => Self::I32(values.map(|value| value.round() as i32).collect()),
        }
    }

    /// The value of one point.
    pub fn number(&self, point: usize) -> f64 {
        match self {
            Self::F32(values) => f64::from(values[point]),
            Self::F64(values) => values[point],
            Self::U16(values) => f64::from(values[point]),
            Self::U32(values) => f64::from(values[point]),
            Self::I32(values) => f64::from(values[point]),
        }
    }

    /// Replaces infinite values by NaN, and returns their number.
    pub(crate) fn clear_infinite(&mut self) -> usize {
        let mut count = 0;
        match self {
            Self::F32(values) => {
                for value in values.iter_mut().filter(|value| value.is_infinite()) {
                    *value = f32::NAN;
                    count += 1;
                }
            }
            Self::F64(values) => {
                for value in values.iter_mut().filter(|value| value.is_infinite()) {
                    *value = f64::NAN;
                    count += 1;
                }
            }
            Self::U16(_) | Self::U32(_) | Self::I32(_) => {}
        }
        count
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::U16(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::I32(values) => values.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn pick(&self, points: &[usize]) -> Self {
        let points = points.iter();
        match self {
            Self::F32(values) => Self::F32(points.map(|p| values[*p]).collect()),
            Self::F64(values) => Self::F64(points.map(|p| values[*p]).collect()),
            Self::U16(values) => Self::U16(points.map(|p| values[*p]).collect()),
            Self::U32(values) => Self::U32(points.map(|p| values[*p]).collect()),
            Self::I32(values) => Self::I32(points.map(|p| values[*p]).collect()),
        }
    }

    /// Appends values; both become doubles if their types differ.
    fn append(&mut self, more: &Self) {
        match (&mut *self, more) {
            (Self::F32(values), Self::F32(more)) => values.extend(more),
            (Self::F64(values), Self::F64(more)) => values.extend(more),
            (Self::U16(values), Self::U16(more)) => values.extend(more),
            (Self::U32(values), Self::U32(more)) => values.extend(more),
            (Self::I32(values), Self::I32(more)) => values.extend(more),
            _ => {
                let own = (0..self.len()).map(|point| self.number(point));
                let more = (0..more.len()).map(|point| more.number(point));
                *self = Self::F64(own.chain(more).collect());
            }
        }
    }

    fn push_bytes(&self, point: usize, bytes: &mut Vec<u8>) {
        match self {
            Self::F32(values) => bytes.extend(values[point].to_le_bytes()),
            Self::F64(values) => bytes.extend(values[point].to_le_bytes()),
            Self::U16(values) => bytes.extend(values[point].to_le_bytes()),
            Self::U32(values) => bytes.extend(values[point].to_le_bytes()),
            Self::I32(values) => bytes.extend(values[point].to_le_bytes()),
        }
    }

    pub(crate) fn text(&self, point: usize) -> String {
        match self {
            Self::F32(values) => number_text(f64::from(values[point]), values[point].to_string()),
            Self::F64(values) => number_text(values[point], values[point].to_string()),
            Self::U16(values) => values[point].to_string(),
            Self::U32(values) => values[point].to_string(),
            Self::I32(values) => values[point].to_string(),
        }
    }
}

/// Other readers expect "nan" instead of Rust's "NaN"; a negative zero is a zero.
fn number_text(value: f64, text: String) -> String {
    if value.is_nan() {
        "nan".into()
    } else if value == 0.0 {
        "0".into()
    } else {
        text
    }
}

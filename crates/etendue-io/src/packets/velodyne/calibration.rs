//! Calibration of an individual Velodyne lidar, in the format of Velodyne (`db.xml`) or ROS (YAML).

use crate::input::read_text;
use crate::{FileLocation, FormatError};
use nalgebra::Point3;
use roxmltree::{Document, Node};
use std::collections::BTreeMap;
use std::path::Path;

/// The calibration of a Velodyne lidar: its lasers in the order of their indices.
#[derive(Clone, Debug, PartialEq)]
pub struct VelodyneCalibration {
    /// The lasers.
    pub lasers: Vec<LaserCalibration>,
}

/// Calibration of one laser, with the equations of the HDL-64E user manual as in the ROS velodyne
/// driver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LaserCalibration {
    /// Range offset, m.
    pub distance: f64,
    /// Range offsets at the near calibration points, m: lateral (2.4 m) and longitudinal (1.93 m).
    /// The offset changes linearly to `distance` at 25.04 m. `None` uses `distance` at all ranges.
    pub distance_near: Option<[f64; 2]>,
    /// Elevation of the beam, rad.
    pub elevation: f64,
    /// Clockwise azimuth of the rotor minus that of the beam, rad.
    pub rotation: f64,
    /// Vertical offset of the beam, perpendicular to it, m.
    pub vertical_offset: f64,
    /// Horizontal offset of the beam, perpendicular to it, positive to the left, m.
    pub horizontal_offset: f64,
}

/// Distances of the near calibration points (lateral, longitudinal), m.
const NEAR: [f64; 2] = [2.4, 1.93];
const FAR: f64 = 25.04;

impl LaserCalibration {
    /// Corrected range (m) and point (x forward, y left) of a measured range (m) at a clockwise
    /// rotor azimuth (rad).
    pub fn point(&self, azimuth: f64, reading: f64) -> (f64, Point3<f64>) {
        let range = reading + self.distance;
        let (sin, cos) = (azimuth - self.rotation).sin_cos();
        let (up, level) = self.elevation.sin_cos();
        let flat = |range: f64| range * level - self.vertical_offset * up;
        let ahead = |range: f64| flat(range) * cos + self.horizontal_offset * sin;
        let aside = |range: f64| flat(range) * sin - self.horizontal_offset * cos;
        let corrected = |axis: usize, at: f64| match self.distance_near {
            Some(near) => {
                let share = (at.abs() - NEAR[axis]) / (FAR - NEAR[axis]);
                range + (self.distance - near[axis]) * (share - 1.0)
            }
            None => range,
        };
        let range_aside = corrected(0, aside(range));
        let range_ahead = corrected(1, ahead(range));
        let height = range_ahead * up + self.vertical_offset * level;
        let point = Point3::new(ahead(range_ahead), -aside(range_aside), height);
        (range, point)
    }
}

impl VelodyneCalibration {
    /// Ring of each laser: its rank by elevation, 0 for the lowest.
    pub fn rings(&self) -> Vec<u16> {
        let mut order: Vec<usize> = (0..self.lasers.len()).collect();
        let elevation = |laser: usize| self.lasers[laser].elevation;
        order.sort_by(|a, b| elevation(*a).total_cmp(&elevation(*b)));
        let mut rings = vec![0; order.len()];
        for (ring, laser) in (0..).zip(order) {
            rings[laser] = ring;
        }
        rings
    }

    /// Parses ROS's YAML (SI units) or, if the text begins with `<`, Velodyne's XML (degrees and
    /// centimetres). Errors name `path`.
    ///
    /// # Errors
    /// If the text has neither format, a value is missing or not a number, or the indices of the
    /// lasers do not begin at 0.
    pub fn parse(path: &Path, text: &str) -> Result<Self, FormatError> {
        let tables = if text.trim_start().starts_with('<') {
            xml_tables(path, text)?
        } else {
            yaml_tables(path, text)?
        };
        let mut lasers = vec![None; tables.len()];
        for (place, table) in tables.iter().enumerate() {
            let (number, laser) = table.laser().ok_or_else(|| {
                let place = FileLocation::Element("laser", place);
                wrong(path, place, "the index, elevation or rotation is missing")
            })?;
            *lasers.get_mut(number).ok_or_else(|| {
                let message = format!("laser {number} of {}", tables.len());
                wrong(path, FileLocation::Element("laser", place), &message)
            })? = Some(laser);
        }
        let lasers: Option<Vec<LaserCalibration>> = lasers.into_iter().collect();
        let lasers = lasers.filter(|lasers| !lasers.is_empty());
        let lasers = lasers.ok_or_else(|| wrong(path, FileLocation::File, "a laser is missing"))?;
        Ok(Self { lasers })
    }
}

/// Reads the calibration of a Velodyne lidar (`db.xml`, or ROS's YAML).
///
/// # Errors
/// As [`VelodyneCalibration::parse`], or if the file cannot be read.
pub fn read_velodyne_calibration(path: &Path) -> Result<VelodyneCalibration, FormatError> {
    VelodyneCalibration::parse(path, &read_text(path)?)
}

fn wrong(path: &Path, place: FileLocation, message: &str) -> FormatError {
    let remedy = "give the db.xml of the device, or its calibration as YAML (velodyne_pointcloud)";
    FormatError::malformed(path, place, message, remedy)
}

/// Values of one laser by their YAML keys.
#[derive(Default)]
struct Table(BTreeMap<String, f64>);

impl Table {
    fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// Index and calibration of the laser.
    fn laser(&self) -> Option<(usize, LaserCalibration)> {
        let or_none = |name: &str| self.get(name).unwrap_or(0.0);
        let near = ["dist_correction_x", "dist_correction_y"].map(or_none);
        let number = self.get("laser_id").filter(|n| (0.0..1e4).contains(n))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small number"
        )]
        let number = number as usize;
        let laser = LaserCalibration {
            distance: or_none("dist_correction"),
            distance_near: (near != [0.0; 2]).then_some(near),
            elevation: self.get("vert_correction")?,
            rotation: self.get("rot_correction")?,
            vertical_offset: or_none("vert_offset_correction"),
            horizontal_offset: or_none("horiz_offset_correction"),
        };
        Some((number, laser))
    }
}

/// Entries of a list of flat maps, in block or flow notation of YAML.
fn yaml_tables(path: &Path, text: &str) -> Result<Vec<Table>, FormatError> {
    let mut tables: Vec<Table> = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        // Remove the comment; skip lines outside of the list
        let content = content.split('#').next().unwrap_or_default().trim_end();
        if !content.starts_with([' ', '-']) {
            continue;
        }
        // Begin an entry at each dash
        let content = content.trim_start();
        let entry = content.strip_prefix('-').unwrap_or(content);
        if entry.len() < content.len() {
            tables.push(Table::default());
        }
        // Add the numbers of the line to the entry
        for pair in entry.split([',', '{', '}']).map(str::trim) {
            let (Some((name, value)), Some(table)) = (pair.split_once(':'), tables.last_mut())
            else {
                continue;
            };
            let number = value.trim().parse().ok().filter(|x: &f64| x.is_finite());
            let number = number.ok_or_else(|| {
                let message = format!("\"{}\" is not a number", value.trim());
                wrong(path, FileLocation::Line(line), &message)
            })?;
            table.0.insert(name.trim().to_owned(), number);
        }
    }
    Ok(tables)
}

/// Element names of Velodyne's XML, YAML keys, and factors to SI units.
const XML: [(&str, &str, f64); 8] = [
    ("id_", "laser_id", 1.0),
    ("rotCorrection_", "rot_correction", DEGREE),
    ("vertCorrection_", "vert_correction", DEGREE),
    ("distCorrection_", "dist_correction", 0.01),
    ("distCorrectionX_", "dist_correction_x", 0.01),
    ("distCorrectionY_", "dist_correction_y", 0.01),
    ("vertOffsetCorrection_", "vert_offset_correction", 0.01),
    ("horizOffsetCorrection_", "horiz_offset_correction", 0.01),
];
const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// The `px` elements of `points_` whose laser is enabled.
fn xml_tables(path: &Path, text: &str) -> Result<Vec<Table>, FormatError> {
    // Parse the document
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..roxmltree::ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| wrong(path, FileLocation::File, &error.to_string()))?;
    let is_laser = |node: &Node| node.has_tag_name("px");
    let mut tables = Vec::new();
    // Collect the numbers of each laser, converted to SI units
    for laser in document.descendants().filter(is_laser) {
        let mut table = Table::default();
        for (tag, name, unit) in XML {
            let child = laser.children().find(|child| child.has_tag_name(tag));
            let Some(text) = child.and_then(|child| child.text()) else {
                continue;
            };
            let number = text.trim().parse().ok().filter(|x: &f64| x.is_finite());
            let number = number.ok_or_else(|| {
                let line = document.text_pos_at(laser.range().start).row;
                let message = format!("{tag} \"{}\" is not a number", text.trim());
                wrong(path, FileLocation::Line(line as usize), &message)
            })?;
            table.0.insert(name.to_owned(), number * unit);
        }
        tables.push(table);
    }
    Ok(tables)
}

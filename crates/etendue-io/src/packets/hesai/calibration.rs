//! Angles of the lasers of an individual Hesai lidar, in the file that comes with it (CSV).

use crate::input::read_text;
use crate::packets::ChannelTable;
use crate::{FileLocation, FormatError};
use etendue_sensors::lidar::number_rings;
use std::path::Path;

/// The calibration of a Hesai lidar: the angles of its lasers in the order of their numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct HesaiCalibration {
    /// Elevation, and azimuth relative to the rotor (anticlockwise from above), of each laser, rad.
    pub angles: Vec<[f64; 2]>,
}

impl HesaiCalibration {
    /// Parses the file: a line of headings, then one line per laser with its number (from 1), elevation and clockwise azimuth
    /// (degrees). Errors name `path`.
    ///
    /// # Errors
    /// If a line has not three numbers, an angle is beyond 90 degrees, or the numbers are not those from 1, each once.
    ///
    /// ```
    /// use etendue_io::packets::HesaiCalibration;
    /// let text = "Laser id,Elevation,Azimuth\n2,-5.0,0.5\n1,14.8,-1.0\n";
    /// let calibration = HesaiCalibration::parse("own.csv".as_ref(), text)?;
    /// let degrees = calibration.angles[0].map(f64::to_degrees);
    /// assert!((degrees[0] - 14.8).abs() < 1e-12 && (degrees[1] - 1.0).abs() < 1e-12);
    /// # Ok::<(), etendue_io::FormatError>(())
    /// ```
    pub fn parse(path: &Path, text: &str) -> Result<Self, FormatError> {
        // Read the lines after the headings. Empty lines are no lasers.
        let mut lasers = Vec::new();
        for (number, line) in text.lines().enumerate().skip(1) {
            if line.trim().is_empty() {
                continue;
            }
            let laser = laser(line).ok_or_else(|| {
                let message = "this is not a laser's number, elevation and azimuth in degrees";
                wrong(path, FileLocation::Line(number + 1), message)
            })?;
            lasers.push(laser);
        }
        // Sort them by number.
        lasers.sort_by_key(|(number, _)| *number);
        let is_complete = (1..)
            .zip(&lasers)
            .all(|(count, (number, _))| *number == count);
        if lasers.is_empty() || !is_complete {
            let message = "the numbers of the lasers are not those from 1, each once";
            return Err(wrong(path, FileLocation::File, message));
        }
        let angles = lasers.into_iter().map(|(_, angles)| angles).collect();
        Ok(Self { angles })
    }

    /// A channel table with these angles in place of its own.
    pub(super) fn applied_to(&self, mut table: ChannelTable) -> Result<ChannelTable, String> {
        let [own, packets] = [self.angles.len(), table.channels.len()];
        if own != packets {
            return Err(format!(
                "the calibration has {own} lasers, the packets have {packets}"
            ));
        }
        for (channel, [elevation, azimuth]) in table.channels.iter_mut().zip(&self.angles) {
            channel.elevation = *elevation;
            channel.azimuth = *azimuth;
        }
        number_rings(&mut table.channels);
        Ok(table)
    }
}

/// Reads the calibration of a Hesai lidar.
///
/// # Errors
/// As [`HesaiCalibration::parse`], or if the file cannot be read.
pub fn read_hesai_calibration(path: &Path) -> Result<HesaiCalibration, FormatError> {
    HesaiCalibration::parse(path, &read_text(path)?)
}

/// The number and the angles (elevation, azimuth, rad) of a line.
fn laser(line: &str) -> Option<(usize, [f64; 2])> {
    let mut words = line.split(',').map(str::trim);
    let number = words.next()?.parse().ok()?;
    let mut angle = || {
        let degrees: f64 = words.next()?.parse().ok()?;
        (degrees.abs() <= 90.0).then(|| degrees.to_radians())
    };
    let [elevation, clockwise] = [angle()?, angle()?];
    Some((number, [elevation, -clockwise]))
}

fn wrong(path: &Path, place: FileLocation, message: &str) -> FormatError {
    let remedy =
        "give the angle correction file of the device: lines of laser, elevation and azimuth";
    FormatError::malformed(path, place, message, remedy)
}

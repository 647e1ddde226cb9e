//! Validation of lidars.

use super::channel::Channel;
use super::description::Lidar;
use super::domain::{OutsideDomain, value};
use super::pattern::{Columns, ScanPattern};
use super::receiver::{InvalidPhaseReceiver, Receiver};
use std::f64::consts::{FRAC_PI_2, PI};
use thiserror::Error;

/// Wavelengths of lidars, m, from the ultraviolet to the far infrared.
const WAVELENGTHS: std::ops::RangeInclusive<f64> = 1e-7..=1e-4;

/// Maximum number of shots in a sweep, limited by memory.
const MOST_SHOTS: f64 = 1e8;

/// Reason why a lidar is invalid.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum LidarError {
    /// It has no laser.
    #[error("the scanner \"{scanner}\" has no channel: give its firing table at least one")]
    NoChannel {
        /// The scanner's name.
        scanner: String,
    },
    /// It has too many lasers.
    #[error("the scanner has {channels} channels; at most 65535 can be numbered")]
    TooManyChannels {
        /// How many there are.
        channels: usize,
    },
    /// A value of a channel is outside its domain.
    #[error("channel {channel}: {what} is {value}, it must be {domain}")]
    Channel {
        /// The channel's number.
        channel: usize,
        /// What is wrong.
        what: &'static str,
        /// What it is.
        value: f64,
        /// What it can be.
        domain: &'static str,
    },
    /// Two channels fire at the same time into the same direction.
    #[error(
        "channels {first} and {second} fire at the same time ({time} us) in the same direction: \
         give one of them another elevation_deg, azimuth_deg or time_us"
    )]
    SameShot {
        /// The first channel.
        first: usize,
        /// The second channel.
        second: usize,
        /// Their time, us.
        time: f64,
    },
    /// A parameter of the phase receiver is invalid.
    #[error(transparent)]
    PhaseReceiver(#[from] InvalidPhaseReceiver),
    /// A value of the lidar other than its channels is outside its domain.
    #[error("{what} is {value}, it must be {domain}")]
    Value {
        /// What it is a number of.
        part: LidarPart,
        /// What is wrong.
        what: &'static str,
        /// What it is.
        value: f64,
        /// What it can be.
        domain: &'static str,
    },
}

/// Parts of a lidar's description other than its channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LidarPart {
    /// Wavelength.
    Wavelength,
    /// Scan pattern.
    Pattern,
    /// Beam.
    Beam,
    /// Reported ranges.
    Range,
    /// Correlated noise.
    Noise,
    /// Receiver.
    Receiver,
    /// Reported intensity.
    Intensity,
}

impl LidarError {
    /// The error for a value of a part of a lidar.
    fn of(part: LidarPart, outside: OutsideDomain) -> Self {
        Self::Value {
            part,
            what: outside.what,
            value: outside.value,
            domain: outside.domain,
        }
    }
}

impl Lidar {
    /// Checks the lidar and sets the [`ring`](Channel::ring) of its channels.
    ///
    /// # Errors
    /// If an angle, a time, a rate or a range is outside its domain, or two shots coincide.
    pub fn checked(mut self) -> Result<Self, LidarError> {
        // Number of channels.
        if self.channels.is_empty() {
            return Err(LidarError::NoChannel { scanner: self.name });
        }
        if self.channels.len() > usize::from(u16::MAX) {
            return Err(LidarError::TooManyChannels {
                channels: self.channels.len(),
            });
        }
        // Scan pattern and channels.
        let longest = self
            .check_pattern()
            .map_err(|outside| LidarError::of(LidarPart::Pattern, outside))?;
        for (number, channel) in self.channels.iter().enumerate() {
            check_channel(number, channel, longest)?;
        }
        self.check_shots()?;
        // Receiver and other parts.
        if let Receiver::Phase(receiver) = &self.receiver {
            receiver.check()?;
        }
        let wavelength = value(
            "the wavelength, m,",
            self.wavelength,
            WAVELENGTHS.contains(&self.wavelength),
            "from 100 nm to 100,000 nm",
        );
        for (part, checked) in [
            (LidarPart::Range, self.limits.check()),
            (LidarPart::Wavelength, wavelength),
            (LidarPart::Beam, self.beam.check()),
            (LidarPart::Receiver, self.receiver.check()),
            (LidarPart::Noise, self.noise.check()),
            (LidarPart::Intensity, self.intensity.check()),
        ] {
            checked.map_err(|outside| LidarError::of(part, outside))?;
        }
        super::channel::number_rings(&mut self.channels);
        Ok(self)
    }

    /// Checks rates and columns. Returns the maximum duration of a column, s.
    fn check_pattern(&self) -> Result<f64, OutsideDomain> {
        // Sweep rate.
        let sweep = self.sweep_duration();
        value(
            "the rate of sweeps",
            1.0 / sweep,
            sweep.is_finite() && sweep > 0.0,
            "a positive number of Hz",
        )?;
        // Schedule of the columns.
        let column = self.check_columns(sweep)?;
        // Number of shots.
        let shots = f64::from(self.columns()) * self.channels.len() as f64;
        value(
            "the number of shots in a sweep",
            shots,
            shots <= MOST_SHOTS,
            "at most 100 million: give a higher rate or fewer columns",
        )?;
        // Angles, rates, ratios and facets.
        for number in self.pattern.numbers() {
            let what = "a number of the pattern (an angle, a rate or an index)";
            value(what, number, number.is_finite(), "finite")?;
        }
        if let ScanPattern::Polygon(polygon) = &self.pattern {
            let facets = polygon.facet_tilts.len() as f64;
            value("the number of facets", facets, facets >= 1.0, "at least 1")?;
        }
        Ok(column)
    }

    /// Checks the schedule of the columns within a sweep of a duration (s). Returns the maximum duration of a
    /// column, s.
    fn check_columns(&self, sweep: f64) -> Result<f64, OutsideDomain> {
        Ok(match self.pattern.columns() {
            Columns::PerSweep { columns, fired } => {
                let fired = fired.unwrap_or(columns);
                let domain = "at least 1 and at most those of a whole sweep";
                value(
                    "the number of columns",
                    f64::from(fired),
                    fired > 0 && fired <= columns,
                    domain,
                )?;
                sweep / f64::from(columns)
            }
            Columns::Period { seconds } => {
                let ok = seconds > 0.0 && seconds <= sweep;
                value(
                    "the time between columns, s,",
                    seconds,
                    ok,
                    "positive and at most a sweep",
                )?;
                seconds
            }
            Columns::Steps { columns, period } => {
                value(
                    "the number of columns",
                    f64::from(columns),
                    columns > 0,
                    "at least 1",
                )?;
                let lasts = period * f64::from(columns - 1);
                value(
                    "the time from the first to the last column, s,",
                    lasts,
                    lasts >= 0.0 && lasts <= sweep,
                    "at most a sweep: give a smaller azimuth_step_deg or fewer columns",
                )?;
                if columns == 1 { sweep } else { period }
            }
        })
    }

    /// Checks that no two channels fire at the same time in the same direction.
    fn check_shots(&self) -> Result<(), LidarError> {
        // The origin is not compared: lasers a few millimetres apart sample the same points.
        let key = |c: &Channel| [c.time, c.elevation, c.azimuth];
        let mut order: Vec<usize> = (0..self.channels.len()).collect();
        order.sort_by(|a, b| {
            let [a, b] = [a, b].map(|number| key(&self.channels[*number]));
            a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal)
        });
        let same = order
            .windows(2)
            .find(|pair| key(&self.channels[pair[0]]) == key(&self.channels[pair[1]]));
        match same {
            Some(pair) => Err(LidarError::SameShot {
                first: pair[0].min(pair[1]),
                second: pair[0].max(pair[1]),
                time: self.channels[pair[0]].time * 1e6,
            }),
            None => Ok(()),
        }
    }
}

/// Checks a channel, given the maximum duration of a column, s.
fn check_channel(number: usize, channel: &Channel, column: f64) -> Result<(), LidarError> {
    let check = |what, value: f64, ok: bool, domain| {
        let error = LidarError::Channel {
            channel: number,
            what,
            value: (value * 1e9).round() / 1e9,
            domain,
        };
        ok.then_some(()).ok_or(error)
    };
    // Angles.
    let elevation = channel.elevation.abs() <= FRAC_PI_2;
    check(
        "the elevation, degrees,",
        channel.elevation.to_degrees(),
        elevation,
        "within -90 to 90",
    )?;
    let azimuth = channel.azimuth.abs() <= PI;
    check(
        "the azimuth, degrees,",
        channel.azimuth.to_degrees(),
        azimuth,
        "within -180 to 180",
    )?;
    // Time.
    let time = (0.0..=column).contains(&channel.time);
    check(
        "the time, us,",
        channel.time * 1e6,
        time,
        "0 or more and at most the time of a column",
    )?;
    // Offsets.
    for (what, offset) in [
        ("the range offset, m,", channel.range_offset),
        ("the radius, m,", channel.radius),
        ("the height, m,", channel.height),
    ] {
        check(what, offset, offset.is_finite(), "a finite number")?;
    }
    Ok(())
}

//! Clocks of sensors, in whole nanoseconds.

use thiserror::Error;

/// Nanoseconds in a second.
pub const SECOND: i64 = 1_000_000_000;

/// A rate in whole microhertz, whose errors do not accumulate over ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    micro_hertz: u64,
}

/// Longest latency and offset: a day, s.
const MAX_DELAY: f64 = 86_400.0;

/// Error of an invalid clock.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ClockError {
    /// The rate is outside its domain.
    #[error("the rate is {hertz} Hz, it must be from 0.000001 to 1000000")]
    Rate {
        /// The rate, Hz.
        hertz: f64,
    },
    /// The collection window is negative, or longer than the time between captures.
    #[error(
        "the collection window is {window} s, it must be from 0 to the {period} s between captures"
    )]
    Window {
        /// The window, s.
        window: f64,
        /// Time between captures, s.
        period: f64,
    },
    /// The latency is negative or too large.
    #[error("the latency is {latency} s, it must be from 0 to {MAX_DELAY}")]
    Latency {
        /// The latency, s.
        latency: f64,
    },
    /// The first capture is before the run or too late.
    #[error("the first capture is at {offset} s, it must be from 0 to {MAX_DELAY}")]
    Offset {
        /// The time, s.
        offset: f64,
    },
}

impl Rate {
    /// A rate in hertz, rounded to the nearest millionth.
    ///
    /// # Errors
    /// If it is not from 0.000001 to 1000000 Hz.
    pub fn from_hertz(hertz: f64) -> Result<Self, ClockError> {
        if !(1e-6..=1e6).contains(&hertz) {
            return Err(ClockError::Rate { hertz });
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be in range"
        )]
        let micro_hertz = (hertz * 1e6).round() as u64;
        Ok(Self { micro_hertz })
    }

    /// The rate, Hz.
    pub fn hertz(self) -> f64 {
        self.micro_hertz as f64 * 1e-6
    }

    /// Time between ticks, s.
    pub fn period(self) -> f64 {
        1.0 / self.hertz()
    }

    /// Time of a tick, ns after tick zero, rounded to the nearest.
    ///
    /// ```
    /// use etendue_sensors::rig::Rate;
    /// let rate = Rate::from_hertz(30.0)?;
    /// assert_eq!(rate.tick(1), 33_333_333);
    /// assert_eq!(rate.tick(2), 66_666_667);
    /// assert_eq!(rate.tick(30 * 86_400), 86_400_000_000_000);
    /// # Ok::<(), etendue_sensors::rig::ClockError>(())
    /// ```
    pub fn tick(self, number: u32) -> i64 {
        let scale = u128::from(self.micro_hertz);
        let nanoseconds = (u128::from(number) * 1_000_000_000_000_000 + scale / 2) / scale;
        i64::try_from(nanoseconds).unwrap_or(i64::MAX)
    }
}

/// Times of the captures of a sensor and of the arrival of their data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Capture rate.
    pub rate: Rate,
    /// Start of the first capture, ns from the start of the run.
    pub offset: i64,
    /// Duration of a capture, ns.
    pub window: i64,
    /// Latency from the end of a capture to the arrival of its data, ns.
    pub latency: i64,
}

/// One capture of a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Index of the capture, from zero.
    pub number: u32,
    /// Start, ns from the start of the run.
    pub start: i64,
    /// End, ns.
    pub end: i64,
    /// Arrival of the data, ns.
    pub arrival: i64,
}

impl Clock {
    /// A clock from times in s.
    ///
    /// # Errors
    /// If the window is negative or longer than the time between captures, or the latency or the
    /// offset is not from zero to a day.
    pub fn new(rate: Rate, offset: f64, window: f64, latency: f64) -> Result<Self, ClockError> {
        let period = rate.period();
        if !(0.0..=period * (1.0 + 1e-9)).contains(&window) {
            return Err(ClockError::Window { window, period });
        }
        if !(0.0..=MAX_DELAY).contains(&latency) {
            return Err(ClockError::Latency { latency });
        }
        if !(0.0..=MAX_DELAY).contains(&offset) {
            return Err(ClockError::Offset { offset });
        }
        Ok(Self {
            rate,
            offset: nanoseconds(offset),
            window: nanoseconds(window),
            latency: nanoseconds(latency),
        })
    }

    /// Times of the capture with an index.
    pub fn capture(&self, number: u32) -> Capture {
        let start = self.offset + self.rate.tick(number);
        let end = start + self.window;
        Capture {
            number,
            start,
            end,
            arrival: end + self.latency,
        }
    }
}

/// Whole nanoseconds of a time in s.
pub fn nanoseconds(seconds: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "saturating")]
    let whole = (seconds * 1e9).round() as i64;
    whole
}

/// Seconds of a time in ns.
pub fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_clocks_are_refused() {
        assert!(Rate::from_hertz(0.0).is_err());
        assert!(Rate::from_hertz(-3.0).is_err());
        assert!(Rate::from_hertz(f64::NAN).is_err());
        let rate = Rate::from_hertz(100.0).expect("a good rate");
        let error =
            |offset, window, latency| Clock::new(rate, offset, window, latency).expect_err("bad");
        assert!(matches!(error(0.0, 0.011, 0.0), ClockError::Window { .. }));
        assert!(matches!(error(0.0, 0.0, -1e-3), ClockError::Latency { .. }));
        assert!(matches!(error(-1.0, 0.0, 0.0), ClockError::Offset { .. }));
        assert!(matches!(error(0.0, 0.0, 1e305), ClockError::Latency { .. }));
        assert!(matches!(error(1e305, 0.0, 0.0), ClockError::Offset { .. }));
    }
}

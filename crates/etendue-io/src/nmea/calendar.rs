//! Calendar dates and times of day.

/// A time in the notation of NMEA.
pub(super) struct Instant {
    /// `hhmmss.ss`.
    pub time: String,
    /// `ddmmyy`.
    pub date: String,
}

impl Instant {
    /// Converts Unix time (s), rounded to hundredths.
    pub fn of_unix(seconds: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "saturating")]
        let hundredths = (seconds * 100.0).round() as i64;
        let of_day = hundredths.rem_euclid(8_640_000);
        let second = of_day / 100;
        let hundredth = of_day % 100;
        let hour = second / 3600;
        let minute = second / 60 % 60;
        let (year, month, day) = civil(hundredths.div_euclid(8_640_000));
        Self {
            time: format!("{hour:02}{minute:02}{:02}.{hundredth:02}", second % 60),
            date: format!("{day:02}{month:02}{:02}", year.rem_euclid(100)),
        }
    }
}

/// Year, month and day of the Gregorian calendar from days since 1970. Years begin in March, so
/// that the leap day is the last day, and the calendar repeats every 400 years.
fn civil(days: i64) -> (i64, i64, i64) {
    let since_march_0 = days + 719_468;
    let era = since_march_0.div_euclid(146_097);
    let in_era = since_march_0.rem_euclid(146_097);
    let year = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month + 2) / 5 + 1;
    let january = i64::from(month >= 10);
    (
        era * 400 + year + january,
        if month < 10 { month + 3 } else { month - 9 },
        day,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_605), (2026, 6, 1));
        assert_eq!(civil(-1), (1969, 12, 31));
    }
}

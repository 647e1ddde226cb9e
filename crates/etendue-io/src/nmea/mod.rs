//! GNSS fixes as NMEA 0183 sentences.
//!
//! [`sentences`] writes one fix as GGA (position, quality, satellites), RMC (position, velocity,
//! date) and GST (standard deviations), each with its checksum.

mod calendar;

use calendar::Instant;
use etendue_physics::gnss::{GnssFix, GnssFixKind, GnssSolution};

/// The sentences GGA, RMC and GST of a fix at a time (Unix time, s), with line ends. The height is
/// ellipsoidal, with a geoid separation of zero.
///
/// ```
/// use etendue_io::nmea::sentences;
/// use etendue_physics::gnss::{GnssFix, GnssFixKind, Geodetic, SkyView, GnssSolution};
/// use nalgebra::Vector3;
///
/// let fix = GnssFix {
///     solution: Some(GnssSolution {
///         position: Geodetic::from_degrees(48.117_3, -11.522, 545.4),
///         velocity: Vector3::new(1.0, 0.0, 0.0),
///         variance: Vector3::new(4.0, 4.0, 9.0),
///         kind: GnssFixKind::Autonomous,
///     }),
///     sky: SkyView { used: 8, horizontal: 0.9, vertical: 1.4 },
/// };
/// let text = sentences(&fix, 764_426_119.25);
/// let lines: Vec<&str> = text.split("\r\n").collect();
/// assert_eq!(
///     lines[0],
///     "$GPGGA,123519.25,4807.0380000,N,01131.3200000,W,1,08,0.90,545.400,M,0.0,M,,*76"
/// );
/// assert!(lines[1].starts_with("$GPRMC,123519.25,A,4807.0380000,N,01131.3200000,W,1.944,90.00,230394"));
/// assert_eq!(lines.len(), 4);
/// ```
pub fn sentences(fix: &GnssFix, unix_time: f64) -> String {
    let instant = Instant::of_unix(unix_time);
    let bodies = match &fix.solution {
        Some(solution) => [
            gga(fix, solution, &instant),
            rmc(solution, &instant),
            gst(solution, &instant),
        ],
        None => without_solution(fix, &instant),
    };
    let lines = bodies.iter().map(|body| {
        let sum = body.bytes().fold(0, |sum, byte| sum ^ byte);
        format!("${body}*{sum:02X}\r\n")
    });
    lines.collect()
}

fn without_solution(fix: &GnssFix, instant: &Instant) -> [String; 3] {
    let time = &instant.time;
    let date = &instant.date;
    [
        format!("GPGGA,{time},,,,,0,{:02},,,M,,M,,", fix.sky.used),
        format!("GPRMC,{time},V,,,,,,,{date},,,N"),
        format!("GPGST,{time},,,,,,,"),
    ]
}

/// Degrees and minutes with the letter of the hemisphere.
fn angle(radians: f64, width: usize, letters: [char; 2]) -> String {
    // Rounds to the last digit first, so that 59.9999999 minutes do not become 60.
    let steps = (radians.abs().to_degrees() * 60.0 * 1e7).round();
    let degrees = (steps / 600e6).floor();
    let minutes = (steps - degrees * 600e6) / 1e7;
    let letter = letters[usize::from(radians < 0.0)];
    format!("{degrees:0width$}{minutes:010.7},{letter}")
}

fn place(solution: &GnssSolution) -> String {
    let latitude = angle(solution.position.latitude, 2, ['N', 'S']);
    let longitude = angle(solution.position.longitude, 3, ['E', 'W']);
    format!("{latitude},{longitude}")
}

fn gga(fix: &GnssFix, solution: &GnssSolution, instant: &Instant) -> String {
    let quality = match solution.kind {
        GnssFixKind::Autonomous => 1,
        GnssFixKind::Differential => 2,
        GnssFixKind::RtkFixed => 4,
    };
    format!(
        "GPGGA,{},{},{quality},{:02},{:.2},{:.3},M,0.0,M,,",
        instant.time,
        place(solution),
        fix.sky.used,
        fix.sky.horizontal,
        solution.position.height
    )
}

/// Knots per metre per second.
const KNOTS: f64 = 3600.0 / 1852.0;

fn rmc(solution: &GnssSolution, instant: &Instant) -> String {
    let velocity = solution.velocity;
    let course = velocity.x.atan2(velocity.y).to_degrees().rem_euclid(360.0);
    let mode = match solution.kind {
        GnssFixKind::Autonomous => 'A',
        GnssFixKind::Differential => 'D',
        GnssFixKind::RtkFixed => 'R',
    };
    format!(
        "GPRMC,{},A,{},{:.3},{course:.2},{},,,{mode}",
        instant.time,
        place(solution),
        velocity.xy().norm() * KNOTS,
        instant.date
    )
}

fn gst(solution: &GnssSolution, instant: &Instant) -> String {
    let sd = solution.variance.map(f64::sqrt);
    let major = sd.x.max(sd.y);
    let minor = sd.x.min(sd.y);
    format!(
        "GPGST,{},{major:.3},{major:.3},{minor:.3},0.0,{:.3},{:.3},{:.3}",
        instant.time, sd.y, sd.x, sd.z
    )
}

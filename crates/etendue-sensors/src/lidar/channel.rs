//! One laser of a scanner.

use nalgebra::{Point3, Vector3};

/// One laser and its detector.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Channel {
    /// Elevation of its beam, rad.
    pub elevation: f64,
    /// Azimuth of its beam from the rotor's (or the pattern's) own, rad.
    pub azimuth: f64,
    /// When it fires after its column begins, s.
    pub time: f64,
    /// Added to every range it reports, m.
    pub range_offset: f64,
    /// Distance of the point its beam leaves from, from the axis of rotation towards the rotor's
    /// azimuth, m.
    pub radius: f64,
    /// Height of that point above the sensor's x-y plane, m.
    pub height: f64,
    /// Its place by elevation, the lowest is 0: ROS's `ring`.
    pub ring: u16,
}

impl Channel {
    /// The point of a reported range (m), in the sensor's frame, with the rotor at the
    /// azimuth `rotor` (rad).
    pub fn point(&self, rotor: f64, range: f64) -> Point3<f64> {
        let (sin, cos) = rotor.sin_cos();
        let origin = Point3::new(self.radius * cos, self.radius * sin, self.height);
        let (sin, cos) = (rotor + self.azimuth).sin_cos();
        let (up, level) = self.elevation.sin_cos();
        origin + Vector3::new(level * cos, level * sin, up) * (range - self.range_offset)
    }
}

/// Numbers the channels by elevation, the lowest 0 (of equals, the first in the table).
pub fn number_rings(channels: &mut [Channel]) {
    let mut order: Vec<usize> = (0..channels.len()).collect();
    order.sort_by(|a, b| channels[*a].elevation.total_cmp(&channels[*b].elevation));
    for (ring, channel) in order.into_iter().enumerate() {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "scanners have at most 65535 lasers"
        )]
        let ring = ring as u16;
        channels[channel].ring = ring;
    }
}

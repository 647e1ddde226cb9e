//! Channels: the lasers of a lidar with their detectors.

use nalgebra::{Point3, Vector3};

/// One laser and its detector: direction, origin and firing time of its beam.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Channel {
    /// Elevation of the beam, rad.
    pub elevation: f64,
    /// Azimuth of the beam relative to the rotor (or the pattern), rad.
    pub azimuth: f64,
    /// Firing time after the start of the column, s.
    pub time: f64,
    /// Offset added to every reported range, m.
    pub range_offset: f64,
    /// Distance of the beam's origin from the axis of rotation, in the direction of the rotor's azimuth, m.
    pub radius: f64,
    /// Height of the beam's origin above the sensor's x-y plane, m.
    pub height: f64,
    /// Rank of the channel by elevation, 0 for the lowest: the `ring` field of ROS drivers.
    pub ring: u16,
}

impl Channel {
    /// Range that is reported of a surface at half an optical path (m), without error, m.
    pub fn range(&self, half_path: f64) -> f64 {
        half_path + self.range_offset
    }

    /// Position in the sensor's frame of a return with a reported range (m), at the rotor azimuth `rotor`
    /// (rad), m.
    pub fn point(&self, rotor: f64, range: f64) -> Point3<f64> {
        let (sin, cos) = rotor.sin_cos();
        let origin = Point3::new(self.radius * cos, self.radius * sin, self.height);
        let (sin, cos) = (rotor + self.azimuth).sin_cos();
        let (up, level) = self.elevation.sin_cos();
        origin + Vector3::new(level * cos, level * sin, up) * (range - self.range_offset)
    }
}

/// Sets the [`ring`](Channel::ring) of all channels; of equal elevations, the first in the table is lower.
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

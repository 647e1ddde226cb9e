//! One laser of a scanner.

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

/// Numbers the channels by elevation, the lowest 0 (of equals, the first in the table).
pub(super) fn number_rings(channels: &mut [Channel]) {
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

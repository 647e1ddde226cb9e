//! Names of sensors in profiles.

/// Name of the sensor in a calibration setup without a name.
pub(crate) const UNNAMED: &str = "sensor";

/// Whether two names identify the same sensor: the letters and digits of one contain those of the
/// other. For example, "RPLIDAR A1" matches "Slamtec RPLIDAR A1M8".
///
/// ```
/// use etendue_config::profile::is_same_sensor;
/// assert!(is_same_sensor("Slamtec RPLIDAR A1", "slamtec-rplidar-a1"));
/// assert!(!is_same_sensor("Slamtec RPLIDAR A1", "Slamtec RPLIDAR A2M8"));
/// ```
pub fn is_same_sensor(a: &str, b: &str) -> bool {
    let plain = |name: &str| -> String {
        name.chars()
            .filter(|letter| letter.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect()
    };
    let a = plain(a);
    let b = plain(b);
    a.contains(&b) || b.contains(&a)
}

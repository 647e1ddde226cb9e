//! Parts of the noise of a standing sensor.
//!
//! A sensor at rest in a scene at rest measures every direction again in each scan. The differences between the
//! scans contain the noise that changes with time; the deviations of the mean ranges from planes contain the
//! fixed-pattern errors. [`estimate_noise`] separates the parts of
//! [`CorrelatedNoise`](etendue_sensors::lidar::CorrelatedNoise):
//!
//! | part | from |
//! |---|---|
//! | independent noise of each shot | variance over the scans, without the parts below |
//! | azimuth jitter | increase of that variance with the square of the slope of the range over the azimuth |
//! | noise of neighbours, with its correlation | products of the deviations of directions 1 to 3 columns apart |
//! | noise common to a scan | products of the deviations of directions farther apart |
//! | fixed pattern of the channels | mean deviation of each channel from planes that all channels measure |
//! | fixed pattern of the beams, with its correlation | remaining deviations from those planes |
//!
//! Everything on a surface that is not plane within a window of a few degrees counts as fixed pattern of the
//! beams, and a constant offset of all ranges, which moves the planes, is not seen.

mod estimate;
mod moments;
mod patterns;
mod planes;
mod recording;
mod spread;

pub use estimate::{Estimate, NoiseParts, StandingError, estimate_noise};
pub use planes::PlanePatch;
pub use recording::{StandingBeam, StandingRecording};
pub use spread::SpreadBand;

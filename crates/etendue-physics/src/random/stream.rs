//! Random streams by address, and their purposes.

use super::normal::box_muller;
use super::philox::philox4x32_10;

/// Purpose of a stream of random numbers: streams of different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum Purpose {
    /// Additive noise of the receiver's samples.
    ReceiverNoise = 1,
    /// Photon (shot) noise.
    ShotNoise = 2,
    /// Directions and choices of Monte-Carlo light paths.
    LightPath = 3,
    /// Sub-ray positions on a beam's cross-section.
    SubRay = 4,
    /// Drop-out decisions of calibrated models.
    DropOut = 5,
    /// Search and multi-start in estimation.
    Search = 6,
    /// Rays and light paths of a camera's pixel.
    Pixel = 40,
    /// Noise of a camera's pixel.
    PixelNoise = 41,
    /// Fixed-pattern noise of a camera's pixel, the same in every frame.
    PixelPattern = 42,
    /// Deviations of a beam from its nominal direction.
    Pointing = 7,
    /// Drops and flakes within a beam.
    Precipitation = 8,
    /// False echoes caused by noise.
    FalseAlarm = 9,
    /// Range noise that neighbouring beams share.
    NeighbourNoise = 10,
    /// Fixed-pattern range error of a channel.
    ChannelPattern = 11,
    /// Fixed-pattern range error of a beam on a surface.
    BeamPattern = 12,
    /// Range noise common to a sweep.
    ScanNoise = 13,
    /// Noise and drift of a gyroscope.
    Gyroscope = 20,
    /// Noise and drift of an accelerometer.
    Accelerometer = 21,
    /// Errors of a GNSS receiver.
    Gnss = 22,
    /// Noise and drift of a magnetometer.
    Magnetometer = 23,
    /// Noise and drift of a barometer.
    Barometer = 24,
    /// Slip and radius error of a wheel.
    Wheel = 25,
    /// Noise that a filter adds after a sensor.
    Filter = 26,
    /// Procedural worlds.
    World = 27,
    /// Range error and drop-out of calibrated profiles.
    ProfileNoise = 50,
    /// Intensity of calibrated profiles.
    ProfileIntensity = 51,
}

/// A stream of random numbers identified by (seed, sensor, sweep, beam, purpose).
///
/// The n-th draw depends only on this identity, so results do not depend on threads or on the order of
/// evaluation. The generator is Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as
/// 1, 2, 3", doi:10.1145/2063384.2063405).
///
/// ```
/// use etendue_physics::{Purpose, Stream};
/// let draw = |beam| Stream::new(7, 0, 3, beam, Purpose::ReceiverNoise).uniform();
/// assert_eq!(draw(5), draw(5));
/// assert_ne!(draw(5), draw(6));
/// ```
#[derive(Clone, Debug)]
pub struct Stream {
    /// Key of the generator: the seed.
    pub(super) key: [u32; 2],
    /// Counter of the generator: index of the block, beam, sweep, and sensor with purpose.
    pub(super) counter: [u32; 4],
    /// The current block of four 32-bit numbers.
    block: [u64; 4],
    /// Number of consumed numbers in the current block.
    used: usize,
    /// Whether `block` has yet to be generated.
    due: bool,
}

impl Stream {
    /// The stream of a purpose for one beam (or another indexed item) of one sweep, at its beginning.
    pub fn new(seed: u64, sensor: u32, sweep: u32, beam: u32, purpose: Purpose) -> Self {
        // The 64-bit seed is the key; sensor (12 bits) and purpose (20 bits) share a counter word.
        let sensor_and_purpose = (sensor << 20) | purpose as u32;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the two halves of the seed"
        )]
        let key = [seed as u32, (seed >> 32) as u32];
        Self {
            key,
            counter: [0, beam, sweep, sensor_and_purpose],
            block: [0; 4],
            used: 0,
            due: true,
        }
    }

    /// The next 32 random bits.
    #[expect(clippy::cast_possible_truncation, reason = "words of 32 bits")]
    pub fn bits(&mut self) -> u32 {
        self.word() as u32
    }

    /// The next 32 random bits, as a 64-bit word.
    fn word(&mut self) -> u64 {
        if self.due {
            self.block = philox4x32_10(self.counter, self.key);
            self.due = false;
        }
        let word = self.block[self.used];
        self.pass(1);
        word
    }

    /// Skips the next `uniforms` draws of [`Stream::uniform`] in constant time.
    ///
    /// ```
    /// use etendue_physics::{Purpose, Stream};
    /// let mut stream = Stream::new(1, 0, 0, 0, Purpose::Pixel);
    /// let mut other = stream.clone();
    /// let draws = [stream.uniform(), stream.uniform(), stream.uniform()];
    /// other.skip(2);
    /// assert_eq!(other.uniform(), draws[2]);
    /// ```
    pub fn skip(&mut self, uniforms: u32) {
        self.pass(2 * uniforms as usize);
    }

    /// Advances by `numbers` 32-bit numbers.
    fn pass(&mut self, numbers: usize) {
        let place = self.used + numbers;
        if place >= 4 {
            #[expect(clippy::cast_possible_truncation, reason = "counters wrap")]
            let blocks = (place / 4) as u32;
            self.counter[0] = self.counter[0].wrapping_add(blocks);
            self.due = true;
        }
        self.used = place % 4;
    }

    /// Uniform in [0, 1), with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        unit(self.word(), self.word())
    }

    /// Two independent draws from the standard normal distribution (Box and Muller 1958).
    pub fn normal_pair(&mut self) -> [f64; 2] {
        box_muller(self.uniform(), self.uniform())
    }

    /// Endless iterator of independent draws from the standard normal distribution. It discards at
    /// most one draw when dropped.
    ///
    /// ```
    /// use etendue_physics::{Purpose, Stream};
    /// let stream = || Stream::new(1, 0, 0, 0, Purpose::ReceiverNoise);
    /// let draws: Vec<f64> = stream().normals().take(2).collect();
    /// assert_eq!(draws, stream().normal_pair());
    /// ```
    pub fn normals(&mut self) -> impl Iterator<Item = f64> {
        std::iter::repeat_with(|| self.normal_pair()).flatten()
    }

    /// One draw from the standard normal distribution.
    pub fn normal(&mut self) -> f64 {
        self.normal_pair()[0]
    }
}

/// Number in [0, 1) from two words of 32 random bits, of which 53 are used.
#[expect(clippy::inline_always, reason = "one of a loop over many lanes")]
#[inline(always)]
pub(super) fn unit(first: u64, second: u64) -> f64 {
    let bits = (first << 21) ^ (second >> 11);
    (bits & ((1 << 53) - 1)) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 200,000 draws: mean within 4.5 standard errors, variance within 2 %.
    #[test]
    fn normal_draws_have_mean_zero_and_variance_one() {
        let mut stream = Stream::new(1, 2, 3, 4, Purpose::ReceiverNoise);
        let draws: Vec<f64> = (0..100_000).flat_map(|_| stream.normal_pair()).collect();
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        assert!(mean.abs() < 4.5 / n.sqrt(), "mean {mean}");
        assert!((variance - 1.0).abs() < 0.02, "variance {variance}");
    }

    #[test]
    fn every_part_of_the_address_changes_the_stream() {
        let first = |seed, sensor, sweep, beam, purpose| {
            Stream::new(seed, sensor, sweep, beam, purpose).bits()
        };
        let base = first(1, 1, 1, 1, Purpose::ReceiverNoise);
        assert_ne!(base, first(2, 1, 1, 1, Purpose::ReceiverNoise));
        assert_ne!(base, first(1 << 40, 1, 1, 1, Purpose::ReceiverNoise));
        assert_ne!(base, first(1, 2, 1, 1, Purpose::ReceiverNoise));
        assert_ne!(base, first(1, 1, 2, 1, Purpose::ReceiverNoise));
        assert_ne!(base, first(1, 1, 1, 2, Purpose::ReceiverNoise));
        assert_ne!(base, first(1, 1, 1, 1, Purpose::ShotNoise));
    }
}

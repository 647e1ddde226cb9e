//! Counter-based random numbers: a draw is a function of what it is for, never of when it is made.

use std::f64::consts::TAU;

/// What a stream of random numbers is used for: streams of different purposes are independent.
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
    /// What makes one pixel of a camera differ from the next, in every frame alike.
    PixelPattern = 42,
    /// Deviations of a beam from its nominal direction.
    Pointing = 7,
    /// Drops and flakes that stand in a beam.
    Precipitation = 8,
    /// Echoes that noise alone makes.
    FalseAlarm = 9,
    /// Noise and drift of a gyroscope.
    Gyroscope = 20,
    /// Noise and drift of an accelerometer.
    Accelerometer = 21,
    /// Errors of a satellite receiver.
    Gnss = 22,
    /// Noise and drift of a magnetometer.
    Magnetometer = 23,
    /// Noise and drift of a barometer.
    Barometer = 24,
    /// Slip and size of a wheel.
    Wheel = 25,
    /// Noise that a filter adds after a sensor.
    Filter = 26,
    /// Worlds that are made by rule.
    World = 27,
    /// Range error and drop-out of calibrated profiles.
    ProfileNoise = 50,
    /// Intensity of calibrated profiles.
    ProfileIntensity = 51,
}

/// The beams of one sweep that draw for one purpose.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// Seed of the run.
    pub seed: u64,
    /// Number of the sensor.
    pub sensor: u32,
    /// Number of the sweep.
    pub sweep: u32,
    /// What they draw for.
    pub purpose: Purpose,
}

/// Streams that are drawn from together.
const TOGETHER: usize = 16;

impl Draws {
    /// The stream of one beam.
    pub fn stream(&self, beam: u32) -> Stream {
        Stream::new(self.seed, self.sensor, self.sweep, beam, self.purpose)
    }

    /// The first [`Stream::normal_pair`] of the stream of each beam, the same numbers as one by
    /// one, sooner.
    ///
    /// ```
    /// use etendue_physics::{Draws, Purpose};
    /// let draws = Draws { seed: 1, sensor: 0, sweep: 3, purpose: Purpose::ReceiverNoise };
    /// let mut pairs = Vec::new();
    /// draws.normal_pairs(&[7, 9], &mut pairs);
    /// assert_eq!(pairs, [draws.stream(7).normal_pair(), draws.stream(9).normal_pair()]);
    /// ```
    pub fn normal_pairs(&self, beams: &[u32], pairs: &mut Vec<[f64; 2]>) {
        pairs.clear();
        for beams in beams.chunks(TOGETHER) {
            let first = self.stream(0);
            let mut counters = [[0; TOGETHER], [0; TOGETHER], [0; TOGETHER], [0; TOGETHER]];
            for (word, start) in counters.iter_mut().zip(first.counter) {
                *word = [start; TOGETHER];
            }
            counters[1][..beams.len()].copy_from_slice(beams);
            philox_together(&mut counters, first.key);
            let [a, b, c, d] = &counters;
            pairs.extend((0..beams.len()).map(|i| box_muller(unit(a[i], b[i]), unit(c[i], d[i]))));
        }
    }
}

/// A stream of random numbers named by (seed, sensor, sweep, beam, purpose).
///
/// The n-th draw depends on these names alone, so results do not depend on threads or on
/// evaluation order. Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as
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
    key: [u32; 2],
    counter: [u32; 4],
    block: [u32; 4],
    /// Numbers of the current block that are gone.
    used: usize,
    /// Whether `block` is still to be drawn.
    due: bool,
}

impl Stream {
    /// Opens the stream of one purpose for one beam (or any other numbered thing) of one sweep.
    pub fn new(seed: u64, sensor: u32, sweep: u32, beam: u32, purpose: Purpose) -> Self {
        // The 64-bit seed is the key; sensor (12 bits) and purpose (20 bits) share a counter word.
        let who = (sensor << 20) | purpose as u32;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the two halves of the seed"
        )]
        let key = [seed as u32, (seed >> 32) as u32];
        Self {
            key,
            counter: [0, beam, sweep, who],
            block: [0; 4],
            used: 0,
            due: true,
        }
    }

    /// The next 32 random bits.
    pub fn bits(&mut self) -> u32 {
        if self.due {
            self.block = philox4x32_10(self.counter, self.key);
            self.due = false;
        }
        let bits = self.block[self.used];
        self.pass(1);
        bits
    }

    /// Leaves out so many of the next [`Stream::uniform`] numbers, at next to no cost.
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

    /// Goes on by so many 32-bit numbers.
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
        unit(self.bits(), self.bits())
    }

    /// Two independent draws from the standard normal distribution (Box and Muller 1958).
    pub fn normal_pair(&mut self) -> [f64; 2] {
        box_muller(self.uniform(), self.uniform())
    }

    /// Independent draws from the standard normal distribution, without end. Dropped, it loses at
    /// most one.
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

/// A number in [0, 1) of 64 random bits, of which 53 are used.
#[inline]
fn unit(first: u32, second: u32) -> f64 {
    let bits = (u64::from(first) << 21) ^ u64::from(second >> 11);
    (bits & ((1 << 53) - 1)) as f64 / (1_u64 << 53) as f64
}

/// Two standard normal draws from two uniform ones.
#[inline]
fn box_muller(first: f64, second: f64) -> [f64; 2] {
    let radius = (-2.0 * (1.0 - first).ln()).sqrt();
    let angle = TAU * second;
    [radius * angle.cos(), radius * angle.sin()]
}

/// One round of Philox.
#[inline]
fn philox_round([c0, c1, c2, c3]: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
    let (low0, high0) = c0.widening(MULTIPLIERS[0]);
    let (low1, high1) = c2.widening(MULTIPLIERS[1]);
    [high1 ^ c1 ^ key[0], low1, high0 ^ c3 ^ key[1], low0]
}

/// The key of the next round.
#[inline]
fn next_key(key: [u32; 2]) -> [u32; 2] {
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])]
}

/// [`philox4x32_10`] of several counters, word by word.
fn philox_together(counters: &mut [[u32; TOGETHER]; 4], mut key: [u32; 2]) {
    for _ in 0..10 {
        for i in 0..TOGETHER {
            let counter = [
                counters[0][i],
                counters[1][i],
                counters[2][i],
                counters[3][i],
            ];
            let next = philox_round(counter, key);
            for (word, next) in counters.iter_mut().zip(next) {
                word[i] = next;
            }
        }
        key = next_key(key);
    }
}

fn philox4x32_10(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        counter = philox_round(counter, key);
        key = next_key(key);
    }
    counter
}

trait Widening {
    fn widening(self, by: u32) -> (u32, u32);
}

impl Widening for u32 {
    /// The low and the high half of the 64-bit product.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the two halves of the product"
    )]
    fn widening(self, by: u32) -> (u32, u32) {
        let product = u64::from(self) * u64::from(by);
        (product as u32, (product >> 32) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers of the authors' Random123 library (kat_vectors, philox4x32 10).
    #[test]
    fn philox_gives_the_known_answers() {
        assert_eq!(
            philox4x32_10([0; 4], [0; 2]),
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]
        );
        assert_eq!(
            philox4x32_10(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

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
    fn draws_made_together_are_those_made_one_by_one() {
        let draws = Draws {
            seed: 3 << 33,
            sensor: 5,
            sweep: 2,
            purpose: Purpose::ReceiverNoise,
        };
        let beams: Vec<u32> = (0..37).map(|i| i * i * 1009).collect();
        let mut pairs = vec![[0.0; 2]];
        draws.normal_pairs(&beams, &mut pairs);
        let each = beams.iter().map(|beam| draws.stream(*beam).normal_pair());
        assert!(pairs.into_iter().eq(each));
    }

    #[test]
    fn every_name_of_a_stream_matters() {
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

//! Tests of the public interface: depth calibration and noise calibration.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod band_differences;
mod corridor;
mod golden;
mod gradients;
mod input;
mod interval;
mod mapping;
mod noise;
mod verdict;

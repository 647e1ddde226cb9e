//! The public face: learning a depth bias, and noise profiles.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod corridor;
mod golden;
mod gradients;
mod input;
mod interval;
mod mapping;
mod noise;

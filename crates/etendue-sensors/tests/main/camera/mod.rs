//! Cameras against closed forms, lidars and themselves.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod detector;
mod geometry;
mod input;
mod light;
mod motion;
mod stage;

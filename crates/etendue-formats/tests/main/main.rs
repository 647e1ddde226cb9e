//! The public face of the formats crate.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod materials;
mod recordings;
mod scan_logs;
mod scan_outputs;
mod scanner_presets;
mod sensors;
mod simulated_spread;
mod trajectories;

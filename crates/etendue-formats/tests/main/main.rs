//! The public face of the formats crate.

mod materials;
mod recordings;
mod scan_logs;
mod sensors;
mod simulated_spread;

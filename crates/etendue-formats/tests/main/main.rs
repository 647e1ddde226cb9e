//! The public face of the formats crate.

mod materials;
mod meshes;
mod outputs;
mod recordings;
mod scan_logs;
mod scenes;
mod sensors;
mod simulated_spread;

//! The public face of the formats crate.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::print_stdout,
    reason = "a test says what it measured and what it skipped"
)]

mod cameras;
mod convert;
mod depth_models;
mod dynamics;
mod inertial_recordings;
mod materials;
mod meshes;
mod near_walls;
mod noise;
mod outputs;
mod parquet;
mod recordings;
mod robots;
mod scan_files;
mod scan_logs;
mod scan_outputs;
mod scan_streams;
mod scanner_presets;
mod scene_motion;
mod scenes;
mod sensors;
mod simulated_spread;
mod straight_shots;
mod trajectories;
mod velodyne_banks;
mod what_formats_hold;

//! The public API of the crate, and simulations with scene, sensor and robot files.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::print_stdout,
    reason = "a test prints what it measured and what it skipped"
)]

mod cameras;
mod convert;
mod depth_models;
mod dynamics;
mod inclined_walls;
mod includes;
mod inertial_recordings;
mod made_packets;
mod materials;
mod near_walls;
mod noise;
mod outputs;
mod pipelines;
#[path = "../../../etendue-io/tests/main/recordings.rs"]
mod recordings;
mod robots;
mod scan_outputs;
mod scanner_presets;
mod scene_motion;
mod scenes;
mod sensors;
mod simulated_spread;
mod standing;
mod velodyne_banks;

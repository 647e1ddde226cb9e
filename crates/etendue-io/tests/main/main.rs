//! The public API of the crate, format by format.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::print_stdout,
    reason = "a test prints what it measured and what it skipped"
)]

mod damaged_files;
#[cfg(feature = "feather")]
mod feather;
mod format_limits;
mod meshes;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
mod parquet_disabled;
mod rawlogs;
mod readers;
mod recording_readers;
mod recordings;
mod scan_files;
mod scan_logs;
mod scan_streams;
mod split_bags;
mod sweeps;
mod trajectories;

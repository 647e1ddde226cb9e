//! Tests on the first adapter of the machine, which may be software (Debian: mesa-vulkan-drivers). Without an adapter
//! they print that they are skipped, and pass.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test prints what it measured and fails by panicking"
)]

mod agreement;
mod batches;
mod bench_scenes;
mod cameras;
mod echoes;
mod light;
mod motion;
mod opened;
mod profiles;
mod receivers;
mod sweeps;
mod trees;
mod watertight;

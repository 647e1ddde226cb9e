//! Integration tests of etendue-estimate.

mod air;
mod differences;
mod light_paths;
mod linearized;
mod manifold;
mod motion;
mod noise;
mod odometry;
mod pulsed;
#[path = "../../../etendue-io/tests/main/recordings.rs"]
mod recorded_files;
mod recordings;
mod register;
mod scanner_edges;
mod solve;
mod trajectory_error;
mod uncertainty;
mod vertices;
mod waveforms;

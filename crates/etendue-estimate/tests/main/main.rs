//! The public face of etendue-estimate.

mod air;
mod differences;
mod manifold;
mod pulsed;
mod recordings;
mod register;
mod scanner_edges;
mod solve;
mod trajectory_error;
mod uncertainty;
mod waveforms;

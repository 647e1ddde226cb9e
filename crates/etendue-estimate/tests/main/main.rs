//! The public face of etendue-estimate.

mod air;
mod experiments;
mod manifold;
mod model;
mod pulsed;
mod recordings;
mod register;
mod scanner_edges;
mod scenes;
mod solve;
mod uncertainty;
mod visibility;
mod waveforms;

//! Messages to the page: JSON for states and answers, binary for sweeps and meshes.

pub mod columns;
pub mod hello;
mod look;
pub mod mesh;
pub mod state;
pub mod sweep;

pub use look::Look;
pub use state::content;

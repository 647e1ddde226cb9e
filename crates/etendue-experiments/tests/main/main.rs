//! The experiments, and the model of continuous-wave scans in their arena.

#[path = "../../../etendue-estimate/tests/main/differences.rs"]
mod differences;
mod experiments;
mod misfits;
mod model;
mod scenes;
mod visibility;

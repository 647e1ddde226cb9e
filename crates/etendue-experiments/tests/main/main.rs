//! Tests of the experiments, and of the model of phase-receiver scans in their arena.

#[path = "../../../etendue-estimate/tests/main/differences.rs"]
mod differences;
mod calibration;
mod experiments;
mod misfits;
mod model;
mod scenes;
mod visibility;

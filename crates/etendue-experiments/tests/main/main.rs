//! Tests of the experiments, and of the model of phase-receiver scans in their arena.

mod coverage;
#[path = "../../../etendue-estimate/tests/main/differences.rs"]
mod differences;
mod experiments;
mod light_paths;
mod long_tests;
mod misfits;
mod model;
mod scenes;
mod visibility;

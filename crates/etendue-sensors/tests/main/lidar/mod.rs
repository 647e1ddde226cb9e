//! Scanning lidars against closed forms.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test fails by panicking, says what it measured, and counts little"
)]

mod correlated_noise;
mod daylight;
mod deforming;
mod determinism;
mod echoes;
mod lidar_equation;
mod motion;
mod moving;
mod passing;
mod phase_pipeline;
mod phase_receiver;
mod receivers;
mod stage;
mod weather;

//! Scanning lidars against closed forms.

mod determinism;
mod echoes;
mod lidar_equation;
mod motion;
mod receivers;
mod stage;

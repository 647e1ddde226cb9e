//! Depth correction of simulated data sets with known truth, after Agishev et al. 2023, sections IV-A and IV-D.
//!
//! [`corridor`] is a stop-and-go drive through a corridor of 70 m, with an
//! artificial bias or that of the receiver; [`board`] is a board rotated in front of the lidar.

pub mod board;
pub mod corridor;
mod place;

pub use place::{corridor_scene, stops};

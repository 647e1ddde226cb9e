//! Data sets made by physics, where the truth is known, and what depth correction does to them:
//! after Agishev et al. 2023, sections IV-A and IV-D.
//!
//! [`corridor`] is a stop-and-go drive through a corridor of 70 m, with a bias that
//! is put in or that the receiver makes; [`board`] is a board turned before the lidar.

pub mod board;
pub mod corridor;
mod place;

pub use place::{corridor_scene, stops};

//! Cameras against closed forms, lidars and themselves.

mod detector;
mod geometry;
mod input;
mod light;
mod motion;
mod stage;

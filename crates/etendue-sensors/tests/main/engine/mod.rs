//! Rigid bodies, vehicles and robots of joints in the engine.

mod bodies;
mod joints;
mod sensors;
mod vehicle;

use nalgebra::Vector3;

const G: f64 = 9.81;
const STEP: f64 = 1e-3;

fn down() -> Vector3<f64> {
    Vector3::z() * -G
}

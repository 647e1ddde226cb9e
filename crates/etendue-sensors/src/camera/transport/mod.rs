//! Light transport from the lights to the camera, traced from the camera.

mod light_transport;
mod next_event;
mod path_state;
mod ray_tree;
mod tracer;
mod walk;

pub use light_transport::LightTransport;
pub(super) use tracer::Tracer;

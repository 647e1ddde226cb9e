//! etendue: a physics-based, differentiable simulator for lidar and robot sensors.

pub use etendue_estimate as estimate;
pub use etendue_formats as formats;
pub use etendue_physics as physics;
pub use etendue_scene as scene;
pub use etendue_sensors as sensors;

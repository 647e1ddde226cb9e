//! Sensors of robots and their simulation: lidars, cameras, inertial sensors, GNSS.
//!
//! - [`lidar`]: one [`Lidar`](lidar::Lidar) with a scan pattern and a receiver, and
//!   [`simulate`](lidar::simulate), which returns a [`Sweep`](lidar::Sweep).
//! - [`camera`]: rendering, detectors, display images and ground truth.
//! - [`transport`]: light from a sensor to a scene and back; ambient light.
//! - [`trajectory`] and [`dynamics`]: poses over time, states of motion, vehicles and robots with joints.
//! - [`rig`] and [`filter`]: robots with several sensors, each with its clock and its filters.
//! - [`Scan`] and [`ScanStatistics`]: recorded planar scans.
//!
//! ```
//! use etendue_physics::surface::{Lobe, Material};
//! use etendue_scene::primitive::sphere;
//! use etendue_scene::{CastScratch, MaterialId, MeshId, NamedMaterial, Object, SceneBuilder};
//! use etendue_sensors::transport::{LightRay, TreeSettings, World, trace_tree};
//! use nalgebra::{Isometry3, Point3, Vector3};
//!
//! // A sphere of 0.5 m radius, 2 m in front of the sensor.
//! let scene = SceneBuilder {
//!     materials: vec![NamedMaterial {
//!         name: "paint".into(),
//!         material: Material { lobes: vec![Lobe::lambert(0.8.into())] },
//!     }],
//!     meshes: vec![sphere(0.5, 1e-3)?.into()],
//!     objects: vec![Object {
//!         name: "ball".into(),
//!         mesh: MeshId(0),
//!         world_from_object: Isometry3::translation(2.0, 0.0, 0.0),
//!         material: MaterialId(0),
//!         mask: u32::MAX,
//!     }],
//!     ..SceneBuilder::default()
//! }
//! .build()?;
//!
//! // The light that returns along a ray.
//! let world = World::at_wavelength(&scene, 905e-9)?;
//! let ray = LightRay::new(Point3::origin(), Vector3::x());
//! let mut ranges = Vec::new();
//! let settings = TreeSettings::default();
//! let mut scratch = CastScratch::new();
//! trace_tree(&world, &ray, &settings, &mut scratch, |light| ranges.push(light.range));
//! assert_eq!(ranges.len(), 1);
//! assert!((ranges[0] - 1.5).abs() < 2e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calibrated;
pub mod camera;
mod capture;
pub mod dynamics;
pub mod filter;
mod gnss;
mod inertial;
pub mod lidar;
mod measurement;
mod noise_profiles;
mod phase_signal_tile;
pub mod rig;
mod scalar_tile;
mod scan;
pub mod trajectory;
pub mod transport;

pub use measurement::{BeamMeasurement, BeamSweep, RangeReading, Truth};
pub use noise_profiles::NoiseProfiles;
pub use scalar_tile::{DualTile, LaneScalar, ScalarTile};
pub use scan::{
    Scan, ScanLog, ScanStatistics, Spread, StationaryWindow, StatisticsOptions, SteadyBeam,
};

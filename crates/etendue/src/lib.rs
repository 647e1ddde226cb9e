//! etendue: a physics-based, differentiable simulator for lidar and robot sensors.
//!
//! Given a scene and a sensor, it computes the scan that the sensor would measure, with mirrors, glass, mixed
//! pixels and noise. The main function is [`sensors::lidar::simulate`];
//! its inputs are read by [`config`]:
//!
//! ```
//! use etendue::config::{scene, sensor};
//! use etendue::sensors::lidar::{SweepSettings, simulate};
//! use etendue::sensors::transport::World;
//! use nalgebra::Isometry3;
//!
//! let lidar = sensor::preset("hokuyo-urg-04lx")?.lidar;
//! let arena = scene::arena();
//! let world = World::at_wavelength(&arena.scene, lidar.wavelength)?;
//! let settings = SweepSettings { seed: 1, with_truth: true, ..SweepSettings::default() };
//! let sweep = simulate(&world, &lidar, &settings, |_| Isometry3::identity());
//!
//! assert_eq!(sweep.shots.len(), 682);
//! let (left, truth) = (sweep.points_of(640)[0], sweep.axis_truths[640].unwrap());
//! assert!((left.range - truth.range).abs() < 0.02);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | crate | contents |
//! |---|---|
//! | [`physics`] | equations of reflectance, beams, phase, pulses, detection and noise, generic in a differentiable scalar |
//! | [`simd`] | vectors of eight and sixteen floats, and run-time choice of the instruction set |
//! | [`raycast`] | meshes, rays and hits: watertight ray casting |
//! | [`scene`] | objects, materials, motions, lights and textures |
//! | [`sensors`] | lidars, cameras, inertial sensors and GNSS; the pipeline from light to measurements |
//! | [`estimate`] | derivatives of the same pipeline, solvers, uncertainty, registration |
//! | [`calibrate`] | noise profiles from recordings of panels, depth bias from maps |
//! | [`io`] | files of meshes, point clouds, scan logs, recordings, packets, images and trajectories |
//! | [`config`] | TOML files of scenes, sensors, robots, materials, cameras, profiles and fits |
//!
//! Not modelled: diffraction and coherence of light, polarisation from one surface to the next,
//! dispersion of pulses in the medium. Ray trees omit light over several rough surfaces;
//! [`sensors::lidar::LightModel::Paths`] adds it. The command line is the binary `etendue` of the crate
//! `etendue-cli`.

pub use etendue_calibrate as calibrate;
pub use etendue_config as config;
pub use etendue_estimate as estimate;
pub use etendue_io as io;
pub use etendue_physics as physics;
pub use etendue_raycast as raycast;
pub use etendue_scene as scene;
pub use etendue_sensors as sensors;
pub use etendue_simd as simd;

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

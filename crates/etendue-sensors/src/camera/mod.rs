//! Cameras: rendering, detectors and ground truth.
//!
//! [`CameraWorld`] is a scene with its lights in the bands of a camera. [`CameraWorld::expose`] renders and
//! reads out a [`CameraFrame`]: rays through the lens, each at its time within the exposure (motion blur,
//! rolling shutter); light transport with the materials and the ray caster of the lidars; photons,
//! noise, digital numbers and the display image. [`CameraWorld::truth`] gives depth, normals, objects,
//! materials and optical flow of the same frame.
//!
//! ```
//! use etendue_physics::Spectrum;
//! use etendue_physics::surface::{Lobe, Material};
//! use etendue_scene::lighting::{Environment, Lighting};
//! use etendue_scene::primitive::sphere;
//! use etendue_scene::{
//!     MaterialId, MeshId, NamedMaterial, Object, SceneBuilder, Textures,
//! };
//! use etendue_sensors::camera::{Camera, FrameSettings, CameraWorld};
//! use nalgebra::Isometry3;
//!
//! let scene = SceneBuilder {
//!     materials: vec![NamedMaterial {
//!         name: "paint".into(),
//!         material: Material { lobes: vec![Lobe::lambert(1.0.into())] },
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
//! let lighting = Lighting {
//!     environment: Environment::Uniform(Spectrum::Constant(1e6)),
//!     ..Lighting::default()
//! };
//! let camera = Camera::simple(32, 24, 1.0);
//! let textures = Textures::default();
//! let camera_world = CameraWorld::new(&scene, &lighting, &textures, &camera)?;
//! let frame = camera_world.expose(&camera, &FrameSettings::default(), |_| Isometry3::identity());
//! // A white sphere in uniform light has the radiance of its surroundings.
//! let [least, most] = frame.radiance_range();
//! assert!((most / least - 1.0).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Left out: defocus, chromatic aberration, dispersion (glass refracts all bands like the middle one),
//! caustics of lamps through solid glass or over mirrors in direct light, smooth shading of meshes, and
//! the colour matrix between the bands of a camera and sRGB (a display image shows the bands).

mod auto_exposure;
mod bands;
mod direct_frame;
mod error;
mod frame;
mod illumination;
mod model;
mod read_out;
mod render;
mod sampler;
mod spectral_scene;
mod transport;
mod truth;
mod vertex;
mod world;

pub use direct_frame::{DirectBackdrop, DirectFrame, DirectLamp, NotDirectFrame};
pub use error::CameraWorldError;
pub use frame::{CameraFrame, FrameSettings};
pub use model::{
    Band, Camera, CameraError, Colour, Detector, Exposure, LinearDetector, Shutter, WhiteBalance,
};
pub use transport::LightTransport;
pub use truth::{ClassMap, FrameTruth};
pub use world::CameraWorld;

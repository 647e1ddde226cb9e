//! Sensor physics of etendue: the equations of lidars, cameras and other sensors, generic in a
//! differentiable [`Scalar`].
//!
//! | Module | Content |
//! |---|---|
//! | [`surface`] | scattering by materials: lobes, Fresnel reflectance, importance sampling |
//! | [`atmosphere`] | fog, haze, rain, snow and dust: extinction, backscatter, individual drops |
//! | [`beam`] | divergence, shape and subdivision of laser beams |
//! | [`pulse`] | pulsed time of flight and FMCW: waveform, detector, echoes, intensity |
//! | [`phase`] | ranging by the phase of modulated light |
//! | [`profile`] | measured noise profiles of range sensors |
//! | [`camera`], [`light`] | lens models, image sensors, spectra of sun, sky and lamps |
//! | [`inertial`], [`gnss`], [`odometry`], [`ambient`] | inertial units, satellite positioning, wheel encoders, magnetic field and air pressure |
//! | [`statistics`], [`normal`], [`angle`] | distributions and angles |
//!
//! The crate has no dependency on geometry, files, clocks or threads. All random numbers are functions of
//! a seed and an address ([`Stream`]), so that a simulation is reproducible and independent of the order
//! of evaluation. [`Dual`] gives derivatives of the equations by forward-mode automatic differentiation.
//!
//! ```
//! use etendue_physics::surface::{Lobe, Material, Side};
//! use etendue_physics::{Dual, DualParts};
//!
//! // Backscatter of a Lambertian wall of reflectance 0.8, and its derivative by the reflectance
//! let reflectance = Dual::<1>::variable(0.8, 0);
//! let wall = Material { lobes: vec![Lobe::lambert(reflectance)] };
//! let brdf = wall.backscatter(Dual::from(1.0), Side::Front);
//! assert!((brdf.gradient()[0] - 1.0 / std::f64::consts::PI).abs() < 1e-15);
//! ```

pub mod ambient;
pub mod angle;
pub mod atmosphere;
pub mod beam;
pub mod camera;
mod dual;
pub mod gnss;
pub mod inertial;
pub mod light;
pub mod normal;
pub mod odometry;
pub mod phase;
pub mod profile;
pub mod pulse;
mod random;
mod scalar;
mod series;
mod spectrum;
pub mod statistics;
pub mod surface;

pub use dual::{Dual, DualParts};
pub use random::{Draws, MovingAverage, NormalPairs, Purpose, Stream};
pub use scalar::Scalar;
pub use spectrum::{OutsideTable, Spectrum};

/// Speed of light in vacuum, m/s (exact, SI 2019).
pub const SPEED_OF_LIGHT: f64 = 299_792_458.0;

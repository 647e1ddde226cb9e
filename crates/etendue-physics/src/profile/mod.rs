//! Noise profiles: the measured errors of one sensor on one material.
//!
//! A [`Profile`] tabulates bias and spread of the range, drop-out probability and intensity over the
//! incidence, as measured on panels by `etendue calibrate`. [`Profile::at`] gives the expected return of a
//! beam. [`Profile::draw`] draws a random measurement: true range + bias + correlated noise, rounded to
//! the device's quantisation, or a drop-out. A [`ProfileSampler`] is the batched form, equal up to the
//! errors of its tables and of single-precision fixed-pattern noise.
//!
//! Bias, spread and intensity are statistics of the beams that returned, so that drop-outs are applied
//! once. (Kepets 2024, eqs. 4.2-4.3, also averages the zero ranges of dropped beams into the mean.)
//!
//! Values depend on the angle of incidence only, except near the normal, where a [`Glare`] may differ
//! between the two sides of the normal.
//!
//! Beyond the widest recorded incidence, the drop-out is extrapolated by a logistic function of the
//! power of a reflectance model that was fitted to the recording. Not modelled: edges of panels
//! (light of two surfaces), and drift over time (warm-up, sunlight).

mod aspect;
mod batch;
mod check;
mod correlation;
mod distribution;
mod draw;
mod evaluate;
mod glare;
mod intensity;
mod law;
mod noise_cache;
mod noise_profile;
mod reflectance;
mod steps;

pub use aspect::Aspect;
pub use batch::{DrawnBatch, IncidentBatch, ProfileSampler};
pub use check::InvalidProfile;
pub use correlation::Correlation;
pub use distribution::ReturnDistribution;
pub use draw::{BeamAddress, DrawnReturn};
pub use glare::{Glare, GlareKnot};
pub use intensity::IntensityKind;
pub use law::DistanceLaw;
pub use noise_cache::NoiseCache;
pub use noise_profile::{Knot, Profile};
pub use reflectance::{DropOutModel, Facets, ReflectanceModel};
pub use steps::{Step, Steps};

//! Scattering by surfaces: a [`Material`] is a sum of [`Lobe`]s.
//!
//! A lidar illuminates along its line of sight: ray trees use [`Material::backscatter`] and
//! [`Material::specular`], path tracing also [`Material::evaluate`], [`Material::sample`] and
//! [`Material::pdf`]. All are functions of directions in a local frame whose z axis is the normal on the side
//! of incidence. A [`PreparedMaterial`] has them with the coefficients that do not depend on directions.
//!
//! Each lobe is one file in `lobe/` with its parameters and their domains, BSDF, sampling, density
//! and tests; `lobe.rs` lists them.
//!
//! Not modelled: polarisation beyond the average of both states at every surface, diffraction and
//! speckle, interference in thin films, subsurface scattering (light leaves where it arrived), and
//! fluorescence.

mod cosine;
mod emission;
pub mod fresnel;
mod ggx;
mod inter_reflection;
mod inter_scattering;
mod inter_scattering_table;
mod interaction;
mod lobe;
mod material;
mod model;
mod parameter;
mod prepared_material;
mod sampling;
mod validate;

pub use emission::{Ambient, background_power, planck_radiance, solar_irradiance};
pub use ggx::Shadowing;
pub use inter_reflection::InterReflection;
pub use inter_scattering::{InterReflected, InterScattering, LostLight};
pub use interaction::{Albedo, BsdfSample, Medium, Passage, Side, Specular, Transmitted};
pub use lobe::*;
pub use material::Material;
pub use parameter::{LobeParameter, OutsideMaterial};
pub use prepared_material::PreparedMaterial;
pub use sampling::sample_cosine_hemisphere;
pub use validate::MaterialError;

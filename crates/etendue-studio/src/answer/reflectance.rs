//! Backscatter of a material over incidence, and the power that the sensor receives from it.

use crate::refusal::Refusal;
use crate::session::Loaded;
use etendue::physics::surface::{Side, Specular};
use serde::Serialize;
use std::f64::consts::PI;

/// Curves over incidence.
#[derive(Serialize)]
pub struct ReflectanceAnswer {
    material: String,
    wavelength_nm: f64,
    /// Incidence, degrees.
    incidence_deg: Vec<f64>,
    /// Reflectance of the white diffuse surface with the same backscatter: pi times the BRDF towards the source.
    backscatter: Vec<f64>,
    /// Reflected part of a mirror reflection.
    mirror: Vec<f64>,
    /// Received power at 1 m, 1/(m² sr): the BRDF towards the source times the cosine of the incidence.
    power: Vec<f64>,
}

/// The curves of the material of a number.
///
/// # Errors
/// If there is no such material, or it has no data at the wavelength of the sensor.
pub fn reflectance(loaded: &Loaded, material: u32) -> Result<ReflectanceAnswer, Refusal> {
    let materials = loaded.scene.scene.materials();
    let named = materials
        .get(material as usize)
        .ok_or_else(|| Refusal::new("there is no such material", "choose another one"))?;
    let world = loaded.world()?;
    let material = world.material(etendue::scene::MaterialId(material));
    let incidence_deg: Vec<f64> = (0..90).map(f64::from).collect();
    let cosines = || {
        incidence_deg
            .iter()
            .map(|degrees| degrees.to_radians().cos())
    };
    let mirror = |specular: Specular<f64>| specular.reflected;
    Ok(ReflectanceAnswer {
        material: named.name.clone(),
        wavelength_nm: loaded.lidar().wavelength * 1e9,
        backscatter: cosines()
            .map(|cos| PI * material.backscatter(cos, Side::Front))
            .collect(),
        mirror: cosines()
            .map(|cos| mirror(material.specular(cos, Side::Front)))
            .collect(),
        power: cosines()
            .map(|cos| cos * material.backscatter(cos, Side::Front))
            .collect(),
        incidence_deg,
    })
}

//! Optical parameters of materials.

use super::family::FitParameter;
use crate::manifold::VariableValue;
use crate::model::{Model, SimulatorInputs};
use etendue_physics::{Scalar, Spectrum, surface};
use etendue_scene::{MaterialId, NamedMaterial};
use std::convert::Infallible;

/// Optical parameter of a material at the wavelength of the sensor.
///
/// Path: `materials.NAME.PARAMETER`, or `materials.NAME.LOBE.PARAMETER` where several lobes have the
/// parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MaterialParameter {
    /// The material.
    pub material: MaterialId,
    /// Parameter of a lobe of the material.
    pub parameter: surface::LobeParameter,
}

impl FitParameter for MaterialParameter {
    fn members(model: &Model) -> Vec<(String, Self)> {
        material_parameters(&model.parts.materials)
    }

    fn value(&self, model: &Model) -> VariableValue<f64> {
        let mut value = f64::NAN;
        let named = &model.parts.materials[self.material.0 as usize];
        let wavelength = model.lidar().wavelength;
        named
            .material
            .try_map(|parameter, spectrum| {
                if parameter == self.parameter {
                    value = spectrum.at(wavelength).unwrap_or(f64::NAN);
                }
                Ok::<(), Infallible>(())
            })
            .ok();
        VariableValue::Number(value)
    }

    fn apply<S: Scalar>(
        &self,
        model: &Model,
        inputs: &mut SimulatorInputs<S>,
        value: VariableValue<S>,
    ) {
        let VariableValue::Number(number) = value else {
            return;
        };
        // Add the material at the wavelength of the sensor, unless another parameter has added it.
        let is_own = |(id, _): &(MaterialId, _)| *id == self.material;
        let known = inputs.materials.iter().position(is_own);
        let index = known.unwrap_or_else(|| {
            let stored = &model.parts.materials[self.material.0 as usize].material;
            let at_wavelength = |spectrum: &Spectrum| {
                S::from(spectrum.at(model.lidar().wavelength).unwrap_or(f64::NAN))
            };
            let material = stored.map(at_wavelength);
            inputs.materials.push((self.material, material));
            inputs.materials.len() - 1
        });
        // Replace the parameter.
        let Ok(replaced) = inputs.materials[index].1.try_map(|parameter, value| {
            let is_own = parameter == self.parameter;
            Ok::<S, Infallible>(if is_own { number } else { *value })
        });
        inputs.materials[index].1 = replaced;
    }
}

/// Parameters of materials, by index, with their shortest unambiguous paths.
///
/// ```
/// use etendue_estimate::model::material_parameters;
/// use etendue_physics::surface::{Lobe, Material};
/// use etendue_scene::NamedMaterial;
/// let material = Material { lobes: vec![Lobe::lambert(0.8.into())] };
/// let wall = NamedMaterial { name: "wall".into(), material };
/// assert_eq!(material_parameters(&[wall])[0].0, "materials.wall.reflectance");
/// ```
pub fn material_parameters(materials: &[NamedMaterial]) -> Vec<(String, MaterialParameter)> {
    let of_each = (0..).map(MaterialId).zip(materials);
    of_each
        .flat_map(|(material, named)| of_material(named, material))
        .collect()
}

/// Parameters of a material with their shortest unambiguous paths.
fn of_material(named: &NamedMaterial, material: MaterialId) -> Vec<(String, MaterialParameter)> {
    // List the parameters.
    let mut parameters = Vec::new();
    named
        .material
        .try_map(|parameter, _| {
            parameters.push(parameter);
            Ok::<(), Infallible>(())
        })
        .ok();
    // Name them, with the lobe where several have the parameter.
    let path = |p: &surface::LobeParameter| {
        let same_name = parameters.iter().filter(|other| other.name == p.name);
        if same_name.count() == 1 {
            format!("materials.{}.{}", named.name, p.name)
        } else {
            format!("materials.{}.{}.{}", named.name, p.lobe, p.name)
        }
    };
    let entry = |&parameter: &surface::LobeParameter| {
        let own = MaterialParameter {
            material,
            parameter,
        };
        (path(&parameter), own)
    };
    parameters.iter().map(entry).collect()
}

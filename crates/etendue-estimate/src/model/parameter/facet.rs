//! Scattering factors of single facets.

use super::beam_offset::indices;
use super::family::{DerivativeSeed, FitParameter};
use crate::manifold::VariableValue;
use crate::model::{Model, SimulatorInputs};
use etendue_physics::Scalar;
use etendue_scene::ObjectId;

/// Factor on the backscatter of a triangle, relative to that of its material.
///
/// Path: `objects.NAME.facets.N.scattering`; `*` matches all triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FacetScattering {
    /// Object of the triangle.
    pub object: ObjectId,
    /// Index of the triangle in the mesh of the object.
    pub triangle: u32,
}

impl FitParameter for FacetScattering {
    fn paths(model: &Model) -> Vec<String> {
        let objects = model.objects().iter();
        objects
            .map(|object| format!("objects.{}.facets.*.scattering", object.name))
            .collect()
    }

    fn resolve(model: &Model, path: &str) -> Option<Vec<(String, Self)>> {
        let inner = path.strip_prefix("objects.")?.strip_suffix(".scattering")?;
        let (name, index) = inner.rsplit_once(".facets.")?;
        let number = model.objects().iter().position(|o| o.name == name)?;
        let mesh = model.scene().mesh(model.objects()[number].mesh);
        let object = ObjectId(u32::try_from(number).ok()?);
        let named = |facet: usize| {
            let triangle = u32::try_from(facet).unwrap_or(u32::MAX);
            let path = format!("objects.{name}.facets.{facet}.scattering");
            (path, Self { object, triangle })
        };
        let indices = indices(index, mesh.triangles.len())?;
        Some(indices.map(named).collect())
    }

    fn value(&self, _: &Model) -> VariableValue<f64> {
        VariableValue::Number(1.0)
    }

    fn apply<S: Scalar>(
        &self,
        _: &Model,
        inputs: &mut SimulatorInputs<S>,
        value: VariableValue<S>,
    ) {
        if let VariableValue::Number(number) = value {
            let factor = (self.object, self.triangle, number.value());
            inputs.facet_factors.push(factor);
        }
    }

    fn seed(&self) -> DerivativeSeed {
        DerivativeSeed::Facet
    }
}

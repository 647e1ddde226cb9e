//! Positions of vertices.

use super::beam_offset::indices;
use super::family::{DerivativeSeed, FitParameter};
use crate::manifold::VariableValue;
use crate::model::{Model, SimulatorInputs};
use etendue_physics::Scalar;
use etendue_scene::ObjectId;

/// Coordinate of a vertex of an object, m, in the frame of the object.
///
/// Paths: `objects.NAME.vertices.N.x`, `.y` and `.z`; without the axis all three, and `*` matches all
/// vertices. Derivatives do not contain the motion of edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VertexPosition {
    /// Object of the vertex. If others share its mesh, they keep theirs.
    pub object: ObjectId,
    /// Index of the vertex in the mesh of the object.
    pub vertex: u32,
    /// Axis: 0 for x, 1 for y, 2 for z.
    pub axis: usize,
}

/// Names of the axes in paths.
const AXES: [&str; 3] = ["x", "y", "z"];

impl FitParameter for VertexPosition {
    fn paths(model: &Model) -> Vec<String> {
        let objects = model.objects().iter();
        objects
            .map(|object| format!("objects.{}.vertices.*", object.name))
            .collect()
    }

    fn resolve(model: &Model, path: &str) -> Option<Vec<(String, Self)>> {
        // Divide the path into object, vertex and axis.
        let (name, inner) = path.strip_prefix("objects.")?.rsplit_once(".vertices.")?;
        let (index, axes) = match inner.split_once('.') {
            Some((index, axis)) => {
                let axis = AXES.iter().position(|known| *known == axis)?;
                (index, axis..axis + 1)
            }
            None => (inner, 0..3),
        };
        let number = model.objects().iter().position(|o| o.name == name)?;
        let mesh = model.scene().mesh(model.objects()[number].mesh);
        let object = ObjectId(u32::try_from(number).ok()?);

        // List the coordinates.
        let of_vertex = |index: usize| {
            let vertex = u32::try_from(index).unwrap_or(u32::MAX);
            axes.clone().map(move |axis| {
                let path = format!("objects.{name}.vertices.{index}.{}", AXES[axis]);
                let coordinate = Self {
                    object,
                    vertex,
                    axis,
                };
                (path, coordinate)
            })
        };
        let vertices = indices(index, mesh.vertices.len())?;
        Some(vertices.flat_map(of_vertex).collect())
    }

    fn value(&self, model: &Model) -> VariableValue<f64> {
        let object = &model.objects()[self.object.0 as usize];
        let mesh = model.scene().mesh(object.mesh);
        VariableValue::Number(mesh.vertices[self.vertex as usize][self.axis])
    }

    /// Sets the coordinate without derivatives, which come from the heights of the corners of triangles.
    fn apply<S: Scalar>(
        &self,
        _: &Model,
        inputs: &mut SimulatorInputs<S>,
        value: VariableValue<S>,
    ) {
        if let VariableValue::Number(number) = value {
            inputs.vertices.push((*self, number.value()));
        }
    }

    fn seed(&self) -> DerivativeSeed {
        DerivativeSeed::Vertex
    }
}

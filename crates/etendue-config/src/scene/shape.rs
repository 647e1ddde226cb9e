//! Shapes of objects.

use super::materials::Palette;
use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_scene::primitive::{self, PrimitiveError};
use etendue_scene::{MaterialId, Mesh};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// The shape of an object, with one key: `shape.box = { .. }`, `shape.mesh = { .. }` and so on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A cuboid centred at the origin.
    Box(BoxShape),
    /// A rectangle centred at the origin, in the x-y plane, normal along z.
    Plane(PlaneShape),
    /// A closed cylinder centred at the origin, its axis along z.
    Cylinder(CylinderShape),
    /// A sphere centred at the origin.
    Sphere(SphereShape),
    /// A closed cone, its base in the x-y plane, its apex on z.
    Cone(ConeShape),
    /// A checkerboard centred at the origin, in the x-y plane, normal along z.
    Checkerboard(CheckerboardShape),
    /// Stripes along y, side by side along x, centred at the origin, in the x-y plane, normal along
    /// z.
    Stripes(StripesShape),
    /// A mesh file.
    Mesh(MeshShape),
}

/// A cuboid.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoxShape {
    /// Lengths along x, y and z.
    #[schemars(with = "[f64; 3]")]
    pub size_m: Spanned<[f64; 3]>,
}

/// A rectangle.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaneShape {
    /// Lengths along x and y.
    #[schemars(with = "[f64; 2]")]
    pub size_m: Spanned<[f64; 2]>,
}

/// A cylinder.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CylinderShape {
    /// Radius.
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0.0))]
    pub radius_m: Spanned<f64>,
    /// Length along z.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub length_m: f64,
    /// Maximum distance of the mesh from the true surface.
    #[serde(default = "usual_tolerance")]
    pub tolerance_mm: f64,
}

/// A sphere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SphereShape {
    /// Radius.
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0.0))]
    pub radius_m: Spanned<f64>,
    /// Maximum distance of the mesh from the true surface.
    #[serde(default = "usual_tolerance")]
    pub tolerance_mm: f64,
}

/// A cone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConeShape {
    /// Radius of the base.
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0.0))]
    pub radius_m: Spanned<f64>,
    /// Height of the apex.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub height_m: f64,
    /// Maximum distance of the mesh from the true surface.
    #[serde(default = "usual_tolerance")]
    pub tolerance_mm: f64,
}

/// A checkerboard.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckerboardShape {
    /// Cells along x and y.
    #[schemars(with = "[u32; 2]")]
    #[schemars(inner(range(min = 1, max = 10_000)))]
    pub cells: Spanned<[u32; 2]>,
    /// Side length of a cell.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub cell_m: f64,
    /// The two materials. The first is in the corner of least x and y.
    #[schemars(with = "[String; 2]")]
    pub materials: [Spanned<String>; 2],
}

/// A striped panel.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StripesShape {
    /// Number of stripes.
    #[schemars(with = "u32")]
    #[schemars(range(min = 1, max = 100_000))]
    pub count: Spanned<u32>,
    /// Lengths of one stripe along x and y.
    pub stripe_m: [f64; 2],
    /// The two materials. The first is at the least x.
    #[schemars(with = "[String; 2]")]
    pub materials: [Spanned<String>; 2],
}

/// A mesh file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshShape {
    /// OBJ, PLY, STL, glTF or GLB, relative to the folder of the scene file. `${NAME}` is the
    /// environment variable NAME.
    #[schemars(with = "String")]
    pub file: Spanned<String>,
    /// Length of a unit of the file in metres, for example 0.001 for millimetres.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub scale: Option<Spanned<f64>>,
    /// Upward axis of the file. Default: z, y in glTF.
    #[serde(default)]
    pub up: Option<UpAxis>,
    /// Materials of the parts, by name. A `*` at the beginning or the end of a name matches any
    /// text; the longest match has priority.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub materials: BTreeMap<Spanned<String>, Spanned<String>>,
    /// A JSON list of `{"id": 12, "name": "Window_01"}` that names the parts of a PLY file with
    /// `object_id`.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub part_names: Option<Spanned<String>>,
}

/// Upward axis of a mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UpAxis {
    /// y, as in most modelling programs.
    Y,
    /// z, as in robotics.
    Z,
}

fn usual_tolerance() -> f64 {
    0.2
}

/// The mesh of a primitive shape; `None` for mesh files.
pub(super) fn primitive_mesh(
    document: &Document,
    shape: &Shape,
    palette: &mut Palette<'_>,
) -> Result<Option<Mesh>, DocumentError> {
    // Generate the triangles
    let (span, mesh) = match shape {
        Shape::Box(shape) => (
            shape.size_m.span(),
            primitive::cuboid(*shape.size_m.get_ref()),
        ),
        Shape::Plane(shape) => (
            shape.size_m.span(),
            primitive::rectangle(*shape.size_m.get_ref()),
        ),
        Shape::Cylinder(shape) => {
            let radius = *shape.radius_m.get_ref();
            let tolerance = shape.tolerance_mm * 1e-3;
            (
                shape.radius_m.span(),
                primitive::cylinder(radius, shape.length_m, tolerance),
            )
        }
        Shape::Sphere(shape) => {
            let radius = *shape.radius_m.get_ref();
            let tolerance = shape.tolerance_mm * 1e-3;
            (shape.radius_m.span(), primitive::sphere(radius, tolerance))
        }
        Shape::Cone(shape) => {
            let radius = *shape.radius_m.get_ref();
            let tolerance = shape.tolerance_mm * 1e-3;
            (
                shape.radius_m.span(),
                primitive::cone(radius, shape.height_m, tolerance),
            )
        }
        Shape::Checkerboard(shape) => {
            let materials = both(document, &shape.materials, palette)?;
            let mesh = primitive::checkerboard(*shape.cells.get_ref(), shape.cell_m, materials);
            (shape.cells.span(), mesh)
        }
        Shape::Stripes(shape) => {
            let materials = both(document, &shape.materials, palette)?;
            let mesh = primitive::stripes(*shape.count.get_ref(), shape.stripe_m, materials);
            (shape.count.span(), mesh)
        }
        Shape::Mesh(_) => return Ok(None),
    };
    // Report errors at the key that determines the size
    mesh.map(Some).map_err(|error: PrimitiveError| {
        document.error(
            span,
            TomlProblem::value(error.to_string(), "correct the numbers of the shape"),
        )
    })
}

fn both(
    document: &Document,
    names: &[Spanned<String>; 2],
    palette: &mut Palette<'_>,
) -> Result<[MaterialId; 2], DocumentError> {
    Ok([
        palette.id(document, &names[0])?,
        palette.id(document, &names[1])?,
    ])
}

impl Shape {
    /// The first material of shapes with materials of their own.
    pub(super) fn own_material(&self) -> Option<&Spanned<String>> {
        match self {
            Self::Checkerboard(shape) => Some(&shape.materials[0]),
            Self::Stripes(shape) => Some(&shape.materials[0]),
            _ => None,
        }
    }
}

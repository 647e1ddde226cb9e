//! Derivatives by the positions of vertices.

use super::hit_triangles::HitTriangles;
use super::jacobian::{Column, zeros};
use super::parameter::VertexPosition;
use super::simulate::LocalParameters;
use super::{Model, SimulatorInputs};
use crate::manifold::Variable;
use etendue_physics::{Dual, DualParts, Scalar};
use etendue_scene::{Hit, ObjectId, Scene};
use std::sync::Arc;

/// Number of triangles per beam in one pass of forward-mode differentiation.
const PER_PASS: usize = 2;

/// Dual numbers with a derivative by the height of each corner of [`PER_PASS`] triangles.
type Heights = Dual<{ 3 * PER_PASS }>;

/// Triangle of an object.
type Facet = (ObjectId, u32);

/// Index of the unknown coordinates of vertices.
struct CoordinateIndex {
    /// Index of the column of each coordinate, by object and vertex.
    columns: Vec<Vec<[Option<usize>; 3]>>,
}

impl CoordinateIndex {
    /// Index of coordinates in the order of their columns.
    fn new(scene: &Scene, coordinates: &[(VertexPosition, f64)]) -> Self {
        let mut columns = vec![Vec::new(); scene.objects().len()];
        for (column, (place, _)) in coordinates.iter().enumerate() {
            let number = place.object.0 as usize;
            let own: &mut Vec<[Option<usize>; 3]> = &mut columns[number];
            if own.is_empty() {
                let vertices = scene.mesh(scene.objects()[number].mesh).vertices.len();
                own.resize(vertices, [None; 3]);
            }
            own[place.vertex as usize][place.axis] = Some(column);
        }
        Self { columns }
    }

    /// Whether an object has unknown coordinates.
    fn has(&self, object: ObjectId) -> bool {
        !self.columns[object.0 as usize].is_empty()
    }

    /// The objects with unknown coordinates.
    fn objects(&self) -> impl Iterator<Item = ObjectId> {
        (0..)
            .map(ObjectId)
            .take(self.columns.len())
            .filter(|object| self.has(*object))
    }
}

impl Model {
    /// Appends the derivatives by the positions of vertices.
    ///
    /// A vertex changes the measurement of a beam only through the planes of the triangles that the beam hits
    /// ([`Scene::bent_surface_hit`]). Every beam carries dual numbers for the heights of the corners of its own
    /// triangles, [`PER_PASS`] triangles in each pass: the cost does not depend on the number of vertices.
    pub(super) fn vertex_columns(
        &self,
        scene: &Scene,
        state: &[Variable],
        components: &[usize],
        columns: &mut Vec<Column>,
    ) {
        let step: Vec<Heights> = zeros(state).into_iter().map(Dual::from).collect();
        let inputs = self.inputs(state, &step);
        let index = CoordinateIndex::new(scene, &inputs.vertices);
        let objects: Vec<ObjectId> = index.objects().collect();
        let mut found: Vec<Column> = components.iter().copied().map(Column::empty).collect();
        let simulate = |facets: &HitTriangles<Facet>| {
            let heights = |scan: usize, beam: usize, hit: &Hit| -> Option<[Heights; 3]> {
                if !index.has(hit.object) {
                    return None;
                }
                let slot = facets.slot(scan, beam, (hit.object, hit.triangle))?;
                Some([0, 1, 2].map(|k| Dual::variable(0.0, 3 * slot + k)))
            };
            let local = LocalParameters {
                factor: None,
                heights: Some((&objects, &heights)),
            };
            self.simulate_with_edges(scene, &inputs, local)
        };
        self.for_each_hit_triangle(
            PER_PASS,
            simulate,
            |quantity, facet: Facet, slot, slopes| {
                let slopes = [0, 1, 2].map(|k| slopes[3 * slot + k]);
                scatter(scene, &index, facet, (quantity, slopes), &mut found);
            },
        );
        columns.extend(found);
    }

    /// Scene with the vertices of the inputs; `None` if they are those of `scene`, or form no valid mesh.
    pub(super) fn with_moved_vertices<S: Scalar>(
        scene: &Scene,
        inputs: &SimulatorInputs<S>,
    ) -> Option<Scene> {
        // Find the vertices that move.
        let current = |place: &VertexPosition| {
            let mesh = scene.mesh(scene.objects()[place.object.0 as usize].mesh);
            mesh.vertices[place.vertex as usize][place.axis]
        };
        let vertices = inputs.vertices.iter();
        #[expect(clippy::float_cmp, reason = "the same number means no motion")]
        let moved = vertices.filter(|(place, value)| current(place) != *value);
        let moved: Vec<&(VertexPosition, f64)> = moved.collect();
        if moved.is_empty() {
            return None;
        }

        // Give each of their objects a mesh of its own, and move its vertices.
        let mut parts = scene.parts().clone();
        let mut own = vec![None; parts.objects.len()];
        for (place, value) in moved {
            let number = place.object.0 as usize;
            let mesh = own[number].get_or_insert_with(|| {
                let mesh = &parts.meshes[parts.objects[number].mesh.0 as usize];
                (**mesh).clone()
            });
            mesh.vertices[place.vertex as usize][place.axis] = *value;
        }
        for (object, mesh) in parts.objects.iter_mut().zip(own) {
            if let Some(mesh) = mesh {
                object.mesh.0 = u32::try_from(parts.meshes.len()).unwrap_or(u32::MAX);
                parts.meshes.push(Arc::new(mesh));
            }
        }
        parts.build().ok()
    }
}

/// Adds the derivatives of a quantity by the heights of the corners of a triangle to the columns of their
/// coordinates: the derivative by a position is that by the height, times the normal.
fn scatter(
    scene: &Scene,
    index: &CoordinateIndex,
    (object, triangle): Facet,
    (quantity, slopes): (usize, [f64; 3]),
    columns: &mut [Column],
) {
    let mesh = scene.mesh(scene.objects()[object.0 as usize].mesh);
    let normal = mesh.normal(triangle);
    for (vertex, slope) in mesh.triangles[triangle as usize].iter().zip(slopes) {
        let own = &index.columns[object.0 as usize][*vertex as usize];
        for (column, along) in own.iter().zip(normal.iter()) {
            if let (Some(column), true) = (column, slope != 0.0) {
                columns[*column].slopes.push((quantity, slope * along));
            }
        }
    }
}

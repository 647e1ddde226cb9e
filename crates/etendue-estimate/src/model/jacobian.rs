//! Jacobian of the measurements by the unknowns.
//!
//! Unknowns on which all beams depend are differentiated in forward mode, in blocks of dual numbers.
//! Unknowns on which few beams depend have sparse columns. Those of offsets of beams and channels
//! follow from the derivatives by the pose of the sensor, because a rotation of a beam about its exit
//! point is equivalent to a rotation of the sensor. Those of factors of facets and of coordinates of
//! vertices come from dual numbers for the triangles that each beam hits.

use super::Model;
use super::parameter::DerivativeSeed;
use super::simulate::{LocalParameters, ScanReturnFactor, WriteMeasurements};
use super::slopes::{OF_ALL, WIDTH};
use crate::manifold::{Manifold, Variable, se3};
use crate::sensor::{BeamMeasurement, Direction, QUANTITIES};
use etendue_physics::beam::BeamFrame;
use etendue_physics::{Dual, DualParts};
use etendue_scene::Scene;
use etendue_sensors::lidar::ReturnTile;
use nalgebra::{Vector3, Vector6};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Quantities of all beams (range, m, and intensity, counts), ordered by scan and beam, with
/// derivatives.
pub(crate) struct Rows {
    /// Quantities; `None` where a beam has no return.
    pub values: Vec<Option<f64>>,
    /// Derivatives by the shared components, row-major with one row per quantity.
    pub jacobian: Vec<f64>,
    /// Indices in the tangent of the columns of `jacobian`: components on which all beams depend.
    pub shared: Vec<usize>,
    /// Sparse columns of the other components.
    pub columns: Vec<Column>,
}

/// Quantities and rows of a batch of beams.
struct RowBatch<'r> {
    values: &'r mut [Option<f64>],
    rows: &'r mut [f64],
    /// Number of components of a row.
    width: usize,
    /// The components that are written.
    block: Range<usize>,
}

/// Sparse column of the Jacobian: derivatives by a component on which few beams depend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// Index of the component in the tangent.
    pub component: usize,
    /// Indices of quantities with their derivatives; those of one quantity add up.
    pub slopes: Vec<(usize, f64)>,
}

impl Column {
    /// Column of a component without derivatives.
    pub fn empty(component: usize) -> Self {
        Self {
            component,
            slopes: Vec::new(),
        }
    }
}

/// Components of the tangent, grouped by the computation of their derivatives.
pub(super) struct Layout {
    /// Components on which all beams depend.
    pub shared: Vec<usize>,
    /// Offsets of groups of beams, with the index of their component.
    offsets: Vec<(usize, DerivativeSeed)>,
    /// Factors of facets.
    facets: Vec<usize>,
    /// Coordinates of vertices.
    vertices: Vec<usize>,
}

/// Batches of a scan.
#[derive(Clone, Copy)]
pub(super) struct ScanBatches {
    /// Number of quantities of the scan.
    pub quantities: usize,
    /// Number of quantities of a batch; the last may have fewer.
    pub per_batch: usize,
}

/// Destination of the measurements, with derivatives by one block of components after the other.
pub(super) trait BlockDestination {
    /// The batches of each scan, with derivatives by a block: a range of the components by which is differentiated.
    fn batches<const N: usize>(
        &mut self,
        scans: &[ScanBatches],
        block: Range<usize>,
    ) -> impl Iterator<Item: IndexedParallelIterator<Item: WriteMeasurements<Dual<N>>>>;
}

impl Model {
    /// Quantities of all beams with their derivatives at `state`.
    pub(crate) fn rows(&self, state: &[Variable]) -> Rows {
        let layout = self.layout(state);
        let scene = self.scene_at(state);
        let quantities = self.quantities();
        let mut rows = Rows {
            values: vec![None; quantities],
            jacobian: vec![0.0; quantities * layout.shared.len()],
            columns: self.columns(&scene, state, &layout),
            shared: layout.shared,
        };
        let shared = rows.shared.clone();
        self.differentiate(&scene, state, &shared, &mut rows);
        rows
    }

    /// Number of quantities of all scans.
    pub(super) fn quantities(&self) -> usize {
        self.all_beams() * QUANTITIES
    }

    /// The batches of each scan.
    fn batches(&self) -> Vec<ScanBatches> {
        let of_scan = |scan| ScanBatches {
            quantities: self.beams(scan) * QUANTITIES,
            per_batch: self.beams_per_batch(scan) * QUANTITIES,
        };
        (0..self.scans()).map(of_scan).collect()
    }

    /// The scene at a state.
    pub(super) fn scene_at(&self, state: &[Variable]) -> Arc<Scene> {
        self.scene_with(&self.inputs::<f64>(state, &zeros(state)))
    }

    /// Sparse columns of the components on which few beams depend.
    pub(super) fn columns(
        &self,
        scene: &Scene,
        state: &[Variable],
        layout: &Layout,
    ) -> Vec<Column> {
        let mut columns = Vec::new();
        if !layout.offsets.is_empty() {
            self.offset_columns(scene, state, &layout.offsets, &mut columns);
        }
        if !layout.facets.is_empty() {
            self.facet_columns(scene, state, &layout.facets, &mut columns);
        }
        if !layout.vertices.is_empty() {
            self.vertex_columns(scene, state, &layout.vertices, &mut columns);
        }
        columns
    }

    /// Groups of the components of the tangent at a state.
    pub(super) fn layout(&self, state: &[Variable]) -> Layout {
        let mut layout = Layout {
            shared: Vec::new(),
            offsets: Vec::new(),
            facets: Vec::new(),
            vertices: Vec::new(),
        };
        let mut at = 0;
        for (unknown, variable) in self.unknowns.iter().zip(state) {
            let end = at + variable.dimension();
            match unknown.parameter.seed() {
                DerivativeSeed::AllBeams => layout.shared.extend(at..end),
                DerivativeSeed::Facet => layout.facets.push(at),
                DerivativeSeed::Vertex => layout.vertices.push(at),
                offset => layout.offsets.push((at, offset)),
            }
            at = end;
        }
        layout
    }

    /// Simulates the quantities and their derivatives by some components, in forward mode.
    pub(super) fn differentiate(
        &self,
        scene: &Scene,
        state: &[Variable],
        by: &[usize],
        to: &mut impl BlockDestination,
    ) {
        if by.len() <= 3 {
            self.differentiate_blocks::<3>(scene, state, by, to);
        } else {
            self.differentiate_blocks::<{ WIDTH }>(scene, state, by, to);
        }
    }

    /// [`Model::differentiate`] by blocks of `N` components.
    fn differentiate_blocks<const N: usize>(
        &self,
        scene: &Scene,
        state: &[Variable],
        by: &[usize],
        to: &mut impl BlockDestination,
    ) {
        let scans = self.batches();
        let mut first = 0;
        loop {
            // Seed the dual numbers of a block of components.
            let block = first..by.len().min(first + N);
            let mut step: Vec<Dual<N>> = zeros(state).into_iter().map(Dual::from).collect();
            for (i, &component) in by[block.clone()].iter().enumerate() {
                step[component] = Dual::variable(0.0, i);
            }
            // Simulate with them.
            let inputs = self.inputs(state, &step);
            let factor = self.facet_factor(&inputs);
            let factor = factor.as_ref().map(|of| of as ScanReturnFactor<_>);
            let local = LocalParameters::factors(factor);
            let edges = self.edge_rays(scene, &inputs);
            let batches = to.batches(&scans, block);
            self.simulate_into(scene, &inputs, &edges, local, batches);
            first += N;
            if first >= by.len() {
                return;
            }
        }
    }

    /// Appends the derivatives by offsets of groups of beams.
    fn offset_columns(
        &self,
        scene: &Scene,
        state: &[Variable],
        groups: &[(usize, DerivativeSeed)],
        columns: &mut Vec<Column>,
    ) {
        // Simulate with derivatives by a body-fixed twist of the sensor.
        let twist = Vector6::from_fn(|i, _| Dual::<6>::variable(0.0, i));
        let step: Vec<Dual<6>> = zeros(state).into_iter().map(Dual::from).collect();
        let mut inputs = self.inputs::<Dual<6>>(state, &step);
        for pose in &mut inputs.world_from_sensor {
            *pose *= se3::exp(&twist);
        }
        let factor = self.facet_factor(&inputs);
        let factor = factor.as_ref().map(|of| of as ScanReturnFactor<_>);
        let scans = self.simulate_with_edges(scene, &inputs, LocalParameters::factors(factor));
        // Convert the derivatives by the twist to derivatives by the offset of each group.
        for &(component, seed) in groups {
            let (DerivativeSeed::Azimuth(group)
            | DerivativeSeed::Elevation(group)
            | DerivativeSeed::Range(group)) = seed
            else {
                continue;
            };
            let mut slopes = Vec::new();
            for ((scan, measured), of_scan) in scans.iter().enumerate().zip(self.beams_of_scans()) {
                for beam in inputs.sensor.sweep_of(scan).beams_of(group) {
                    let direction = self.sensor(scan).direction(beam);
                    let axis = rotation_axis(&direction, seed);
                    let first = (of_scan.start + beam) * QUANTITIES;
                    for (kind, value) in measured[beam].quantities().into_iter().enumerate() {
                        let slope = match axis {
                            Some(axis) => value.map_or(0.0, |v| by_rotation(&v, &direction, &axis)),
                            None => f64::from(u8::from(kind == 0)),
                        };
                        slopes.push((first + kind, slope));
                    }
                }
            }
            columns.push(Column { component, slopes });
        }
    }
}

/// Axis (sensor frame) about which an offset rotates a beam; `None` for offsets of the range.
fn rotation_axis(beam: &Direction, seed: DerivativeSeed) -> Option<Vector3<f64>> {
    match seed {
        DerivativeSeed::Azimuth(_) => Some(Vector3::z()),
        DerivativeSeed::Elevation(_) => Some(-BeamFrame::new(beam.azimuth, beam.elevation).left),
        _ => None,
    }
}

/// Derivative by a rotation of a beam about its exit point, from those by the twist of the sensor.
///
/// A rotation $\omega$ about the exit point $p$ is the twist $(-\omega \times p, \omega)$.
fn by_rotation(value: &Dual<6>, beam: &Direction, axis: &Vector3<f64>) -> f64 {
    let translation = -axis.cross(&beam.origin.coords);
    let along = |k: usize| value.eps[k] * translation[k] + value.eps[3 + k] * axis[k];
    along(0) + along(1) + along(2)
}

impl BlockDestination for Rows {
    fn batches<const N: usize>(
        &mut self,
        scans: &[ScanBatches],
        block: Range<usize>,
    ) -> impl Iterator<Item: IndexedParallelIterator<Item: WriteMeasurements<Dual<N>>>> {
        let width = self.shared.len();
        let mut rest = &mut self.jacobian[..];
        let mut values = &mut self.values[..];
        scans.iter().map(move |scan| {
            let values = values.split_off_mut(..scan.quantities).expect(OF_ALL);
            let mut batches = Vec::new();
            for values in values.chunks_mut(scan.per_batch) {
                let rows = rest.split_off_mut(..values.len() * width).expect(OF_ALL);
                batches.push(RowBatch {
                    values,
                    rows,
                    width,
                    block: block.clone(),
                });
            }
            batches.into_par_iter()
        })
    }
}

impl<const N: usize> WriteMeasurements<Dual<N>> for RowBatch<'_> {
    fn clear(&mut self) {
        self.values.fill(None);
        if self.block.start == 0 {
            self.rows.fill(0.0);
        }
    }

    #[expect(clippy::inline_always, reason = "a measurement is not copied")]
    #[inline(always)]
    fn write(&mut self, place: usize, measured: BeamMeasurement<Dual<N>>) {
        for (kind, value) in measured.quantities().into_iter().enumerate() {
            let number = place * QUANTITIES + kind;
            self.values[number] = value.map(|v| v.re);
            let Some(value) = value else {
                continue;
            };
            let row = &mut self.rows[number * self.width..][self.block.clone()];
            match row.first_chunk_mut::<N>() {
                Some(whole) => *whole = value.eps,
                None => row.copy_from_slice(&value.eps[..row.len()]),
            }
        }
    }

    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    fn write_tile(&mut self, places: &[u16], returns: &ReturnTile<Dual<N>>) {
        let motion = returns.motion_gradients();
        let mut slopes = [[[0.0; 16]; 6]; QUANTITIES];
        returns.motion_slopes(&mut slopes);
        for (lane, &place) in places.iter().enumerate() {
            let Some(numbers) = returns.values(lane) else {
                continue;
            };
            let place = usize::from(place);
            let values = &mut self.values[place * QUANTITIES..][..QUANTITIES];
            let rows = &mut self.rows[place * QUANTITIES * self.width..];
            let (first, others) = rows.split_at_mut(self.width);
            let rows = [first, &mut others[..self.width]];
            for (kind, (value, row)) in values.iter_mut().zip(rows).enumerate() {
                *value = Some(numbers[kind]);
                let slopes = returns.gradient(kind, lane, &slopes, &motion);
                let row = &mut row[self.block.clone()];
                match row.first_chunk_mut::<N>() {
                    Some(whole) => *whole = slopes,
                    None => row.copy_from_slice(&slopes[..row.len()]),
                }
            }
        }
    }
}

/// Zero tangent at a state.
pub(super) fn zeros(state: &[Variable]) -> Vec<f64> {
    vec![0.0; crate::manifold::dimension(state)]
}

//! Derivatives of every beam by every unknown.
//!
//! Forward mode in blocks of dual numbers for what all beams depend on. What few beams depend on is
//! differentiated by the beam's own few inputs, and scattered: offsets of beams and channels come
//! from the derivatives by the sensor's pose (turning one beam about its exit is what turning the
//! sensor does to that beam), factors of facets from the few facets that a beam meets.

use super::setting::{Factor, Setting};
use super::{Measured, Model, Parameter};
use crate::manifold::{Manifold, Variable, se3};
use crate::visibility::Boundaries;
use etendue_physics::beam::BeamFrame;
use etendue_physics::{Dual, DualParts, Scalar};
use etendue_scene::Scene;
use nalgebra::{Vector3, Vector6};

/// What is needed of all beams: their quantities (range, and for some sensors intensity), beam
/// after beam, scan after scan, and the derivatives.
pub(crate) struct Rows {
    /// Each quantity, where there is one.
    pub values: Vec<Option<f64>>,
    /// One row a quantity: derivatives by the unknowns that all beams share.
    pub jacobian: Vec<f64>,
    /// The components of the tangent that all beams share: the columns of `jacobian`.
    pub shared: Vec<usize>,
    /// The other components, each of which few beams depend on.
    pub columns: Vec<Column>,
}

/// A component that few beams depend on.
pub(crate) struct Column {
    /// Where it stands in the tangent.
    pub component: usize,
    /// Numbers of quantities, and their derivatives.
    pub slopes: Vec<(usize, f64)>,
}

/// Where each unknown's components stand in the tangent, and whether all beams share them.
struct Layout {
    /// Tangent components that all beams share.
    shared: Vec<usize>,
    /// (component, parameter) of offsets of beams or channels.
    lines: Vec<(usize, Parameter)>,
    /// (component, parameter) of factors of facets.
    facets: Vec<(usize, Parameter)>,
}

impl Model {
    /// Quantities and their derivatives at `state`.
    pub(crate) fn rows(&self, state: &[Variable]) -> Rows {
        let layout = self.layout(state);
        let setting = self.setting::<f64>(state, &zeros(state));
        let scene = self.scene_of(&setting);
        let mut rows = match layout.shared.len() {
            0 | 1 => self.forward::<1>(&scene, state, layout.shared),
            2 | 3 => self.forward::<3>(&scene, state, layout.shared),
            _ => self.forward::<6>(&scene, state, layout.shared),
        };
        if !layout.lines.is_empty() {
            self.lines(&scene, state, &layout.lines, &mut rows.columns);
        }
        if !layout.facets.is_empty() {
            self.facet_columns(&scene, state, &layout.facets, &mut rows.columns);
        }
        rows
    }

    fn layout(&self, state: &[Variable]) -> Layout {
        let mut layout = Layout {
            shared: Vec::new(),
            lines: Vec::new(),
            facets: Vec::new(),
        };
        let mut at = 0;
        for (unknown, variable) in self.unknowns.iter().zip(state) {
            let end = at + variable.dimension();
            let parameter = &unknown.parameter;
            match parameter {
                Parameter::Facet { .. } => layout.facets.push((at, parameter.clone())),
                _ if parameter.is_local() => layout.lines.push((at, parameter.clone())),
                _ => layout.shared.extend(at..end),
            }
            at = end;
        }
        layout
    }

    fn forward<const N: usize>(
        &self,
        scene: &Scene,
        state: &[Variable],
        shared: Vec<usize>,
    ) -> Rows {
        let mut rows = Rows {
            values: Vec::new(),
            jacobian: Vec::new(),
            columns: Vec::new(),
            shared,
        };
        let mut first = 0;
        loop {
            let block = &rows.shared[first..rows.shared.len().min(first + N)];
            let used = block.len();
            let mut step: Vec<Dual<N>> = zeros(state).into_iter().map(Dual::from).collect();
            for (i, &component) in block.iter().enumerate() {
                step[component] = Dual::variable(0.0, i);
            }
            let setting = self.setting(state, &step);
            let factor = self.facet_factor(&setting);
            let factor = factor.as_ref().map(|of| of as Factor<_>);
            let measured = self.shoot_with_edges(scene, &setting, factor);
            rows.collect(&measured, self.sensor.kinds(), first, used);
            first += N;
            if first >= rows.shared.len() {
                return rows;
            }
        }
    }

    /// Fires every scan, with edges as the model sees them.
    pub(super) fn shoot_with_edges<S: Scalar>(
        &self,
        scene: &Scene,
        setting: &Setting<S>,
        factor: Option<Factor<S>>,
    ) -> Vec<Vec<Measured<S>>> {
        let boundaries: Vec<_> = match self.edges {
            None => Vec::new(),
            Some(settings) => setting
                .world_from_sensor
                .iter()
                .map(|pose| {
                    let wavelength = self.sensor.wavelength();
                    Boundaries::new(scene, setting, pose, wavelength, self.tree, settings)
                })
                .collect(),
        };
        self.shoot_all(scene, setting, &boundaries, factor)
    }

    /// Derivatives by offsets of beams or channels.
    fn lines(
        &self,
        scene: &Scene,
        state: &[Variable],
        which: &[(usize, Parameter)],
        columns: &mut Vec<Column>,
    ) {
        let twist = Vector6::from_fn(|i, _| Dual::<6>::variable(0.0, i));
        let still: Vec<Dual<6>> = zeros(state).into_iter().map(Dual::from).collect();
        let mut setting = self.setting::<Dual<6>>(state, &still);
        for pose in &mut setting.world_from_sensor {
            *pose *= se3::exp(&twist);
        }
        let factor = self.facet_factor(&setting);
        let factor = factor.as_ref().map(|of| of as Factor<_>);
        let scans = self.shoot_with_edges(scene, &setting, factor);
        let kinds = self.sensor.kinds();
        let mut of_line: Vec<Vec<usize>> = vec![Vec::new(); self.sensor.lines()];
        for beam in 0..self.sensor.beams() {
            of_line[self.sensor.line(beam)].push(beam);
        }
        for (component, parameter) in which {
            let (line, turns) = turning(parameter);
            let mut slopes = Vec::new();
            for (scan, measured) in scans.iter().enumerate() {
                for &beam in &of_line[line] {
                    let first = (scan * measured.len() + beam) * kinds;
                    for (kind, value) in measured[beam].quantities(kinds).enumerate() {
                        let slope = match turns {
                            Some(turn) => value.map_or(0.0, |v| self.turned(&v, beam, turn)),
                            None => f64::from(u8::from(kind == 0)),
                        };
                        slopes.push((first + kind, slope));
                    }
                }
            }
            columns.push(Column {
                component: *component,
                slopes,
            });
        }
    }

    /// Derivative by turning a beam about its exit, from those by the sensor's twist.
    fn turned(&self, value: &Dual<6>, beam: usize, turn: Turned) -> f64 {
        let direction = self.sensor.direction(beam);
        let axis = match turn {
            Turned::Azimuth => Vector3::z(),
            Turned::Elevation => -BeamFrame::new(direction.azimuth, direction.elevation).left,
        };
        let shift = -axis.cross(&direction.origin.coords);
        let by = |k: usize| value.eps[k] * shift[k] + value.eps[3 + k] * axis[k];
        by(0) + by(1) + by(2)
    }
}

/// Which way a beam is turned.
#[derive(Clone, Copy)]
enum Turned {
    Azimuth,
    Elevation,
}

/// The line that an offset is of, and how it turns its beams; not at all where it is of ranges.
fn turning(parameter: &Parameter) -> (usize, Option<Turned>) {
    match *parameter {
        Parameter::AzimuthOffset { beam } => (beam, Some(Turned::Azimuth)),
        Parameter::ElevationOffset { beam } => (beam, Some(Turned::Elevation)),
        Parameter::RangeOffset { beam } => (beam, None),
        _ => (0, None),
    }
}

impl Rows {
    /// Takes quantities and derivatives of one block of components over.
    fn collect<const N: usize>(
        &mut self,
        scans: &[Vec<Measured<Dual<N>>>],
        kinds: usize,
        first: usize,
        used: usize,
    ) {
        let beams = || scans.iter().flatten();
        if first == 0 {
            let all = beams().flat_map(|beam| beam.quantities(kinds));
            self.values = all.map(|value| value.map(|v| v.re)).collect();
            self.jacobian = vec![0.0; self.values.len() * self.shared.len()];
        }
        if used == 0 {
            return;
        }
        let rows = self.jacobian.chunks_exact_mut(self.shared.len());
        let values = beams().flat_map(|beam| beam.quantities(kinds));
        for (row, value) in rows.zip(values) {
            if let Some(value) = value {
                row[first..first + used].copy_from_slice(&value.eps[..used]);
            }
        }
    }
}

pub(super) fn zeros(state: &[Variable]) -> Vec<f64> {
    vec![0.0; crate::manifold::dimension(state)]
}

//! Derivatives of every beam by every unknown.
//!
//! Forward mode in blocks of dual numbers for what all beams depend on; offsets of single beams
//! come from the derivatives by the sensor's pose: turning one beam about the sensor's own axes is
//! what turning the sensor does to that beam.

use super::setting::Setting;
use super::{Model, Parameter};
use crate::manifold::{Manifold, Variable, se3};
use crate::visibility::Boundaries;
use etendue_physics::beam::BeamFrame;
use etendue_physics::{Dual, DualParts};
use etendue_scene::Scene;
use etendue_sensors::cw::Shot;
use nalgebra::Vector6;

/// What is needed of one beam: its range, if it has one, and the derivatives of that range.
pub(crate) struct Rows {
    /// Range of each beam of each scan, m.
    pub ranges: Vec<Option<f64>>,
    /// One row a beam: derivatives by the unknowns that all beams share.
    pub jacobian: Vec<f64>,
    /// The components of the tangent that all beams share: the columns of `jacobian`.
    pub shared: Vec<usize>,
    /// The other components, each of which one beam depends on.
    pub single: Vec<Single>,
}

/// A component that one beam of every scan depends on.
pub(crate) struct Single {
    /// The beam.
    pub beam: usize,
    /// Where the component stands in the tangent.
    pub component: usize,
    /// Derivative of the beam's range, scan by scan.
    pub slopes: Vec<f64>,
}

/// Where each unknown's components stand in the tangent, and whether all beams share them.
struct Layout {
    /// Tangent components that all beams share.
    shared: Vec<usize>,
    /// (component, parameter) of those that one beam has alone.
    single: Vec<(usize, Parameter)>,
}

impl Model {
    /// Ranges and their derivatives at `state`.
    pub(crate) fn rows(&self, state: &[Variable]) -> Rows {
        let layout = self.layout(state);
        let scene = self.scene_of(&self.setting::<f64>(state, &zeros(state)));
        let mut rows = match layout.shared.len() {
            0 | 1 => self.forward::<1>(&scene, state, &layout.shared),
            2 | 3 => self.forward::<3>(&scene, state, &layout.shared),
            _ => self.forward::<6>(&scene, state, &layout.shared),
        };
        if !layout.single.is_empty() {
            rows.single = self.singles(&scene, state, &layout.single);
        }
        rows
    }

    fn layout(&self, state: &[Variable]) -> Layout {
        let mut layout = Layout {
            shared: Vec::new(),
            single: Vec::new(),
        };
        let mut at = 0;
        for (unknown, variable) in self.unknowns.iter().zip(state) {
            let end = at + variable.dimension();
            if unknown.parameter.beam().is_some() {
                layout.single.push((at, unknown.parameter.clone()));
            } else {
                layout.shared.extend(at..end);
            }
            at = end;
        }
        layout
    }

    fn forward<const N: usize>(&self, scene: &Scene, state: &[Variable], shared: &[usize]) -> Rows {
        let mut rows = Rows {
            ranges: Vec::new(),
            jacobian: Vec::new(),
            shared: shared.to_vec(),
            single: Vec::new(),
        };
        let mut blocks = shared.chunks(N);
        let mut first = 0;
        loop {
            let block = blocks.next().unwrap_or_default();
            if block.is_empty() && first > 0 {
                return rows;
            }
            let mut step: Vec<Dual<N>> = zeros(state).into_iter().map(Dual::from).collect();
            for (i, &component) in block.iter().enumerate() {
                step[component] = Dual::variable(0.0, i);
            }
            let shots = self.shoot_with_edges(scene, &self.setting(state, &step));
            rows.collect(&shots, first, block.len());
            first += N;
        }
    }

    fn shoot_with_edges<const N: usize>(
        &self,
        scene: &Scene,
        setting: &Setting<Dual<N>>,
    ) -> Vec<Vec<Shot<Dual<N>>>> {
        let boundaries: Vec<_> = match self.edges {
            None => Vec::new(),
            Some(settings) => setting
                .world_from_sensor
                .iter()
                .map(|pose| Boundaries::new(scene, setting, pose, self.tree, settings))
                .collect(),
        };
        self.shoot_all(scene, setting, &boundaries)
    }

    /// Derivatives by offsets of single beams.
    fn singles(
        &self,
        scene: &Scene,
        state: &[Variable],
        which: &[(usize, Parameter)],
    ) -> Vec<Single> {
        let twist = Vector6::from_fn(|i, _| Dual::<6>::variable(0.0, i));
        let mut setting = self.setting::<Dual<6>>(
            state,
            &zeros(state).into_iter().map(Dual::from).collect::<Vec<_>>(),
        );
        for pose in &mut setting.world_from_sensor {
            *pose *= se3::exp(&twist);
        }
        let beams = setting.lidar.beams.clone();
        let shots = self.shoot_with_edges(scene, &setting);
        let slope = |parameter: &Parameter, shot: &Shot<Dual<6>>, beam: usize| {
            let by_twist = shot.range().map_or([0.0; 6], |range| range.gradient());
            let frame = BeamFrame::new(beams[beam].azimuth, beams[beam].elevation);
            match parameter {
                Parameter::AzimuthOffset { .. } => by_twist[5],
                Parameter::ElevationOffset { .. } => {
                    -(0..3).map(|k| by_twist[3 + k] * frame.left[k]).sum::<f64>()
                }
                _ => 1.0,
            }
        };
        let single = |(component, parameter): &(usize, Parameter)| {
            let beam = parameter
                .beam()
                .expect("parameters of single beams have a beam");
            Single {
                beam,
                component: *component,
                slopes: shots
                    .iter()
                    .map(|scan| slope(parameter, &scan[beam], beam))
                    .collect(),
            }
        };
        which.iter().map(single).collect()
    }
}

impl Rows {
    /// Takes ranges and derivatives of one block of components over.
    fn collect<const N: usize>(&mut self, scans: &[Vec<Shot<Dual<N>>>], first: usize, used: usize) {
        let shots = || scans.iter().flatten().map(Shot::range);
        if first == 0 {
            self.ranges = shots().map(|range| range.map(|r| r.re)).collect();
            self.jacobian = vec![0.0; self.ranges.len() * self.shared.len()];
        }
        for (beam, range) in shots().enumerate() {
            let start = beam * self.shared.len() + first;
            if let Some(range) = range {
                self.jacobian[start..start + used].copy_from_slice(&range.gradient()[..used]);
            }
        }
    }
}

fn zeros(state: &[Variable]) -> Vec<f64> {
    vec![0.0; crate::manifold::dimension(state)]
}

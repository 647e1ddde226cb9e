//! Soft visibility: a stage of a fit that finds objects from a distance.
//!
//! Where the predicted and the true outline of an object do not overlap, no ray of the model that hits the
//! object is near a beam that measured it, and the residuals have no derivative towards it. This stage
//! therefore lets every beam have two explanations: the object, or what the sensor sees without it. With
//! the signed angular distance $d_i$ of the beam from the outline (positive inside), the visibility
//! $$v_i = \frac{1}{1 + e^{-d_i/\tau}}$$
//! of width $\tau$ is the prior probability of the object, the ranges with and without it are $f_i$ and
//! $b_i$, and the cost of the measured ranges $y_i$ is the negative logarithm of the mixture
//! $$E = -\sum_i \ln\Bigl[\frac{v_i}{1 + (f_i - y_i)^2/s^2} + \frac{1 - v_i}{1 + (b_i - y_i)^2/s^2}\Bigr]$$
//! with the scale $s$ of the residuals. A beam outside the outline has the $f_i$ of the nearest beam that the
//! object changes. $\tau$ and $s$ decrease from stage to stage (annealing), to the widths of the beams
//! and of the residuals, where the stages of the rays follow.
//!
//! With the posterior probability $\gamma_i$ of the object, $E$ has the gradient
//! $$\frac{\partial E}{\partial\theta} = \sum_i
//! \gamma_i \frac{2(f_i-y_i)}{s^2+(f_i-y_i)^2}\frac{\partial f_i}{\partial\theta} +
//! (1-\gamma_i) \frac{2(b_i-y_i)}{s^2+(b_i-y_i)^2}\frac{\partial b_i}{\partial\theta} -
//! \frac{\gamma_i - v_i}{\tau}\frac{\partial d_i}{\partial\theta},$$
//! and the Hessian is approximated by the Gauss-Newton terms of the residuals and $v_i(1-v_i)/\tau^2$ for
//! $d_i$.
//!
//! Sources: sigmoid of the signed distance as visibility: Liu, Li, Chen, Li 2019, "Soft Rasterizer",
//! doi:10.1109/ICCV.2019.00780. Mixture of explanations with posterior weights: Dempster, Laird, Rubin
//! 1977, doi:10.1111/j.2517-6161.1977.tb01600.x. Annealing of a non-convex cost: Blake and Zisserman 1987,
//! "Visual Reconstruction".
//!
//! Approximations of this stage: one ray per beam, outlines by [`ObjectBounds`] from the origin of the
//! sensor, no derivatives by unknowns of single beams and facets.

use super::problem::FitProblem;
use crate::manifold::{Manifold, Variable, dimension};
use crate::model::{BeamMeasurement, Model, Parameter, QUANTITIES, Rows, Unknown};
use crate::solve::{DampedSearch, DampingSchedule, NormalEquations};
use crate::visibility::ObjectBounds;
use etendue_physics::{Dual, Scalar};
use etendue_scene::ObjectId;
use nalgebra::{DMatrix, DVector, Vector3};

/// Maximum number of beams of a scan; scans with more are thinned.
const MAX_BEAMS: usize = 700;

/// Widths $\tau$ of the visibility (rad) and scales $s$ of the residuals (m), in descending order.
const STAGES: [Softness; 6] = [
    Softness::new(0.3, 0.1),
    Softness::new(0.15, 0.1),
    Softness::new(0.08, 0.05),
    Softness::new(0.04, 0.03),
    Softness::new(0.02, 0.02),
    Softness::new(0.005, 0.01),
];

/// Maximum number of steps of a stage.
const STEPS: usize = 15;

/// Relative decrease of the cost below which a stage has converged.
const MIN_DECREASE: f64 = 1e-3;

/// Maximum norm of a step, in the units of the unknowns.
const MAX_STEP: f64 = 0.5;

/// Change of a range by an object below which a beam is unaffected, m.
const UNAFFECTED: f64 = 1e-9;

/// Residual of a beam without a prediction, m.
const MISSING: f64 = 1.0;

/// Widths of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Softness {
    /// Width $\tau$ of the visibility, rad.
    pub visibility: f64,
    /// Scale $s$ of the residuals, m.
    pub residual: f64,
}

impl Softness {
    const fn new(visibility: f64, residual: f64) -> Self {
        Self {
            visibility,
            residual,
        }
    }

    /// Likelihood of a residual, relative to that of zero.
    fn likelihood(self, residual: f64) -> f64 {
        1.0 / (1.0 + (residual / self.residual).powi(2))
    }

    /// Weight of a residual in the normal equations.
    fn weight(self, residual: f64) -> f64 {
        2.0 / (self.residual.powi(2) + residual.powi(2))
    }
}

/// Fit problem with soft visibility of the objects with unknown poses.
#[derive(Clone, Debug)]
pub struct SoftVisibility {
    with_objects: Model,
    without_objects: Model,
    objects: Vec<ObjectId>,
    /// Measured range of each beam, by scan.
    measured: Vec<Option<f64>>,
}

/// Two explanations of a measured range.
struct Explanations {
    /// Residual with the object, m.
    foreground: f64,
    /// Residual without it, m.
    background: f64,
    /// Prior probability of the object, $v$.
    visibility: f64,
    /// Posterior probability of the object, $\gamma$.
    posterior: f64,
    /// Likelihood of the mixture.
    likelihood: f64,
}

impl Explanations {
    fn new(foreground: f64, background: f64, distance: f64, softness: Softness) -> Self {
        let visibility = 1.0 / (1.0 + (-distance / softness.visibility).exp());
        let with = visibility * softness.likelihood(foreground);
        let without = (1.0 - visibility) * softness.likelihood(background);
        let likelihood = (with + without).max(f64::MIN_POSITIVE);
        Self {
            foreground,
            background,
            visibility,
            posterior: with / likelihood,
            likelihood,
        }
    }
}

impl SoftVisibility {
    /// Soft visibility of the objects with unknown poses; `None` without any.
    pub fn new(problem: &FitProblem) -> Option<Self> {
        let objects: Vec<ObjectId> = problem
            .model
            .unknowns()
            .iter()
            .filter_map(object_of)
            .collect();
        if objects.is_empty() {
            return None;
        }
        // Odd, so that the beams cycle through the channels of a scanner
        let every = problem.model.beams(0).div_ceil(MAX_BEAMS);
        let thin = problem.thinned(if every > 1 { every | 1 } else { 1 });
        Some(Self {
            without_objects: thin.model.without(&objects),
            measured: thin.ranges().collect(),
            with_objects: thin.model,
            objects,
        })
    }

    /// State at the end of all stages from a start.
    pub fn descend(&self, start: Vec<Variable>) -> Vec<Variable> {
        STAGES
            .iter()
            .fold(start, |state, softness| self.stage(state, *softness))
    }

    /// Minimises the cost of one stage by damped steps.
    fn stage(&self, mut state: Vec<Variable>, softness: Softness) -> Vec<Variable> {
        let mut search = DampedSearch {
            damping: 1e-2,
            schedule: DampingSchedule::Nielsen,
            min_step: 1e-4,
            min_decrease: f64::NEG_INFINITY,
        };
        for _ in 0..STEPS {
            let (cost, normal) = self.normal_equations(&state, softness);
            if normal.steepness() == 0.0 {
                break;
            }
            let step = search.step(&normal, cost, |step, _| {
                let limited = step * (MAX_STEP / step.norm()).min(1.0);
                let moved = state.retract(limited.as_slice());
                (self.cost(&moved, softness), moved)
            });
            let Some(step) = step.filter(|step| step.cost < cost) else {
                break;
            };
            state = step.evaluation;
            if cost - step.cost < MIN_DECREASE * cost {
                break;
            }
        }
        state
    }

    /// Cost $E$ of a state.
    pub fn cost(&self, state: &[Variable], softness: Softness) -> f64 {
        let ranges = |model: &Model| -> Vec<Option<f64>> {
            let scans = model.predict(state);
            scans.iter().flatten().map(BeamMeasurement::range).collect()
        };
        let with = ranges(&self.with_objects);
        let without = ranges(&self.without_objects);
        let distances = self.distances::<f64>(state, &vec![0.0; dimension(state)]);
        let sources = self.sources(&with, &without);
        let mut cost = 0.0;
        for (beam, measured) in self.measured.iter().enumerate() {
            let Some(measured) = measured else { continue };
            let residual = |range: Option<f64>| range.map_or(MISSING, |range| range - measured);
            let background = residual(without[beam]);
            let foreground = sources[beam].map_or(background, |source| residual(with[source]));
            let both = Explanations::new(foreground, background, distances[beam], softness);
            cost -= both.likelihood.ln();
        }
        cost
    }

    /// Cost $E$ of a state and its normal equations.
    pub fn normal_equations(
        &self,
        state: &[Variable],
        softness: Softness,
    ) -> (f64, NormalEquations) {
        // Predict both explanations with derivatives.
        let with = self.with_objects.rows(state);
        let without = self.without_objects.rows(state);
        let range = |rows: &Rows, beam: usize| rows.values[beam * QUANTITIES];
        let beams = 0..self.measured.len();
        let [with_ranges, without_ranges] = [&with, &without].map(|rows| {
            beams
                .clone()
                .map(|beam| range(rows, beam))
                .collect::<Vec<_>>()
        });
        let sources = self.sources(&with_ranges, &without_ranges);
        let distances = self.distances_with_slopes(state);
        // Add the terms of every beam.
        let unknowns = dimension(state);
        let mut normal = NormalEquations {
            matrix: DMatrix::zeros(unknowns, unknowns),
            gradient: DVector::zeros(unknowns),
        };
        let mut cost = 0.0;
        for (beam, measured) in self.measured.iter().enumerate() {
            let Some(measured) = measured else { continue };
            let residual = |range: Option<f64>| range.map_or(MISSING, |range| range - measured);
            let background = residual(without_ranges[beam]);
            let source = sources[beam];
            let foreground = source.map_or(background, |source| residual(with_ranges[source]));
            let (distance, slopes) = &distances[beam];
            let both = Explanations::new(foreground, background, *distance, softness);
            cost -= both.likelihood.ln();
            // Residual with the object
            if let Some(source) = source.filter(|source| with_ranges[*source].is_some()) {
                let weight = both.posterior * softness.weight(both.foreground);
                let row = slopes_of(&with, source, unknowns);
                add(&mut normal, &row, weight * both.foreground, weight);
            }
            // Residual without it
            if without_ranges[beam].is_some() {
                let weight = (1.0 - both.posterior) * softness.weight(both.background);
                let row = slopes_of(&without, beam, unknowns);
                add(&mut normal, &row, weight * both.background, weight);
            }
            // Visibility
            if source.is_some() {
                let width = softness.visibility;
                let slope = (both.visibility - both.posterior) / width;
                let curvature = both.visibility * (1.0 - both.visibility) / (width * width);
                add(&mut normal, slopes, slope, curvature);
            }
        }
        (cost, normal)
    }

    /// The nearest beam of the same scan that the objects change, for every beam; `None` where they change
    /// none.
    fn sources(&self, with: &[Option<f64>], without: &[Option<f64>]) -> Vec<Option<usize>> {
        let shots = self.with_objects.shots();
        let directions: Vec<Vector3<f64>> = shots.map(|(_, shot)| shot.frame().axis).collect();
        let mut sources = Vec::with_capacity(self.measured.len());
        for beams in self.with_objects.beams_of_scans() {
            let is_changed = |beam: &usize| differ(with[*beam], without[*beam]);
            let changed: Vec<usize> = beams.clone().filter(is_changed).collect();
            for beam in beams {
                let cosine = |other: &usize| directions[beam].dot(&directions[*other]);
                let nearest = if is_changed(&beam) {
                    Some(beam)
                } else {
                    let nearest = |a: &&usize, b: &&usize| cosine(a).total_cmp(&cosine(b));
                    changed.iter().max_by(nearest).copied()
                };
                sources.push(nearest);
            }
        }
        sources
    }

    /// Signed angular distance of every beam from the nearest outline, rad, after a step.
    fn distances<S: Scalar>(&self, state: &[Variable], step: &[S]) -> Vec<S> {
        let model = &self.with_objects;
        let inputs = model.inputs::<S>(state, step);
        let mut distances = Vec::with_capacity(self.measured.len());
        for (scan, world_from_sensor) in inputs.world_from_sensor.iter().enumerate() {
            let sensor_from_world = world_from_sensor.inverse();
            let poses = inputs.object_poses.iter();
            let poses = poses.filter(|(object, _)| self.objects.contains(object));
            let bounds: Vec<ObjectBounds<S>> = poses
                .map(|(object, world_from_object)| {
                    let object = &model.parts().objects[object.0 as usize];
                    let mesh = &model.parts().meshes[object.mesh.0 as usize];
                    ObjectBounds::new(mesh, &(sensor_from_world * world_from_object))
                })
                .collect();
            for shot in model.sensor(scan).shots() {
                let axis = shot.frame().axis;
                let all = bounds.iter().map(|bounds| bounds.distance(&axis));
                let nearest = all.max_by(|a, b| a.value().total_cmp(&b.value()));
                distances.push(nearest.unwrap_or_else(|| S::from(-std::f64::consts::PI)));
            }
        }
        distances
    }

    /// Distances of the beams with their derivatives by the unknowns.
    fn distances_with_slopes(&self, state: &[Variable]) -> Vec<(f64, Vec<f64>)> {
        const BLOCK: usize = 3;
        let unknowns = dimension(state);
        let mut all: Vec<(f64, Vec<f64>)> = Vec::new();
        for first in (0..unknowns).step_by(BLOCK) {
            let used = BLOCK.min(unknowns - first);
            let mut step = vec![Dual::<BLOCK>::from(0.0); unknowns];
            for i in 0..used {
                step[first + i].eps[i] = 1.0;
            }
            let distances = self.distances(state, &step);
            all.resize_with(distances.len(), || (0.0, vec![0.0; unknowns]));
            for ((value, slopes), distance) in all.iter_mut().zip(distances) {
                *value = distance.re;
                slopes[first..first + used].copy_from_slice(&distance.eps[..used]);
            }
        }
        all
    }
}

/// Adds a term with the derivatives `row`, its derivative of the cost and its curvature.
fn add(normal: &mut NormalEquations, row: &[f64], slope: f64, curvature: f64) {
    for (i, a) in row.iter().enumerate() {
        normal.gradient[i] += slope * a;
        for (j, b) in row.iter().enumerate() {
            normal.matrix[(i, j)] += curvature * a * b;
        }
    }
}

/// Object of an unknown pose.
fn object_of(unknown: &Unknown) -> Option<ObjectId> {
    match unknown.parameter {
        Parameter::ObjectPose(pose) => Some(pose.object),
        _ => None,
    }
}

/// Whether an object changes the range of a beam.
fn differ(with: Option<f64>, without: Option<f64>) -> bool {
    match (with, without) {
        (Some(with), Some(without)) => (with - without).abs() > UNAFFECTED,
        (with, without) => with.is_some() != without.is_some(),
    }
}

/// Derivatives of the range of a beam by the unknowns on which all beams depend; zero for the others.
fn slopes_of(rows: &Rows, beam: usize, unknowns: usize) -> Vec<f64> {
    let width = rows.shared.len();
    let first = beam * QUANTITIES * width;
    let mut slopes = vec![0.0; unknowns];
    for (&component, slope) in rows.shared.iter().zip(&rows.jacobian[first..first + width]) {
        slopes[component] = *slope;
    }
    slopes
}

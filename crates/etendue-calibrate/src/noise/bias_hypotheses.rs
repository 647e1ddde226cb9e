//! Hypotheses that explain the bias of a panel over incidence.

use super::panel::{Panel, PanelPlane};
use super::recording::{BeamSample, DirectionCell, PanelRecording};
use etendue_estimate::manifold::Manifold;
use etendue_estimate::solve::{
    LeastSquares, Linearization, Loss, NormalEquations, Residuals, Solver, SolverLimits,
    SolverMethod,
};
use etendue_physics::statistics::median;
use nalgebra::Vector3;

/// A hypothesis about the ranges of a panel, with its fit.
#[derive(Clone, Debug, PartialEq)]
pub struct BiasHypothesis {
    /// Name of the hypothesis.
    pub name: &'static str,
    /// Its coefficient: an offset, m, or a weight $w$; zero for a plane without bias.
    pub coefficient: f64,
    /// Standard error of the coefficient; zero for a plane without bias.
    pub standard_error: f64,
    /// Fitted distance of the panel, m.
    pub distance: f64,
    /// Root mean square residual, m.
    pub rms: f64,
}

/// Range bias per unit of the coefficient, by plane and direction, m.
type BiasTerm = fn(&PanelPlane, &Vector3<f64>) -> f64;

/// Fits three hypotheses to the median ranges of all directions of a panel below the incidence
/// `widest` (rad), plane and coefficient together: a plane without bias; a constant offset of all
/// ranges; an error that grows with incidence, $r = d(\theta)\,(1 + w\gamma^4)$.
///
/// Ranges of a panel that moved are those at its mean pose. From one distance, an offset and a
/// growth can fit equally well: only a second distance separates them.
pub fn fit_bias_hypotheses(
    recording: &PanelRecording,
    panel: &Panel,
    widest: f64,
) -> Vec<BiasHypothesis> {
    // Median range of each direction on the panel.
    let cells = panel.sector.cells.iter();
    let points: Vec<(Vector3<f64>, f64)> = cells
        .map(|cell| &recording.cells[*cell])
        .filter(|cell| cell.returned() > 0.5 && panel.plane.incidence(&cell.direction) < widest)
        .filter_map(|cell| Some((cell.direction, median_range(cell, panel)?)))
        .filter(|(direction, range)| (range / panel.plane.range(direction) - 1.0).abs() < 0.25)
        .collect();
    // Terms of the hypotheses.
    let offset: BiasTerm = |_, _| 1.0;
    let growth: BiasTerm =
        |plane, direction| plane.range(direction) * plane.incidence(direction).powi(4);
    let hypotheses = [
        ("plane alone", None),
        ("constant offset", Some(offset)),
        ("growth with incidence to the fourth", Some(growth)),
    ];
    // Fit a plane with each term.
    hypotheses
        .into_iter()
        .filter_map(|(name, term)| {
            let problem = BiasedPlane {
                points: &points,
                term,
            };
            problem.fit(name, panel.plane, recording.planar)
        })
        .collect()
}

/// Median range in a direction, corrected for the motion of the panel.
fn median_range(cell: &DirectionCell, panel: &Panel) -> Option<f64> {
    let mean_range = panel.plane.range(&cell.direction);
    let deviation = |sample: &BeamSample| {
        Some(sample.range? - panel.plane_in(sample.scan).range(&cell.direction))
    };
    let mut deviations: Vec<f64> = cell.samples.iter().filter_map(deviation).collect();
    Some(median(&mut deviations)? + mean_range)
}

/// Ranges of a plane with a bias term, as a least-squares problem.
struct BiasedPlane<'a> {
    /// Directions with their ranges, m.
    points: &'a [(Vector3<f64>, f64)],
    term: Option<BiasTerm>,
}

/// Unknowns of a [`BiasedPlane`]. A step is the change of distance (m), one rotation of the normal for
/// a planar sensor or two otherwise (rad), and the change of the coefficient, if there is one.
#[derive(Clone)]
struct PlaneState {
    plane: PanelPlane,
    planar: bool,
    coefficient: Option<f64>,
}

impl BiasedPlane<'_> {
    fn fit(&self, name: &'static str, start: PanelPlane, planar: bool) -> Option<BiasHypothesis> {
        if self.points.len() < 6 {
            return None;
        }
        // Fit by Gauss-Newton
        let solver = Solver {
            method: SolverMethod::GaussNewton,
            limits: SolverLimits {
                iterations: 40,
                step: 1e-12,
                gradient: 0.0,
                ..SolverLimits::default()
            },
            ..Solver::default()
        };
        let start = PlaneState {
            plane: start,
            planar,
            coefficient: self.term.map(|_| 0.0),
        };
        let solution = solver.solve(self, start).ok()?;

        // Standard error of the coefficient from the covariance
        let state = &solution.state;
        let squares: f64 = solution.residuals.values.iter().map(|r| r * r).sum();
        let count = self.points.len() as f64;
        let variance = squares / (count - 4.0).max(1.0);
        let normal = NormalEquations::new(&self.linearize(state), Loss::Squared);
        let inverse = normal.matrix.try_inverse()?;
        let last = state.dimension() - 1;
        Some(BiasHypothesis {
            name,
            coefficient: state.coefficient.unwrap_or(0.0),
            standard_error: state
                .coefficient
                .map_or(0.0, |_| (inverse[(last, last)] * variance).sqrt()),
            distance: state.plane.distance,
            rms: (squares / count).sqrt(),
        })
    }

    /// Predicted range of a plane with its bias, m.
    fn predicted(&self, state: &PlaneState, direction: &Vector3<f64>) -> f64 {
        let bias = |term: BiasTerm| term(&state.plane, direction);
        let coefficient = state.coefficient.unwrap_or(0.0);
        let range = state.plane.distance / state.plane.cos_incidence(direction);
        range + coefficient * self.term.map_or(0.0, bias)
    }
}

impl LeastSquares for BiasedPlane<'_> {
    type State = PlaneState;

    fn residuals(&self, state: &PlaneState) -> Residuals {
        let residual =
            |(direction, range): &(Vector3<f64>, f64)| self.predicted(state, direction) - range;
        Residuals::of(self.points.iter().map(residual).collect())
    }

    /// The derivative of the bias term by the plane is neglected.
    fn linearize(&self, state: &PlaneState) -> Linearization {
        let mut jacobian = Vec::with_capacity(self.points.len() * state.dimension());
        let tangents = state.tangents();
        for (direction, _) in self.points {
            let cos = state.plane.cos_incidence(direction);
            let range = state.plane.distance / cos;
            jacobian.push(1.0 / cos);
            jacobian.extend(tangents.iter().map(|t| -range / cos * t.dot(direction)));
            jacobian.extend(self.term.map(|term| term(&state.plane, direction)));
        }
        Linearization::new(self.residuals(state), state.dimension(), jacobian)
    }
}

impl PlaneState {
    /// Directions in which the normal moves.
    fn tangents(&self) -> Vec<Vector3<f64>> {
        let [left, up] = self.plane.tangents(false);
        if self.planar {
            vec![left]
        } else {
            vec![left, up]
        }
    }
}

impl Manifold for PlaneState {
    fn dimension(&self) -> usize {
        1 + self.tangents().len() + usize::from(self.coefficient.is_some())
    }

    fn retract(&self, tangent: &[f64]) -> Self {
        let tangents = self.tangents();
        let rotations = tangents.iter().zip(&tangent[1..]);
        let shift: Vector3<f64> = rotations.map(|(t, angle)| t * *angle).sum();
        let coefficient_step = tangent[tangent.len() - 1];
        Self {
            plane: PanelPlane {
                normal: (self.plane.normal + shift).normalize(),
                distance: self.plane.distance + tangent[0],
            },
            planar: self.planar,
            coefficient: self.coefficient.map(|c| c + coefficient_step),
        }
    }

    fn local(&self, other: &Self) -> Vec<f64> {
        let mut tangent = vec![other.plane.distance - self.plane.distance];
        let ratio = 1.0 / self.plane.normal.dot(&other.plane.normal);
        let shift = other.plane.normal * ratio - self.plane.normal;
        tangent.extend(self.tangents().iter().map(|t| t.dot(&shift)));
        let coefficients = self.coefficient.zip(other.coefficient);
        tangent.extend(coefficients.map(|(own, other)| other - own));
        tangent
    }
}

//! Registration methods, settings and results.

use super::cloud::SearchableCloud;
use super::gicp::{self, GeneralizedIcp, WhitenedPair};
use super::ndt;
use super::pairs::{Pair, PairProblem, PairRule, PairSearch};
use super::point_to_plane::PointToPlane;
use super::point_to_point::PointToPoint;
use super::rigid_motion::RigidMotion;
use crate::solve::{
    Continuation, Iteration, Loss, Residuals, Solution, SolveError, Solver, SolverLimits,
    SolverMethod, StopReason,
};
use nalgebra::{Isometry3, Point};
use thiserror::Error;

/// Registration method, by its residuals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegistrationMethod {
    /// Distances between nearest points (Besl and McKay 1992, doi:10.1109/34.121791).
    PointToPoint,
    /// Distances to the tangent planes of the target (Chen and Medioni 1992,
    /// doi:10.1016/0262-8856(92)90066-C).
    PointToPlane,
    /// Distances between local planes of both clouds (Segal, Haehnel, Thrun 2009,
    /// doi:10.15607/RSS.2009.V.021).
    Gicp,
    /// Distances to normal distributions in the cells of a grid (Biber and Strasser 2003,
    /// doi:10.1109/IROS.2003.1249285), each point between the cells of overlapping grids.
    Ndt,
}

impl RegistrationMethod {
    /// All methods, in the order of publication.
    pub const ALL: [Self; 4] = [
        Self::PointToPoint,
        Self::PointToPlane,
        Self::Ndt,
        Self::Gicp,
    ];

    /// Name of the method in commands and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::PointToPoint => "icp",
            Self::PointToPlane => "icp-plane",
            Self::Gicp => "gicp",
            Self::Ndt => "ndt",
        }
    }

    /// Method of the solver. Point-to-point residuals hold back motions along surfaces, so that their steps shrink slowly.
    fn solver(self) -> SolverMethod {
        match self {
            Self::PointToPoint => SolverMethod::ExtrapolatedGaussNewton,
            _ => SolverMethod::GaussNewton,
        }
    }
}

/// A registration method with its settings.
///
/// ```
/// use etendue_estimate::register::{RegistrationMethod, Registration};
/// use nalgebra::{Isometry2, Point2, Vector2};
///
/// let corner = (0..40).map(|i| f64::from(i) * 0.05);
/// let target: Vec<_> = corner
///     .flat_map(|s| [Point2::new(s, 0.0), Point2::new(0.0, 1.5 * s)])
///     .collect();
/// let truth = Isometry2::new(Vector2::new(0.02, -0.01), 0.03);
/// let source: Vec<_> = target.iter().map(|p| truth.inverse() * p).collect();
/// let found = Registration::new(RegistrationMethod::PointToPlane)
///     .register(&source, &target, Isometry2::identity())?;
/// assert!((found.target_from_source.translation.vector - truth.translation.vector).norm() < 1e-6);
/// # Ok::<(), etendue_estimate::register::RegisterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Registration {
    /// Method, by its residuals.
    pub method: RegistrationMethod,
    /// Greatest distance of a pair, m.
    pub max_distance: f64,
    /// Fraction of the pairs that is used, the nearest first: 1 uses all (trimmed ICP, Chetverikov
    /// et al. 2002).
    pub keep: f64,
    /// Loss of a pair, with its scale in m (in standard deviations for NDT and GICP).
    pub loss: Loss,
    /// Graduated non-convexity: schedule of the scale of the loss, with up to `iterations` per stage.
    pub continuation: Option<Continuation>,
    /// Number of neighbours of a local plane fit.
    pub neighbours: usize,
    /// Side of the cells of NDT, m.
    pub resolution: f64,
    /// Minimum standard deviation of the distributions of NDT, m, such as the range noise of the sensor:
    /// relevant for cells with few points.
    pub thinnest: f64,
    /// Maximum number of iterations.
    pub iterations: usize,
    /// Length of a step (m and rad together) below which the registration has converged.
    pub step: f64,
}

/// Result of a registration.
#[derive(Clone, Debug)]
pub struct RegistrationResult<M> {
    /// Rigid motion of the source onto the target.
    pub target_from_source: M,
    /// Root mean square of the residuals, m (in standard deviations for GICP and NDT).
    pub rms: f64,
    /// Number of pairs in the last iteration.
    pub pairs: usize,
    /// Number of source points without a partner in the last iteration.
    pub unpaired: usize,
    /// Reason why the solver stopped.
    pub stop: StopReason,
    /// All iterations.
    pub log: Vec<Iteration<M>>,
}

/// Errors of a registration.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RegisterError {
    /// A cloud has too few points.
    #[error("the {cloud} cloud has {points} usable points, at least {needed} are needed")]
    TooFewPoints {
        /// "source" or "target".
        cloud: &'static str,
        /// Number of finite points.
        points: usize,
        /// Minimum number of points.
        needed: usize,
    },
    /// No point of the source has a partner at the start.
    #[error(
        "no source point has a target point within {max_distance} m at the start: start nearer, or raise the distance"
    )]
    NoPairs {
        /// Greatest distance of a pair, m.
        max_distance: f64,
    },
    /// A setting is outside its domain.
    #[error("{setting} is {value}: {remedy}")]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// Its value.
        value: f64,
        /// Domain of the setting.
        remedy: &'static str,
    },
    /// The solver failed.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

impl Registration {
    /// A method with the default settings of common implementations: pairs at any distance, squared
    /// loss (for NDT that of its score), 10 neighbours, cells of 1 m.
    pub fn new(method: RegistrationMethod) -> Self {
        Self {
            method,
            max_distance: f64::INFINITY,
            keep: 1.0,
            loss: match method {
                RegistrationMethod::Ndt => ndt::usual_loss(1.0),
                _ => Loss::Squared,
            },
            continuation: None,
            neighbours: 10,
            resolution: 1.0,
            thinnest: 0.0,
            iterations: 50,
            step: 1e-5,
        }
    }

    /// The registration with pairs up to a distance, m.
    #[must_use]
    pub fn within(mut self, max_distance: f64) -> Self {
        self.max_distance = max_distance;
        self
    }

    /// The registration with a robust loss of the given scale (m), for clouds with moving objects or
    /// partial overlap.
    ///
    /// Methods of pairs use the Geman-McClure loss with graduated non-convexity from 20 times the
    /// scale; for GICP the scale is measured across the planes. NDT uses the Cauchy loss of one
    /// standard deviation and distributions with standard deviations of at least
    /// $\text{scale}/\sqrt3$, the residual at which the influence of the Geman-McClure loss is
    /// greatest.
    #[must_use]
    pub fn robust(mut self, scale: f64) -> Self {
        let graduated = Some(Continuation {
            widest: 20.0,
            factor: 3.0,
        });
        (self.loss, self.continuation) = match self.method {
            RegistrationMethod::Ndt => {
                self.thinnest = scale / 3.0_f64.sqrt();
                (Loss::Cauchy { scale: 1.0 }, None)
            }
            RegistrationMethod::Gicp => {
                let scale = scale / (2.0 * gicp::NORMAL_VARIANCE).sqrt();
                (Loss::GemanMcClure { scale }, graduated)
            }
            _ => (Loss::GemanMcClure { scale }, graduated),
        };
        self
    }

    /// The registration with NDT cells of side `resolution`, m, and the corresponding loss.
    #[must_use]
    pub fn with_resolution(mut self, resolution: f64) -> Self {
        self.resolution = resolution;
        if self.method == RegistrationMethod::Ndt {
            self.loss = ndt::usual_loss(resolution);
        }
        self
    }

    /// Registers two point clouds, m, from a start; points that are not finite are removed.
    ///
    /// # Errors
    /// Where a cloud has too few points, no pair exists at the start, or a setting is outside its
    /// domain.
    pub fn register<M: RigidMotion<D, K>, const D: usize, const K: usize>(
        &self,
        source: &[Point<f64, D>],
        target: &[Point<f64, D>],
        start: M,
    ) -> Result<RegistrationResult<M>, RegisterError> {
        Self::register_in_stages(&[*self], source, target, start)
    }

    /// Registers two point clouds, m, in stages, such as with pairs at a large and then at a small distance: each stage
    /// starts at the result of the one before. Search trees are built once, and local planes where the number of neighbours
    /// changes.
    ///
    /// # Errors
    /// As [`Registration::register`], and where there is no stage.
    pub fn register_in_stages<M: RigidMotion<D, K>, const D: usize, const K: usize>(
        stages: &[Self],
        source: &[Point<f64, D>],
        target: &[Point<f64, D>],
        start: M,
    ) -> Result<RegistrationResult<M>, RegisterError> {
        M::register(stages, source, target, start)
    }

    /// Registers two prepared clouds.
    fn register_clouds<M: RigidMotion<D, K>, const D: usize, const K: usize>(
        &self,
        source: &SearchableCloud<D>,
        target: &SearchableCloud<D>,
        start: M,
    ) -> Result<RegistrationResult<M>, RegisterError> {
        // Solve the stages of the continuation.
        let stages = self.continuation.map_or(vec![1.0], Continuation::stages);
        let mut log = Vec::new();
        let mut reached = None;
        let mut at = start;
        for widening in stages {
            let mut found = self.solve(source, target, self.loss.widened(widening), at)?;
            log.append(&mut found.log);
            at = found.state;
            reached = Some(found);
        }
        // There is at least one stage.
        let nowhere = SolveError::NothingPredicted { missing: 0 };
        let reached = reached.ok_or_else(|| self.error(nowhere))?;
        // Summarise the residuals.
        let Residuals {
            values, missing, ..
        } = &reached.residuals;
        let pairs = match self.method {
            RegistrationMethod::Ndt => source.len() - missing,
            _ => reached.residuals.blocks().len(),
        };
        let squares: f64 = values.iter().map(|r| r * r).sum();
        Ok(RegistrationResult {
            target_from_source: reached.state,
            rms: (squares / pairs as f64).sqrt(),
            pairs,
            unpaired: *missing,
            stop: reached.stop,
            log,
        })
    }

    /// Solves one stage of the continuation, with a fixed loss.
    fn solve<M: RigidMotion<D, K>, const D: usize, const K: usize>(
        &self,
        source: &SearchableCloud<D>,
        target: &SearchableCloud<D>,
        loss: Loss,
        start: M,
    ) -> Result<Solution<M>, RegisterError> {
        // Iterations recompute the pairs: take full Gauss-Newton steps.
        let rule = PairRule {
            max_distance: self.max_distance,
            keep: self.keep,
        };
        let newton = self.solver(self.method.solver(), loss);
        // Solve with the residuals of the method.
        let solution = match self.method {
            RegistrationMethod::PointToPoint => newton.solve(
                &PairProblem::<PointToPoint, _, D, K, D>::new(source, target, rule),
                start,
            ),
            RegistrationMethod::PointToPlane => newton.solve(
                &PairProblem::<PointToPlane, _, D, K, 1>::new(source, target, rule),
                start,
            ),
            RegistrationMethod::Gicp => newton.solve(
                &PairProblem::<GeneralizedIcp, _, D, K, D>::new(source, target, rule),
                start,
            ),
            RegistrationMethod::Ndt => {
                let cells = ndt::Cells::new::<M, K>(target, self.resolution, self.thinnest);
                newton.solve(&ndt::NormalDistributions::new(source, &cells), start)
            }
        };
        solution.map_err(|error| self.error(error))
    }

    /// Checks the number of points of a cloud and fits normals where the method needs them.
    fn prepare<M: RigidMotion<D, K>, const D: usize, const K: usize>(
        &self,
        name: &'static str,
        cloud: &mut SearchableCloud<D>,
    ) -> Result<(), RegisterError> {
        let needed = if self.needs_normals() {
            self.neighbours.min(K + 1)
        } else {
            K
        };
        if cloud.len() < needed {
            return Err(RegisterError::TooFewPoints {
                cloud: name,
                points: cloud.len(),
                needed,
            });
        }
        if self.needs_normals() {
            cloud.fit_normals::<M, K>(self.neighbours);
        }
        Ok(())
    }

    /// Whether the residuals of the method use normals.
    fn needs_normals(&self) -> bool {
        matches!(
            self.method,
            RegistrationMethod::PointToPlane | RegistrationMethod::Gicp
        )
    }

    /// Solver with the limits of the registration.
    fn solver(&self, method: SolverMethod, loss: Loss) -> Solver {
        let limits = SolverLimits {
            iterations: self.iterations,
            step: self.step,
            cost: 1e-10,
            gate: self.max_distance.min(1e3),
            ..SolverLimits::default()
        };
        Solver {
            method,
            loss,
            continuation: None,
            limits,
        }
    }

    /// Registration error of a solver error.
    fn error(&self, error: SolveError) -> RegisterError {
        match error {
            SolveError::NothingPredicted { .. } | SolveError::TooFew { .. } => {
                RegisterError::NoPairs {
                    max_distance: self.max_distance,
                }
            }
            other => RegisterError::Solve(other),
        }
    }

    /// Checks that the settings are in their domains.
    fn check(&self) -> Result<(), RegisterError> {
        let wrong = |setting, value, remedy| {
            Err(RegisterError::Setting {
                setting,
                value,
                remedy,
            })
        };
        // Distances and fractions of pairs
        if self.max_distance.is_nan() || self.max_distance <= 0.0 {
            return wrong(
                "max_distance",
                self.max_distance,
                "give a distance above zero, m",
            );
        }
        if !(self.keep > 0.0 && self.keep <= 1.0) {
            return wrong("keep", self.keep, "give a fraction above 0, at most 1");
        }
        // Cells and local planes
        if self.resolution.is_nan() || self.resolution <= 0.0 {
            return wrong(
                "resolution",
                self.resolution,
                "give a cell size above zero, m",
            );
        }
        if self.neighbours < 3 {
            return wrong(
                "neighbours",
                self.neighbours as f64,
                "a local plane needs at least 3",
            );
        }
        Ok(())
    }
}

/// Two clouds with their search trees and, once a method needs them, local planes.
pub(crate) struct CloudPair<const D: usize> {
    source: SearchableCloud<D>,
    target: SearchableCloud<D>,
}

impl<const D: usize> CloudPair<D> {
    /// Clouds of the finite points, m.
    pub fn new(source: &[Point<f64, D>], target: &[Point<f64, D>]) -> Self {
        Self {
            source: SearchableCloud::new(source),
            target: SearchableCloud::new(target),
        }
    }

    /// [`Registration::register_in_stages`] of these clouds.
    pub fn register<M: RigidMotion<D, K>, const K: usize>(
        &mut self,
        stages: &[Registration],
        start: M,
    ) -> Result<RegistrationResult<M>, RegisterError> {
        // Check all settings first.
        for stage in stages {
            stage.check()?;
        }
        // Register stage by stage.
        let mut reached: Option<RegistrationResult<M>> = None;
        for stage in stages {
            stage.prepare::<M, D, K>("source", &mut self.source)?;
            stage.prepare::<M, D, K>("target", &mut self.target)?;
            let (start, before) = match reached {
                Some(before) => (before.target_from_source, before.log),
                None => (start, Vec::new()),
            };
            let mut found = stage.register_clouds(&self.source, &self.target, start)?;
            found.log.splice(..0, before);
            reached = Some(found);
        }
        reached.ok_or(RegisterError::Setting {
            setting: "stages",
            value: 0.0,
            remedy: "give at least one stage",
        })
    }
}

impl CloudPair<3> {
    /// Pairs of generalised ICP at a motion, for clouds that were registered by it, up to a distance, m.
    pub fn whitened_pairs(
        &self,
        target_from_source: &Isometry3<f64>,
        max_distance: f64,
    ) -> Vec<WhitenedPair> {
        let rule = PairRule {
            max_distance,
            keep: 1.0,
        };
        let search = PairSearch::new(&self.source, &self.target, rule);
        let (pairs, _) = search.pairs(target_from_source);
        let rotation = target_from_source.rotation();
        let whitened = |pair: &Pair<3>| WhitenedPair {
            source: self.source.points()[pair.source],
            target: self.target.points()[pair.target],
            whitening: GeneralizedIcp::whitening(&search, &rotation, pair),
        };
        pairs.iter().map(whitened).collect()
    }
}

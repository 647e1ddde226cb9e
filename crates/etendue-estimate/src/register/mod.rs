//! Registration of point clouds without a model of the sensor: the baselines.
//!
//! `target_from_source` moves the source cloud onto the target. Both clouds are in m, in the plane
//! ($D = 2$, [`Isometry2`](nalgebra::Isometry2)) or in space ($D = 3$,
//! [`Isometry3`](nalgebra::Isometry3)). What is not modelled: motion during a sweep, the sensor's
//! noise, reflections.

mod cloud;
mod gicp;
mod motion;
mod ndt;
mod pairs;
mod point_to_plane;
mod point_to_point;

pub use cloud::{Cloud, downsample};
pub use motion::Motion;

use crate::solve::{
    self, Continuation, Limits, Loss, Residuals, Solution, SolveError, Solver, Stop,
};
use nalgebra::Point;
use pairs::Rule;
use thiserror::Error;

/// What is made small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Distances between nearest points (Besl and McKay 1992, doi:10.1109/34.121791).
    PointToPoint,
    /// Distances to the target's tangent planes (Chen and Medioni 1992,
    /// doi:10.1016/0262-8856(92)90066-C).
    PointToPlane,
    /// Distances between local planes of both clouds (Segal, Haehnel, Thrun 2009,
    /// doi:10.15607/RSS.2009.V.021).
    Gicp,
    /// Distances to normal distributions in the cells of a grid (Biber and Strasser 2003,
    /// doi:10.1109/IROS.2003.1249285), each point between the cells of overlapping grids.
    Ndt,
}

impl Method {
    /// All of them, in the order of their age.
    pub const ALL: [Self; 4] = [
        Self::PointToPoint,
        Self::PointToPlane,
        Self::Ndt,
        Self::Gicp,
    ];

    /// The name people use.
    pub fn name(self) -> &'static str {
        match self {
            Self::PointToPoint => "icp",
            Self::PointToPlane => "icp-plane",
            Self::Gicp => "gicp",
            Self::Ndt => "ndt",
        }
    }
}

/// A method with its settings.
///
/// ```
/// use etendue_estimate::register::{Method, Registration};
/// use nalgebra::{Isometry2, Point2, Vector2};
///
/// let corner = (0..40).map(|i| f64::from(i) * 0.05);
/// let target: Vec<_> = corner
///     .flat_map(|s| [Point2::new(s, 0.0), Point2::new(0.0, 1.5 * s)])
///     .collect();
/// let truth = Isometry2::new(Vector2::new(0.02, -0.01), 0.03);
/// let source: Vec<_> = target.iter().map(|p| truth.inverse() * p).collect();
/// let found = Registration::new(Method::PointToPlane)
///     .register(&source, &target, Isometry2::identity())?;
/// assert!((found.target_from_source.translation.vector - truth.translation.vector).norm() < 1e-6);
/// # Ok::<(), etendue_estimate::register::RegisterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Registration {
    /// The method.
    pub method: Method,
    /// Points farther from their nearest than this are left out, m.
    pub max_distance: f64,
    /// Fraction of the pairs that is kept, the nearest first: 1 keeps all (trimmed ICP, Chetverikov
    /// et al. 2002).
    pub keep: f64,
    /// How a pair is charged; the scale is in m (in standard deviations for NDT and GICP).
    pub loss: Loss,
    /// Graduated non-convexity: the loss begins wide and narrows to its own scale, with `iterations`
    /// at each.
    pub continuation: Option<Continuation>,
    /// Neighbours that a local plane is fitted to.
    pub neighbours: usize,
    /// Side of NDT's cells, m.
    pub resolution: f64,
    /// NDT's distributions are nowhere thinner than this standard deviation, m: the sensor's noise, where
    /// cells hold few points.
    pub thinnest: f64,
    /// Iterations at most.
    pub iterations: usize,
    /// Converged where a step is shorter than this (m and rad together).
    pub step: f64,
}

/// A registration.
#[derive(Clone, Debug)]
pub struct Registered<M> {
    /// Moves the source onto the target.
    pub target_from_source: M,
    /// Root mean square of the residuals, m (in standard deviations for GICP and NDT).
    pub rms: f64,
    /// Pairs used at the end.
    pub pairs: usize,
    /// Source points without a partner at the end.
    pub unpaired: usize,
    /// Why the method stopped.
    pub stop: Stop,
    /// Every step.
    pub log: Vec<solve::Iteration<M>>,
}

/// Why two clouds cannot be registered.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RegisterError {
    /// Too few points in a cloud.
    #[error("the {cloud} cloud has {points} usable points, at least {needed} are needed")]
    TooFewPoints {
        /// "source" or "target".
        cloud: &'static str,
        /// Finite points it has.
        points: usize,
        /// Points needed.
        needed: usize,
    },
    /// No point of the source has a partner at the start.
    #[error(
        "no source point has a target point within {max_distance} m at the start: start nearer, or raise the distance"
    )]
    NoPairs {
        /// The distance, m.
        max_distance: f64,
    },
    /// A setting makes no sense.
    #[error("{setting} is {value}: {remedy}")]
    Setting {
        /// Which.
        setting: &'static str,
        /// What it is.
        value: f64,
        /// What it should be.
        remedy: &'static str,
    },
    /// The solver could not go on.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

impl Registration {
    /// A method with the settings that its usual implementation comes with: every point has a
    /// partner, squared loss, 10 neighbours, cells of 1 m.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            max_distance: f64::INFINITY,
            keep: 1.0,
            loss: match method {
                Method::Ndt => ndt::usual_loss(1.0),
                _ => Loss::Squared,
            },
            continuation: None,
            neighbours: 10,
            resolution: 1.0,
            thinnest: 0.0,
            iterations: 50,
            step: 1e-6,
        }
    }

    /// The same with a largest distance of pairs, m.
    #[must_use]
    pub fn within(mut self, max_distance: f64) -> Self {
        self.max_distance = max_distance;
        self
    }

    /// The same for clouds that do not see all the same things, people who walk among them: pairs are
    /// charged by the loss of Geman and McClure of that scale (m, across the planes for GICP), begun
    /// 20 times as wide; NDT's distributions by that of Cauchy of one standard deviation, none of them
    /// thinner than $\text{scale}/\sqrt3$, where the loss of Geman and McClure pulls most, too.
    #[must_use]
    pub fn robust(mut self, scale: f64) -> Self {
        let graduated = Some(Continuation {
            widest: 20.0,
            factor: 3.0,
        });
        (self.loss, self.continuation) = match self.method {
            Method::Ndt => {
                self.thinnest = scale / 3.0_f64.sqrt();
                (Loss::Cauchy { scale: 1.0 }, None)
            }
            Method::Gicp => {
                let scale = scale / (2.0 * gicp::ACROSS).sqrt();
                (Loss::GemanMcClure { scale }, graduated)
            }
            _ => (Loss::GemanMcClure { scale }, graduated),
        };
        self
    }

    /// The same with NDT cells of another size, m, and the loss that belongs to it.
    #[must_use]
    pub fn with_resolution(mut self, resolution: f64) -> Self {
        self.resolution = resolution;
        if self.method == Method::Ndt {
            self.loss = ndt::usual_loss(resolution);
        }
        self
    }

    /// Registers two clouds given as points, m; points that are not finite are left out.
    ///
    /// # Errors
    /// Where a cloud has too few points, nothing pairs at the start, or a setting makes no sense.
    pub fn register<M: Motion<D, K>, const D: usize, const K: usize>(
        &self,
        source: &[Point<f64, D>],
        target: &[Point<f64, D>],
        start: M,
    ) -> Result<Registered<M>, RegisterError> {
        self.check()?;
        let source = self.prepare::<M, D, K>("source", source)?;
        let target = self.prepare::<M, D, K>("target", target)?;
        self.register_clouds(&source, &target, start)
    }

    /// Registers two prepared clouds: for several registrations of the same cloud.
    ///
    /// # Errors
    /// As [`Registration::register`].
    pub fn register_clouds<M: Motion<D, K>, const D: usize, const K: usize>(
        &self,
        source: &Cloud<D>,
        target: &Cloud<D>,
        start: M,
    ) -> Result<Registered<M>, RegisterError> {
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
        let Residuals {
            values, missing, ..
        } = &reached.residuals;
        let pairs = match self.method {
            Method::Ndt => source.len() - missing,
            _ => reached.residuals.blocks().len(),
        };
        let squares: f64 = values.iter().map(|r| r * r).sum();
        Ok(Registered {
            target_from_source: reached.state,
            rms: (squares / pairs as f64).sqrt(),
            pairs,
            unpaired: *missing,
            stop: reached.stop,
            log,
        })
    }

    /// One stage, under one loss.
    fn solve<M: Motion<D, K>, const D: usize, const K: usize>(
        &self,
        source: &Cloud<D>,
        target: &Cloud<D>,
        loss: Loss,
        start: M,
    ) -> Result<Solution<M>, RegisterError> {
        let rule = Rule {
            max_distance: self.max_distance,
            keep: self.keep,
        };
        let newton = self.solver(solve::Method::GaussNewton, loss);
        let solution = match self.method {
            Method::PointToPoint => {
                newton.solve(&point_to_point::Problem::new(source, target, rule), start)
            }
            Method::PointToPlane => {
                newton.solve(&point_to_plane::Problem::new(source, target, rule), start)
            }
            Method::Gicp => newton.solve(&gicp::Problem::new(source, target, rule), start),
            Method::Ndt => {
                let cells = ndt::Cells::new::<M, K>(target, self.resolution, self.thinnest);
                newton.solve(&ndt::Problem::new(source, &cells), start)
            }
        };
        solution.map_err(|error| self.error(error))
    }

    /// The cloud with what the method needs to know of it.
    fn prepare<M: Motion<D, K>, const D: usize, const K: usize>(
        &self,
        name: &'static str,
        points: &[Point<f64, D>],
    ) -> Result<Cloud<D>, RegisterError> {
        let cloud = Cloud::new(points);
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
        Ok(if self.needs_normals() {
            cloud.with_normals::<M, K>(self.neighbours)
        } else {
            cloud
        })
    }

    fn needs_normals(&self) -> bool {
        matches!(self.method, Method::PointToPlane | Method::Gicp)
    }

    fn solver(&self, method: solve::Method, loss: Loss) -> Solver {
        let limits = Limits {
            iterations: self.iterations,
            step: self.step,
            cost: 1e-10,
            gate: self.max_distance.min(1e3),
            ..Limits::default()
        };
        Solver {
            method,
            loss,
            continuation: None,
            limits,
        }
    }

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

    fn check(&self) -> Result<(), RegisterError> {
        let wrong = |setting, value, remedy| {
            Err(RegisterError::Setting {
                setting,
                value,
                remedy,
            })
        };
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

//! Estimation with the lidar simulator: derivatives, solvers, uncertainty, and baselines of point cloud
//! registration.
//!
//! A [`LeastSquares`](solve::LeastSquares) gives residuals and their Jacobian at an element of
//! a [`Manifold`](manifold::Manifold). A [`Solver`](solve::Solver) minimises their cost and reports why
//! it stopped. [`Uncertainty`](uncertainty::Uncertainty) gives the covariance of the estimate and the
//! directions that the measurements do not determine.

pub mod compare;
pub mod fit;
pub mod geometry;
pub mod manifold;
pub mod model;
pub mod odometry;
pub mod register;
mod sensor;
pub mod solve;
pub mod uncertainty;
pub mod visibility;

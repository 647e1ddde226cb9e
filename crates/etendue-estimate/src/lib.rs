//! The simulator inverted: derivatives, solvers, uncertainty, and registration to compare with.
//!
//! A [`LeastSquares`](solve::LeastSquares) gives residuals and their Jacobian at a point of a
//! [`Manifold`](manifold::Manifold); a [`Solver`](solve::Solver) walks to a minimum and says why it
//! stopped; [`Uncertainty`](uncertainty::Uncertainty) says how well the answer is known and what
//! cannot be known.

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

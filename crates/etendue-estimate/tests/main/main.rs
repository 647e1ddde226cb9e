//! The public face of etendue-estimate.

mod manifold;
mod recordings;
mod register;
mod solve;
mod uncertainty;

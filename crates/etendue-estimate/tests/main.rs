//! The public face of etendue-estimate.

mod manifold;
mod solve;
mod uncertainty;

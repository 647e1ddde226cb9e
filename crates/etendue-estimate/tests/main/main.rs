//! The public face of etendue-estimate.

mod experiments;
mod manifold;
mod model;
mod pulsed;
mod recordings;
mod register;
mod scenes;
mod solve;
mod uncertainty;
mod visibility;

//! Simulation in lanes of sixteen: the same operations as the plain pipeline, in the same order.

pub(super) mod phase;

//! Dimensions of the town.

/// Length and width of a block, m.
pub(super) const BLOCK: [f64; 2] = [50.0, 40.0];

/// Width of a roadway, m.
pub(super) const ROADWAY: f64 = 9.0;

/// Width of a pavement, m.
pub(super) const PAVEMENT: f64 = 2.5;

//! Light through small scenes.

mod derivatives;
mod golden;
mod path_derivatives;
mod path_tracing;
mod physics;
mod stage;

//! The public face: learning a depth bias.

mod corridor;
mod golden;
mod gradients;
mod input;

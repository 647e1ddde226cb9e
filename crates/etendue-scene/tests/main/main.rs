//! Claims about the public API.

#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests"
)]

mod casting;
mod moving;
mod primitives;
mod shapes;
mod validation;

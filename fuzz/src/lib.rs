//! Fuzz targets of etendue: one per reader, per wire protocol and per kind of TOML file.
//!
//! [`targets`] lists them with their seeds and the words of their formats. The program `mutate`
//! changes seeds at random, on any toolchain; the program `fuzz` is libFuzzer, which follows the
//! coverage of the code. Both are described in docs/validation/robustness.md.

mod seeds;
mod targets;

pub use targets::{Target, find, targets};

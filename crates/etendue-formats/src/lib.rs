//! Every file format of etendue: the only crate that reads and writes files.

pub mod material;

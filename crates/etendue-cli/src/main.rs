//! The etendue command line.

mod picture;

fn main() {}

//! The etendue command line.

fn main() {}

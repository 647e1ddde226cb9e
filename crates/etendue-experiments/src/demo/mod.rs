//! Closed-loop demonstrations after Elmquist et al. 2021 (doi:10.1115/1.4050080), section 4: a scaled
//! car on an unknown course ([`course`]) and a vehicle that records a procedural town ([`street`]).

pub mod course;
mod part;
pub mod street;

pub use part::{Part, scene};

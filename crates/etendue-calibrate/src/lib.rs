//! Calibration from recordings: the [`noise`] of a sensor on panels of known materials, and the
//! [`depth`] bias of a lidar, learnt from its own maps.
//!
//! For [`depth`], scans of one place from several poses go in; a small model of the range error over incidence
//! comes out, with its uncertainty and a verdict. Not modelled: bias from reflectance, from
//! temperature and from multiple echoes.

pub mod depth;
pub mod noise;

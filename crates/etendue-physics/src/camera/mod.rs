//! Camera equations: lens, aperture, detector, colour filter.
//!
//! [`Intrinsics`] maps directions to pixels and back, [`Vignetting`] and [`Aperture`] give the
//! light on a pixel, [`Emva1288`] and [`LinearNoise`] the detector's reading, [`BayerPattern`] the
//! colour filter of each pixel, [`Tone`] the encoding of intensities.
//!
//! Frames: the optical frame has z along the axis, x to the right and y down, as in OpenCV and ROS
//! ([`body_from_optical`] rotates to x forward, y left, z up). The centre of the first pixel is (0,
//! 0); the image extends from -0.5 to width - 0.5.
//!
//! Not modelled: defocus and lens blur, chromatic aberration, flare and ghosts, blooming.

mod aperture;
mod bayer;
mod emva1288;
pub mod lens;
mod linear_noise;
mod optical_frame;
mod tone;
mod vignetting;

pub use aperture::{Aperture, photon_energy};
pub use bayer::BayerPattern;
pub use emva1288::{Emva1288, FixedPattern};
pub use lens::{Intrinsics, Lens, LensError};
pub use linear_noise::LinearNoise;
pub use optical_frame::body_from_optical;
pub use tone::Tone;
pub use vignetting::Vignetting;

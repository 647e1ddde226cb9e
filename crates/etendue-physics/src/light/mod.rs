//! Light sources of a scene: sun, sky and lamps; spectra of colours in a camera's bands; the ambient
//! light that a receiver admits.
//!
//! All quantities are per metre of wavelength; a camera multiplies by its bandwidths.
//!
//! Not modelled: water vapour (its bands lie beyond the visible), clouds with edges, twilight,
//! polarisation of the sky, lamps with lines in their spectrum.

mod air;
mod colour;
mod lamp;
mod receiver_window;
mod sky;

pub use air::ClearAir;
pub use colour::{BLUE, GREEN, RED, colour_at, colour_spectrum};
pub use lamp::{lamp_flux, luminous_efficacy, photopic};
pub use receiver_window::ReceiverWindow;
pub use sky::{CieSky, SkyDome};

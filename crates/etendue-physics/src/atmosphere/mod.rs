//! Extinction and backscatter of the air between sensor and surface.
//!
//! Every kind of [`Weather`] gives an extinction coefficient $\alpha$ (1/m) and a backscatter
//! coefficient $\beta = \alpha/S$ (1/(m sr)) with its lidar ratio $S$ (sr). A return from range
//! $R$ is weakened by $e^{-2\alpha R}$, and the air itself returns
//! $$dL = \beta\\,\frac{e^{-2\alpha r}}{r^2}\\,dr ,$$
//! in the unit of a surface's $L = f\cos\theta/R^2$, 1/(m² sr). Large drops and flakes can be drawn
//! individually ([`Drops`]): they cause isolated false echoes.
//!
//! Not modelled: multiple scattering (which lowers the effective extinction in dense fog),
//! layers and patches, turbulence, and absorption lines.

mod coefficients;
mod drops;
mod precipitation;
mod volume;
mod weather;

pub use coefficients::Coefficients;
pub use drops::{DropForm, Drops};
pub use precipitation::Precipitation;
pub use volume::{Overlap, cut_volume_return, volume_returns};
pub use weather::{Atmosphere, MM_PER_HOUR, Weather};

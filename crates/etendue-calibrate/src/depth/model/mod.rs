//! Models of the depth bias: $\hat d = d - \epsilon(d, \gamma)$ (equation 3).

mod depth_model;
mod inverse_cosine;
mod linear;
mod polynomial;
mod table;
mod waveform;

pub use depth_model::DepthModel;
pub use inverse_cosine::InverseCosineBias;
pub use linear::LinearBias;
pub use polynomial::PolynomialBias;
pub use table::TableBias;
pub use waveform::WaveformBias;

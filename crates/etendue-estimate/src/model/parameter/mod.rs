//! Fit parameters: one file per family, with its paths, units, bounds, initial values, effect on the
//! simulator inputs, and computation of derivatives.
//!
//! To add a family, write its file, implement [`FitParameter`](family::FitParameter) and add a line
//! to the table in `registry.rs`.

mod beam_offset;
mod bias;
mod divergence;
mod facet;
mod family;
mod freedom;
mod material;
mod pose;
mod receiver_timing;
mod registry;
mod vertex;
mod weather;

pub use beam_offset::{BeamOffset, OffsetKind};
pub use bias::BiasCoefficient;
pub use divergence::{Divergence, DivergenceAxis};
pub use facet::FacetScattering;
pub(super) use family::DerivativeSeed;
pub use freedom::{Freedom, UnknownPath};
pub use material::{MaterialParameter, material_parameters};
pub use pose::{ObjectPose, SensorPose, spatial_pose};
pub use receiver_timing::ReceiverTiming;
pub use registry::Parameter;
pub use vertex::VertexPosition;
pub use weather::WeatherAmount;

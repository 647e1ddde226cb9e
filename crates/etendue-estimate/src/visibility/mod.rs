//! Derivatives and integrals across edges that a beam sees.
//!
//! The light of a beam is an integral over its cross-section, sampled by rays. A few rays see an edge
//! jump from one ray to the next; the beam sees it move smoothly. Wherever an edge crosses a beam, this
//! module replaces the samples by the integral: with the area $A$ of the cross-section on side $-$ of
//! the edge, the weight $W$ of the rays on that side, and the light $g$ that each side returns,
//! $$\int_D g\\,w\\,\mathrm{d}A \approx \sum_k w_k g_k + (A - W)(g_- - g_+).$$
//! Its derivative is that of Reynolds' transport theorem,
//! $$\frac{\partial}{\partial\theta}\int_D g\\,w\\,\mathrm{d}A =
//! \int_D \frac{\partial g}{\partial\theta}\\,w\\,\mathrm{d}A +
//! \int_{E\cap D} (g_- - g_+)\\,w\\,v_n\\,\mathrm{d}s$$
//! with $D$ the cross-section, $w$ its irradiance, $E$ the edges projected into the beam and $v_n$ the
//! speed of an edge along its normal, from side $-$ to side $+$ (for images Li, Aittala, Durand,
//! Lehtinen 2018, "Differentiable Monte Carlo ray tracing through edge sampling",
//! doi:10.1145/3272127.3275109). The chord of an edge through a beam is divided into pieces, each with
//! the strip of the cross-section behind it; the contributions of several edges add up.
//!
//! A beam is a bundle of skew rays with a width at its exit; a cone has no width there. The coordinates
//! of its cross-section are those of a ray in the bundle, and the light of the rays on either side of
//! an edge is added to the light of the beam's own rays before the receiver measures it: ranges and
//! intensities change smoothly with the edge.
//!
//! Predictions are those of the rays unless [`EdgeSettings::integral`] is set: then only derivatives are
//! added.
//!
//! Edges are those of the meshes, seen directly and by reflection in flat mirrors. Not modelled: lines
//! where objects intersect, edges seen through solid glass, and images in mirrors of more than 16
//! facets.

mod cross_section;
mod edge_rays;
mod edges;
mod mirror_images;
mod ray_bundle;
mod settings;

pub(crate) use edge_rays::EdgeRays;
pub use settings::EdgeSettings;

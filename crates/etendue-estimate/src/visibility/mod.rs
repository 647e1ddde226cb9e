//! Derivatives and integrals of measurements across the edges of a scene.
//!
//! The received light of a beam is an integral over its cross-section, which the simulator samples by
//! rays. The integral is a continuous function of the position of an edge; the samples jump when the
//! edge passes a ray. Wherever an edge crosses a beam, this module replaces the samples by the
//! integral: with the power $A$ of the cross-section on side $-$ of the edge, the weight $W$ of the
//! rays on that side, and the returned light $g$ per power on each side,
//! $$\int_D g\\,w\\,\mathrm{d}A \approx \sum_k w_k g_k + (A - W)(g_- - g_+).$$
//! The derivative follows Reynolds' transport theorem,
//! $$\frac{\partial}{\partial\theta}\int_D g\\,w\\,\mathrm{d}A =
//! \int_D \frac{\partial g}{\partial\theta}\\,w\\,\mathrm{d}A +
//! \int_{E\cap D} (g_- - g_+)\\,w\\,v_n\\,\mathrm{d}s$$
//! with the cross-section $D$, its irradiance $w$, the edges $E$ projected into the beam, and the
//! speed $v_n$ of an edge along its normal, from side $-$ to side $+$. Source, for images: Li,
//! Aittala, Durand, Lehtinen 2018, "Differentiable Monte Carlo ray tracing through edge sampling",
//! doi:10.1145/3272127.3275109. The chord of an edge through a beam is divided into pieces, each with
//! the strip of the cross-section behind it; the contributions of several edges are added.
//!
//! A beam is a bundle of skew rays with a width at its exit, or a cone without one. Positions in the
//! cross-section are the coordinates of a ray in the bundle. The light of the extra rays on both
//! sides of an edge is added to that of the sample rays before the receiver, so that range and
//! intensity change smoothly with the edge.
//!
//! Predictions are integrals only if [`EdgeSettings::integral`] is set. Otherwise predictions are
//! those of the rays, and only derivatives are added.
//!
//! Edges are those of the meshes, directly visible and by reflection in planar mirrors. Not modelled:
//! intersections of objects, edges behind solid glass, and images in mirrors of more than 16 triangles.

mod cross_section;
mod edge_rays;
mod edges;
mod mirror_images;
mod object_bounds;
mod ray_bundle;
mod settings;

pub(crate) use edge_rays::EdgeRays;
pub(crate) use object_bounds::ObjectBounds;
pub use settings::EdgeSettings;

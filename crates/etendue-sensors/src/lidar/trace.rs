//! Light transport of the pipeline: the returns of surfaces along the rays of a batch of shots.

use super::light_model::LightModel;
use super::receiver::Receiver;
use super::settings::SweepSettings;
use crate::transport::{
    LightRay, LightReturn, PathSettings, PathTracer, World, trace_tree_from, trace_trees,
};
use etendue_physics::{Scalar, Stream};
use etendue_scene::{CastScratch, Hit};

/// Rays of a batch of shots, their first hits, and the settings of light transport.
pub(super) struct TracedRays<'a, S: Scalar> {
    /// The scene with its materials at the lidar's wavelength.
    pub world: &'a World<'a, S>,
    /// Settings of the sweep, with the limits of ray trees and paths.
    pub settings: &'a SweepSettings,
    /// The rays.
    pub rays: &'a [LightRay<S>],
    /// The first hit of each ray.
    pub hits: &'a [Option<Hit>],
    /// Number of rays per shot.
    pub per_shot: usize,
    /// Half angle of the receiver's field of view, rad; none where it is unlimited.
    pub field_of_view: Option<f64>,
    /// Random number stream of the light paths of a shot, by its index in the batch.
    pub stream: &'a dyn Fn(usize) -> Stream,
}

/// Callback for each return: the index of its ray, and the return.
pub(super) type VisitReturn<'a, S> = &'a mut dyn FnMut(usize, LightReturn<S>);

/// A light transport method: calls the visitor with each return along the rays.
pub(super) type Trace<S> = fn(&TracedRays<S>, &mut CastScratch, VisitReturn<S>);

/// Ray trees: rays split at mirrors and dielectrics; light that a rough surface scatters returns along
/// the path on which it arrived.
fn trace_by_trees<S: Scalar>(
    traced: &TracedRays<S>,
    scratch: &mut CastScratch,
    visit: VisitReturn<S>,
) {
    let rays = traced.rays.iter().copied();
    trace_trees(
        traced.world,
        rays,
        traced.hits,
        &traced.settings.light.tree(),
        scratch,
        visit,
    );
}

/// [`trace_by_trees`] ray by ray, each tree depth first. Phase receivers sum light in this order, on
/// which the last bits of the sums depend.
pub(super) fn trace_ray_by_ray<S: Scalar>(
    traced: &TracedRays<S>,
    scratch: &mut CastScratch,
    visit: VisitReturn<S>,
) {
    let tree = traced.settings.light.tree();
    for (number, (ray, hit)) in traced.rays.iter().zip(traced.hits).enumerate() {
        trace_tree_from(traced.world, ray, *hit, &tree, scratch, |back| {
            visit(number, back);
        });
    }
}

/// The method of a light model. Ray trees are traced in the order in which the receiver sums light.
pub(super) fn trace_of<S: Scalar>(light: &LightModel, receiver: &Receiver<S>) -> Trace<S> {
    match (light, receiver) {
        (LightModel::Paths(_), _) => trace_by_paths,
        (LightModel::Tree(_), Receiver::Phase(_)) => trace_ray_by_ray,
        (LightModel::Tree(_), _) => trace_by_trees,
    }
}

/// Path tracing: includes light that several rough surfaces scattered. The receiver's field of view
/// limits the directions from which light arrives.
fn trace_by_paths<S: Scalar>(
    traced: &TracedRays<S>,
    scratch: &mut CastScratch,
    visit: VisitReturn<S>,
) {
    let LightModel::Paths(paths) = traced.settings.light else {
        return;
    };
    let limit = traced.field_of_view.unwrap_or(f64::INFINITY);
    let paths = PathSettings {
        receiver_half_angle: paths.receiver_half_angle.min(limit),
        ..paths
    };
    let tracer = PathTracer::new(traced.world, paths);
    for (shot, rays) in traced.rays.chunks(traced.per_shot).enumerate() {
        let mut stream = (traced.stream)(shot);
        for (number, ray) in rays.iter().enumerate() {
            let number = shot * traced.per_shot + number;
            tracer.trace(ray, &mut stream, scratch, |back| visit(number, back));
        }
    }
}

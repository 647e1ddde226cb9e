//! The light that surfaces return along the rays of some shots.

use super::receiver::Receiver;
use super::settings::{LightModel, SweepSettings};
use crate::transport::{
    LightRay, LightReturn, PathSettings, World, trace_paths, trace_tree_from, trace_trees,
};
use etendue_physics::{Scalar, Stream};
use etendue_scene::Hit;

/// Rays of some shots and their first hits.
pub(super) struct TracedRays<'a, S: Scalar> {
    /// The scene.
    pub world: &'a World<'a, S>,
    /// Limits of trees and paths.
    pub settings: &'a SweepSettings,
    /// The rays.
    pub rays: &'a [LightRay<S>],
    /// The first hit of each ray.
    pub hits: &'a [Option<Hit>],
    /// Number of rays of a shot.
    pub per_shot: usize,
    /// Half angle of the receiver's field of view, where it is limited, rad.
    pub field_of_view: Option<f64>,
    /// Random numbers of the light paths of a shot, by its place among these.
    pub stream: &'a dyn Fn(usize) -> Stream,
}

/// Receives the number of a ray and a return.
pub(super) type VisitReturn<'a, S> = &'a mut dyn FnMut(usize, LightReturn<S>);

/// Finds the returns of rays.
pub(super) type Trace<S> = fn(&TracedRays<S>, VisitReturn<S>);

/// Ray trees: mirrors and glass are followed exactly, diffuse light returns the way it came.
fn trace_by_trees<S: Scalar>(traced: &TracedRays<S>, visit: VisitReturn<S>) {
    let rays = traced.rays.iter().copied();
    trace_trees(
        traced.world,
        rays,
        traced.hits,
        &traced.settings.light.tree(),
        visit,
    );
}

/// [`trace_by_trees`] ray after ray, each tree depth first: the order in which phase receivers add up light.
pub(super) fn trace_ray_by_ray<S: Scalar>(traced: &TracedRays<S>, visit: VisitReturn<S>) {
    let tree = traced.settings.light.tree();
    for (number, (ray, hit)) in traced.rays.iter().zip(traced.hits).enumerate() {
        trace_tree_from(traced.world, ray, *hit, &tree, |back| visit(number, back));
    }
}

/// The ray trees of a receiver, in the order in which it adds up light.
pub(super) fn trees_for<S: Scalar>(receiver: &Receiver<S>) -> Trace<S> {
    if let Receiver::Phase(_) = receiver {
        trace_ray_by_ray
    } else {
        trace_by_trees
    }
}

/// Random paths: also light that several rough surfaces scattered. The receiver's field of view
/// limits the directions from which light arrives.
pub(super) fn trace_by_paths(traced: &TracedRays<f64>, visit: VisitReturn<f64>) {
    let LightModel::Paths(paths) = traced.settings.light else {
        return;
    };
    let limit = traced.field_of_view.unwrap_or(f64::INFINITY);
    let paths = PathSettings {
        receiver_half_angle: paths.receiver_half_angle.min(limit),
        ..paths
    };
    for (shot, rays) in traced.rays.chunks(traced.per_shot).enumerate() {
        let mut stream = (traced.stream)(shot);
        for (number, ray) in rays.iter().enumerate() {
            let number = shot * traced.per_shot + number;
            trace_paths(traced.world, ray, &paths, &mut stream, |back| {
                visit(number, back);
            });
        }
    }
}

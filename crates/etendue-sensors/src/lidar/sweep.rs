//! The pipeline: shots to rays, rays to light that comes back, light to points.

use super::air::PreparedAir;
use super::ambient::View;
use super::batches::{Batches, Destination, on_all_threads, one_by_one};
use super::fast::aimed::Aimed;
use super::fast::direct::{Cast, Lane, Straight};
use super::fast::order::{CastOrder, Order};
use super::fast::phase;
use super::fast::rotor::Turning;
use super::receive::{Fired, Light, PreparedReceiver, Workspace};
use super::{
    BeamRays, Column, Firing, Lidar, LightModel, Receiver, ScanPattern, Shot, Shots, Sweep,
    SweepSettings,
};
use crate::transport::{LightRay, LightReturn, TileReturns, World, trace_paths, trace_trees};
use etendue_physics::{Purpose, Stream};
use etendue_scene::{Hit, HitTile, Ray, RayTile};
use nalgebra::Isometry3;
use std::ops::Range;

/// Tiles that are handled at a time: they fit a core's nearest cache.
const NEAR: usize = 8;

/// Simulates one sweep as the device reports it.
///
/// `world` is the scene at the scanner's wavelength, `world_from_sensor` the sensor's pose at a
/// time (s from the start of the run). The result depends on its arguments alone, not on the
/// number of threads.
///
/// Objects stand at each shot where they are then. Of meshes whose vertices move
/// ([`Scene::deforms`](etendue_scene::Scene::deforms)) four columns at a time see the same
/// vertices, those of the moment half way between their first and last shot.
pub fn simulate(
    world: &World<f64>,
    scanner: &Lidar,
    run: &SweepSettings,
    world_from_sensor: impl Fn(f64) -> Isometry3<f64> + Sync,
) -> Sweep {
    let mut sweep = Sweep::default();
    simulate_into(world, scanner, run, world_from_sensor, &mut sweep);
    sweep
}

/// [`simulate`] into a sweep whose memory is used again, whatever is in it.
pub fn simulate_into(
    world: &World<f64>,
    scanner: &Lidar,
    run: &SweepSettings,
    world_from_sensor: impl Fn(f64) -> Isometry3<f64> + Sync,
    sweep: &mut Sweep,
) {
    if let Receiver::Phase(_) = scanner.receiver {
        return phase::simulate_into(world, scanner, run, world_from_sensor, sweep);
    }
    let firing = scanner.firing(run.sweep, run.start);
    let shots = begin(sweep, &firing, run.sweep);
    let start = run.start_of(scanner);
    let world_from_start = world_from_sensor(start);
    (sweep.start, sweep.world_from_sensor) = (start, world_from_start);
    let deforms = world.scene().deforms();
    let batches = Batches::new(shots.len(), scanner.channels.len(), deforms);
    let mut simulator = Simulator::new(world, scanner, run, &world_from_sensor, world_from_start);
    if let ScanPattern::Spinning(_) = scanner.pattern {
        simulator.turn(&firing, &shots, &batches);
    }
    let simulate = |batch: &mut Batch, own: Range<usize>, to: &mut Destination| {
        if !deforms {
            return simulator.batch(batch, &shots, own, to);
        }
        let scene = world.scene().at(half_way(&shots, own.clone()));
        let world = world.about(&scene);
        simulator.about(&world).batch(batch, &shots, own, to);
    };
    if rayon::current_num_threads() == 1 {
        one_by_one(&batches, sweep, simulate);
    } else {
        on_all_threads(&batches, sweep, simulate);
    }
    sweep.shots = shots;
}

/// Makes a sweep ready and takes the place for its shots, aimed. Its old points stay: their places
/// are used again.
pub(in crate::lidar) fn begin(sweep: &mut Sweep, firing: &Firing, index: u32) -> Shots {
    let scanner = firing.scanner;
    sweep.index = index;
    sweep.columns = scanner.columns();
    let rings = scanner.channels.iter().map(|channel| channel.ring);
    sweep.rings.clear();
    sweep.rings.extend(rings);
    #[expect(clippy::cast_possible_truncation, reason = "checked with the scanner")]
    let channels = scanner.channels.len() as u16;
    sweep.channels = channels;
    let mut shots = std::mem::take(&mut sweep.shots);
    shots.take_up(firing);
    sweep.outcomes.clear();
    sweep.powers.clear();
    sweep.surfaces.clear();
    sweep.axis_truths.clear();
    sweep.outcomes.reserve(shots.len());
    let points = sweep.points.len();
    sweep.points.reserve(shots.len().saturating_sub(points));
    shots
}

/// Half way between the first and the last of some shots, s.
fn half_way(shots: &Shots, own: Range<usize>) -> f64 {
    let times = own.map(|number| shots.at(number).time);
    let first = times.clone().fold(f64::INFINITY, f64::min);
    0.5 * (first + times.fold(first, f64::max))
}

/// Memory that batches use again.
#[derive(Default)]
struct Batch {
    poses: Poses,
    rays: Vec<Ray>,
    /// Its shots, where they are neither listed nor told by a rotor.
    shots: Vec<Shot>,
    /// Its columns, where a rotor tells them.
    columns: Vec<Column>,
    hits: Vec<Option<Hit>>,
    sight: Sight,
    /// What comes back, shot by shot.
    lights: Vec<Light>,
    lane: Lane,
    workspace: Workspace,
}

/// Rays in tiles, what they meet, and what comes straight back.
#[derive(Default)]
struct Sight {
    tiles: Vec<RayTile>,
    met: Vec<HitTile>,
    back: Vec<TileReturns>,
}

impl Sight {
    /// Finds what comes straight back along the rays of all tiles, a few at a time: what one step
    /// writes is still near the core when the next reads it.
    fn see(&mut self, world: &World<f64>) {
        let count = self.tiles.len();
        self.met.resize(count, HitTile::NONE);
        self.back.resize(count, TileReturns::NONE);
        let met = self.met.chunks_mut(NEAR).zip(self.back.chunks_mut(NEAR));
        for (rays, (met, back)) in self.tiles.chunks(NEAR).zip(met) {
            world.scene().closest_hits_of_tiles(rays, met);
            world.first_returns(rays, met, back);
        }
    }
}

/// The sensor's poses at some shots.
#[derive(Default)]
pub(super) struct Poses {
    different: Vec<Isometry3<f64>>,
    /// The number of each shot's, where there are several.
    numbers: Vec<u32>,
}

impl Poses {
    /// The pose at all shots, where it is the same; false where it is not.
    fn stand(&mut self, shots: Aimed, at: impl Fn(f64) -> Isometry3<f64>) -> bool {
        self.different.clear();
        self.numbers.clear();
        let only = only(shots, at);
        self.different.extend(only);
        only.is_some()
    }

    /// That of each shot's own time.
    fn take(&mut self, shots: &[Shot], at: impl Fn(f64) -> Isometry3<f64>) {
        if self.stand(Aimed::Listed(shots), &at) {
            return;
        }
        let mut last = f64::NAN;
        let different = &mut self.different;
        self.numbers.extend(shots.iter().map(|shot| {
            if last != shot.time {
                last = shot.time;
                let pose = at(shot.time);
                if different.last() != Some(&pose) {
                    different.push(pose);
                }
            }
            shot_number(different.len() - 1)
        }));
    }

    #[inline]
    pub fn of(&self, shot: usize) -> &Isometry3<f64> {
        let number = self.numbers.get(shot).map_or(0, |number| *number as usize);
        &self.different[number]
    }

    /// The only one, if the sensor stands still.
    pub fn only(&self) -> Option<&Isometry3<f64>> {
        match &self.different[..] {
            [only] => Some(only),
            _ => None,
        }
    }
}

/// The pose at all shots, where it is the same. Nothing is written in the loop, so that it is nothing
/// for a pose that does not depend on time.
#[inline]
fn only(shots: Aimed, at: impl Fn(f64) -> Isometry3<f64>) -> Option<Isometry3<f64>> {
    if shots.count() == 0 {
        return None;
    }
    let first = at(shots.at(0).time);
    let stands = shots.at_all_times(|time| at(time) == first);
    stands.then_some(first)
}

/// What all batches of a sweep share.
#[derive(Clone)]
pub(super) struct Simulator<'a, P> {
    pub world: &'a World<'a, f64>,
    pub scanner: &'a Lidar,
    pub run: &'a SweepSettings,
    pub world_from_sensor: P,
    pub world_from_start: Isometry3<f64>,
    pub beam_rays: BeamRays<f64>,
    /// The orders in which the rays of columns that are cast together are cast, and those of a whole
    /// batch, where all columns are turned copies of the first.
    orders: [CastOrder; 2],
    /// The beams of columns that are cast together, on a rotor that only turns, of one ray a shot.
    turning: Option<Turning>,
    /// What tells shots that need no trees, where there can be such.
    straight: Option<Straight>,
    pub air: PreparedAir,
    view: Option<View<'a>>,
    pub receiver: PreparedReceiver,
}

impl<'a, P: Fn(f64) -> Isometry3<f64>> Simulator<'a, P> {
    pub fn new(
        world: &'a World<'a, f64>,
        scanner: &'a Lidar,
        run: &'a SweepSettings,
        world_from_sensor: P,
        world_from_start: Isometry3<f64>,
    ) -> Self {
        let air = PreparedAir::new(&run.air, scanner);
        let receiver = PreparedReceiver::new(&scanner.receiver, air.glows());
        let mut simulator = Self {
            air,
            beam_rays: scanner.beam.rays(),
            orders: Default::default(),
            turning: None,
            straight: None,
            view: View::new(world, &scanner.receiver),
            world,
            scanner,
            run,
            world_from_sensor,
            world_from_start,
            receiver,
        };
        simulator.straight = simulator.straight();
        simulator
    }

    /// Prepares what all columns of a rotor share.
    fn turn(&mut self, firing: &Firing, shots: &Shots, batches: &Batches) {
        let together = batches.together.min(shots.len());
        let mut memory = Vec::new();
        let shots = shots.part(self.world.scene(), 0..together, &mut memory);
        let order = CastOrder::new(shots);
        if self.beam_rays.count() == 1 {
            self.turning = Turning::new(firing, order.shots());
        }
        let whole = order.repeated(batches.times);
        self.orders = [order, whole];
    }

    /// The order of so many shots.
    fn order_of<'o>(&'o self, shots: &[Shot], new: &'o mut CastOrder) -> Order<'o> {
        let known = self
            .orders
            .iter()
            .find(|order| order.shots().len() == shots.len());
        if let Some(order) = known {
            return order.all();
        }
        *new = CastOrder::new(shots);
        new.all()
    }

    /// That of so many shots on a rotor, where they are some times as many as are cast together.
    fn turned_order_of<'o>(&'o self, shots: usize, new: &'o mut CastOrder) -> Option<Order<'o>> {
        let [together, whole] = &self.orders;
        if shots == whole.shots().len() {
            return Some(whole.all());
        }
        if !shots.is_multiple_of(together.shots().len()) {
            return None;
        }
        *new = together.repeated(shots / together.shots().len());
        Some(new.all())
    }

    /// Whether ambient light reaches the receiver.
    pub fn sees_light(&self) -> bool {
        self.view.is_some()
    }

    /// The same in another world.
    fn about<'b>(&self, world: &'b World<'b, f64>) -> Simulator<'b, P>
    where
        'a: 'b,
        P: Clone,
    {
        Simulator {
            view: View::new(world, &self.scanner.receiver),
            world,
            ..self.clone()
        }
    }

    /// Simulates a batch, which is some of a sweep's shots.
    fn batch(&self, batch: &mut Batch, all: &Shots, own: Range<usize>, to: &mut Destination) {
        if self.turned_batch(batch, all, &own, to) {
            return;
        }
        let first = own.start;
        let mut memory = std::mem::take(&mut batch.shots);
        let shots = all.part(self.world.scene(), own, &mut memory);
        batch.poses.take(shots, &self.world_from_sensor);
        let mut new = CastOrder::default();
        let order = self.order_of(shots, &mut new);
        if let Some(straight) = &self.straight {
            let way = (&batch.poses, order.shots);
            self.aim_tiles(shots, way, &mut batch.rays, &mut batch.sight.tiles);
            let shots = Aimed::Listed(shots);
            self.look_straight(straight, batch, (first, shots), order, to);
        } else {
            self.look(batch, (first, shots), order, to);
        }
        batch.shots = memory;
    }

    /// The same of columns that are turned copies of each other, from a sensor that stands still;
    /// false, and nothing done, where they are not.
    fn turned_batch(
        &self,
        batch: &mut Batch,
        all: &Shots,
        own: &Range<usize>,
        to: &mut Destination,
    ) -> bool {
        let known = (&self.straight, &self.turning, all.turned());
        let (Some(straight), Some(turning), Some(by)) = known else {
            return false;
        };
        let mut new = CastOrder::default();
        let Some(order) = self.turned_order_of(own.len(), &mut new) else {
            return false;
        };
        let mut columns = std::mem::take(&mut batch.columns);
        by.columns(own, &mut columns);
        let shots = Aimed::Turned {
            by,
            own,
            columns: &columns,
        };
        let stands = batch.poses.stand(shots, &self.world_from_sensor);
        if stands {
            let beams = (turning, &columns[..]);
            self.aim_turned(beams, batch.poses.of(0), &mut batch.sight.tiles);
            self.look_straight(straight, batch, (own.start, shots), order, to);
        }
        batch.columns = columns;
        stands
    }

    /// Reports what comes straight back along the rays that were aimed.
    fn look_straight(
        &self,
        straight: &Straight,
        batch: &mut Batch,
        (first, shots): (usize, Aimed),
        order: Order,
        to: &mut Destination,
    ) {
        batch.sight.see(self.world);
        let cast = Cast {
            first,
            shots,
            poses: &batch.poses,
            order,
            tiles: &batch.sight.tiles,
            met: &batch.sight.met,
            back: &batch.sight.back,
        };
        let lit = (&mut batch.lights, &mut batch.workspace);
        self.report_straight(straight, &cast, &mut batch.lane, lit, to.open());
    }

    /// Aims the rays of some shots and reports what comes back along their trees.
    fn look(
        &self,
        batch: &mut Batch,
        (first, shots): (usize, &[Shot]),
        order: Order,
        to: &mut Destination,
    ) {
        let (lights, workspace) = (&mut batch.lights, &mut batch.workspace);
        batch.rays.clear();
        for &shot in order.shots {
            self.aim(&shots[shot], batch.poses.of(shot), &mut batch.rays);
        }
        self.world
            .scene()
            .closest_hits_in_tiles(&batch.rays, &mut batch.hits);
        self.gather(&batch.rays, &batch.hits, (first, order.shots), lights);
        let lights = &mut lights[..shots.len()];
        self.add_air(first, lights);
        let received = to.open();
        for (shot, light) in lights.iter_mut().enumerate() {
            let fired = Fired {
                shot: shots[shot],
                number: shot_number(first + shot),
                pose: batch.poses.of(shot),
            };
            let outcome = self.report(fired, light, workspace, received);
            received.outcomes.push(outcome);
        }
    }

    /// Collects the light that comes back along the rays of some shots, in that order, for each
    /// shot.
    pub fn gather(
        &self,
        rays: &[Ray],
        hits: &[Option<Hit>],
        (first, order): (usize, &[usize]),
        lights: &mut Vec<Light>,
    ) {
        let per_shot = self.beam_rays.count();
        // The memory of lights that are not needed now is kept.
        let most = lights.len().max(order.len());
        lights.resize_with(most, Light::default);
        let axis = self.beam_rays.axis();
        for (shot, hits) in order.iter().zip(hits.chunks(per_shot)) {
            let first = axis.and_then(|axis| hits[axis].as_ref());
            lights[*shot].begin(first.map_or(f64::INFINITY, |hit| hit.distance));
        }
        if let Some(view) = &self.view {
            for (number, (ray, hit)) in rays.iter().zip(hits).enumerate() {
                let power = view.power(&light_ray(ray), *hit, &self.run.light.tree());
                lights[order[number / per_shot]].ambient +=
                    power * self.beam_rays.weight(number % per_shot);
            }
        }
        let mut add = |ray: usize, back: LightReturn<f64>| {
            let weight = self.beam_rays.weight(ray % per_shot);
            let power = back.power * weight * self.air.transmission(back.range);
            lights[order[ray / per_shot]].add(&back, power);
        };
        match &self.run.light {
            LightModel::Tree(tree) => {
                let outgoing = rays.iter().map(light_ray);
                trace_trees(self.world, outgoing, hits, tree, add);
            }
            LightModel::Paths(paths) => {
                for (place, (number, rays)) in order.iter().zip(rays.chunks(per_shot)).enumerate() {
                    let mut stream = self.stream(shot_number(first + number), Purpose::LightPath);
                    for (ray, light) in rays.iter().enumerate() {
                        let add = |back| add(place * per_shot + ray, back);
                        trace_paths(self.world, &light_ray(light), paths, &mut stream, add);
                    }
                }
            }
        }
    }

    /// Adds what the air sends back, up to the surface on each beam's axis.
    pub fn add_air(&self, first: usize, lights: &mut [Light]) {
        for (number, light) in (first..).zip(lights) {
            let drops = || self.stream(shot_number(number), Purpose::Precipitation);
            self.air.add(drops, light);
        }
    }

    /// A stream of random numbers of one shot.
    pub fn stream(&self, shot: u32, purpose: Purpose) -> Stream {
        Stream::new(
            self.run.seed,
            self.run.sensor,
            self.run.sweep,
            shot,
            purpose,
        )
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a sweep has less than 2^32 shots"
)]
pub(super) fn shot_number(number: usize) -> u32 {
    number as u32
}

fn light_ray(ray: &Ray) -> LightRay<f64> {
    LightRay {
        origin: ray.origin,
        direction: ray.direction,
        time: ray.time,
        mask: ray.mask,
    }
}

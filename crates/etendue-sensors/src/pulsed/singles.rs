//! Shots of one ray each whose light comes straight back, sixteen at a time.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use super::receive::{Light, Origin, Workspace};
use super::received::Received;
use super::simulate::{Simulator, shot_number};
use super::straight::{Cast, Straight};
use super::{Frame, Outcome, Source};
use crate::calibrated::{Direct, Lit};
use crate::transport::TileReturns;
use etendue_physics::pulse::SingleEchoes;
use etendue_physics::{Draws, NormalPairs, Purpose, SPEED_OF_LIGHT};
use etendue_scene::{HitTile, Loops, MaterialId, ObjectId};
use nalgebra::{Isometry3, Point3, Vector3};

/// What comes back to sixteen shots that follow each other.
#[derive(Clone)]
#[repr(C, align(64))]
struct Sixteen {
    /// Half the optical path, m.
    range: [f64; 16],
    /// 0 where nothing comes straight back.
    power: [f64; 16],
    cos_incidence: [f64; 16],
    /// Numbers of objects.
    object: [u32; 16],
    material: [MaterialId; 16],
    /// One more than the number of the light that comes back along a tree of paths; 0 for none.
    tree: [u32; 16],
}

impl Sixteen {
    const NOTHING: Self = Self {
        range: [0.0; 16],
        power: [0.0; 16],
        cos_incidence: [0.0; 16],
        object: [0; 16],
        material: [MaterialId(0); 16],
        tree: [0; 16],
    };

    /// What comes back along the rays of a tile, those of trees not yet numbered.
    #[inline]
    fn of(back: &TileReturns, met: &HitTile, weight: f64) -> Self {
        let mut tile = Self::NOTHING;
        for i in 0..16 {
            let power = back.power[i] * weight;
            tile.power[i] = if met.is_met(i) { power } else { 0.0 };
        }
        tile.range = back.range;
        tile.cos_incidence = back.cos_incidence;
        tile.object = met.object;
        tile.material = back.material;
        tile
    }

    /// Takes so many lanes from one of another.
    #[inline(always)]
    fn take<const N: usize>(&mut self, place: usize, from: &Self, lane: usize) {
        let (to, of) = (place..place + N, lane..lane + N);
        self.range[to.clone()].copy_from_slice(&from.range[of.clone()]);
        self.power[to.clone()].copy_from_slice(&from.power[of.clone()]);
        self.cos_incidence[to.clone()].copy_from_slice(&from.cos_incidence[of.clone()]);
        self.object[to.clone()].copy_from_slice(&from.object[of.clone()]);
        self.material[to.clone()].copy_from_slice(&from.material[of.clone()]);
        self.tree[to].copy_from_slice(&from.tree[of]);
    }
}

/// What the device reports of sixteen shots.
struct Measured {
    echoes: SingleEchoes,
    /// In the device's steps, m.
    range: [f64; 16],
    /// The channels' range offsets, m.
    offset: [f64; 16],
    intensity: [f64; 16],
    /// Whether the light of the surface made the echo, rather than noise alone.
    sourced: [bool; 16],
    within: [bool; 16],
    too_near: [bool; 16],
}

/// Memory that batches use again.
#[derive(Default)]
pub(super) struct Singles {
    blocks: Vec<Sixteen>,
    /// Shots that need trees.
    pub rest: Vec<usize>,
}

impl Singles {
    /// Sorts out what comes straight back to each shot of a batch, and which need trees.
    pub fn sort<P: Fn(f64) -> Isometry3<f64>>(
        &mut self,
        simulator: &Simulator<'_, P>,
        straight: &Straight,
        cast: &Cast,
    ) {
        self.rest.clear();
        let count = cast.shots.len().div_ceil(16);
        self.blocks.resize(count, Sixteen::NOTHING);
        let weight = simulator.beam_rays[0].weight;
        let tiles = cast.back.iter().zip(cast.met);
        for ((back, met), shots) in tiles.zip(cast.order.chunks(16)) {
            let mut tile = Sixteen::of(back, met, weight);
            for (power, range) in tile.power.iter_mut().zip(&back.range) {
                *power *= simulator.air.transmission(*range);
            }
            if straight.goes_on {
                self.find_trees(straight, met, shots, &mut tile);
            }
            if cast.by_fours {
                for (four, shots) in shots.chunks(4).enumerate() {
                    self.blocks[shots[0] / 16].take::<4>(shots[0] % 16, &tile, 4 * four);
                }
            } else {
                for (lane, shot) in shots.iter().enumerate() {
                    self.blocks[shot / 16].take::<1>(shot % 16, &tile, lane);
                }
            }
        }
    }

    /// Numbers the shots that need trees.
    #[inline]
    fn find_trees(
        &mut self,
        straight: &Straight,
        met: &HitTile,
        shots: &[usize],
        tile: &mut Sixteen,
    ) {
        for (lane, &shot) in shots.iter().enumerate() {
            if !straight.ends[tile.material[lane].0 as usize] && met.is_met(lane) {
                self.rest.push(shot);
                tile.tree[lane] = shot_number(self.rest.len());
            }
        }
    }
}

/// Adds the points of the shots of a batch and what became of each.
pub(super) struct Report<'s, 'a, P> {
    pub simulator: &'s Simulator<'a, P>,
    pub straight: &'s Straight,
    pub cast: &'s Cast<'s>,
    pub singles: &'s Singles,
    pub lights: &'s mut Vec<Light>,
    pub workspace: &'s mut Workspace,
    pub received: &'s mut Received,
}

impl<P: Fn(f64) -> Isometry3<f64>> Loops for Report<'_, '_, P> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for (number, block) in self.singles.blocks.iter().enumerate() {
            let first = 16 * number;
            let drawn = self.foresee(block, first);
            let lit = block.power.iter().any(|power| *power > 0.0);
            let measured = if lit && drawn < 16 {
                Some(self.measure(block, first))
            } else {
                None
            };
            for lane in 0..(self.cast.shots.len() - first).min(16) {
                let outcome = match block.tree[lane] {
                    0 if self.is_calibrated(block, lane) => self.drawn(block, first, lane),
                    0 => match &measured {
                        Some(measured) => self.point(block, measured, first, lane),
                        None => Outcome::NoReturn,
                    },
                    light => self.simulator.report(
                        self.cast.fired(first + lane),
                        &mut self.lights[light as usize - 1],
                        self.workspace,
                        self.received,
                    ),
                };
                self.received.outcomes.push(outcome);
            }
        }
    }
}

impl<P: Fn(f64) -> Isometry3<f64>> Report<'_, '_, P> {
    /// What the receiver makes of sixteen shots, the first of which is that number of the batch.
    #[inline(always)]
    fn measure(&self, block: &Sixteen, first: usize) -> Measured {
        let simulator = self.simulator;
        let draws = self.draws(first);
        let echoes = { self.straight.pulsed.fast }.singles(&block.range, &block.power, &draws);
        let offsets = self.offsets(first);
        let limits = simulator.scanner.limits;
        let reach = 0.5 * SPEED_OF_LIGHT * self.straight.pulsed.receiver.pulse.fwhm;
        let mut range = [0.0; 16];
        let mut sourced = [false; 16];
        let mut within = [false; 16];
        let mut too_near = [false; 16];
        for i in 0..16 {
            range[i] = limits.stepped(echoes.range[i] + offsets[i]);
            sourced[i] = (block.range[i] - echoes.range[i]).abs() <= reach;
            within[i] = echoes.found[i] && range[i] >= limits.near && range[i] <= limits.far;
            too_near[i] = echoes.found[i] && range[i] < limits.near;
        }
        let intensity = &simulator.scanner.intensity;
        let response = intensity.response;
        Measured {
            intensity: response.report_lanes(&echoes.power, &range, intensity.top),
            echoes,
            range,
            offset: offsets,
            sourced,
            within,
            too_near,
        }
    }

    #[inline(always)]
    fn draws(&self, first: usize) -> NormalPairs {
        let run = self.simulator.run;
        if run.without_noise {
            return [[0.0; 16]; 2];
        }
        let draws = Draws {
            seed: run.seed,
            sensor: run.sensor,
            sweep: run.sweep,
            purpose: Purpose::ReceiverNoise,
        };
        let mut numbers = [shot_number(self.cast.first + first); 16];
        for (number, lane) in numbers.iter_mut().zip(0..) {
            *number += lane;
        }
        draws.normal_pairs(&numbers)
    }

    /// The channels' range offsets.
    #[inline(always)]
    fn offsets(&self, first: usize) -> [f64; 16] {
        let mut offsets = [0.0; 16];
        if self.straight.offset {
            let channels = &self.simulator.scanner.channels;
            for (offset, shot) in offsets.iter_mut().zip(&self.cast.shots[first..]) {
                *offset = channels[usize::from(shot.channel)].range_offset;
            }
        }
        offsets
    }

    /// Draws what shots of calibrated noise need at once, and says how many shots are such or see
    /// nothing.
    #[inline(always)]
    fn foresee(&mut self, block: &Sixteen, first: usize) -> usize {
        if self.straight.calibrated.is_empty() {
            return 0;
        }
        let lanes = || (0..16).filter(|&lane| block.tree[lane] == 0);
        let calibrated = lanes().find(|&lane| self.is_calibrated(block, lane));
        let scene = self.simulator.world.scene();
        if let Some(profile) = calibrated.and_then(|lane| scene.profile(block.material[lane])) {
            let number = shot_number(self.cast.first + first);
            profile.foresee(&self.simulator.address(number), &mut self.workspace.recent);
        }
        let drawn = |&lane: &usize| block.power[lane] == 0.0 || self.is_calibrated(block, lane);
        lanes().filter(drawn).count()
    }

    /// Whether what a shot sees has calibrated noise.
    #[inline(always)]
    fn is_calibrated(&self, block: &Sixteen, lane: usize) -> bool {
        let calibrated = &self.straight.calibrated;
        !calibrated.is_empty()
            && block.power[lane] > 0.0
            && calibrated[block.material[lane].0 as usize]
    }

    /// Adds the point of one shot drawn from its surface's profile, if there is one.
    #[inline(never)]
    fn drawn(&mut self, block: &Sixteen, first: usize, lane: usize) -> Outcome {
        let simulator = self.simulator;
        let fired = self.cast.fired(first + lane);
        let origin = Origin {
            object: ObjectId(block.object[lane]),
            material: block.material[lane],
            cos_incidence: block.cos_incidence[lane],
            range: block.range[lane],
        };
        let place = self.cast.places[first + lane];
        let mut lit = Lit::default();
        if let Some(hit) = self.cast.hit(place) {
            lit.add(&Direct {
                material: origin.material,
                power: block.power[lane],
                range: origin.range,
                cos_incidence: origin.cos_incidence,
                normal: hit.normal,
                arrival: self.cast.ray(place).direction,
            });
        }
        let surface = lit.profiled(simulator.world, || fired.pose * Vector3::z());
        let found = surface.and_then(|surface| {
            let recent = &mut self.workspace.recent;
            simulator.draw(&surface, block.power[lane], fired.number, recent)
        });
        let source = |range: f64, reach: f64| {
            let near = (origin.range - range).abs() <= reach;
            near.then_some(origin)
        };
        simulator.keep(fired, 0.0, found.as_slice(), source, self.received)
    }

    /// Adds the point of one shot, if there is one: number by number, as one that is made first and
    /// copied as a whole waits for all of them.
    #[inline(always)]
    fn point(
        &mut self,
        block: &Sixteen,
        measured: &Measured,
        first: usize,
        lane: usize,
    ) -> Outcome {
        if !measured.within[lane] {
            return if measured.too_near[lane] {
                Outcome::TooNear
            } else {
                Outcome::NoReturn
            };
        }
        let offset = measured.offset[lane];
        let position = self.position(first + lane, measured.range[lane] - offset);
        let number = self.received.count();
        let place = self.received.place();
        place.position = position;
        place.range = measured.range[lane];
        place.intensity = measured.intensity[lane];
        place.power = measured.echoes.power[lane];
        place.width = measured.echoes.width[lane];
        place.velocity = None;
        place.ambient = 0.0;
        place.shot = shot_number(self.cast.first + first + lane);
        (place.return_number, place.returns) = (1, 1);
        place.source = None;
        if measured.sourced[lane] {
            let object = ObjectId(block.object[lane]);
            place.source = Some(Source {
                instance: object,
                mesh: self.simulator.world.scene().objects()[object.0 as usize].mesh,
                material: block.material[lane],
                cos_incidence: block.cos_incidence[lane].min(1.0),
                range: block.range[lane] + offset,
            });
        }
        Outcome::Points {
            first: shot_number(number),
            count: 1,
        }
    }

    /// The point at a distance (m) along a shot of the batch, in the frame that was asked for.
    #[inline(always)]
    fn position(&self, shot: usize, distance: f64) -> Point3<f64> {
        let fired = &self.cast.shots[shot];
        match self.simulator.run.frame {
            Frame::Sensor => fired.point(distance),
            frame => {
                let pose = self.cast.poses.of(shot);
                frame.point(fired, distance, pose, &self.simulator.world_from_start)
            }
        }
    }
}

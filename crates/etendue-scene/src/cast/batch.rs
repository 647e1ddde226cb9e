//! Many rays: in tiles of sixteen through the tree together where they are neighbours.

use super::best::{Best, Exact, LocalRay};
use super::face::Met;
use super::flags::Flags;
use super::known::Faces;
use super::lanes::{Job, Lanes};
use super::search::{GROUP, Search};
use super::tile::{HitTile, RayTile};
use super::tiles::Tiling;
use super::top::Movers;
use super::tree::NO_TRIANGLE;
use super::wedge::Wedge;
use super::{Caster, Scratch, some_in};
use crate::{Hit, Mesh, Ray};
use std::sync::Arc;

/// Where rays are cast, and with what memory.
pub(crate) struct Casting<'a> {
    pub caster: &'a Caster,
    pub movers: &'a Movers,
    pub meshes: &'a [Arc<Mesh>],
    pub scratch: &'a mut Scratch,
}

/// Rays to be cast.
pub(crate) trait Work {
    fn run<L: Lanes>(self, casting: &mut Casting);
}

/// [`Work`] with all it needs.
pub(crate) struct Supplied<'a, W> {
    pub casting: Casting<'a>,
    pub work: W,
}

impl<W: Work> Job for Supplied<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        self.work.run::<L>(&mut self.casting);
    }
}

/// A piece of a list of rays, and where the answers go. With `ANY`, an answer is whatever was met.
pub(crate) struct Piece<'a, const ANY: bool> {
    pub rays: &'a [Ray],
    pub tiling: Tiling,
    pub hits: &'a mut [Option<Hit>],
}

impl<const ANY: bool> Work for Piece<'_, ANY> {
    #[inline(always)]
    fn run<L: Lanes>(self, casting: &mut Casting) {
        let mut rays = RayTile::EMPTY;
        let mut met = HitTile::NONE;
        for tile in 0..self.tiling.tiles(self.rays.len()) {
            let (of, used) = self.tiling.tile(tile, self.rays.len());
            if used == 0 {
                continue;
            }
            for (lane, ray) in of[..used].iter().enumerate() {
                rays.put(lane, &self.rays[*ray]);
            }
            rays.used = used;
            casting.tile::<L, ANY>(&rays, &mut met);
            for (lane, ray) in of[..used].iter().enumerate() {
                self.hits[*ray] = met.hit(lane);
            }
        }
    }
}

/// Tiles of rays, and where the answers go.
pub(crate) struct Tiles<'a> {
    pub rays: &'a [RayTile],
    pub hits: &'a mut [HitTile],
}

impl Work for Tiles<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, casting: &mut Casting) {
        let alone = casting.caster.instances.len() == 1;
        let together = if alone { GROUP } else { 1 };
        let groups = self.rays.chunks(together);
        for (rays, met) in groups.zip(self.hits.chunks_mut(together)) {
            casting.group::<L>(rays, met);
        }
    }
}

impl Casting<'_> {
    /// What the rays of one tile meet. With `ANY`, normals are not found.
    #[inline(always)]
    fn tile<L: Lanes, const ANY: bool>(&mut self, rays: &RayTile, met: &mut HitTile) {
        met.object = HitTile::NONE.object;
        met.distance = HitTile::NONE.distance;
        let mut tile = Tile { rays, met };
        if self.caster.instances.len() == 1 {
            tile.visit::<L, ANY>(self, 0);
            return;
        }
        let mut candidates = std::mem::take(&mut self.scratch.candidates);
        let top = &self.caster.top;
        let mut walk = top.walk::<L>(self.movers, &rays.bundle(), &mut candidates);
        while let Some(number) = walk.next::<L>(tile.farthest::<ANY>()) {
            tile.visit::<L, ANY>(self, number);
        }
        self.scratch.candidates = candidates;
    }

    /// What the rays of up to [`GROUP`] tiles meet, where several are in a scene of one instance.
    #[inline(always)]
    fn group<L: Lanes>(&mut self, rays: &[RayTile], met: &mut [HitTile]) {
        if rays.len() > 1 && self.neighbours::<L>(rays, met) {
            return;
        }
        for (rays, met) in rays.iter().zip(met) {
            self.tile::<L, false>(rays, met);
        }
    }

    /// What the rays of several tiles meet in the only instance, if they all are neighbours.
    #[inline(always)]
    fn neighbours<L: Lanes>(&mut self, rays: &[RayTile], met: &mut [HitTile]) -> bool {
        let instance = &self.caster.instances[0];
        let tree = &*self.caster.trees[instance.mesh];
        let scratch = &mut *self.scratch;
        let count = rays.len();
        let mut axes = [0; 3];
        for number in 0..count {
            let (rays, met) = (&rays[number], &mut met[number]);
            met.object = HitTile::NONE.object;
            met.distance = HitTile::NONE.distance;
            scratch.local[number].start(rays, instance);
            let open = Tile { rays, met }.open::<false>(instance.mask);
            let from = scratch.local[0].first_start();
            let beams = &mut scratch.beams;
            let centre = scratch.local[number].beams(&from, &tree.middle, open, beams);
            if number == 0 {
                // For all, even where another tile by itself would look along another axis.
                axes = beams.axes();
            }
            let (packet, best) = (&mut scratch.packet[number], &mut scratch.best[number]);
            if !packet.take::<L>(beams, axes, centre, tree, best) {
                return false;
            }
        }
        let Some(wedge) = Wedge::around(&scratch.packet[..count], tree) else {
            return false;
        };
        let mut search = Search {
            faces: Faces {
                known: &mut scratch.known,
                tree,
                mesh: &self.meshes[instance.mesh],
            },
            wedge: &wedge,
            rays: &scratch.local[..count],
            packets: &scratch.packet[..count],
            best: &mut scratch.best[..count],
            stack: &mut scratch.stack,
            edges: &mut scratch.edges,
        };
        search.run::<L, false>(&mut scratch.room);
        for (number, (rays, met)) in rays.iter().zip(met).enumerate() {
            Tile { rays, met }.finish::<false, true>(self, 0, number);
        }
        true
    }
}

/// Up to sixteen rays and what they have met so far.
struct Tile<'a> {
    rays: &'a RayTile,
    met: &'a mut HitTile,
}

impl Tile<'_> {
    /// The greatest distance at which any ray still looks for something.
    #[inline(always)]
    fn farthest<const ANY: bool>(&self) -> f64 {
        let mut farthest = f64::NEG_INFINITY;
        for lane in 0..self.rays.used {
            let far = match self.met.is_met(lane) {
                true if ANY => f64::NEG_INFINITY,
                true => self.met.distance[lane],
                false => self.rays.far[lane],
            };
            farthest = if far > farthest { far } else { farthest };
        }
        farthest
    }

    /// The lanes that look for something in an instance.
    #[inline(always)]
    fn open<const ANY: bool>(&self, mask: u32) -> u32 {
        let mut open = 0;
        for lane in 0..16 {
            let wanted = mask & self.rays.mask[lane] != 0;
            open |= u32::from(wanted && !(ANY && self.met.is_met(lane))) << lane;
        }
        open & (0xffff >> (16 - self.rays.used))
    }

    #[inline(always)]
    fn visit<L: Lanes, const ANY: bool>(&mut self, casting: &mut Casting, number: usize) {
        let instance = &casting.caster.instances[number];
        let open = self.open::<ANY>(instance.mask);
        if open == 0 {
            return;
        }
        let tree = &*casting.caster.trees[instance.mesh];
        let mesh = &*casting.meshes[instance.mesh];
        let Scratch {
            stack,
            packet,
            best,
            beams,
            local,
            room,
            edges,
            known,
            ..
        } = &mut *casting.scratch;
        let ([local, ..], [packet, ..], [best, ..]) = (local, packet, best);
        local.take(self.rays, instance, number, self.met);
        let centre = local.beams(&local.first_start(), &tree.middle, open, beams);
        if open.count_ones() > 2 && packet.take::<L>(beams, beams.axes(), centre, tree, best) {
            let mut search = Search {
                faces: Faces { known, tree, mesh },
                wedge: &packet.wedge,
                rays: std::slice::from_ref(local),
                packets: std::slice::from_ref(packet),
                best: std::slice::from_mut(best),
                stack,
                edges,
            };
            search.run::<L, ANY>(room);
        } else {
            best.triangle = Best::CLOSED.triangle;
            let mut faces = Faces { known, tree, mesh };
            for lane in (0..16).filter(|lane| open >> lane & 1 == 1) {
                let ray = local.ray(lane);
                let triangle = some_in::<L, ANY>(&mut faces, &ray, (stack, room));
                best.triangle[lane] = f32::from_bits(triangle);
            }
        }
        self.finish::<ANY, false>(casting, number, 0);
    }

    /// Makes hits of the triangles that were found for a packet, in `f64`; with `FIRST`, of a tile
    /// that has met nothing before.
    #[inline(always)]
    fn finish<const ANY: bool, const FIRST: bool>(
        &mut self,
        casting: &mut Casting,
        number: usize,
        packet: usize,
    ) {
        let instance = &casting.caster.instances[number];
        let mesh = &*casting.meshes[instance.mesh];
        let tree = &*casting.caster.trees[instance.mesh];
        let scratch = &mut *casting.scratch;
        let (best, local) = (&scratch.best[packet], &scratch.local[packet]);
        let corners = &mut scratch.corners;
        let triangles = best.triangles();
        let mut lanes = 0;
        for lane in 0..16 {
            lanes |= u32::from(triangles[lane] != NO_TRIANGLE) << lane;
        }
        if lanes == 0 {
            return;
        }
        let mut faces = Faces {
            known: &mut scratch.known,
            tree,
            mesh,
        };
        corners.take(&mut faces, &triangles, lanes);
        let met = local.meet(corners, FIRST && scratch.packet[packet].steep);
        let mut found = [false; 16];
        for lane in 0..16 {
            let is_met = (triangles[lane] != NO_TRIANGLE) & !met.none[lane];
            found[lane] = is_met & local.counts(lane, met.distance[lane]);
        }
        let found = Flags::of(&found);
        found.keep(&mut self.met.distance, &met.distance);
        found.keep_whole(&mut self.met.object, &[number as u32; 16]);
        found.keep_whole(&mut self.met.triangle, &triangles);
        if !ANY {
            instance.turn_lanes(&mut corners.normal, &self.rays.time);
        }
        if FIRST {
            self.met.barycentric = met.barycentric;
            self.met.normal = corners.normal;
            return;
        }
        for (own, new) in self.met.barycentric.iter_mut().zip(&met.barycentric) {
            found.keep(own, new);
        }
        for (own, new) in self.met.normal.iter_mut().zip(&corners.normal) {
            found.keep(own, new);
        }
    }
}

impl LocalRay {
    /// The hit with a triangle that was found.
    pub fn hit(&self, mesh: &Mesh, number: usize, triangle: u32) -> Option<Met> {
        let meeting = self.meet(mesh, triangle)?;
        Some(Met::new(number, triangle, &meeting))
    }
}

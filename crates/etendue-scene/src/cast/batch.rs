//! Many rays: in tiles of sixteen through the tree together where they are neighbours.

use super::best::{Best, Exact, LocalRay};
use super::face::Met;
use super::lanes::{Job, Lanes};
use super::sixteen::Search;
use super::tile::{HitTile, RayTile};
use super::tiles::Tiling;
use super::top::Movers;
use super::tree::NO_TRIANGLE;
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
        for (rays, met) in self.rays.iter().zip(self.hits) {
            casting.tile::<L, false>(rays, met);
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
            ..
        } = &mut *casting.scratch;
        local.take(self.rays, instance, number, self.met);
        let centre = local.beams(&tree.middle, open, beams);
        if open.count_ones() > 2 && packet.take::<L>(beams, centre, tree, best) {
            let mut search = Search {
                tree,
                mesh,
                rays: &*local,
                packet,
                best,
                stack,
            };
            search.run::<L, ANY>(room);
        } else {
            best.triangle = Best::CLOSED.triangle;
            for lane in (0..16).filter(|lane| open >> lane & 1 == 1) {
                let ray = local.ray(lane);
                let triangle = some_in::<L, ANY>(tree, mesh, &ray, stack, room);
                best.triangle[lane] = f32::from_bits(triangle);
            }
        }
        self.finish::<ANY>(casting, number);
    }

    /// Makes hits of the triangles that were found, in `f64`.
    #[inline(always)]
    fn finish<const ANY: bool>(&mut self, casting: &mut Casting, number: usize) {
        let instance = &casting.caster.instances[number];
        let mesh = &*casting.meshes[instance.mesh];
        let Scratch {
            best,
            local,
            corners,
            ..
        } = &mut *casting.scratch;
        let mut found = [false; 16];
        for lane in 0..self.rays.used {
            let triangle = best.triangle(lane);
            if triangle == NO_TRIANGLE {
                continue;
            }
            found[lane] = true;
            let vertices = mesh.triangles[triangle as usize];
            corners.put(lane, vertices.map(|v| &mesh.vertices[v as usize]));
        }
        if found == [false; 16] {
            return;
        }
        let met = local.meet(corners);
        for lane in 0..16 {
            found[lane] &= !met.none[lane] && local.counts(lane, met.distance[lane]);
        }
        keep(&mut self.met.distance, &met.distance, &found);
        for (own, new) in self.met.barycentric.iter_mut().zip(&met.barycentric) {
            keep(own, new, &found);
        }
        for lane in 0..16 {
            if found[lane] {
                self.met.object[lane] = number as u32;
                self.met.triangle[lane] = best.triangle(lane);
            }
        }
        if !ANY {
            let mut normals = corners.normals();
            instance.turn_lanes(&mut normals, &self.rays.time);
            for (own, new) in self.met.normal.iter_mut().zip(&normals) {
                keep(own, new, &found);
            }
        }
    }
}

/// Takes the new numbers of some lanes.
#[inline(always)]
fn keep(own: &mut [f64; 16], new: &[f64; 16], lanes: &[bool; 16]) {
    for lane in 0..16 {
        own[lane] = if lanes[lane] { new[lane] } else { own[lane] };
    }
}

impl LocalRay {
    /// The hit with a triangle that was found.
    pub fn hit(&self, mesh: &Mesh, number: usize, triangle: u32) -> Option<Met> {
        let meeting = self.meet(mesh, triangle)?;
        Some(Met::new(number, triangle, &meeting))
    }
}

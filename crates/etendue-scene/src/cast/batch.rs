//! Many rays: in tiles of sixteen through the tree together where they are neighbours.

use super::best::{Best, Exact, LocalRay};
use super::instance::Instance;
use super::lanes::{Job, Lanes};
use super::sixteen::Search;
use super::tiles::Tiling;
use super::top::{Bundle, Candidate, Top};
use super::tree::NO_TRIANGLE;
use super::{Caster, Scratch, some_in};
use crate::{Hit, Mesh, ObjectId, Ray};
use std::sync::Arc;

/// A piece of a list of rays, and where the answers go. With `ANY`, an answer is whatever was met.
pub(crate) struct Piece<'a, const ANY: bool> {
    pub caster: &'a Caster,
    pub top: &'a Top,
    pub meshes: &'a [Arc<Mesh>],
    pub rays: &'a [Ray],
    pub tiling: Tiling,
    pub hits: &'a mut [Option<Hit>],
    pub scratch: &'a mut Scratch,
}

impl<const ANY: bool> Job for Piece<'_, ANY> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for tile in 0..self.tiling.tiles(self.rays.len()) {
            let (of, used) = self.tiling.tile(tile, self.rays.len());
            if used == 0 {
                continue;
            }
            let mut tile = Tile {
                rays: [0; 16].map(|_| &self.rays[of[0]]),
                used,
                hits: [None; 16],
            };
            for lane in 0..used {
                tile.rays[lane] = &self.rays[of[lane]];
            }
            tile.trace::<L, ANY>(self.caster, self.top, self.meshes, self.scratch);
            for lane in 0..used {
                self.hits[of[lane]] = tile.hits[lane];
            }
        }
    }
}

/// Up to sixteen rays; lanes that are not used repeat the first.
struct Tile<'a> {
    rays: [&'a Ray; 16],
    used: usize,
    hits: [Option<Hit>; 16],
}

impl Tile<'_> {
    #[inline(always)]
    fn trace<L: Lanes, const ANY: bool>(
        &mut self,
        caster: &Caster,
        top: &Top,
        meshes: &[Arc<Mesh>],
        scratch: &mut Scratch,
    ) {
        let mut candidates = std::mem::take(&mut scratch.candidates);
        if let [only] = &caster.instances[..] {
            self.visit::<L, ANY>(caster, 0, only, &meshes[only.mesh], scratch);
        } else {
            self.find(top, &mut candidates);
            for candidate in &candidates {
                if candidate.distance > self.farthest::<ANY>() {
                    break;
                }
                let number = candidate.instance;
                let instance = &caster.instances[number];
                self.visit::<L, ANY>(caster, number, instance, &meshes[instance.mesh], scratch);
            }
        }
        scratch.candidates = candidates;
    }

    fn find(&self, top: &Top, candidates: &mut Vec<Candidate>) {
        let mut bundle = Bundle::one(self.rays[0]);
        for ray in &self.rays[1..self.used] {
            bundle.with(ray);
        }
        top.candidates(&bundle, candidates);
    }

    /// The greatest distance at which any ray still looks for something.
    fn farthest<const ANY: bool>(&self) -> f64 {
        let mut farthest = f64::NEG_INFINITY;
        for lane in 0..self.used {
            let far = match self.hits[lane] {
                Some(_) if ANY => f64::NEG_INFINITY,
                Some(hit) => hit.distance,
                None => self.rays[lane].far,
            };
            farthest = if far > farthest { far } else { farthest };
        }
        farthest
    }

    #[inline(always)]
    fn visit<L: Lanes, const ANY: bool>(
        &mut self,
        caster: &Caster,
        number: usize,
        instance: &Instance,
        mesh: &Mesh,
        scratch: &mut Scratch,
    ) {
        let tree = &*caster.trees[instance.mesh];
        let middle = tree.middle;
        let local = Local {
            rays: &self.rays,
            hits: &self.hits,
            instance,
            number,
        };
        let first = local.ray(0);
        let from_middle = first.origin - middle;
        let centre = [
            from_middle.x as f32,
            from_middle.y as f32,
            from_middle.z as f32,
        ];
        let beams = &mut scratch.beams;
        beams.together = true;
        let mut active = 0;
        for lane in 0..16 {
            let ray = if lane < self.used {
                local.ray(lane)
            } else {
                first
            };
            let open = lane < self.used
                && instance.mask & self.rays[lane].mask != 0
                && !(ANY && self.hits[lane].is_some());
            active |= u32::from(open) << lane;
            beams.together &= ray.origin == first.origin;
            for axis in 0..3 {
                let from_centre = ray.origin[axis] - middle[axis] - f64::from(centre[axis]);
                beams.origin[axis][lane] = from_centre as f32;
                beams.direction[axis][lane] = ray.direction[axis] as f32;
            }
            beams.near[lane] = ray.near as f32;
            beams.far[lane] = if open { ray.far as f32 } else { -1e30 };
        }
        if active == 0 {
            return;
        }
        if beams.together {
            beams.origin = [[0.0; 16]; 3];
        }
        let Scratch {
            stack,
            packet,
            best,
            beams,
            ..
        } = scratch;
        if active.count_ones() > 2 && packet.take::<L>(beams, centre, tree, best) {
            let mut search = Search {
                tree,
                mesh,
                rays: &local,
                packet,
                best,
                stack,
            };
            search.run::<L, ANY>();
        } else {
            best.triangle = Best::CLOSED.triangle;
            for lane in 0..self.used {
                if active >> lane & 1 == 1 {
                    let ray = local.ray(lane);
                    let triangle = some_in::<L, ANY>(tree, mesh, &ray, stack);
                    best.triangle[lane] = f32::from_bits(triangle);
                }
            }
        }
        for lane in 0..self.used {
            let triangle = best.triangle(lane);
            if triangle != NO_TRIANGLE {
                let local = Local {
                    rays: &self.rays,
                    hits: &self.hits,
                    instance,
                    number,
                };
                if let Some(hit) = local.ray(lane).hit(mesh, number, triangle) {
                    self.hits[lane] = Some(hit);
                }
            }
        }
    }
}

impl LocalRay {
    /// The hit with a triangle that was found.
    pub fn hit(&self, mesh: &Mesh, number: usize, triangle: u32) -> Option<Hit> {
        let meeting = self.meet(mesh, triangle)?;
        Some(Hit {
            distance: meeting.distance,
            object: ObjectId(number as u32),
            triangle,
            barycentric: meeting.barycentric,
        })
    }
}

/// A tile's rays in an instance's frame, each up to what it has met.
struct Local<'a> {
    rays: &'a [&'a Ray; 16],
    hits: &'a [Option<Hit>; 16],
    instance: &'a Instance,
    number: usize,
}

impl Exact for Local<'_> {
    #[inline]
    fn ray(&self, lane: usize) -> LocalRay {
        let ray = self.instance.localise(self.rays[lane]);
        ray.before(self.hits[lane].as_ref(), self.number)
    }
}

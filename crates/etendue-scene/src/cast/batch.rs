//! Many rays: in tiles of sixteen through the tree together where they are neighbours.

use super::best::{Best, Exact, LocalRay};
use super::face::{Faces, Met};
use super::instance::Instance;
use super::lanes::{Job, Lanes};
use super::local::LocalRays;
use super::sixteen::Search;
use super::tiles::Tiling;
use super::top::{Bundle, Movers};
use super::tree::NO_TRIANGLE;
use super::triangle::Pairs;
use super::{Caster, Scratch, some_in};
use crate::{Hit, Mesh, ObjectId, Ray};
use nalgebra::Vector3;
use std::sync::Arc;

/// A piece of a list of rays, and where the answers go. With `ANY`, an answer is whatever was met.
pub(crate) struct Piece<'a, const ANY: bool> {
    pub caster: &'a Caster,
    pub movers: &'a Movers,
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
                met: [None; 16],
            };
            for lane in 0..used {
                tile.rays[lane] = &self.rays[of[lane]];
            }
            tile.trace::<L, ANY>(self.caster, self.movers, self.meshes, self.scratch);
            let answers = of[..used].iter();
            if ANY {
                for (&ray, met) in answers.zip(tile.met) {
                    self.hits[ray] = met.map(|met| met.hit(Vector3::zeros()));
                }
            } else {
                let normals = tile.normals(self.caster, self.meshes, &mut self.scratch.faces);
                for ((&ray, met), normal) in answers.zip(tile.met).zip(normals) {
                    self.hits[ray] = met.map(|met| met.hit(normal));
                }
            }
        }
    }
}

/// Up to sixteen rays; lanes that are not used repeat the first.
struct Tile<'a> {
    rays: [&'a Ray; 16],
    used: usize,
    met: [Option<Met>; 16],
}

impl Tile<'_> {
    #[inline(always)]
    fn trace<L: Lanes, const ANY: bool>(
        &mut self,
        caster: &Caster,
        movers: &Movers,
        meshes: &[Arc<Mesh>],
        scratch: &mut Scratch,
    ) {
        if let [only] = &caster.instances[..] {
            self.visit::<L, ANY>(caster, 0, only, &meshes[only.mesh], scratch);
            return;
        }
        let mut candidates = std::mem::take(&mut scratch.candidates);
        let mut walk = caster
            .top
            .walk::<L>(movers, &self.bundle(), &mut candidates);
        while let Some(number) = walk.next::<L>(self.farthest::<ANY>()) {
            let instance = &caster.instances[number];
            self.visit::<L, ANY>(caster, number, instance, &meshes[instance.mesh], scratch);
        }
        scratch.candidates = candidates;
    }

    fn bundle(&self) -> Bundle {
        let mut bundle = Bundle::one(self.rays[0]);
        for ray in &self.rays[1..self.used] {
            bundle.with(ray);
        }
        bundle
    }

    /// The greatest distance at which any ray still looks for something.
    fn farthest<const ANY: bool>(&self) -> f64 {
        let mut farthest = f64::NEG_INFINITY;
        for lane in 0..self.used {
            let far = match self.met[lane] {
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
        let mut open = 0;
        for lane in 0..self.used {
            let wanted = instance.mask & self.rays[lane].mask != 0;
            open |= u32::from(wanted && !(ANY && self.met[lane].is_some())) << lane;
        }
        if open == 0 {
            return;
        }
        let Scratch {
            stack,
            packet,
            best,
            beams,
            local,
            pairs,
            room,
            ..
        } = scratch;
        for lane in 0..self.used {
            local.put(lane, &instance.localise(self.rays[lane]));
            if let Some(met) = &self.met[lane] {
                local.end_at(lane, met, number);
            }
        }
        for lane in self.used..16 {
            local.repeat_first(lane);
        }
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
            for lane in 0..self.used {
                if open >> lane & 1 == 1 {
                    let ray = local.ray(lane);
                    let triangle = some_in::<L, ANY>(tree, mesh, &ray, stack, room);
                    best.triangle[lane] = f32::from_bits(triangle);
                }
            }
        }
        self.finish(number, mesh, best, local, pairs);
    }

    /// Makes hits of the triangles that were found, in `f64`.
    #[inline(always)]
    fn finish(
        &mut self,
        number: usize,
        mesh: &Mesh,
        best: &Best,
        local: &LocalRays,
        pairs: &mut Pairs,
    ) {
        for lane in 0..self.used {
            let triangle = best.triangle(lane);
            if triangle != NO_TRIANGLE {
                let corners = mesh.triangles[triangle as usize].map(|v| &mesh.vertices[v as usize]);
                let [origin, direction] = local.line(lane);
                pairs.put(lane, &origin.into(), &direction.into(), corners);
            }
        }
        let met = pairs.meet();
        for lane in 0..self.used {
            let triangle = best.triangle(lane);
            let distance = met.distance[lane];
            if triangle != NO_TRIANGLE && !met.none[lane] && local.counts(lane, distance) {
                self.met[lane] = Some(Met {
                    distance,
                    object: ObjectId(number as u32),
                    triangle,
                    barycentric: [met.barycentric[0][lane], met.barycentric[1][lane]],
                });
            }
        }
    }

    /// Normals in the world of what was met.
    #[inline(always)]
    fn normals(
        &self,
        caster: &Caster,
        meshes: &[Arc<Mesh>],
        faces: &mut Faces,
    ) -> [Vector3<f64>; 16] {
        for (lane, met) in self.met.iter().enumerate() {
            if let Some(met) = met {
                let mesh = &*meshes[caster.instances[met.object.0 as usize].mesh];
                let corners = mesh.triangles[met.triangle as usize];
                faces.put(lane, corners.map(|v| &mesh.vertices[v as usize]));
            }
        }
        let [x, y, z] = faces.normals();
        let mut normals = [Vector3::zeros(); 16];
        for (lane, met) in self.met.iter().enumerate() {
            if let Some(met) = met {
                let instance = &caster.instances[met.object.0 as usize];
                let normal = Vector3::new(x[lane], y[lane], z[lane]);
                normals[lane] = instance.turn(normal, self.rays[lane].time);
            }
        }
        normals
    }
}

impl LocalRay {
    /// The hit with a triangle that was found.
    pub fn hit(&self, mesh: &Mesh, number: usize, triangle: u32) -> Option<Met> {
        let meeting = self.meet(mesh, triangle)?;
        Some(Met::new(number, triangle, &meeting))
    }
}

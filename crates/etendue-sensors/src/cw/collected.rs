//! The light of one beam, as its rays bring it back.

use super::CwLidar;
use crate::calibrated::{CalibratedLanes, Direct, DrawnBeams, Profiled, ReturnSummary};
use crate::noise_profiles::NoiseProfiles;
use crate::scalar_tile::{LaneScalar, ScalarTile};
use crate::transport::{DirectReturnTile, LightReturn, PoseTile};
use etendue_physics::Scalar;
use etendue_physics::phase::PhaseSignal;
use etendue_physics::profile::{Address, NoiseCache};
use etendue_scene::{HitTile, RayTile};
use etendue_simd::Vectorized;
use nalgebra::Vector3;

/// Surfaces counted in one beam at most.
const MOST_SURFACES: usize = 8;

/// Surfaces nearer to each other than this count as one, m.
const SAME_SURFACE: f64 = 0.01;

/// What came back to one beam.
pub(super) struct Collected<S> {
    pub received: PhaseSignal<S>,
    surfaces: Surfaces,
    /// Where noise profiles ask for it.
    lit: Option<ReturnSummary>,
}

impl<S: LaneScalar> Collected<S> {
    /// That light and nothing else yet.
    pub fn new(received: PhaseSignal<S>, is_profiled: bool) -> Self {
        Self {
            received,
            surfaces: Surfaces::default(),
            lit: is_profiled.then(ReturnSummary::default),
        }
    }

    /// Adds a return, with the power that it adds to the beam.
    pub fn take(&mut self, lidar: &CwLidar<S>, back: &LightReturn<S>, power: S) {
        let modulation = &lidar.receiver.modulation;
        self.received.add(modulation, back.optical_range, power);
        if let Some(lit) = &mut self.lit {
            lit.add_return(back, power.value());
        }
        // The range of light that several surfaces scattered is no surface's.
        if back.scatterings == 1 {
            let [range, cos] = [back.range, back.cos_incidence].map(Scalar::value);
            self.surfaces.see(range, cos, lidar.half_tangent.value());
        }
    }

    /// Notes where light comes from that the first surface on the ray of a lane sends straight back,
    /// and that is added already; `share` is the ray's share of the beam.
    pub fn note(
        &mut self,
        lane: usize,
        (rays, met): (&RayTile, &HitTile),
        back: &DirectReturnTile<S>,
        share: f64,
        half_tangent: f64,
    ) {
        let (range, cos_incidence) = (back.range.values()[lane], back.cos_incidence.values()[lane]);
        if let Some(lit) = &mut self.lit {
            let power = back.power.values()[lane] * share;
            let is_counted = lit.add(&Direct {
                material: back.material[lane],
                power,
                range,
                cos_incidence,
            });
            if is_counted {
                let [normal, arrival] = [&met.normal, &rays.direction]
                    .map(|axes| Vector3::from(axes.each_ref().map(|axis| axis[lane])));
                lit.face(power, &normal, &arrival);
            }
        }
        self.surfaces.see(range, cos_incidence, half_tangent);
    }

    /// The surface that calibrated noise speaks of, if there is one.
    pub fn profiled<'a>(&self, profiles: &'a NoiseProfiles) -> Option<Profiled<'a>> {
        self.lit.as_ref()?.profiled(profiles)
    }

    /// How many separate surfaces sent light back.
    pub fn surfaces(&self) -> u16 {
        self.surfaces.count
    }
}

/// Draws what beams of calibrated noise measure.
pub(super) struct Draw<'a, S: LaneScalar> {
    pub profiles: &'a NoiseProfiles,
    pub sights: CalibratedLanes,
    pub collected: &'a [Collected<S>],
    pub poses: &'a PoseTile<S>,
    /// Of the first beam.
    pub address: Address,
    pub noise_cache: &'a mut NoiseCache,
}

/// What was drawn of which beams.
pub(super) struct Drawing {
    pub sights: CalibratedLanes,
    pub all: DrawnBeams,
}

impl<S: LaneScalar> Vectorized for Draw<'_, S> {
    type Output = Drawing;

    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    fn run(self) -> Drawing {
        let (collected, poses) = (self.collected, self.poses);
        let side = |lane: usize| side(&collected[lane], poses, lane);
        let (address, cache) = (&self.address, self.noise_cache);
        let all = self.sights.draw(self.profiles, side, address, cache);
        Drawing {
            sights: self.sights,
            all,
        }
    }
}

/// On which side of the normal a beam meets its surface.
#[inline(never)]
fn side<S: LaneScalar>(collected: &Collected<S>, poses: &PoseTile<S>, lane: usize) -> f64 {
    let turned = poses.rotate(&[[0.0; 16], [0.0; 16], [1.0; 16]]);
    let up = Vector3::from(turned.map(|axis| axis[lane]));
    collected.lit.as_ref().map_or(0.0, |lit| lit.side(&up))
}

/// The separate surfaces that sent light back.
#[derive(Default)]
struct Surfaces {
    ranges: [f64; MOST_SURFACES],
    count: u16,
}

impl Surfaces {
    /// Counts the surface at a range, if it differs from every other by more than a slanted
    /// plane can across the beam.
    fn see(&mut self, range: f64, cos_incidence: f64, half_tangent: f64) {
        let across = 2.0 * half_tangent * range / cos_incidence.max(1e-3);
        let seen = &self.ranges[..usize::from(self.count)];
        let is_new = seen
            .iter()
            .all(|other| (range - other).abs() > SAME_SURFACE + across);
        if is_new && seen.len() < MOST_SURFACES {
            self.ranges[usize::from(self.count)] = range;
            self.count += 1;
        }
    }
}

//! The light of one beam at the receiver, and where it comes from.

use crate::calibrated::{CalibratedLanes, Direct, DrawnBeams, Profiled, ReturnSummary};
use crate::noise_profiles::NoiseProfiles;
use crate::scalar_tile::{LaneScalar, ScalarTile};
use crate::transport::{DirectReturnTile, LightReturn, PoseTile};
use etendue_physics::Scalar;
use etendue_physics::phase::{Modulation, PhaseSignal};
use etendue_physics::profile::{Address, NoiseCache};
use etendue_scene::{HitTile, MaterialId, ObjectId, RayTile};
use etendue_simd::Vectorized;
use nalgebra::Vector3;

/// Most surfaces that are counted in one beam.
const MOST_SURFACES: usize = 8;

/// Surfaces nearer to each other than this count as one, m.
const SAME_SURFACE: f64 = 0.01;

/// Light of one beam at the receiver.
pub(super) struct Collected<S> {
    pub received: PhaseSignal<S>,
    surfaces: Surfaces,
    brightest: Option<Brightest>,
    /// Where noise profiles need it.
    lit: Option<ReturnSummary>,
}

/// The strongest single contribution to a beam's light.
#[derive(Clone, Copy)]
struct Brightest {
    power: f64,
    /// None for the air.
    surface: Option<LitSurface>,
}

/// A surface that returned light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LitSurface {
    /// Object in the scene.
    pub object: ObjectId,
    /// Material there.
    pub material: MaterialId,
    /// Cosine of the incidence, in [0, 1].
    pub cos_incidence: f64,
    /// Half the optical path, m.
    pub range: f64,
}

impl<S: LaneScalar> Collected<S> {
    /// That light and nothing else yet.
    pub fn new(received: PhaseSignal<S>, is_profiled: bool) -> Self {
        Self {
            received,
            surfaces: Surfaces::default(),
            brightest: None,
            lit: is_profiled.then(ReturnSummary::default),
        }
    }

    /// Adds a return, with the power that it adds to the beam.
    pub fn take(
        &mut self,
        modulation: &Modulation,
        half_tangent: f64,
        back: &LightReturn<S>,
        power: S,
    ) {
        self.received.add(modulation, back.optical_range, power);
        if let Some(lit) = &mut self.lit {
            lit.add_return(back, power.value());
        }
        // The range of light that several surfaces scattered is no surface's.
        if back.scatterings == 1 {
            let [range, cos] = [back.range, back.cos_incidence].map(Scalar::value);
            self.surfaces.see(range, cos, half_tangent);
        }
        self.compare(
            power.value(),
            Some(LitSurface {
                object: back.hit.object,
                material: back.material,
                cos_incidence: back.cos_incidence.value(),
                range: back.optical_range.value(),
            }),
        );
    }

    /// Notes light of the air that is added to the signal.
    pub fn note_air(&mut self, power: f64) {
        if let Some(lit) = &mut self.lit {
            lit.add_other(power);
        }
        self.compare(power, None);
    }

    /// Keeps the strongest contribution.
    fn compare(&mut self, power: f64, surface: Option<LitSurface>) {
        if power > self.brightest.map_or(0.0, |best| best.power) {
            self.brightest = Some(Brightest { power, surface });
        }
    }

    /// The surface that the strongest light came from; none where it is the air's.
    pub fn source(&self) -> Option<LitSurface> {
        self.brightest?.surface
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
        let power = back.power.values()[lane] * share;
        if let Some(lit) = &mut self.lit {
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
        self.compare(
            power,
            Some(LitSurface {
                object: ObjectId(met.object[lane]),
                material: back.material[lane],
                cos_incidence,
                range,
            }),
        );
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
    pub cache: &'a mut NoiseCache,
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
        let (address, cache) = (&self.address, self.cache);
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

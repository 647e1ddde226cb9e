//! Beams that are drawn from calibrated noise.

use crate::noise_profiles::NoiseProfiles;
use crate::transport::LightReturn;
use etendue_physics::Scalar;
use etendue_physics::profile::{Address, Drawn, IncidentBatch, NoiseCache, ProfileSampler};
use etendue_scene::MaterialId;
use nalgebra::Vector3;

/// A beam whose light comes by at least this share from one material is drawn from that material's
/// profile; of the rest, at edges, a profile says nothing.
const SHARE: f64 = 0.9;

/// Collects where a beam's light comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReturnSummary {
    material: Option<MaterialId>,
    power: f64,
    all: f64,
    /// Mean range, m, and mean cosine of the incidence.
    range: f64,
    cos: f64,
    /// Sum of the normals, away from the sensor.
    normal: Vector3<f64>,
    /// Sum of normal times direction of the light.
    turn: Vector3<f64>,
}

/// Light that comes straight back from a surface.
pub(crate) struct Direct {
    pub material: MaterialId,
    pub power: f64,
    /// Half the optical path, m.
    pub range: f64,
    pub cos_incidence: f64,
}

/// A surface that a profile speaks of, as a beam sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profiled<'a> {
    sampler: &'a ProfileSampler,
    pub material: MaterialId,
    /// Range, m.
    pub range: f64,
    pub cos_incidence: f64,
}

impl ReturnSummary {
    /// Counts a return of a power.
    pub fn add_return<S: Scalar>(&mut self, back: &LightReturn<S>, power: f64) {
        if back.depth > 1 || back.scatterings > 1 {
            self.all += power;
            return;
        }
        let is_counted = self.add(&Direct {
            material: back.material,
            power,
            range: back.optical_range.value(),
            cos_incidence: back.cos_incidence.value(),
        });
        if is_counted {
            self.face(power, &back.hit.normal, &back.arrival.map(Scalar::value));
        }
    }

    /// Counts light that comes straight back, and says whether it is of the material that sends most.
    #[inline]
    pub fn add(&mut self, light: &Direct) -> bool {
        let power = light.power;
        if power <= 0.0 {
            return false;
        }
        self.all += power;
        if self.material != Some(light.material) {
            if self.power > power {
                return false;
            }
            *self = Self {
                material: Some(light.material),
                all: self.all,
                ..Self::default()
            };
        }
        self.power += power;
        let share = power / self.power;
        self.range += share * (light.range - self.range);
        self.cos += share * (light.cos_incidence - self.cos);
        true
    }

    /// Counts light that is no surface's.
    pub fn add_other(&mut self, power: f64) {
        self.all += power;
    }

    /// Records the orientation of a surface, whose normal may point to either side, relative to the
    /// arrival direction of the light added last; used by [`ReturnSummary::side`].
    pub fn face(&mut self, power: f64, normal: &Vector3<f64>, arrival: &Vector3<f64>) {
        let away = normal * normal.dot(arrival).signum();
        self.normal += away * power;
        self.turn += away.cross(arrival) * power;
    }

    /// The surface, if it alone is seen and has a profile.
    pub fn profiled<'a>(&self, profiles: &'a NoiseProfiles) -> Option<Profiled<'a>> {
        let material = self.material.filter(|_| self.power >= SHARE * self.all)?;
        Some(Profiled {
            sampler: profiles.sampler(material)?,
            material,
            range: self.range,
            cos_incidence: self.cos_incidence(),
        })
    }

    fn cos_incidence(&self) -> f64 {
        self.cos.clamp(0.0, 1.0)
    }

    /// On which side of the normal the light arrives; `up` is the sensor's axis in the world.
    pub fn side(&self, up: &Vector3<f64>) -> f64 {
        let power = 1.0 / self.power;
        side(
            up,
            &(self.normal * power),
            &(self.turn * power),
            self.cos_incidence(),
        )
    }
}

/// On which side of the normal light arrives: with the normal $n$ away from the sensor, the
/// surface's left is $u\times n$, and the light's direction $d$ has $d\cdot(u\times n) =
/// u\cdot(n\times d)$ of it, out of the sine of the incidence. Neither, where the sensor's axis $u$,
/// in the world, is the normal; `turn` is $n\times d$.
fn side(up: &Vector3<f64>, normal: &Vector3<f64>, turn: &Vector3<f64>, cos: f64) -> f64 {
    let all = up.cross(normal).norm() * (1.0 - cos * cos).sqrt();
    if all > 1e-9 {
        (up.dot(turn) / all).clamp(-1.0, 1.0)
    } else {
        0.0
    }
}

/// The same of light of one direction, on a surface of a normal on either side.
pub(crate) fn side_of(
    up: &Vector3<f64>,
    normal: &Vector3<f64>,
    arrival: &Vector3<f64>,
    cos: f64,
) -> f64 {
    let away = normal * normal.dot(arrival).signum();
    side(up, &away, &away.cross(arrival), cos)
}

impl Profiled<'_> {
    /// A measurement of it: drop-out, bias, spread and steps at once; `lit` is what saw it, `up` the
    /// sensor's axis in the world.
    pub fn draw(
        &self,
        lit: &ReturnSummary,
        up: impl Fn() -> Vector3<f64>,
        address: &Address,
        noise_cache: &mut NoiseCache,
    ) -> Option<Drawn> {
        let side = || lit.side(&up());
        let (range, cos) = (self.range, self.cos_incidence);
        self.sampler.draw(range, cos, side, address, noise_cache)
    }
}

/// Beams that follow each other, sixteen or 64, as they see surfaces of calibrated noise.
#[derive(Clone)]
#[repr(align(64))]
pub(crate) struct CalibratedLanes<const N: usize = 16> {
    /// Which do: the numbers of the others mean nothing.
    pub calibrated: [bool; N],
    pub material: [MaterialId; N],
    /// Range, m.
    pub range: [f64; N],
    pub cos_incidence: [f64; N],
}

/// What is drawn of such beams.
#[derive(Clone)]
#[repr(align(64))]
pub(crate) struct DrawnBeams<const N: usize = 16> {
    pub returned: [bool; N],
    /// m.
    pub range: [f64; N],
    /// Where the profile has it; no number where it has none.
    pub intensity: [f64; N],
}

impl<const N: usize> DrawnBeams<N> {
    /// That of one.
    pub fn of(&self, lane: usize) -> Option<Drawn> {
        let intensity = self.intensity[lane];
        self.returned[lane].then_some(Drawn {
            range: self.range[lane],
            intensity: (!intensity.is_nan()).then_some(intensity),
        })
    }
}

#[expect(
    clippy::inline_always,
    reason = "loops over lanes become the caller's vector instructions"
)]
impl<const N: usize> CalibratedLanes<N> {
    pub const NONE: Self = Self {
        calibrated: [false; N],
        material: [MaterialId(0); N],
        range: [1.0; N],
        cos_incidence: [1.0; N],
    };

    /// That of one beam.
    pub fn set(&mut self, lane: usize, surface: &Profiled) {
        self.calibrated[lane] = true;
        self.material[lane] = surface.material;
        self.range[lane] = surface.range;
        self.cos_incidence[lane] = surface.cos_incidence;
    }

    /// Draws what they measure, the first of which is at `first`; `side` tells [`ReturnSummary::side`] by lane.
    /// Loops for the vector instructions of the caller.
    #[inline(always)]
    pub fn draw(
        &self,
        profiles: &NoiseProfiles,
        side: impl Fn(usize) -> f64,
        first: &Address,
        noise_cache: &mut NoiseCache,
    ) -> DrawnBeams<N> {
        let mut all = DrawnBeams {
            returned: [false; N],
            range: [0.0; N],
            intensity: [f64::NAN; N],
        };
        let mut left = self.calibrated;
        let mut is_first = true;
        while let Some(next) = first_of(&left) {
            let material = self.material[next];
            let mut wanted = [false; N];
            for i in 0..N {
                wanted[i] = left[i] && self.material[i] == material;
                left[i] &= !wanted[i];
            }
            let Some(sampler) = profiles.sampler(material) else {
                continue;
            };
            let met = IncidentBatch {
                wanted,
                range: &self.range,
                cos_incidence: &self.cos_incidence,
            };
            let drawn = sampler.draw_batch(&met, &side, first, noise_cache);
            let intensity = drawn.intensity.unwrap_or([f64::NAN; N]);
            if is_first {
                // Most often there is no other.
                all.returned = drawn.returned;
                all.range = drawn.range;
                all.intensity = intensity;
                is_first = false;
                continue;
            }
            for i in 0..N {
                if wanted[i] {
                    all.returned[i] = drawn.returned[i];
                    all.range[i] = drawn.range[i];
                    all.intensity[i] = intensity[i];
                }
            }
        }
        all
    }
}

/// The first lane that is, of 64 at most.
#[expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "a loop over lanes becomes the caller's vector instructions"
)]
#[inline(always)]
fn first_of<const N: usize>(lanes: &[bool; N]) -> Option<usize> {
    const { assert!(N <= 64) };
    let mut bits = 0_u64;
    for i in 0..N {
        bits |= u64::from(lanes[i]) << i;
    }
    if bits == 0 {
        None
    } else {
        Some(bits.trailing_zeros() as usize)
    }
}

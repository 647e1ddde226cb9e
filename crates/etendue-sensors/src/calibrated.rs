//! Noise profiles applied to beams.

use crate::noise_profiles::NoiseProfiles;
use crate::transport::LightReturn;
use etendue_physics::Scalar;
use etendue_physics::profile::{
    BeamAddress, DrawnReturn, IncidentBatch, NoiseCache, ProfileSampler,
};
use etendue_scene::MaterialId;
use nalgebra::Vector3;

/// Least fraction of a beam's power from one material for its profile to apply. Profiles do not cover
/// beams at edges.
const LEAST_FRACTION: f64 = 0.9;

/// Summary of the returns of a beam: power, range and incidence of the dominant material.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReturnSummary {
    /// Dominant material.
    material: Option<MaterialId>,
    /// Power of the dominant material.
    power: f64,
    /// Power of all light.
    total: f64,
    /// Power-weighted mean range, m.
    range: f64,
    /// Power-weighted mean cosine of the incidence.
    cos: f64,
    /// Power-weighted sum of the normals $n$, away from the sensor.
    normal: Vector3<f64>,
    /// Power-weighted sum of $n\times d$ with the arrival direction $d$.
    cross: Vector3<f64>,
}

/// DirectReturn return from a surface.
pub(crate) struct DirectReturn {
    pub material: MaterialId,
    /// 1/(m² sr).
    pub power: f64,
    /// Half the optical path, m.
    pub range: f64,
    /// Cosine of the incidence, in [0, 1].
    pub cos_incidence: f64,
}

/// Surface of a beam with the noise profile of its material.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProfiledSurface<'a> {
    sampler: &'a ProfileSampler,
    pub material: MaterialId,
    /// Range, m.
    pub range: f64,
    /// Cosine of the incidence, in [0, 1].
    pub cos_incidence: f64,
}

impl ReturnSummary {
    /// Adds a return with its power in the beam.
    pub fn add_return<S: Scalar>(&mut self, back: &LightReturn<S>, power: f64) {
        if back.depth > 1 || back.scatterings > 1 {
            self.total += power;
            return;
        }
        let is_dominant = self.add(&DirectReturn {
            material: back.material,
            power,
            range: back.optical_range.value(),
            cos_incidence: back.cos_incidence.value(),
        });
        if is_dominant {
            self.add_orientation(power, &back.hit.normal, &back.arrival.map(Scalar::value));
        }
    }

    /// Adds a direct return. Returns whether it is of the dominant material.
    #[inline]
    pub fn add(&mut self, light: &DirectReturn) -> bool {
        let power = light.power;
        if power <= 0.0 {
            return false;
        }
        self.total += power;
        if self.material != Some(light.material) {
            if self.power > power {
                return false;
            }
            *self = Self {
                material: Some(light.material),
                total: self.total,
                ..Self::default()
            };
        }
        self.power += power;
        let share = power / self.power;
        self.range += share * (light.range - self.range);
        self.cos += share * (light.cos_incidence - self.cos);
        true
    }

    /// Adds light without a direct surface.
    pub fn add_other(&mut self, power: f64) {
        self.total += power;
    }

    /// Adds the orientation of the surface of the last direct return, for [`ReturnSummary::side`]. The normal
    /// may point to either side.
    pub fn add_orientation(&mut self, power: f64, normal: &Vector3<f64>, arrival: &Vector3<f64>) {
        let away = normal * normal.dot(arrival).signum();
        self.normal += away * power;
        self.cross += away.cross(arrival) * power;
    }

    /// The surface of the dominant material, if its fraction suffices and it has a profile.
    pub fn profiled<'a>(&self, profiles: &'a NoiseProfiles) -> Option<ProfiledSurface<'a>> {
        let material = self
            .material
            .filter(|_| self.power >= LEAST_FRACTION * self.total)?;
        Some(ProfiledSurface {
            sampler: profiles.sampler(material)?,
            material,
            range: self.range,
            cos_incidence: self.cos_incidence(),
        })
    }

    /// Mean cosine of the incidence, in [0, 1].
    fn cos_incidence(&self) -> f64 {
        self.cos.clamp(0.0, 1.0)
    }

    /// Signed side of the normal at which the light arrives, in [-1, 1]; `up` is the z axis of the sensor in
    /// the world.
    pub fn side(&self, up: &Vector3<f64>) -> f64 {
        let inverse_power = 1.0 / self.power;
        side(
            up,
            &(self.normal * inverse_power),
            &(self.cross * inverse_power),
            self.cos_incidence(),
        )
    }
}

/// Signed side of the normal at which light arrives, in [-1, 1].
///
/// With the normal $n$ away from the sensor and the sensor's axis $u$, the left of the surface is
/// $u\times n$, and the light of direction $d$ has the component $d\cdot(u\times n) = u\cdot(n\times d)$
/// along it, relative to the sine of the incidence. Zero where $u$ is parallel to $n$. `cross` is
/// $n\times d$.
fn side(up: &Vector3<f64>, normal: &Vector3<f64>, cross: &Vector3<f64>, cos: f64) -> f64 {
    let scale = up.cross(normal).norm() * (1.0 - cos * cos).sqrt();
    if scale > 1e-9 {
        (up.dot(cross) / scale).clamp(-1.0, 1.0)
    } else {
        0.0
    }
}

/// [`ReturnSummary::side`] of a single direct return. The normal may point to either side.
pub(crate) fn side_of(
    up: &Vector3<f64>,
    normal: &Vector3<f64>,
    arrival: &Vector3<f64>,
    cos: f64,
) -> f64 {
    let away = normal * normal.dot(arrival).signum();
    side(up, &away, &away.cross(arrival), cos)
}

impl ProfiledSurface<'_> {
    /// Draws a range from the profile: drop-out, bias, spread and quantisation. `summary` is the source of
    /// the surface, `up` the z axis of the sensor in the world.
    pub fn draw(
        &self,
        summary: &ReturnSummary,
        up: impl Fn() -> Vector3<f64>,
        address: &BeamAddress,
        noise_cache: &mut NoiseCache,
    ) -> Option<DrawnReturn> {
        let side = || summary.side(&up());
        self.sampler
            .draw(self.range, self.cos_incidence, side, address, noise_cache)
    }
}

/// Surfaces with noise profiles of 16 or 64 consecutive beams.
#[derive(Clone)]
#[repr(align(64))]
pub(crate) struct CalibratedLanes<const N: usize = 16> {
    /// Whether each beam has a surface with a profile; the other fields of those without are unspecified.
    pub calibrated: [bool; N],
    pub material: [MaterialId; N],
    /// Range, m.
    pub range: [f64; N],
    /// Cosine of the incidence, in [0, 1].
    pub cos_incidence: [f64; N],
}

/// Ranges drawn from profiles.
#[derive(Clone)]
#[repr(align(64))]
pub(crate) struct DrawnBeams<const N: usize = 16> {
    /// Whether each beam returns.
    pub returned: [bool; N],
    /// Range, m.
    pub range: [f64; N],
    /// Intensity, counts; NaN where the profile has none.
    pub intensity: [f64; N],
}

impl<const N: usize> DrawnBeams<N> {
    /// Result of one beam; `None` for a drop-out.
    pub fn of(&self, lane: usize) -> Option<DrawnReturn> {
        let intensity = self.intensity[lane];
        self.returned[lane].then_some(DrawnReturn {
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
    /// No surfaces.
    pub const NONE: Self = Self {
        calibrated: [false; N],
        material: [MaterialId(0); N],
        range: [1.0; N],
        cos_incidence: [1.0; N],
    };

    /// Sets the surface of one beam.
    pub fn set(&mut self, lane: usize, surface: &ProfiledSurface) {
        self.calibrated[lane] = true;
        self.material[lane] = surface.material;
        self.range[lane] = surface.range;
        self.cos_incidence[lane] = surface.cos_incidence;
    }

    /// Draws the ranges of all beams, the first of which has the address `first`; `side` gives
    /// [`ReturnSummary::side`] by lane.
    #[inline(always)]
    pub fn draw(
        &self,
        profiles: &NoiseProfiles,
        side: impl Fn(usize) -> f64,
        first: &BeamAddress,
        noise_cache: &mut NoiseCache,
    ) -> DrawnBeams<N> {
        let mut all = DrawnBeams {
            returned: [false; N],
            range: [0.0; N],
            intensity: [f64::NAN; N],
        };
        let mut remaining = self.calibrated;
        let mut is_first = true;
        while let Some(next) = first_lane(&remaining) {
            let material = self.material[next];
            let mut mask = [false; N];
            for i in 0..N {
                mask[i] = remaining[i] && self.material[i] == material;
                remaining[i] &= !mask[i];
            }
            let Some(sampler) = profiles.sampler(material) else {
                continue;
            };
            let surfaces = IncidentBatch {
                mask,
                range: &self.range,
                cos_incidence: &self.cos_incidence,
            };
            let drawn = sampler.draw_batch(&surfaces, &side, first, noise_cache);
            let intensity = drawn.intensity.unwrap_or([f64::NAN; N]);
            if is_first {
                // Most often all lanes have one material.
                all.returned = drawn.returned;
                all.range = drawn.range;
                all.intensity = intensity;
                is_first = false;
                continue;
            }
            for i in 0..N {
                if mask[i] {
                    all.returned[i] = drawn.returned[i];
                    all.range[i] = drawn.range[i];
                    all.intensity[i] = intensity[i];
                }
            }
        }
        all
    }
}

/// Index of the first lane that is set; at most 64 lanes.
#[expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "a loop over lanes becomes the caller's vector instructions"
)]
#[inline(always)]
fn first_lane<const N: usize>(lanes: &[bool; N]) -> Option<usize> {
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

//! Light received from one shot.

use super::mixing::RayLight;
use crate::transport::LightReturn;
use etendue_physics::Scalar;
use etendue_physics::pulse::PulseReturn;

/// Light received from one shot: returns of surfaces, drops and air, and ambient light.
pub(super) struct ShotLight<S: Scalar> {
    /// Returns by range: those of surfaces, followed by the partial cell of backscatter before the surface
    /// and by single drops.
    pub returns: Vec<PulseReturn<S>>,
    /// The returns of single drops and flakes, which are also in `returns`.
    pub drops: Vec<PulseReturn>,
    /// Number of whole cells of backscatter before the first surface on the beam's axis.
    pub backscatter_cells: usize,
    /// Returns of surfaces, with their geometry.
    pub surfaces: Vec<SurfaceReturn<S>>,
    /// Distance of the first surface on the beam's axis, m.
    pub axis: Option<S>,
    /// Power of the ambient light, 1/(m² sr).
    pub ambient: f64,
}

/// Return of a surface, with its power at the receiver.
#[derive(Clone, Copy)]
pub(super) struct SurfaceReturn<S: Scalar> {
    /// The return as traced: for a ray with all of the power, without extinction by the air.
    pub back: LightReturn<S>,
    /// Power at the receiver: weighted by the ray's share of the beam, attenuated by the air, 1/(m² sr).
    pub power: S,
}

impl<S: Scalar> Default for ShotLight<S> {
    fn default() -> Self {
        Self {
            returns: Vec::new(),
            drops: Vec::new(),
            backscatter_cells: 0,
            surfaces: Vec::new(),
            axis: None,
            ambient: 0.0,
        }
    }
}

impl<S: Scalar> ShotLight<S> {
    /// Removes all light; `axis` is the distance of the first surface on the beam's axis, m.
    pub fn clear(&mut self, axis: Option<S>) {
        self.returns.clear();
        self.surfaces.clear();
        self.drops.clear();
        self.backscatter_cells = 0;
        self.axis = axis;
        self.ambient = 0.0;
    }

    /// Adds the return of a surface with its power at the receiver, 1/(m² sr).
    pub fn add(&mut self, back: LightReturn<S>, power: S) {
        self.returns.push(PulseReturn {
            range: back.optical_range,
            power,
        });
        self.surfaces.push(SurfaceReturn { back, power });
    }

    /// Whether no light returned.
    pub fn is_dark(&self) -> bool {
        self.returns.is_empty() && self.backscatter_cells == 0
    }

    /// Distance of the first surface on the beam's axis, m; infinite where there is none.
    pub fn axis_distance(&self) -> f64 {
        self.axis.map_or(f64::INFINITY, Scalar::value)
    }

    /// Number of separate surfaces that returned light, at most 8, for a beam with half the divergence
    /// `spread` (rad). Light scattered by several surfaces is not counted.
    pub fn surface_count(&self, spread: f64) -> u16 {
        let mut count = SurfaceCount::default();
        let scattered_once = |one: &&SurfaceReturn<S>| one.back.scatterings == 1;
        for SurfaceReturn { back, .. } in self.surfaces.iter().filter(scattered_once) {
            count.add(back.range.value(), back.cos_incidence.value(), spread);
        }
        count.get()
    }

    /// The strongest single return of a surface; `None` if `air` (power, 1/(m² sr)) is stronger.
    pub fn strongest(&self, air: f64) -> Option<&LightReturn<S>> {
        let mut strongest = Strongest::default();
        for one in &self.surfaces {
            strongest.add(one.power.value(), || &one.back);
        }
        strongest.unless_below(air)
    }

    /// The light of surfaces that was scattered once, ray by ray.
    pub fn scattered_once(&self) -> impl Iterator<Item = RayLight> + Clone {
        let once = { &self.surfaces }
            .iter()
            .filter(|one| one.back.scatterings == 1);
        once.map(|one| RayLight {
            range: one.back.optical_range.value(),
            cos_incidence: one.back.cos_incidence.value(),
            power: one.power.value(),
        })
    }

    /// The return that contributed the most to an echo at a `range` (m): the strongest within `reach` (m),
    /// weighted by [`echo_affinity`]. `None` if a drop, or the backscatter of the air with the power
    /// `backscatter` (1/(m² sr)), contributed more.
    pub fn source(&self, range: f64, reach: f64, backscatter: f64) -> Option<&LightReturn<S>> {
        let near = self.surfaces.iter().filter_map(|one| {
            let apart = one.back.optical_range.value() - range;
            let power = one.power.value() * echo_affinity(apart, reach);
            (apart.abs() <= reach).then_some((&one.back, power))
        });
        let (back, power) = near.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let of_drop = |one: &PulseReturn| one.power * echo_affinity(one.range - range, reach);
        let of_air = self.drops.iter().map(of_drop).fold(backscatter, f64::max);
        (power >= of_air).then_some(back)
    }
}

/// The strongest of several contributions to the light of a shot.
pub(super) struct Strongest<T> {
    power: f64,
    origin: Option<T>,
}

impl<T> Default for Strongest<T> {
    fn default() -> Self {
        Self {
            power: 0.0,
            origin: None,
        }
    }
}

impl<T> Strongest<T> {
    /// Adds a contribution.
    pub fn add(&mut self, power: f64, origin: impl FnOnce() -> T) {
        if power > self.power {
            self.power = power;
            self.origin = Some(origin());
        }
    }

    /// The origin of the strongest contribution; `None` if other light of the given power is stronger.
    pub fn unless_below(self, power: f64) -> Option<T> {
        self.origin.filter(|_| power <= self.power)
    }
}

/// Counts separate surfaces by their ranges.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SurfaceCount {
    ranges: [f64; MOST_SURFACES],
    count: u16,
}

/// Maximum number of surfaces that are counted in one beam.
const MOST_SURFACES: usize = 8;

/// Difference of ranges below which surfaces count as one, m.
pub(super) const SAME_SURFACE: f64 = 0.01;

impl SurfaceCount {
    /// Counts a surface at a range (m) if its range differs from those of all counted surfaces by more than
    /// the depth of an inclined plane within a beam with half the divergence `spread` (rad).
    pub fn add(&mut self, range: f64, cos_incidence: f64, spread: f64) {
        let across = 2.0 * spread * range / cos_incidence.max(1e-3);
        let counted = &self.ranges[..usize::from(self.count)];
        let is_new = counted
            .iter()
            .all(|other| (range - other).abs() > SAME_SURFACE + across);
        if is_new && counted.len() < MOST_SURFACES {
            self.ranges[usize::from(self.count)] = range;
            self.count += 1;
        }
    }

    /// Removes all surfaces.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// The number of surfaces.
    pub fn get(&self) -> u16 {
        self.count
    }
}

/// Weight with which a return at the distance `apart` $a$ (m) from an echo contributes to the echo:
/// $w = (1 - (a/r)^2)^{32}$ for $|a| < r$ and 0 beyond, with the `reach` $r$ (m).
///
/// $w = 1/2$ at $a = 0.15\\,r$. The echo of a faint drop in front of a bright wall is thus attributed to the
/// drop.
#[inline]
pub(super) fn echo_affinity(apart: f64, reach: f64) -> f64 {
    let far = apart / reach;
    let mut affinity = (1.0 - far * far).max(0.0);
    for _ in 0..5 {
        affinity *= affinity;
    }
    affinity
}

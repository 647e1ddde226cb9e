//! The light that returns from a shot.

use crate::transport::LightReturn;
use etendue_physics::Scalar;
use etendue_physics::pulse::PulseReturn;

/// The light that returns from one shot.
pub(super) struct ShotLight<S: Scalar> {
    /// Power over range: of surfaces, of single drops and of the part of the air's backscatter that
    /// differs from shot to shot.
    pub returns: Vec<PulseReturn<S>>,
    /// The returns of single drops and flakes among `returns`.
    pub drops: Vec<PulseReturn>,
    /// Number of whole cells of the air's backscatter before the first surface on the beam's axis.
    pub backscatter_cells: usize,
    /// The returns of surfaces.
    pub surfaces: Vec<SurfaceReturn<S>>,
    /// Distance of the first surface on the beam's axis, m.
    pub axis: Option<S>,
    /// Power of the ambient light, 1/(m² sr).
    pub ambient: f64,
}

/// Light of a surface, with its power at the receiver.
#[derive(Clone, Copy)]
pub(super) struct SurfaceReturn<S: Scalar> {
    /// Where it came from.
    pub back: LightReturn<S>,
    /// Its power in the beam, weakened by the air, 1/(m² sr).
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

    /// Adds the light of a surface.
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

    /// Number of separate surfaces that returned light, 8 at most, to a beam with half the divergence
    /// `spread` (rad). Light that several surfaces scattered has the range of none of them.
    pub fn surface_count(&self, spread: f64) -> u16 {
        let mut count = SurfaceCount::default();
        let scattered_once = |one: &&SurfaceReturn<S>| one.back.scatterings == 1;
        for SurfaceReturn { back, .. } in self.surfaces.iter().filter(scattered_once) {
            count.add(back.range.value(), back.cos_incidence.value(), spread);
        }
        count.get()
    }

    /// The surface of the strongest single return; none where light of the power `air` is stronger.
    pub fn strongest(&self, air: f64) -> Option<&LightReturn<S>> {
        let mut strongest = Strongest::default();
        for one in &self.surfaces {
            strongest.add(one.power.value(), || &one.back);
        }
        strongest.unless_below(air)
    }

    /// The surface that most of the light about a range came from, within `reach` (m); none where it
    /// came from a drop, or from the air, whose backscatter has the power `backscatter` there.
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
    /// Compares a contribution with those before it.
    pub fn add(&mut self, power: f64, origin: impl FnOnce() -> T) {
        if power > self.power {
            self.power = power;
            self.origin = Some(origin());
        }
    }

    /// The origin of the strongest contribution; none where other light of that power is stronger.
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

/// Most surfaces that are counted in one beam.
const MOST_SURFACES: usize = 8;

/// Surfaces nearer to each other than this count as one, m.
const SAME_SURFACE: f64 = 0.01;

impl SurfaceCount {
    /// Counts the surface at a range (m), if it differs from every other by more than a slanted plane
    /// does across a beam with half the divergence `spread` (rad).
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

    /// The number of surfaces.
    pub fn get(&self) -> u16 {
        self.count
    }
}

/// Share of light at a distance `apart` (m) from an echo that counts as the echo's: all at distance
/// zero, half at 0.15 of the `reach`, none from the reach on. So the echo of a faint drop before a
/// bright wall is the drop's. $(1 - (a/r)^2)^{32}$.
#[inline]
pub(super) fn echo_affinity(apart: f64, reach: f64) -> f64 {
    let far = apart / reach;
    let mut affinity = (1.0 - far * far).max(0.0);
    for _ in 0..5 {
        affinity *= affinity;
    }
    affinity
}

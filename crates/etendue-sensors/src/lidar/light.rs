//! The light that a shot brings back.

use crate::transport::LightReturn;
use etendue_physics::Scalar;
use etendue_physics::pulse::PulseReturn;

/// The light that one shot brings back.
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

    /// Whether no light came back.
    pub fn is_dark(&self) -> bool {
        self.returns.is_empty() && self.backscatter_cells == 0
    }

    /// Distance of the first surface on the beam's axis, m; infinite where there is none.
    pub fn axis_distance(&self) -> f64 {
        self.axis.map_or(f64::INFINITY, Scalar::value)
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

//! Air of a sweep: weather, and the drops that are drawn one by one.

use etendue_physics::atmosphere::{
    Atmosphere, Coefficients, Drops, Overlap, Precipitation, Weather,
};
use etendue_physics::beam::BeamWidth;
use std::mem::discriminant;

/// Share of the threshold below which drops are not drawn one by one, but contribute their mean.
pub(super) const FAINT: f64 = 0.1;

/// Weather of a sweep, and the drops that are drawn one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Air {
    /// The weather.
    pub atmosphere: Atmosphere<f64>,
    /// Diameter (m) from which drops and flakes are drawn one by one, up to the range at which the receiver
    /// could detect them; all others contribute their mean. `None` draws no drops.
    pub drops_from: Option<f64>,
}

/// Default diameter from which drops and flakes are drawn one by one, m. In rain of 1 mm/h they cause two
/// thirds of the backscatter, and there are about 250 per cubic metre.
const DROPS_FROM: f64 = 0.5e-3;

impl Air {
    /// Air with the given weather. Drops and flakes of rain and snow from 0.5 mm on are drawn one by one: in
    /// most beams there is none near the sensor, where it could be detected.
    ///
    /// ```
    /// use etendue_physics::atmosphere::Weather;
    /// use etendue_sensors::lidar::Air;
    /// let rain = Air::of(vec![Weather::Rain { rate: 2.778e-7 }]);
    /// assert_eq!(rain.drops_from, Some(0.5e-3));
    /// assert_eq!(Air::of(vec![Weather::Fog { visibility: 50.0 }]).drops_from, None);
    /// ```
    pub fn of(weather: Vec<Weather<f64>>) -> Self {
        let atmosphere = Atmosphere { weather };
        let falls = atmosphere.precipitation().next().is_some();
        Self {
            drops_from: falls.then_some(DROPS_FROM),
            atmosphere,
        }
    }

    /// This air with other weather: each kind that is given replaces the same kind, and an amount of zero removes
    /// it. `drops_from` (m) applies if there is rain or snow; without it, that of this air applies.
    ///
    /// ```
    /// use etendue_physics::atmosphere::Weather;
    /// use etendue_sensors::lidar::Air;
    /// let fog = Weather::Fog { visibility: 50.0 };
    /// let air = Air::of(vec![fog, Weather::Rain { rate: 2.778e-7 }]);
    /// let dry = air.replaced_by(&[Weather::Rain { rate: 0.0 }], None);
    /// assert_eq!(dry, Air::of(vec![fog]));
    /// ```
    #[must_use]
    pub fn replaced_by(&self, given: &[Weather<f64>], drops_from: Option<f64>) -> Self {
        let mut weather = self.atmosphere.weather.clone();
        let is_given = |own: &Weather<f64>| {
            given
                .iter()
                .any(|one| discriminant(one) == discriminant(own))
        };
        weather.retain(|own| !is_given(own));
        weather.extend(given.iter().filter(|one| one.amount() > 0.0));
        let mut air = Self::of(weather);
        if air.drops_from.is_some() {
            air.drops_from = drops_from.or(self.drops_from).or(air.drops_from);
        }
        air
    }
}

/// Drops or flakes of one kind that are drawn one by one.
#[derive(Clone)]
pub(super) struct DrawnDrops {
    pub drops: Drops,
    /// Range up to which they are drawn, m.
    pub until: f64,
    /// Share of the air's backscatter.
    pub share: f64,
}

/// Prepares the drops that are drawn one by one in air of given coefficients: up to the range at which one
/// returns the power `least` (1/(m² sr)), and at most to `far` (m).
pub(super) fn drawn_drops(
    air: &Air,
    coefficients: &Coefficients<f64>,
    beam: &BeamWidth,
    overlap: Overlap,
    far: f64,
    least: f64,
) -> Vec<DrawnDrops> {
    let Some(diameter) = air.drops_from else {
        return vec![];
    };
    let prepare = |drops: Precipitation<f64>| {
        let until = Drops::visible_range(&drops, beam, &overlap, least, far);
        let own = drops.extinction() / drops.lidar_ratio * drops.share_above(diameter);
        let extinction = coefficients.extinction;
        DrawnDrops {
            drops: Drops::new(drops, diameter, beam, overlap, until, extinction),
            until,
            share: own / coefficients.backscatter,
        }
    };
    air.atmosphere.precipitation().map(prepare).collect()
}

/// Share of the backscatter at a range (m) that is not drawn one by one.
pub(super) fn undrawn(drops: &[DrawnDrops], range: f64) -> f64 {
    let drawn = drops.iter().filter(|drawn| range < drawn.until);
    1.0 - drawn.map(|drawn| drawn.share).sum::<f64>()
}

//! Air of a sweep: extinction, backscatter and single drops.

use super::backscatter::{
    Backscatter, BackscatterWaveform, Sampling, cell_length, least_backscatter,
};
use super::description::Lidar;
use super::light::ShotLight;
use super::phase_air::PhaseAir;
use super::receiver::{PulsedReceiver, Receiver};
use etendue_physics::atmosphere::{
    Atmosphere, Coefficients, Drops, Overlap, Precipitation, Weather, cut_volume_return,
    volume_returns,
};
use etendue_physics::beam::BeamWidth;
use etendue_physics::phase::PhaseSignal;
use etendue_physics::pulse::PulseReturn;
use etendue_physics::{Scalar, Stream};

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
}

/// The air at the wavelength of a lidar.
#[derive(Clone)]
pub(super) struct PreparedAir<S> {
    coefficients: Coefficients<S>,
    light: AirLight<S>,
    /// Whether drops are enabled, with or without precipitation.
    draws_drops: bool,
}

/// The light of the air that a receiver detects.
#[derive(Clone)]
enum AirLight<S> {
    /// No light: in clear air, and at receivers for which backscatter is not modelled.
    None,
    Pulsed(AirEchoes<S>),
    Phase(PhaseAir<S>),
}

/// The part of the air's light that a pulsed receiver detects.
#[derive(Clone)]
struct AirEchoes<S> {
    overlap: Overlap,
    coefficients: Coefficients<S>,
    backscatter: Option<BackscatterWaveform<S>>,
    drops: Vec<DrawnDrops>,
}

/// Drops or flakes of one kind that are drawn one by one.
#[derive(Clone)]
pub(super) struct DrawnDrops {
    pub drops: Drops,
    /// Range up to which they are drawn, m.
    pub until: f64,
    /// Share of the air's backscatter.
    share: f64,
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

impl<S: Scalar> PreparedAir<S> {
    /// The air of a lidar with the extinction and backscatter of `atmosphere`; drops are those of
    /// `air`.
    pub fn new(air: &Air, atmosphere: &Atmosphere<S>, lidar: &Lidar<S>) -> Self {
        let coefficients = atmosphere.coefficients(lidar.wavelength);
        let light = match &lidar.receiver {
            Receiver::Pulsed(receiver) => {
                AirLight::Pulsed(AirEchoes::new(air, coefficients, lidar, receiver))
            }
            Receiver::Phase(receiver) => PhaseAir::new(air, coefficients, lidar, receiver)
                .map_or(AirLight::None, AirLight::Phase),
            _ => AirLight::None,
        };
        Self {
            coefficients,
            light,
            draws_drops: air.drops_from.is_some(),
        }
    }

    /// The backscatter along the whole beam of a pulsed lidar, where it may form echoes.
    pub fn backscatter(&self) -> Option<&BackscatterWaveform<S>> {
        match &self.light {
            AirLight::Pulsed(echoes) => echoes.backscatter.as_ref(),
            AirLight::None | AirLight::Phase(_) => None,
        }
    }

    /// The light of the whole cells of air before a shot's first surface, at phase receivers.
    pub fn whole_cells(&self, light: &ShotLight<S>) -> Option<&PhaseSignal<S>> {
        match &self.light {
            AirLight::Phase(air) => Some(air.whole_cells(light)),
            AirLight::None | AirLight::Pulsed(_) => None,
        }
    }

    /// Whether the air returns light to the receiver.
    pub fn is_detected(&self) -> bool {
        match &self.light {
            AirLight::Phase(_) => true,
            AirLight::None | AirLight::Pulsed(_) => {
                self.backscatter().is_some() || self.draws_drops
            }
        }
    }

    /// Whether the air attenuates the light of surfaces.
    pub fn attenuates(&self) -> bool {
        self.coefficients.extinction.value() != 0.0
    }

    /// Two-way transmission $T^2$ to a surface at `range` (m).
    pub fn transmission(&self, range: S) -> S {
        if !self.attenuates() {
            return S::one();
        }
        self.coefficients.two_way_transmission(range)
    }

    /// Adds the backscatter of the air and of drops (drawn from `stream`) before the first surface on the
    /// beam's axis.
    pub fn add(&self, stream: impl FnOnce() -> Stream, light: &mut ShotLight<S>) {
        let echoes = match &self.light {
            AirLight::None => return,
            AirLight::Phase(air) => return air.add(stream, light),
            AirLight::Pulsed(echoes) => echoes,
        };
        // Add the backscatter of the cells before the surface.
        if let Some(waveform) = &echoes.backscatter {
            let before = waveform.before(light.axis_distance());
            light.backscatter_cells = before.cells;
            light.returns.extend(echoes.cut_cell(&before, light.axis));
        }
        // Draw single drops.
        if !echoes.drops.is_empty() {
            let mut stream = stream();
            for drawn in &echoes.drops {
                let far = light.axis_distance().min(drawn.until);
                drawn.drops.add(far, &mut stream, &mut light.drops);
            }
            light
                .returns
                .extend(light.drops.iter().map(|drop| PulseReturn {
                    range: S::from(drop.range),
                    power: S::from(drop.power),
                }));
        }
    }
}

impl<S: Scalar> AirEchoes<S> {
    fn new(
        air: &Air,
        coefficients: Coefficients<S>,
        lidar: &Lidar<S>,
        receiver: &PulsedReceiver<S>,
    ) -> Self {
        // Prepare the drops that are drawn one by one.
        let overlap = receiver.overlap(&lidar.limits);
        let threshold = receiver.threshold.value();
        let far = lidar.limits.far;
        let plain = Coefficients {
            extinction: coefficients.extinction.value(),
            backscatter: coefficients.backscatter.value(),
        };
        let width = lidar.beam.width().plain();
        let mut echoes = Self {
            overlap,
            coefficients,
            backscatter: None,
            drops: drawn_drops(air, &plain, &width, overlap, far, FAINT * threshold),
        };
        // Sample the mean backscatter of the rest.
        let length = cell_length(receiver.pulse.fwhm.value());
        let mut cells = volume_returns(&coefficients, &echoes.overlap, far, length);
        for cell in &mut cells {
            cell.power *= undrawn(&echoes.drops, cell.range.value());
        }
        let sampling = Sampling {
            pulse: receiver.pulse,
            interval: receiver.interval,
            threshold,
            least: least_backscatter(receiver.echoes),
        };
        echoes.backscatter = BackscatterWaveform::new(cells, length, &sampling);
        echoes
    }

    /// The return of the cell that a surface at `axis` (m) truncates.
    fn cut_cell(&self, before: &Backscatter<S>, axis: Option<S>) -> Option<PulseReturn<S>> {
        let far = axis?;
        before.is_cut(far.value()).then(|| {
            let mut cut = cut_volume_return(
                &self.coefficients,
                &self.overlap,
                before.cells,
                before.waveform.cell_length,
                far,
            );
            cut.power *= undrawn(&self.drops, cut.range.value());
            cut
        })
    }
}

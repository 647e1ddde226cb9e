//! The air of one run, made ready for one scanner.

use super::backscatter::{Before, Glow, least_glow, volume_step};
use super::receive::Light;
use super::{Lidar, PulsedReceiver, Receiver};
use etendue_physics::Stream;
use etendue_physics::atmosphere::{
    Atmosphere, Coefficients, Drops, Overlap, Precipitation, Weather, cut_volume_return,
    volume_returns,
};
use etendue_physics::beam::BeamWidth;
use etendue_physics::pulse::PulseReturn;

/// Drops that return less than this share of the threshold return their mean.
const FAINT: f64 = 0.1;

/// What is in the air, and how much of it is simulated one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Air {
    /// What is in the air.
    pub atmosphere: Atmosphere<f64>,
    /// Drops and flakes of at least this diameter (m) are drawn one by one as far as a receiver could
    /// see them; all others return their mean. None draws none.
    pub drops_from: Option<f64>,
}

/// Diameter from which drops and flakes are drawn one by one, m, unless something else is said:
/// of rain of 1 mm/h they are two thirds of the backscatter, and some 250 in a cubic metre.
const DROPS_FROM: f64 = 0.5e-3;

impl Air {
    /// Some weather, with what is large in its rain and snow (half a millimetre) drawn one by one:
    /// most beams meet no drop near the sensor, where one could be seen.
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

/// The air at one wavelength.
#[derive(Clone)]
pub(super) struct PreparedAir {
    coefficients: Coefficients<f64>,
    /// What of it a pulsed receiver sees.
    seen: Option<SeenAir>,
    /// Whether drops were asked for, be there any or not.
    draws: bool,
}

/// What a pulsed receiver sees of the air.
#[derive(Clone)]
struct SeenAir {
    overlap: Overlap,
    coefficients: Coefficients<f64>,
    glow: Option<Glow>,
    drops: Vec<DrawnDrops>,
}

/// Drops or flakes of one kind that are drawn one by one.
#[derive(Clone)]
pub(in crate::lidar) struct DrawnDrops {
    pub drops: Drops,
    /// Range up to which they are drawn, m.
    pub until: f64,
    /// Their share of the air's backscatter.
    share: f64,
}

/// Prepares the drops that a run draws one by one in air of those coefficients, as far as one returns the
/// power `least` and at most to `far` (m).
pub(in crate::lidar) fn drawn_drops(
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
        let until = Drops::seen_until(&drops, beam, &overlap, least, far);
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
pub(in crate::lidar) fn undrawn(drops: &[DrawnDrops], range: f64) -> f64 {
    let drawn = drops.iter().filter(|drawn| range < drawn.until);
    1.0 - drawn.map(|drawn| drawn.share).sum::<f64>()
}

impl PreparedAir {
    pub fn new(air: &Air, scanner: &Lidar) -> Self {
        let coefficients = air.atmosphere.coefficients(scanner.wavelength);
        Self {
            coefficients,
            seen: match &scanner.receiver {
                Receiver::Pulsed(receiver) => Some(SeenAir::new(air, scanner, receiver)),
                _ => None,
            },
            draws: air.drops_from.is_some(),
        }
    }

    /// Whether the air itself sends light back along the whole beam.
    pub fn glows(&self) -> bool {
        self.glow().is_some()
    }

    pub fn glow(&self) -> Option<&Glow> {
        self.seen.as_ref()?.glow.as_ref()
    }

    /// Whether it sends anything back.
    pub fn is_seen(&self) -> bool {
        self.glows() || self.draws
    }

    /// Whether it weakens what surfaces return.
    pub fn dims(&self) -> bool {
        self.coefficients.extinction != 0.0
    }

    /// What is left of a surface's return from `range` (m).
    pub fn transmission(&self, range: f64) -> f64 {
        if !self.dims() {
            return 1.0;
        }
        self.coefficients.two_way_transmission(range)
    }

    /// Adds what the air sends back before the surface on the beam's axis; drops are drawn from
    /// `stream`.
    pub fn add(&self, stream: impl FnOnce() -> Stream, light: &mut Light) {
        let Some(seen) = &self.seen else {
            return;
        };
        if let Some(glow) = &seen.glow {
            let before = glow.before(light.axis);
            light.air_cells = before.cells;
            light.returns.extend(seen.cut(&before, light.axis));
        }
        if !seen.drops.is_empty() {
            let mut stream = stream();
            for drawn in &seen.drops {
                let far = light.axis.min(drawn.until);
                drawn.drops.add(far, &mut stream, &mut light.drops);
            }
            light.returns.extend_from_slice(&light.drops);
        }
    }
}

impl SeenAir {
    fn new(air: &Air, scanner: &Lidar, receiver: &PulsedReceiver) -> Self {
        let coefficients = air.atmosphere.coefficients(scanner.wavelength);
        let overlap = receiver.overlap(&scanner.limits);
        let width = scanner.beam.width();
        let (far, least) = (scanner.limits.far, FAINT * receiver.threshold);
        let mut seen = Self {
            overlap,
            coefficients,
            glow: None,
            drops: drawn_drops(air, &coefficients, &width, overlap, far, least),
        };
        let step = volume_step(receiver.pulse.fwhm);
        let mut cells = volume_returns(&coefficients, &seen.overlap, far, step);
        for cell in &mut cells {
            cell.power *= undrawn(&seen.drops, cell.range);
        }
        let (pulse, interval) = (&receiver.pulse, receiver.interval);
        let bright = (receiver.threshold, least_glow(receiver.echoes));
        seen.glow = Glow::new(cells, step, pulse, interval, bright);
        seen
    }

    /// The light of the cell that a surface at `far` (m) cuts.
    fn cut(&self, before: &Before, far: f64) -> Option<PulseReturn> {
        before.is_cut(far).then(|| {
            let cells = (before.cells, before.glow.step);
            let mut cut = cut_volume_return(&self.coefficients, &self.overlap, cells, far);
            cut.power *= undrawn(&self.drops, cut.range);
            cut
        })
    }
}

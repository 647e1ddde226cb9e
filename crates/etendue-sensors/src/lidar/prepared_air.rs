//! The air at the wavelength of a lidar: extinction, backscatter and single drops.

use super::air::{Air, DrawnDrops, FAINT, drawn_drops, undrawn};
use super::backscatter::{Backscatter, BackscatterWaveform, Sampling, cell_length};
use super::description::Lidar;
use super::direct_pulses::{DirectDrops, DirectPulsedAir};
use super::light::ShotLight;
use super::phase_air::{DirectPhaseAir, PhaseAir};
use super::receiver::{PulsedReceiver, Receiver};
use etendue_physics::atmosphere::{
    Atmosphere, Coefficients, Overlap, cut_volume_return, volume_returns,
};
use etendue_physics::phase::PhaseSignal;
use etendue_physics::pulse::PulseReturn;
use etendue_physics::{Scalar, Stream};

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

impl PreparedAir<f64> {
    /// The light of the air at a pulsed receiver, for other processors; `None` without any.
    pub fn pulsed(&self) -> Option<DirectPulsedAir<'_>> {
        let AirLight::Pulsed(echoes) = &self.light else {
            return None;
        };
        if self.is_direct() {
            return None;
        }
        Some(DirectPulsedAir {
            coefficients: echoes.coefficients,
            overlap: echoes.overlap,
            backscatter: echoes.backscatter.as_ref().map(BackscatterWaveform::direct),
            drops: echoes.drops.iter().map(DirectDrops::of).collect(),
        })
    }
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

    /// Whether the light of the air at a receiver is none, or its mean at a phase receiver.
    pub fn is_direct(&self) -> bool {
        match &self.light {
            AirLight::None => true,
            AirLight::Pulsed(echoes) => echoes.backscatter.is_none() && echoes.drops.is_empty(),
            AirLight::Phase(air) => air.direct().is_some(),
        }
    }

    /// The mean backscatter at a phase receiver, for other processors.
    pub fn phase(&self) -> Option<DirectPhaseAir<'_, S>> {
        match &self.light {
            AirLight::Phase(air) => air.direct(),
            AirLight::None | AirLight::Pulsed(_) => None,
        }
    }

    /// Whether the air attenuates the light of surfaces.
    pub fn attenuates(&self) -> bool {
        self.coefficients.extinction.value() != 0.0
    }

    /// Two-way extinction, 1/m.
    pub fn two_way_extinction(&self) -> S {
        self.coefficients.extinction * 2.0
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
            least: receiver.least_backscatter(),
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

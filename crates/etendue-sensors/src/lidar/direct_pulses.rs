//! Pulsed receivers without a closed form, prepared for other processors.

use super::air::DrawnDrops;
use super::backscatter::DirectBackscatter;
use super::direct_receiver::DirectReceiver;
use super::receiver::{EchoModel, PreparedPulsed, PulsedReceiver};
use etendue_physics::atmosphere::{Coefficients, DropForm, Overlap};
use etendue_physics::pulse::{EchoFinder, EchoForm};

/// A pulsed receiver that samples waveforms, or that detects light of the air, single drops, or noise.
///
/// The returns of a shot are those of its surfaces, of the cell of air that the first surface on the axis cuts, and of the drops
/// ([`DirectPulsedAir`]). Sorted by range, they and the bright air form sections, whose gaps are at least as long as the pulse
/// ([`Pulse::support`](etendue_physics::pulse::Pulse::support)). Sections with bright air, and all sections of receivers that sample
/// everything ([`EchoModel::Waveform`]), are sampled on the clock of the receiver if their power and six standard deviations of
/// noise reach the threshold; the other echoes have the closed form.
///
/// Random numbers are those of one stream of [`Purpose::ReceiverNoise`](etendue_physics::Purpose) per shot, in this order: two normal
/// draws per echo of the closed form, or per two samples of a section, whose photons are drawn instead if the receiver counts
/// them ([`poisson`](etendue_physics::pulse::poisson)), and one pair for the jitter of each echo of a sampled section; where everything is sampled, one pair for each reported echo, after all sections. False alarms are those of
/// [`Purpose::FalseAlarm`](etendue_physics::Purpose), two uniform draws each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectSampled {
    /// The receiver.
    pub receiver: PulsedReceiver,
    /// The closed form of echoes; its widths are those of the waveforms, too.
    pub form: EchoForm,
    /// The finder of echoes in waveforms; `None` where all echoes have the closed form.
    pub finder: Option<EchoFinder>,
}

/// The light of the air at a pulsed receiver, for other processors.
#[derive(Clone, Debug)]
pub struct DirectPulsedAir<'a> {
    /// Extinction and backscatter.
    pub coefficients: Coefficients<f64>,
    /// Overlap of beam and field of view.
    pub overlap: Overlap,
    /// The mean backscatter, where it may form echoes.
    pub backscatter: Option<DirectBackscatter<'a>>,
    /// Drops or flakes of each kind, drawn in this order from one stream of
    /// [`Purpose::Precipitation`](etendue_physics::Purpose) per shot.
    pub drops: Vec<DirectDrops<'a>>,
}

/// Drops or flakes of one kind.
#[derive(Clone, Copy, Debug)]
pub struct DirectDrops<'a> {
    /// Their distribution and their power.
    pub form: DropForm<'a>,
    /// Range up to which they are drawn, or to the first surface on the axis, m.
    pub until: f64,
    /// Their share of the backscatter, which the mean does not include up to that range.
    pub share: f64,
}

impl<'a> DirectDrops<'a> {
    pub(super) fn of(own: &'a DrawnDrops) -> Self {
        Self {
            form: own.drops.form(),
            until: own.until,
            share: own.share,
        }
    }
}

/// A pulsed receiver in air that returns light or not, for other processors.
pub(super) fn direct_pulsed(pulsed: &PreparedPulsed, is_clear: bool) -> DirectReceiver {
    let receiver = pulsed.receiver;
    let form = pulsed.analytic.echo_form();
    let is_sampled = !pulsed.is_closed_form();
    if is_clear && !is_sampled && !receiver.false_alarms {
        return DirectReceiver::Pulsed {
            form,
            returns: receiver.returns,
        };
    }
    DirectReceiver::Sampled(DirectSampled {
        receiver,
        form,
        finder: pulsed.finder().copied(),
    })
}

impl DirectSampled {
    /// Whether everything is sampled, not only sections with bright air.
    pub fn samples_everything(&self) -> bool {
        self.receiver.echoes == EchoModel::Waveform
    }

    /// Mean number of samples between false alarms without ambient light; `None` without false alarms.
    pub fn samples_between_alarms(&self) -> Option<f64> {
        let chance = self.receiver.false_alarm_chance();
        (self.receiver.false_alarms && chance > 0.0).then(|| 1.0 / chance)
    }
}

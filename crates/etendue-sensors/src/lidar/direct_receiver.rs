//! Receivers as other processors apply them.

use super::direct_pulses::{DirectSampled, direct_pulsed};
use super::receiver::{PhaseMethod, PhaseReceiver, PreparedReceiver, Triangulation};
use super::sweep::Simulator;
use etendue_physics::pulse::{EchoForm, Fmcw, ReturnMode};
use thiserror::Error;

/// Properties of a lidar or a scene that [`DirectSweep`](super::DirectSweep) does not support, or for which the [host](DirectReceiver::OnHost) applies the
/// receiver.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotDirect {
    /// The beam of a triangulating lidar has several rays.
    #[error("the beam of the triangulating lidar has several rays")]
    Spot,
    /// The phase receiver samples waves.
    #[error("the phase receiver samples waves")]
    Sampled,
    /// Light follows random paths.
    #[error("light follows random paths")]
    Paths,
    /// Drops or flakes return light to a phase receiver.
    #[error("drops or flakes return light to the phase receiver")]
    Drops,
    /// The amplifier of the pulsed receiver recovers from saturation.
    #[error("the amplifier of the receiver recovers from saturation")]
    Recovery,
    /// Vertices of meshes move.
    #[error("a mesh of the scene deforms")]
    Deforming,
}

/// A receiver, as other processors apply it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DirectReceiver {
    /// Pulsed time of flight.
    Pulsed {
        /// The closed form of the echoes.
        form: EchoForm,
        /// Which echoes of a shot are reported.
        returns: ReturnMode,
    },
    /// Pulsed time of flight of sampled waveforms, or with light of the air or false alarms.
    Sampled(DirectSampled),
    /// Triangulation with beams of one ray. A surface is seen if nothing is between it and the lens, which is the baseline
    /// to the left of the origin of the shot, up to a millionth of the distance. The range of one that is seen, whose power
    /// reaches the threshold, is [`Triangulation::read`] of its distance and the first normal draw of
    /// [`Purpose::ReceiverNoise`](etendue_physics::Purpose).
    Triangulation(Triangulation),
    /// Phase of modulated light, in closed form. The range, or the reason for a missing one, is that of
    /// [`PhaseReceiver::measure`] of the sum of all light, with a pair of normal draws of
    /// [`Purpose::ReceiverNoise`](etendue_physics::Purpose) for each frequency. The limits of the range apply to it; with the correlated
    /// noise, only the farthest one. The surface of the strongest return is that of origin.
    Phase {
        /// The receiver; without noise if the settings disable it.
        receiver: PhaseReceiver,
        /// Half the larger of the beam's two divergences, rad: surfaces count as separate if their distances differ by more than
        /// 0.01 m and the depth of an inclined plane in the beam.
        spread: f64,
    },
    /// Frequency-modulated continuous waves. The [velocity](super::DirectSweep::radial_velocity) of points at rest and that of
    /// [objects in motion](super::DirectSweep::point_velocities) along the ray that meets them add up to that of a return. The
    /// detections are those of [`Fmcw::echoes`], with a pair of normal draws of
    /// [`Purpose::ReceiverNoise`](etendue_physics::Purpose) for each; all of them are reported.
    Fmcw(Fmcw),
    /// A receiver without a closed form, for the named reason. [`DirectSweep::finish`](super::DirectSweep::finish) applies it to the light of each shot, which
    /// the implementation [lists](super::DirectEcho::Light).
    OnHost(NotDirect),
}

/// The receiver of a sweep.
pub(super) fn direct_receiver(plain: &Simulator<f64>) -> Result<DirectReceiver, NotDirect> {
    // Receiver and beam.
    let receiver = match &plain.receiver {
        PreparedReceiver::Pulsed(pulsed) if pulsed.receiver.detector.recovery().is_some() => {
            DirectReceiver::OnHost(NotDirect::Recovery)
        }
        PreparedReceiver::Pulsed(pulsed) => direct_pulsed(pulsed, plain.air.is_direct()),
        PreparedReceiver::Triangulation(receiver) => {
            if !plain.beam_rays.is_axis() {
                return Err(NotDirect::Spot);
            }
            DirectReceiver::Triangulation(*receiver)
        }
        PreparedReceiver::Phase(phase) => {
            if phase.receiver.method == PhaseMethod::Sampled {
                DirectReceiver::OnHost(NotDirect::Sampled)
            } else if !plain.air.is_direct() {
                DirectReceiver::OnHost(NotDirect::Drops)
            } else {
                DirectReceiver::Phase {
                    receiver: phase.receiver,
                    spread: phase.spread,
                }
            }
        }
        PreparedReceiver::Fmcw(receiver) => DirectReceiver::Fmcw(*receiver),
    };
    if plain.world.scene().deforms() {
        return Err(NotDirect::Deforming);
    }
    Ok(receiver)
}

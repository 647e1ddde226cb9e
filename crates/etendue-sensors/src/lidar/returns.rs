//! Conversion of detections to the returns that a device reports.

use super::channel::Channel;
use super::description::Lidar;
use super::frame::Frame;
use super::light::ShotLight;
use super::mixing::Mixing;
use super::output::{Outcome, Return, Source};
use super::receiver::{Detected, Detection, PreparedPhase, PreparedReceiver, power_of_air};
use super::return_buffer::ReturnBuffer;
use super::sweep::{FiredShot, Simulator};
use crate::transport::{LightReturn, World};
use etendue_physics::Scalar;
use etendue_physics::phase::NoDetection;
use etendue_scene::{MaterialId, ObjectId};
use nalgebra::Isometry3;

/// Converts detections to returns.
#[derive(Clone, Copy)]
pub(super) struct Reporter<'a> {
    pub world: &'a World<'a, f64>,
    pub lidar: &'a Lidar,
    pub frame: Frame,
    /// Pose of the sensor at the start of the sweep.
    pub world_from_start: Isometry3<f64>,
    /// How the light of returns is mixed, if the settings request it.
    pub mixing: Option<Mixing<'a>>,
}

/// Surface and range at which light was scattered.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub object: ObjectId,
    pub material: MaterialId,
    pub cos_incidence: f64,
    /// Half the optical path, m.
    pub range: f64,
}

/// Measured shot of a phase receiver.
pub(super) struct PhaseShot<'a, S: Scalar> {
    pub fired: FiredShot<'a, S>,
    /// The detection, or the reason for a missing one, if the receiver reports it.
    pub detection: Result<Detection<S>, Option<NoDetection>>,
    /// Power of all light, 1/(m² sr).
    pub power: f64,
    /// Power of the ambient light, 1/(m² sr).
    pub ambient: f64,
    /// Number of separate surfaces that returned light.
    pub surfaces: u16,
    /// Surface of the strongest return; `None` for the air.
    pub origin: Option<Origin>,
}

impl Origin {
    /// The origin of a return.
    fn of<S: Scalar>(back: &LightReturn<S>) -> Self {
        Self {
            object: back.hit.object,
            material: back.material,
            cos_incidence: back.cos_incidence.value(),
            range: back.optical_range.value(),
        }
    }
}

impl<S: Scalar> Simulator<'_, S> {
    /// The measured shot of a phase receiver.
    pub fn phase_shot<'s>(
        &self,
        receiver: &PreparedPhase<S>,
        fired: FiredShot<'s, S>,
        light: &ShotLight<S>,
        detected: &Detected<S>,
    ) -> PhaseShot<'s, S> {
        let strongest = light.strongest(power_of_air(self.air.whole_cells(light), light));
        PhaseShot {
            fired,
            detection: detected.detections.first().copied().ok_or(detected.failure),
            power: detected.signal.map_or(0.0, |signal| signal.power.value()),
            ambient: light.ambient,
            surfaces: light.surface_count(receiver.spread),
            origin: strongest.map(Origin::of),
        }
    }
}

impl<'a> Simulator<'a, f64> {
    /// How the light of returns is mixed, if the settings request it.
    pub fn mixing(&self) -> Option<Mixing<'a>> {
        let mixing = Mixing::new(self.lidar, &self.beam_rays);
        mixing.filter(|_| self.settings.with_mixing)
    }

    /// Adds the returns of a shot, each with the surface that contributed most of its light.
    pub fn report(
        &self,
        reporter: &Reporter,
        fired: FiredShot<f64>,
        light: &ShotLight<f64>,
        detected: &Detected<f64>,
        buffer: &mut ReturnBuffer,
    ) -> Outcome {
        if let PreparedReceiver::Phase(phase) = &self.receiver {
            let shot = self.phase_shot(phase, fired, light, detected);
            return reporter.add_phase(&shot, buffer);
        }
        let source = |range: f64, _| self.echo_source(light, range).map(Origin::of);
        let mix = |mixing: &Mixing, range| mixing.share(range, light.scattered_once());
        let detections = &detected.detections;
        reporter.add(fired, light.ambient, detections, source, mix, buffer)
    }
}

impl Reporter<'_> {
    /// Adds the return of a shot of a phase receiver.
    pub fn add_phase(&self, shot: &PhaseShot<f64>, buffer: &mut ReturnBuffer) -> Outcome {
        buffer.per_shot.powers.push(shot.power);
        buffer.per_shot.surfaces.push(shot.surfaces);
        match &shot.detection {
            Ok(detection) => {
                let detections = std::slice::from_ref(detection);
                let source = |_, _| shot.origin;
                let mix = |_: &Mixing, _| 0.0;
                self.add(shot.fired, shot.ambient, detections, source, mix, buffer)
            }
            Err(failure) => failure.as_ref().map_or(Outcome::NoReturn, outcome),
        }
    }

    /// Adds returns of the detections within the range limits. `source` gives the origin of most of the light
    /// at a range (m) within a reach (m), `mix` how the light of an echo at a range (m) is mixed.
    #[inline]
    pub fn add(
        &self,
        fired: FiredShot<f64>,
        ambient: f64,
        detections: &[Detection],
        source: impl Fn(f64, f64) -> Option<Origin>,
        mix: impl Fn(&Mixing, f64) -> f32,
        buffer: &mut ReturnBuffer,
    ) -> Outcome {
        let channel = &self.lidar.channels[usize::from(fired.shot.channel)];
        let offset = channel.range_offset;
        let limits = &self.lidar.limits;
        let receiver = &self.lidar.receiver;
        let reach = receiver.echo_reach();
        // Add the detections within the range limits.
        let before = buffer.count();
        let mut too_near = false;
        for detection in detections {
            let range = receiver.rounded(channel.range(detection.range), limits);
            too_near |= range < limits.near;
            if receiver.reports(range, limits) {
                let place = buffer.place();
                self.fill(place, fired, detection, range, offset);
                place.ambient = ambient;
                let origin = source(detection.range, reach);
                place.source = origin.map(|origin| self.source(&origin, channel));
                if let Some(mixing) = &self.mixing {
                    buffer.mix(mix(mixing, detection.range));
                }
            }
        }
        // Number them.
        buffer.truncate(before + usize::from(u8::MAX));
        let count = u8::try_from(buffer.count() - before).unwrap_or(u8::MAX);
        for (number, one) in (1..).zip(buffer.returns_from(before)) {
            one.return_number = number;
            one.returns = count;
        }
        match count {
            0 if too_near => Outcome::TooNear,
            0 => Outcome::NoReturn,
            count => Outcome::Points {
                first: u32::try_from(before).unwrap_or(u32::MAX),
                count,
            },
        }
    }

    /// Writes the fields of a return that depend only on its detection, field by field: a copy of a whole
    /// `Return` would wait until all its fields are stored.
    #[inline]
    fn fill(
        &self,
        place: &mut Return,
        fired: FiredShot<f64>,
        detection: &Detection,
        range: f64,
        offset: f64,
    ) {
        let point = fired.shot.point(range - offset);
        place.position = self.frame.place(point, fired.pose, &self.world_from_start);
        place.range = range;
        let intensity = &self.lidar.intensity;
        place.intensity = detection.intensity.unwrap_or_else(|| {
            let response = intensity.response;
            response.report(detection.power, range - offset, intensity.top)
        });
        place.power = detection.power;
        place.width = detection.width;
        place.velocity = detection.velocity;
        place.shot = fired.number;
    }

    #[inline]
    fn source(&self, origin: &Origin, channel: &Channel) -> Source {
        Source {
            instance: origin.object,
            mesh: self.world.scene().objects()[origin.object.0 as usize].mesh,
            material: origin.material,
            cos_incidence: origin.cos_incidence.min(1.0),
            range: channel.range(origin.range),
        }
    }
}

/// The outcome of a shot without a detection.
fn outcome(failure: &NoDetection) -> Outcome {
    match failure {
        NoDetection::TooNear { .. } => Outcome::TooNear,
        reason => match reason.urg_code() {
            Some(0) | None => Outcome::NoReturn,
            Some(code) => Outcome::Error(code),
        },
    }
}

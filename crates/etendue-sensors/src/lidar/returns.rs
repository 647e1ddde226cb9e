//! From detections to the returns that a device reports.

use super::light::ShotLight;
use super::receiver::Detection;
use super::return_buffer::ReturnBuffer;
use super::sweep::{FiredShot, Simulator};
use super::{Frame, Lidar, Outcome, Return, Source};
use crate::transport::World;
use etendue_scene::{MaterialId, ObjectId};
use nalgebra::Isometry3;

/// Makes returns of detections.
#[derive(Clone, Copy)]
pub(super) struct Reporter<'a> {
    pub world: &'a World<'a, f64>,
    pub lidar: &'a Lidar,
    pub frame: Frame,
    /// Pose of the sensor when the sweep began.
    pub world_from_start: Isometry3<f64>,
}

/// The place where light was scattered.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub object: ObjectId,
    pub material: MaterialId,
    pub cos_incidence: f64,
    /// Half the optical path, m.
    pub range: f64,
}

impl<P: Fn(f64) -> Isometry3<f64>> Simulator<'_, f64, P> {
    /// Adds the returns of a shot, each with the surface that most of its light came from.
    pub fn report(
        &self,
        reporter: &Reporter,
        fired: FiredShot<f64>,
        light: &ShotLight<f64>,
        detections: &[Detection],
        buffer: &mut ReturnBuffer,
    ) -> Outcome {
        let air = self.air.backscatter();
        let air = air.map(|air| air.first_cells(light.backscatter_cells));
        let source = |range: f64, reach: f64| {
            let backscatter = air.map_or(0.0, |air| air.power_at_range(range));
            let back = light.source(range, reach, backscatter)?;
            Some(Origin {
                object: back.hit.object,
                material: back.material,
                cos_incidence: back.cos_incidence,
                range: back.optical_range,
            })
        };
        reporter.add(fired, light.ambient, detections, source, buffer)
    }
}

impl Reporter<'_> {
    /// Adds returns of the detections within the range limits. `source` gives the place that most of
    /// the light within a reach (m) of a range came from.
    #[inline]
    pub fn add(
        &self,
        fired: FiredShot<f64>,
        ambient: f64,
        detections: &[Detection],
        source: impl Fn(f64, f64) -> Option<Origin>,
        buffer: &mut ReturnBuffer,
    ) -> Outcome {
        let offset = self.lidar.channels[usize::from(fired.shot.channel)].range_offset;
        let limits = &self.lidar.limits;
        let reach = self.lidar.receiver.echo_reach();
        // Fill in the detections within the limits.
        let before = buffer.count();
        let mut too_near = false;
        for detection in detections {
            let range = limits.stepped(detection.range + offset);
            too_near |= range < limits.near;
            if (limits.near..=limits.far).contains(&range) {
                let place = buffer.place();
                self.fill(place, fired, detection, [range, offset]);
                place.ambient = ambient;
                let origin = source(detection.range, reach);
                place.source = origin.map(|origin| self.source(&origin, offset));
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

    /// Fills in the numbers that do not depend on the other light of the shot. Field by field: a return
    /// that is copied as a whole stalls until all fields are there.
    #[inline]
    fn fill(
        &self,
        place: &mut Return,
        fired: FiredShot<f64>,
        detection: &Detection,
        [range, offset]: [f64; 2],
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
    fn source(&self, origin: &Origin, offset: f64) -> Source {
        Source {
            instance: origin.object,
            mesh: self.world.scene().objects()[origin.object.0 as usize].mesh,
            material: origin.material,
            cos_incidence: origin.cos_incidence.min(1.0),
            range: origin.range + offset,
        }
    }
}

//! A GNSS receiver and its view of the sky.

use crate::capture::{CaptureContext, Data, Instrument, seconds};
use etendue_physics::gnss::{GnssReceiver, GnssReceiverRun, SkyView, satellites};
use etendue_scene::{CastScratch, Ray};
use nalgebra::Point3;

/// A GNSS receiver and its view of the sky.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gnss {
    /// The receiver.
    pub receiver: GnssReceiver,
    /// Whether the scene occludes satellites.
    pub has_occlusion: bool,
}

/// Least distance of an occluder from the antenna, m: the robot itself does not block the sky.
const ANTENNA_CLEARANCE: f64 = 0.2;

/// A running GNSS receiver.
pub(crate) struct GnssInstrument<'a> {
    gnss: &'a Gnss,
    run: Box<GnssReceiverRun>,
}

impl<'a> GnssInstrument<'a> {
    /// Starts the receiver with the index `sensor`.
    pub fn new(gnss: &'a Gnss, seed: u64, sensor: u32) -> Self {
        Self {
            gnss,
            run: Box::new(GnssReceiverRun::new(&gnss.receiver, seed, sensor)),
        }
    }
}

impl Instrument for GnssInstrument<'_> {
    fn capture(&mut self, context: &CaptureContext) -> Data {
        let state = context.at(context.capture.end);
        let antenna = Point3::from(state.world_from_body.translation.vector);
        let [sky, open] = sky_views(self.gnss, &antenna, context);
        let frame = &context.environment.frame;
        let fix = self
            .run
            .fix(frame, &antenna, &state.velocity, context.period, sky, open);
        Data::Fix(fix)
    }
}

/// The receiver's view of the sky, and its view without the scene.
fn sky_views(gnss: &Gnss, antenna: &Point3<f64>, context: &CaptureContext) -> [SkyView; 2] {
    let time = seconds(context.capture.end);
    let frame = &context.environment.frame;

    // Directions of the satellites above the elevation mask
    let positions = satellites(context.environment.start + time);
    let mut directions: Vec<_> = positions
        .iter()
        .map(|satellite| (frame.local_of_ecef(satellite) - antenna).normalize())
        .filter(|direction| direction.z > gnss.receiver.mask.sin())
        .collect();
    let open = SkyView::of(&directions);

    // Remove those that the scene occludes
    if gnss.has_occlusion {
        let mut scratch = CastScratch::new();
        directions.retain(|direction| {
            let ray = Ray {
                near: ANTENNA_CLEARANCE,
                time,
                ..Ray::new(*antenna, *direction)
            };
            !context.scene.occluded(&ray, &mut scratch)
        });
    }
    [SkyView::of(&directions), open]
}

//! A running camera on a robot.

use super::processor::Processor;
use crate::camera::{
    Camera, CameraWorld, CameraWorldError, Exposure, FrameSettings, LightTransport,
};
use crate::capture::{CaptureContext, Data, Environment, Instrument, seconds};
use etendue_scene::Scene;

/// A camera with the render settings of its frames.
#[derive(Clone, Debug, PartialEq)]
pub struct MountedCamera {
    /// Description of the camera.
    pub camera: Camera,
    /// Rays per pixel.
    pub samples: u32,
    /// Light transport.
    pub light: LightTransport,
    /// Whether frames contain the true depth of their pixels.
    pub depth: bool,
}

impl MountedCamera {
    /// Frame rate (Hz), and the time from the start of a frame to the end of the longest exposure of its
    /// last row (s).
    pub(super) fn timing(&self) -> [f64; 2] {
        [self.camera.frame_rate, self.collection_time()]
    }

    fn collection_time(&self) -> f64 {
        self.camera
            .collection_time(match self.camera.shutter.exposure {
                Exposure::Fixed(time) => time,
                Exposure::Auto { limits, .. } => limits[1],
            })
    }
}

/// A running camera.
pub(super) struct CameraInstrument<'a> {
    world: CameraWorld<'a>,
    mounted: &'a MountedCamera,
    settings: FrameSettings,
}

impl<'a> CameraInstrument<'a> {
    /// Starts the camera with the index `sensor`.
    pub fn new(
        mounted: &'a MountedCamera,
        scene: &'a Scene,
        environment: &'a Environment,
        seed: u64,
        sensor: u32,
    ) -> Result<Self, CameraWorldError> {
        Ok(Self {
            world: CameraWorld::new(
                scene,
                &environment.lighting,
                &environment.textures,
                &mounted.camera,
            )?,
            mounted,
            settings: FrameSettings {
                samples: mounted.samples,
                light: mounted.light,
                seed,
                sensor,
                ..FrameSettings::default()
            },
        })
    }
}

impl Instrument for CameraInstrument<'_> {
    fn capture(&mut self, context: &CaptureContext) -> Data {
        self.settings.index = context.capture.number;
        self.settings.start = seconds(context.capture.start);
        let pose = |time| context.world_from_sensor(time);
        let other = context.processor;
        let exposed =
            |other: &dyn Processor| other.frame(&self.world, self.mounted, &self.settings, &pose);
        if let Some(frame) = other.and_then(exposed) {
            return Data::Image(Box::new(frame));
        }
        let camera = &self.mounted.camera;
        let mut frame = self.world.expose(camera, &self.settings, pose);
        if self.mounted.depth {
            let truth = self
                .world
                .truth(camera, &self.settings, frame.exposure, 0.0, pose);
            frame.depth = Some(truth.depth);
        }
        Data::Image(Box::new(frame))
    }
}

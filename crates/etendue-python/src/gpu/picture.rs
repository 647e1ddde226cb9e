//! One picture on a GPU.

use super::{Call, Gpu};
use crate::camera::Picture;
use crate::errors::{Failure, Outcome};
use etendue::sensors::camera::{CameraFrame, CameraWorld, FrameTruth};
use etendue_gpu::GpuCamera;
use pyo3::prelude::*;

impl Gpu {
    /// Renders a picture with its truth. `None`, after a warning, where the CPU has to.
    pub fn render(
        &self,
        py: Python<'_>,
        picture: &Picture,
        threads: Option<i64>,
    ) -> Outcome<Option<(CameraFrame, FrameTruth)>> {
        let camera = picture.camera;
        let call = Call {
            scene: picture.scene,
            what: format!("{} is rendered", camera.name),
            rays: usize::MAX,
            threads,
            progress: None,
        };
        self.run(py, &call, |device, caster, control| {
            let loaded = picture.scene.loaded();
            let lighting = picture.lighting();
            let world = CameraWorld::new(&loaded.scene, &lighting, &loaded.textures, camera);
            let world = world.map_err(Failure::from)?;
            let own = GpuCamera::new(device, caster, &world, camera)?;
            let settings = &picture.settings;
            let at = |time| picture.pose(time, control);
            let frame = own.expose(settings, at)?.frame;
            let truth = own.truth(settings, frame.exposure, camera.frame_time(), at)?;
            Ok((frame, truth))
        })
    }
}

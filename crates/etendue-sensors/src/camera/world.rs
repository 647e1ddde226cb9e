//! A scene with its lights and textures, for a camera.

use super::error::CameraWorldError;
use super::frame::{CameraFrame, FrameSettings};
use super::model::{Camera, CameraError};
use super::sampler::CameraPoses;
use super::spectral_scene::SpectralScene;
use super::truth::{self, FrameTruth};
use super::{auto_exposure, read_out, render};
use etendue_scene::lighting::Lighting;
use etendue_scene::{Scene, Textures};
use nalgebra::Isometry3;

/// A scene with its lights and textures in the bands of a camera.
pub struct CameraWorld<'a> {
    pub(super) in_bands: SpectralWorld<'a>,
}

/// The scene in one or three bands.
pub(super) enum SpectralWorld<'a> {
    Grey(Box<SpectralScene<'a, 1>>),
    Colour(Box<SpectralScene<'a, 3>>),
}

impl<'a> CameraWorld<'a> {
    /// Evaluates materials and lights in the camera's bands.
    ///
    /// # Errors
    /// If the description of the camera is invalid, or a material or light has no value in one of its bands.
    pub fn new(
        scene: &'a Scene,
        lighting: &Lighting,
        textures: &'a Textures,
        camera: &Camera,
    ) -> Result<Self, CameraWorldError> {
        camera.check()?;
        let in_bands = match camera.bands[..] {
            [band] => SpectralWorld::Grey(Box::new(SpectralScene::new(
                scene,
                lighting,
                textures,
                [band],
            )?)),
            [red, green, blue] => {
                let bands = [red, green, blue];
                SpectralWorld::Colour(Box::new(SpectralScene::new(
                    scene, lighting, textures, bands,
                )?))
            }
            _ => return Err(CameraError::Bands(camera.bands.len()).into()),
        };
        Ok(Self { in_bands })
    }

    /// Renders and reads out a frame. `world_from_camera` is the pose of the camera's body (x forward,
    /// y left, z up) at a time, s.
    pub fn expose(
        &self,
        camera: &Camera,
        settings: &FrameSettings,
        world_from_camera: impl Fn(f64) -> Isometry3<f64> + Sync,
    ) -> CameraFrame {
        self.expose_observed(camera, settings, world_from_camera, &|_| {})
    }

    /// As [`CameraWorld::expose`], and passes the number of rows of each rendered part of the frame to `observe`, from
    /// several threads: together the height of the frame.
    pub fn expose_observed(
        &self,
        camera: &Camera,
        settings: &FrameSettings,
        world_from_camera: impl Fn(f64) -> Isometry3<f64> + Sync,
        observe: &(dyn Fn(u32) + Sync),
    ) -> CameraFrame {
        self.expose_along(camera, settings, &world_from_camera, observe)
    }

    /// [`CameraWorld::expose_observed`] for poses of any type. It has no type parameters, so that the renderer is compiled in this
    /// crate and not, with other optimisation, in the crates that call it.
    fn expose_along(
        &self,
        camera: &Camera,
        settings: &FrameSettings,
        world_from_camera: &CameraPoses,
        observe: render::RowObserver<'_>,
    ) -> CameraFrame {
        let poses = world_from_camera;
        match &self.in_bands {
            SpectralWorld::Grey(scene) => expose(scene, camera, settings, poses, observe),
            SpectralWorld::Colour(scene) => expose(scene, camera, settings, poses, observe),
        }
    }

    /// Ground truth at the centre of each pixel at the middle of an exposure of `exposure` seconds,
    /// with the optical flow to `flow_time` seconds later.
    pub fn truth(
        &self,
        camera: &Camera,
        settings: &FrameSettings,
        exposure: f64,
        flow_time: f64,
        world_from_camera: impl Fn(f64) -> Isometry3<f64> + Sync,
    ) -> FrameTruth {
        truth::frame_truth(
            self.scene(),
            camera,
            settings.start,
            exposure,
            flow_time,
            &world_from_camera,
        )
    }

    /// The scene.
    pub fn scene(&self) -> &'a Scene {
        match &self.in_bands {
            SpectralWorld::Grey(spectral_scene) => spectral_scene.scene(),
            SpectralWorld::Colour(spectral_scene) => spectral_scene.scene(),
        }
    }
}

/// Meters, renders and reads out a frame.
fn expose<const N: usize>(
    spectral_scene: &SpectralScene<N>,
    camera: &Camera,
    settings: &FrameSettings,
    world_from_camera: &CameraPoses,
    observe: render::RowObserver<'_>,
) -> CameraFrame {
    let exposure = spectral_scene.at(settings.start, |spectral_scene| {
        auto_exposure::exposure_time(spectral_scene, camera, settings, world_from_camera)
    });
    let radiance = render::render(
        spectral_scene,
        camera,
        settings,
        exposure,
        world_from_camera,
        observe,
    );
    read_out::frame(spectral_scene, camera, settings, exposure, &radiance)
}

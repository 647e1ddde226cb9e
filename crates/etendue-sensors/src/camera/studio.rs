//! A scene with its lights, ready for a camera.

use super::frame::{Frame, FrameSettings};
use super::illumination::{Backdrop, Lamp, white};
use super::model::{Band, Camera, CameraError};
use super::truth::{self, Truth};
use super::{Bands, meter, read_out, render};
use crate::transport::{World, WorldError};
use etendue_physics::OutsideTable;
use etendue_physics::surface::{Lobe, Passage};
use etendue_scene::lighting::Lighting;
use etendue_scene::{MaterialId, Scene, Textures};
use nalgebra::Isometry3;
use thiserror::Error;

/// Why a scene cannot be photographed.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StudioError {
    /// The camera cannot be.
    #[error(transparent)]
    Camera(#[from] CameraError),
    /// A material's data do not cover a band.
    #[error("{material} has no value in the camera's band at {:.0} nm", wavelength * 1e9)]
    Material {
        /// What the world says.
        material: String,
        /// The band's middle, m.
        wavelength: f64,
    },
    /// A light's data do not cover a band.
    #[error("the {light}: {source}")]
    Light {
        /// Which light.
        light: &'static str,
        /// What is missing.
        source: OutsideTable,
    },
}

/// A scene with its lights and pictures in the bands of a camera: what frames are taken of.
pub struct Studio<'a> {
    in_bands: InBands<'a>,
}

enum InBands<'a> {
    Grey(Box<Stage<'a, 1>>),
    Colour(Box<Stage<'a, 3>>),
}

/// A scene in N bands.
pub(super) struct Stage<'a, const N: usize> {
    pub worlds: [World<'a, f64>; N],
    pub textures: &'a Textures,
    pub lamps: Vec<Lamp<N>>,
    pub backdrop: Backdrop<N>,
    /// Whether any material lets light pass straight on.
    pub has_sheets: bool,
    /// Reflectance of each material that is ideally diffuse in all bands.
    pub matt: Vec<Option<Bands<N>>>,
    pub bands: [Band; N],
}

impl<'a> Studio<'a> {
    /// The scene as that camera sees it.
    ///
    /// # Errors
    /// Where the camera cannot be, or a material or light has no value in one of its bands.
    pub fn new(
        scene: &'a Scene,
        lighting: &Lighting,
        textures: &'a Textures,
        camera: &Camera,
    ) -> Result<Self, StudioError> {
        camera.check()?;
        let in_bands = match camera.bands[..] {
            [band] => InBands::Grey(Box::new(Stage::new(scene, lighting, textures, [band])?)),
            [red, green, blue] => {
                let bands = [red, green, blue];
                InBands::Colour(Box::new(Stage::new(scene, lighting, textures, bands)?))
            }
            _ => return Err(CameraError::Bands(camera.bands.len()).into()),
        };
        Ok(Self { in_bands })
    }

    /// Takes a frame. `world_from_camera` tells where the camera's body (x forward, y left, z up)
    /// is at a time, s.
    pub fn expose(
        &self,
        camera: &Camera,
        settings: &FrameSettings,
        world_from_camera: impl Fn(f64) -> Isometry3<f64> + Sync,
    ) -> Frame {
        match &self.in_bands {
            InBands::Grey(stage) => stage.expose(camera, settings, world_from_camera),
            InBands::Colour(stage) => stage.expose(camera, settings, world_from_camera),
        }
    }

    /// What the middle of each pixel shows at the middle of an exposure of `exposure` seconds, and
    /// where that is seen `flow_time` seconds later.
    pub fn truth(
        &self,
        camera: &Camera,
        settings: &FrameSettings,
        exposure: f64,
        flow_time: f64,
        world_from_camera: impl Fn(f64) -> Isometry3<f64> + Sync,
    ) -> Truth {
        let scene = match &self.in_bands {
            InBands::Grey(stage) => stage.scene(),
            InBands::Colour(stage) => stage.scene(),
        };
        truth::look(
            scene,
            camera,
            settings.start,
            exposure,
            flow_time,
            world_from_camera,
        )
    }
}

impl<'a, const N: usize> Stage<'a, N> {
    fn new(
        scene: &'a Scene,
        lighting: &Lighting,
        textures: &'a Textures,
        bands: [Band; N],
    ) -> Result<Self, StudioError> {
        let mut worlds = Vec::with_capacity(N);
        for band in bands {
            let world = World::at_wavelength(scene, band.wavelength);
            worlds.push(world.map_err(|error| outside(&error, band.wavelength))?);
        }
        let worlds: [_; N] = worlds.try_into().expect("one a band");
        let materials = || (0..).zip(scene.materials()).map(|(id, _)| MaterialId(id));
        let matt = materials().map(|id| matt(&worlds, id)).collect();
        let has_sheets = materials().any(|id| {
            let specular = worlds[0]
                .material(id)
                .specular(1.0, etendue_physics::surface::Side::Front);
            let passage = specular.transmitted.map(|transmitted| transmitted.passage);
            matches!(passage, Some(Passage::Sheet { .. }))
        });
        Ok(Self {
            worlds,
            textures,
            lamps: Lamp::all(lighting, &bands)?,
            backdrop: Backdrop::new(&lighting.environment, &bands)?,
            has_sheets,
            matt,
            bands,
        })
    }

    pub fn scene(&self) -> &'a Scene {
        self.worlds[0].scene()
    }

    /// What `f` finds with deforming meshes as they are at a time, s.
    pub fn at<T>(&self, time: f64, f: impl FnOnce(&Stage<N>) -> T) -> T {
        let scene = self.scene();
        if !scene.deforms() {
            return f(self);
        }
        let then = scene.at(time);
        f(&Stage {
            worlds: self.worlds.each_ref().map(|world| world.about(&then)),
            textures: self.textures,
            lamps: self.lamps.clone(),
            backdrop: self.backdrop.clone(),
            matt: self.matt.clone(),
            ..*self
        })
    }

    /// Electrons per radiance and second of a pixel on the axis, in each band.
    pub fn sensitivity(&self, camera: &Camera) -> Bands<N> {
        Bands::from_fn(|i, _| {
            let band = &self.bands[i];
            camera.aperture.photons(1.0, 1.0, band.wavelength) * band.quantum_efficiency
        })
    }

    /// Electrons, about, of a white surface in the scene's light: only their ratios count.
    pub fn white(&self, camera: &Camera) -> Bands<N> {
        white(&self.lamps, &self.backdrop).component_mul(&self.sensitivity(camera))
    }

    fn expose(
        &self,
        camera: &Camera,
        settings: &FrameSettings,
        world_from_camera: impl Fn(f64) -> Isometry3<f64> + Sync,
    ) -> Frame {
        let exposure = self.at(settings.start, |stage| {
            meter::exposure(stage, camera, settings, &world_from_camera)
        });
        let radiance = render::render(self, camera, settings, exposure, &world_from_camera);
        read_out::frame(self, camera, settings, exposure, &radiance)
    }
}

/// The reflectance of a material that is ideally diffuse in all bands.
fn matt<const N: usize>(worlds: &[World<f64>; N], id: MaterialId) -> Option<Bands<N>> {
    let mut bands = Bands::<N>::zeros();
    for (band, world) in bands.iter_mut().zip(worlds) {
        match world.material(id).lobes[..] {
            [Lobe::Lambert(lobe)] => *band = lobe.reflectance,
            _ => return None,
        }
    }
    Some(bands)
}

fn outside(error: &WorldError, wavelength: f64) -> StudioError {
    let WorldError::Wavelength { material, source } = error;
    StudioError::Material {
        material: format!("the material \"{material}\", {source},"),
        wavelength,
    }
}

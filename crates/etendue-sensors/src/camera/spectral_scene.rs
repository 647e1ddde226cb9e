//! A scene with its lights and textures in the bands of a camera.

use super::bands::Bands;
use super::error::CameraWorldError;
use super::illumination::{Backdrop, Lamp, white};
use super::model::{Band, Camera};
use crate::transport::{World, WorldError};
use etendue_physics::surface::{Lobe, Passage, Side};
use etendue_scene::lighting::Lighting;
use etendue_scene::{MaterialId, Scene, Textures};

/// A scene with its lights and textures in N bands.
pub(super) struct SpectralScene<'a, const N: usize> {
    /// The scene at the wavelength of each band.
    pub worlds: [World<'a, f64>; N],
    pub textures: &'a Textures,
    /// Light sources but the environment.
    pub lamps: Vec<Lamp<N>>,
    /// The environment.
    pub backdrop: Backdrop<N>,
    /// Whether any material transmits light as a thin sheet.
    pub has_sheets: bool,
    /// Reflectance of each material that is Lambertian in all bands.
    pub lambertian: Vec<Option<Bands<N>>>,
    /// The bands of the camera.
    pub bands: [Band; N],
}

impl<'a, const N: usize> SpectralScene<'a, N> {
    /// Evaluates materials and lights in N bands.
    pub fn new(
        scene: &'a Scene,
        lighting: &Lighting,
        textures: &'a Textures,
        bands: [Band; N],
    ) -> Result<Self, CameraWorldError> {
        // Evaluate the materials in each band.
        let mut worlds = Vec::with_capacity(N);
        for band in bands {
            let world = World::at_wavelength(scene, band.wavelength);
            worlds.push(world.map_err(|error| outside(&error, band.wavelength))?);
        }
        let worlds: [_; N] = worlds.try_into().expect("one world per band");
        // Find the Lambertian materials and the sheets of glass.
        let materials = || (0..).zip(scene.materials()).map(|(id, _)| MaterialId(id));
        let lambertian = materials().map(|id| lambertian(&worlds, id)).collect();
        let has_sheets = materials().any(|id| is_sheet(&worlds[0], id));
        Ok(Self {
            worlds,
            textures,
            lamps: Lamp::all(lighting, &bands)?,
            backdrop: Backdrop::new(&lighting.environment, &bands)?,
            has_sheets,
            lambertian,
            bands,
        })
    }

    /// The scene.
    pub fn scene(&self) -> &'a Scene {
        self.worlds[0].scene()
    }

    /// Whether a material transmits light as a thin sheet.
    pub fn is_sheet(&self, material: MaterialId) -> bool {
        is_sheet(&self.worlds[0], material)
    }

    /// Calls `f` with the scene whose deforming meshes are evaluated at a time, s.
    pub fn at<T>(&self, time: f64, f: impl FnOnce(&SpectralScene<N>) -> T) -> T {
        let scene = self.scene();
        if !scene.deforms() {
            return f(self);
        }
        let then = scene.at(time);
        f(&SpectralScene {
            worlds: self.worlds.each_ref().map(|world| world.with_scene(&then)),
            textures: self.textures,
            lamps: self.lamps.clone(),
            backdrop: self.backdrop.clone(),
            lambertian: self.lambertian.clone(),
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

    /// Relative electrons of a white surface in the scene's light, in each band.
    pub fn white(&self, camera: &Camera) -> Bands<N> {
        white(&self.lamps, &self.backdrop).component_mul(&self.sensitivity(camera))
    }
}

/// Whether a material transmits light as a thin sheet.
fn is_sheet(world: &World<f64>, id: MaterialId) -> bool {
    let specular = world.material(id).specular(1.0, Side::Front);
    let passage = specular.transmitted.map(|transmitted| transmitted.passage);
    matches!(passage, Some(Passage::Sheet { .. }))
}

/// Reflectance of a material that is Lambertian in all bands.
fn lambertian<const N: usize>(worlds: &[World<f64>; N], id: MaterialId) -> Option<Bands<N>> {
    let mut bands = Bands::<N>::zeros();
    for (band, world) in bands.iter_mut().zip(worlds) {
        match world.material(id).lobes[..] {
            [Lobe::Lambert(lobe)] => *band = lobe.reflectance,
            _ => return None,
        }
    }
    Some(bands)
}

fn outside(error: &WorldError, wavelength: f64) -> CameraWorldError {
    let WorldError::Wavelength { material, source } = error;
    CameraWorldError::Material {
        material: format!("the material \"{material}\", {source},"),
        wavelength,
    }
}

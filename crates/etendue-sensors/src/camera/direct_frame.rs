//! Frames in direct light, prepared for other processors.

use super::auto_exposure::exposure_time;
use super::bands::Bands;
use super::frame::{CameraFrame, FrameSettings};
use super::illumination::{Backdrop, Lamp};
use super::model::Camera;
use super::read_out;
use super::render::render_pixels;
use super::sampler::{CameraPoses, PixelRays, STEPS};
use super::spectral_scene::SpectralScene;
use super::transport::LightTransport;
use super::truth::{FrameTruth, frame_truth_of_hits};
use super::world::{CameraWorld, SpectralWorld};
use crate::transport::shading_frame;
use etendue_physics::light::SkyDome;
use etendue_scene::lighting::{AreaLamp, SpotLamp};
use etendue_scene::{Hit, MaterialId, ObjectId, Ray};
use nalgebra::{Isometry3, Point3, Vector3};
use rayon::prelude::*;
use thiserror::Error;

/// Properties of a frame that [`DirectFrame`] does not support.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotDirectFrame {
    /// Light follows random paths.
    #[error("light follows random paths")]
    Paths,
    /// The surroundings are an image, from which directions are drawn.
    #[error("the surroundings are an image")]
    EnvironmentMap,
    /// Vertices of meshes move.
    #[error("a mesh of the scene deforms")]
    Deforming,
    /// Rays of the frame meet objects at different times.
    #[error("objects move during the exposure")]
    MovingObjects,
}

/// A frame in direct light: what an implementation on another processor needs for it.
///
/// The implementation evaluates the samples of each pixel, with the draws of its stream
/// ([`Purpose::Pixel`](etendue_physics::Purpose::Pixel)): the first surface, the light of each lamp that is visible from
/// it, the visible lamps, and the surroundings seen directly or over one scattering. This is complete for surfaces that
/// scatter as Lambert's law states. Pixels that meet another surface are left to [`Self::finish`], which renders them.
/// [`CameraWorld::expose`] is the reference.
///
/// The draws of a pixel are uniform numbers. Three shift its samples, if it has several. Each sample that meets a surface
/// takes two for each lamp, two for the surroundings, and, unless these are dark, three that scatter the light (the band,
/// then the direction), one if the light of the scattered ray is below a tenth, and three if that ray meets a surface.
pub struct DirectFrame<'a> {
    world: &'a CameraWorld<'a>,
    camera: &'a Camera,
    settings: &'a FrameSettings,
    world_from_camera: &'a CameraPoses<'a>,
    exposure: f64,
}

/// A lamp; powers are those of each band.
#[derive(Clone, Debug, PartialEq)]
pub enum DirectLamp {
    /// Light from a cone of directions about an axis.
    Sun {
        /// Orthonormal axes of the cone; the last is the unit vector towards its middle.
        axes: [Vector3<f64>; 3],
        /// Half the angle of the cone, rad.
        half_angle: f64,
        /// At normal incidence.
        irradiance: [f64; 3],
    },
    /// A point.
    Point {
        /// In the world, m.
        position: Point3<f64>,
        /// Radiant intensity.
        intensity: [f64; 3],
        /// The cone of a spot lamp.
        spot: Option<SpotLamp>,
    },
    /// A rectangle.
    Area {
        /// Geometry.
        lamp: AreaLamp,
        /// Emitted radiance.
        radiance: [f64; 3],
    },
}

/// The surroundings; powers are those of each band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DirectBackdrop {
    /// No light.
    Dark,
    /// The same radiance from all directions.
    Uniform([f64; 3]),
    /// A sky above a ground.
    Sky {
        /// Angular distribution.
        dome: SkyDome,
        /// Of a horizontal surface.
        irradiance: [f64; 3],
        /// Radiance from below the horizon.
        ground: [f64; 3],
    },
}

/// Calls a function with the scene in the bands of the camera.
macro_rules! in_bands {
    ($world:expr, $scene:ident => $value:expr) => {
        match &$world.in_bands {
            SpectralWorld::Grey($scene) => $value,
            SpectralWorld::Colour($scene) => $value,
        }
    };
}

impl<'a> DirectFrame<'a> {
    /// Increments of the samples of a pixel: across, down and through the exposure. The sample of the number $i$ is at the
    /// fractional part of the shift plus $i$ increments; a single sample is at 0.5.
    pub const SAMPLE_STEPS: [f64; 3] = STEPS;

    /// Prepares a frame; the arguments are those of [`CameraWorld::expose`].
    ///
    /// # Errors
    /// The first reason why the frame has no such form.
    pub fn new<P: Fn(f64) -> Isometry3<f64> + Sync>(
        world: &'a CameraWorld<'a>,
        camera: &'a Camera,
        settings: &'a FrameSettings,
        world_from_camera: &'a P,
    ) -> Result<Self, NotDirectFrame> {
        Self::along(world, camera, settings, world_from_camera)
    }

    /// [`DirectFrame::new`] for poses of any type.
    fn along(
        world: &'a CameraWorld<'a>,
        camera: &'a Camera,
        settings: &'a FrameSettings,
        world_from_camera: &'a CameraPoses<'a>,
    ) -> Result<Self, NotDirectFrame> {
        // Check the light and the scene.
        if matches!(settings.light, LightTransport::Paths { .. }) {
            return Err(NotDirectFrame::Paths);
        }
        let is_map = in_bands!(world, scene => matches!(scene.backdrop, Backdrop::Map { .. }));
        if is_map {
            return Err(NotDirectFrame::EnvironmentMap);
        }
        let scene = world.scene();
        if scene.deforms() {
            return Err(NotDirectFrame::Deforming);
        }

        // Expose.
        let exposure =
            in_bands!(world, scene => exposure_time(scene, camera, settings, world_from_camera));
        let has_one_time =
            camera.shutter.line_time == 0.0 && (settings.samples == 1 || exposure == 0.0);
        let mut objects = (0..)
            .zip(scene.objects())
            .map(|(number, _)| ObjectId(number));
        if !has_one_time && objects.any(|object| scene.caster().is_moving(object)) {
            return Err(NotDirectFrame::MovingObjects);
        }
        Ok(Self {
            world,
            camera,
            settings,
            world_from_camera,
            exposure,
        })
    }

    /// The camera.
    pub fn camera(&self) -> &'a Camera {
        self.camera
    }

    /// The settings.
    pub fn settings(&self) -> &'a FrameSettings {
        self.settings
    }

    /// The scene with its lights.
    pub fn world(&self) -> &'a CameraWorld<'a> {
        self.world
    }

    /// Exposure time of each row, s.
    pub fn exposure(&self) -> f64 {
        self.exposure
    }

    /// The pose of the camera's body at a time, s.
    pub fn world_from_camera(&self, time: f64) -> Isometry3<f64> {
        (self.world_from_camera)(time)
    }

    /// Number of bands: 1 or 3. Lists of three numbers have the first only, if there is one.
    pub fn bands(&self) -> usize {
        self.camera.bands.len()
    }

    /// The lamps.
    pub fn lamps(&self) -> Vec<DirectLamp> {
        in_bands!(self.world, scene => scene.lamps.iter().map(direct_lamp).collect())
    }

    /// The surroundings.
    pub fn backdrop(&self) -> DirectBackdrop {
        in_bands!(self.world, scene => direct_backdrop(&scene.backdrop))
    }

    /// The frame, from the mean radiance of each pixel with vignetting (`None`: left to this function), in row-major order;
    /// and the number of pixels that were left.
    pub fn finish(&self, radiance: &[Option<[f32; 3]>]) -> (CameraFrame, usize) {
        in_bands!(self.world, scene => self.finished(scene, radiance))
    }

    fn finished<const N: usize>(
        &self,
        scene: &SpectralScene<N>,
        radiance: &[Option<[f32; 3]>],
    ) -> (CameraFrame, usize) {
        let rays = self.rays();
        let left: Vec<u32> = { (0..).zip(radiance) }
            .filter_map(|(number, radiance): (u32, _)| radiance.is_none().then_some(number))
            .collect();
        let rendered = render_pixels(scene, self.settings, &rays, &left);
        let mut all: Vec<Bands<N>> = { radiance.par_iter() }
            .map(|known| {
                known.map_or(Bands::zeros(), |bands| {
                    Bands::from_fn(|i, _| bands[i].into())
                })
            })
            .collect();
        for (number, own) in left.iter().zip(rendered) {
            all[*number as usize] = own;
        }
        let frame = read_out::frame(scene, self.camera, self.settings, self.exposure, &all);
        (frame, left.len())
    }

    fn rays(&self) -> PixelRays<'a> {
        PixelRays::new(
            self.camera,
            self.settings.start,
            self.exposure,
            self.world_from_camera,
        )
    }
}

impl CameraWorld<'_> {
    /// Reflectance of a material in each band, if it scatters as Lambert's law states.
    pub fn lambertian_reflectance(&self, material: MaterialId) -> Option<[f64; 3]> {
        in_bands!(self, scene => scene.lambertian[material.0 as usize].as_ref().map(three))
    }

    /// Whether a material transmits light as a thin sheet: lamps shine through it.
    pub fn is_sheet(&self, material: MaterialId) -> bool {
        in_bands!(self, scene => scene.is_sheet(material))
    }

    /// Whether an object has images.
    pub fn is_textured(&self, object: ObjectId) -> bool {
        in_bands!(self, scene => scene.textures.of(object).is_some())
    }

    /// [`CameraWorld::truth`] in a scene without deforming meshes, with the first hits of the rays of all pixels from
    /// `cast`.
    ///
    /// # Errors
    /// Those of `cast`.
    pub fn truth_of_hits<E>(
        &self,
        camera: &Camera,
        settings: &FrameSettings,
        [exposure, flow_time]: [f64; 2],
        world_from_camera: impl Fn(f64) -> Isometry3<f64> + Sync,
        cast: impl FnOnce(&[Ray]) -> Result<Vec<Option<Hit>>, E>,
    ) -> Result<FrameTruth, E> {
        let rays = PixelRays::new(camera, settings.start, exposure, &world_from_camera);
        frame_truth_of_hits(self.scene(), &rays, flow_time, cast)
    }
}

/// The values of the bands, and zeros.
fn three<const N: usize>(bands: &Bands<N>) -> [f64; 3] {
    std::array::from_fn(|i| bands.get(i).copied().unwrap_or(0.0))
}

fn direct_lamp<const N: usize>(lamp: &Lamp<N>) -> DirectLamp {
    match lamp {
        Lamp::Sun {
            to_sun,
            irradiance,
            half_angle,
        } => {
            let frame = shading_frame(to_sun);
            DirectLamp::Sun {
                axes: [0, 1, 2].map(|axis| frame.column(axis).into_owned()),
                half_angle: *half_angle,
                irradiance: three(irradiance),
            }
        }
        Lamp::Point {
            position,
            intensity,
            spot,
        } => DirectLamp::Point {
            position: *position,
            intensity: three(intensity),
            spot: spot.clone(),
        },
        Lamp::Area { lamp, radiance } => DirectLamp::Area {
            lamp: lamp.clone(),
            radiance: three(radiance),
        },
    }
}

fn direct_backdrop<const N: usize>(backdrop: &Backdrop<N>) -> DirectBackdrop {
    match backdrop {
        Backdrop::Uniform(radiance) => DirectBackdrop::Uniform(three(radiance)),
        Backdrop::Sky {
            dome,
            irradiance,
            ground,
        } => DirectBackdrop::Sky {
            dome: *dome,
            irradiance: three(irradiance),
            ground: three(ground),
        },
        // Frames in the light of an image are refused.
        Backdrop::Dark | Backdrop::Map { .. } => DirectBackdrop::Dark,
    }
}

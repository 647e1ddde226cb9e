//! Small scenes, and cameras that look at them.

use etendue_physics::Spectrum;
use etendue_physics::surface::{Lobe, Material};
use etendue_scene::lighting::{Environment, Light, Lighting, PointLamp};
use etendue_scene::{
    MaterialId, Mesh, MeshId, NamedMaterial, Object, ObjectId, Scene, SceneBuilder, Textures,
    Trajectory,
};
use etendue_sensors::camera::{Camera, CameraFrame, CameraWorld, FrameSettings, LightTransport};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

/// A scene in the making: object, mesh and material share their number.
#[derive(Default)]
pub struct Stage {
    parts: SceneBuilder,
}

impl Stage {
    pub fn with(mut self, mesh: Mesh, pose: Isometry3<f64>, lobes: Vec<Lobe<Spectrum>>) -> Self {
        let number = u32::try_from(self.parts.objects.len()).unwrap();
        self.parts.materials.push(NamedMaterial {
            name: format!("material {number}"),
            material: Material { lobes },
        });
        self.parts.meshes.push(mesh.into());
        self.parts.objects.push(Object {
            name: format!("object {number}"),
            mesh: MeshId(number),
            world_from_object: pose,
            material: MaterialId(number),
            mask: u32::MAX,
        });
        self
    }

    /// The last object moves.
    pub fn moving(mut self, motion: Trajectory) -> Self {
        let last = u32::try_from(self.parts.objects.len()).unwrap() - 1;
        self.parts.motions.push((ObjectId(last), motion.into()));
        self
    }

    pub fn build(self) -> Scene {
        self.parts.build().unwrap()
    }
}

pub fn paint(reflectance: f64) -> Vec<Lobe<Spectrum>> {
    vec![Lobe::lambert(reflectance.into())]
}

/// A panel (normal +z) turned to face the camera at the origin, its middle at `place`.
pub fn facing(place: [f64; 3]) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), -std::f64::consts::FRAC_PI_2);
    Isometry3::from_parts(Translation3::from(place), turn)
}

pub fn uniform(radiance: f64) -> Lighting {
    Lighting {
        lights: vec![],
        environment: Environment::Uniform(radiance.into()),
    }
}

/// Lamps alone.
pub fn lamps(lights: Vec<Light>) -> Lighting {
    Lighting {
        lights,
        environment: Environment::Dark,
    }
}

pub fn point_lamp(position: [f64; 3], intensity: f64) -> Light {
    Light::Point(PointLamp {
        position: Point3::from(position),
        intensity: intensity.into(),
    })
}

/// W/m per W in the band of the simple camera, 100 nm wide.
pub const BAND: f64 = 100e-9;

pub fn settings(samples: u32, light: LightTransport) -> FrameSettings {
    FrameSettings {
        samples,
        light,
        ..FrameSettings::default()
    }
}

pub fn still(_: f64) -> Isometry3<f64> {
    Isometry3::identity()
}

pub fn shoot(
    scene: &Scene,
    lighting: &Lighting,
    camera: &Camera,
    settings: &FrameSettings,
) -> CameraFrame {
    let textures = Textures::default();
    let camera_world = CameraWorld::new(scene, lighting, &textures, camera).unwrap();
    camera_world.expose(camera, settings, still)
}

/// Radiance of the pixel of a column and row, first band.
pub fn at(frame: &CameraFrame, column: u32, row: u32) -> f64 {
    f64::from(frame.radiance[(row * frame.width + column) as usize * frame.bands])
}

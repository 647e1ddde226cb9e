//! A scene at one wavelength, generic in the scalar.

use super::ambient_light::AmbientLight;
use super::surface_table::SurfaceTable;
use crate::noise_profiles::NoiseProfiles;
use etendue_physics::Scalar;
use etendue_physics::surface::{
    Ambient, Material, OutsideMaterial, PreparedMaterial, Side, planck_radiance,
};
use etendue_scene::{Hit, MaterialId, ObjectId, Scene, SurfacePoint};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use std::borrow::Cow;
use std::sync::Arc;
use thiserror::Error;

/// A scene at one wavelength.
///
/// Rays are cast against the shared [`Scene`] in `f64`. Poses and materials are stored in `S`, so that
/// they can carry derivatives:
///
/// ```
/// # use etendue_physics::{Dual, DualParts, surface::{Lobe, Material}};
/// # use etendue_scene::{Mesh, MaterialId, NamedMaterial, Object, SceneBuilder, MeshId, ObjectId};
/// # use etendue_sensors::transport::World;
/// # use nalgebra::{Isometry3, Point3};
/// # let mesh = Mesh {
/// #     vertices: vec![Point3::origin(), Point3::new(1.0, 0.0, 0.0), Point3::new(0.0, 1.0, 0.0)],
/// #     triangles: vec![[0, 1, 2]],
/// #     materials: vec![],
/// # };
/// # let scene = SceneBuilder {
/// #     materials: vec![NamedMaterial {
/// #         name: "wall".into(),
/// #         material: Material { lobes: vec![Lobe::lambert(0.8.into())] },
/// #     }],
/// #     meshes: vec![mesh.into()],
/// #     objects: vec![Object {
/// #         name: "wall".into(),
/// #         mesh: MeshId(0),
/// #         world_from_object: Isometry3::identity(),
/// #         material: MaterialId(0),
/// #         mask: u32::MAX,
/// #     }],
/// #     ..SceneBuilder::default()
/// # }.build()?;
/// let world = World::at_wavelength(&scene, 785e-9)?;
/// let reflectance = Dual::<1>::variable(0.8, 0);
/// let material = Material { lobes: vec![Lobe::lambert(reflectance)] };
/// let differentiable = world.lift::<Dual<1>>().with_material(MaterialId(0), material);
/// assert_eq!(differentiable.poses().len(), scene.objects().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct World<'a, S: Scalar> {
    scene: &'a Scene,
    /// m.
    wavelength: f64,
    /// Pose of each object at time zero.
    poses: Vec<Isometry3<S>>,
    /// Whether the pose of each object is that of the scene, without derivatives.
    pub(super) has_pose_of_scene: Vec<bool>,
    materials: Vec<PreparedMaterial<S>>,
    /// Noise profiles of materials.
    profiles: &'a NoiseProfiles,
    background: Option<Arc<Background<'a>>>,
    corner_heights: Option<CornerHeights<'a, S>>,
}

/// Heights (m) along the normal of a triangle by which its corners move, as a function of the hit and of the
/// time of the ray (s); `None` for a triangle that does not move. Their values are zero: they carry
/// derivatives by the positions of vertices.
#[derive(Clone, Copy)]
pub struct CornerHeights<'a, S>(pub &'a (dyn Fn(&Hit, f64) -> Option<[S; 3]> + Sync + 'a));

impl<S> std::fmt::Debug for CornerHeights<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CornerHeights").finish_non_exhaustive()
    }
}

/// Error of a scene that cannot be evaluated at a wavelength.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum WorldError {
    /// A material's data do not cover the wavelength.
    #[error("material \"{material}\": {source}")]
    Wavelength {
        /// The material's name.
        material: String,
        /// The data that do not cover it.
        source: OutsideMaterial,
    },
}

/// Ambient light prepared for a [`World`], by [`World::in_light`].
#[derive(Debug)]
pub struct Background<'a> {
    pub(super) world: World<'a, f64>,
    pub(super) ambient: Ambient,
    pub(super) towards_sun: Vector3<f64>,
    /// Spectral radiance of a black body, W m⁻² sr⁻¹ m⁻¹.
    pub(super) black_body: f64,
    pub(super) surfaces: Arc<[SurfaceTable]>,
}

impl<'a> World<'a, f64> {
    /// The scene at `wavelength` (m), with the poses of the scene.
    ///
    /// # Errors
    /// If the data of a material do not cover the wavelength.
    pub fn at_wavelength(scene: &'a Scene, wavelength: f64) -> Result<Self, WorldError> {
        let materials = scene
            .materials()
            .iter()
            .map(|named| {
                named
                    .material
                    .at(wavelength)
                    .map(Material::prepared)
                    .map_err(|source| WorldError::Wavelength {
                        material: named.name.clone(),
                        source,
                    })
            })
            .collect::<Result<_, _>>()?;
        let poses = scene.objects().iter().map(|o| o.world_from_object);
        Ok(Self {
            scene,
            wavelength,
            poses: poses.collect(),
            has_pose_of_scene: vec![true; scene.objects().len()],
            materials,
            profiles: NoiseProfiles::NONE,
            background: None,
            corner_heights: None,
        })
    }

    /// The same world with ambient light, which adds photon noise to receivers with a window for it.
    /// Ambient light is that of the current materials and poses.
    #[must_use]
    pub fn in_light(mut self, light: &AmbientLight) -> Self {
        self.background = None;
        if !light.is_dark() {
            self.background = Some(Arc::new(Background::new(self.clone(), light)));
        }
        self
    }

    /// The same world in another scalar, with all derivatives zero. [`World::with_pose`] and
    /// [`World::with_material`] replace the values to be differentiated.
    pub fn lift<S: Scalar>(&self) -> World<'a, S> {
        World {
            scene: self.scene,
            wavelength: self.wavelength,
            profiles: self.profiles,
            background: self.background.clone(),
            poses: self.poses.iter().map(lift_isometry).collect(),
            has_pose_of_scene: self
                .poses
                .iter()
                .zip(self.scene.objects())
                .map(|(pose, object)| *pose == object.world_from_object)
                .collect(),
            materials: self
                .materials
                .iter()
                .map(|prepared| {
                    let lifted = prepared.material().map(|&parameter| S::from(parameter));
                    lifted.prepared()
                })
                .collect(),
            corner_heights: None,
        }
    }
}

impl<'a, S: Scalar> World<'a, S> {
    /// Replaces the pose of an object (at time zero, where it moves). Its value must equal the pose in the
    /// scene, against which rays are cast.
    #[must_use]
    pub fn with_pose(mut self, object: ObjectId, world_from_object: Isometry3<S>) -> Self {
        self.poses[object.0 as usize] = world_from_object;
        self.has_pose_of_scene[object.0 as usize] = false;
        self
    }

    /// Moves the corners of the triangles of some objects, with derivatives ([`CornerHeights`]).
    #[must_use]
    pub fn with_corner_heights(
        mut self,
        objects: &[ObjectId],
        heights: CornerHeights<'a, S>,
    ) -> Self {
        self.corner_heights = Some(heights);
        for object in objects {
            self.has_pose_of_scene[object.0 as usize] = false;
        }
        self
    }

    /// Replaces a material.
    #[must_use]
    pub fn with_material(mut self, id: MaterialId, material: Material<S>) -> Self {
        self.materials[id.0 as usize] = material.prepared();
        self
    }

    /// The same world with noise profiles: ranges of beams whose light returns from one material are drawn
    /// from its profile instead of the noise of the receiver.
    #[must_use]
    pub fn with_profiles(mut self, profiles: &'a NoiseProfiles) -> Self {
        self.profiles = profiles;
        self
    }

    /// Noise profiles of materials.
    pub fn profiles(&self) -> &'a NoiseProfiles {
        self.profiles
    }

    /// The scene.
    pub fn scene(&self) -> &'a Scene {
        self.scene
    }

    /// Pose of each object at time zero, `world_from_object`.
    pub fn poses(&self) -> &[Isometry3<S>] {
        &self.poses
    }

    /// Pose of an object at a time, s: the pose at time zero with its derivatives, moved by the object's
    /// motion.
    pub fn pose_at(&self, object: ObjectId, time: f64) -> Cow<'_, Isometry3<S>> {
        let pose = &self.poses[object.0 as usize];
        let Some(motion) = self.scene.motion(object) else {
            return Cow::Borrowed(pose);
        };
        let moved = motion.at(0.0).inverse() * motion.at(time);
        Cow::Owned(pose * lift_isometry::<S>(&moved))
    }

    /// The same world for a scene that differs only in its deforming meshes
    /// ([`Scene::at`](etendue_scene::Scene::at)).
    pub(crate) fn with_scene<'b>(&self, scene: &'b Scene) -> World<'b, S>
    where
        'a: 'b,
    {
        World {
            scene,
            wavelength: self.wavelength,
            poses: self.poses.clone(),
            has_pose_of_scene: self.has_pose_of_scene.clone(),
            materials: self.materials.clone(),
            profiles: self.profiles,
            background: self
                .background
                .as_ref()
                .map(|background| Arc::new(background.with_scene(scene))),
            corner_heights: self.corner_heights,
        }
    }

    /// A material at this wavelength.
    pub fn material(&self, id: MaterialId) -> &Material<S> {
        self.prepared_material(id).material()
    }

    /// A material at this wavelength, for many evaluations.
    pub fn prepared_material(&self, id: MaterialId) -> &PreparedMaterial<S> {
        &self.materials[id.0 as usize]
    }

    /// All materials at this wavelength, by number.
    pub(crate) fn materials(&self) -> &[PreparedMaterial<S>] {
        &self.materials
    }

    /// The wavelength, m.
    pub fn wavelength(&self) -> f64 {
        self.wavelength
    }

    /// Ambient light, if there is any.
    pub fn background(&self) -> Option<&Background<'a>> {
        self.background.as_deref()
    }

    /// Whether light that hits a surface returns directly or not at all: no path continues from it, and
    /// it has no pose of its own ([`World::with_pose`]).
    pub(crate) fn returns_directly(&self, hit: &Hit) -> bool {
        let material = self.scene.material_of(hit);
        self.has_pose_of_scene[hit.object.0 as usize] && self.material(material).ends_paths()
    }

    /// A point of the surface of a hit (m) that is fixed to its object, at `time` (s).
    pub(super) fn attached_point(&self, hit: &Hit, point: &Point3<f64>, time: f64) -> Point3<S> {
        let lifted = point.map(S::from);
        if self.has_pose_of_scene[hit.object.0 as usize] {
            return lifted;
        }
        let pose = self.pose_at(hit.object, time);
        let without_derivatives = lift_isometry::<S>(&values_of(&pose));
        *pose * (without_derivatives.inverse() * lifted)
    }

    /// Interaction of a ray with the surface of its hit at `time` (s), evaluated in `S`.
    #[inline]
    pub(super) fn interaction(
        &self,
        hit: &Hit,
        origin: &Point3<S>,
        direction: &Vector3<S>,
        time: f64,
    ) -> Interaction<'_, S> {
        let surface = self.surface(hit, origin, direction, time);
        let cos = -direction.dot(&surface.normal);
        let (side, cos_incidence, normal) = if cos.value() < 0.0 {
            (Side::Back, -cos, -surface.normal)
        } else {
            (Side::Front, cos, surface.normal)
        };
        Interaction {
            material: self.prepared_material(surface.material),
            surface,
            side,
            cos_incidence,
            normal,
        }
    }
}

impl<S: Scalar> World<'_, S> {
    /// Intersection of a ray with the surface of its hit, evaluated in `S`. Without derivatives of the pose,
    /// the plane of the hit suffices.
    #[inline]
    fn surface(
        &self,
        hit: &Hit,
        origin: &Point3<S>,
        direction: &Vector3<S>,
        time: f64,
    ) -> SurfacePoint<S> {
        if self.has_pose_of_scene[hit.object.0 as usize] {
            return self.scene.plane_hit(hit, origin, direction);
        }
        let pose = self.pose_at(hit.object, time);
        let heights = self.corner_heights.and_then(|heights| heights.0(hit, time));
        match heights {
            Some(heights) => (self.scene).bent_surface_hit(hit, origin, direction, &pose, &heights),
            None => self.scene.surface_hit(hit, origin, direction, &pose),
        }
    }
}

impl<'a> Background<'a> {
    /// Prepares ambient light for a world.
    fn new(world: World<'a, f64>, light: &AmbientLight) -> Self {
        let wavelength = world.wavelength();
        let materials = world.materials().iter();
        let surfaces = materials
            .map(|prepared| SurfaceTable::new(prepared.material()))
            .collect();
        Self {
            ambient: light.at(wavelength),
            towards_sun: light.sun.map_or_else(Vector3::z, |sun| sun.towards),
            black_body: light
                .temperature
                .map_or(0.0, |kelvin| planck_radiance(wavelength, kelvin)),
            surfaces,
            world,
        }
    }

    /// The same light for a scene that differs only in its deforming meshes.
    fn with_scene<'b>(&self, scene: &'b Scene) -> Background<'b>
    where
        'a: 'b,
    {
        Background {
            world: self.world.with_scene(scene),
            surfaces: self.surfaces.clone(),
            ..*self
        }
    }
}

/// Interaction of light with a surface.
pub(super) struct Interaction<'w, S: Scalar> {
    pub surface: SurfacePoint<S>,
    pub material: &'w PreparedMaterial<S>,
    /// The side at which light arrives.
    pub side: Side,
    /// Cosine of the incidence, in [0, 1].
    pub cos_incidence: S,
    /// Unit normal on the side at which light arrives.
    pub normal: Vector3<S>,
}

/// A pose in another scalar, with all derivatives zero.
fn lift_isometry<S: Scalar>(pose: &Isometry3<f64>) -> Isometry3<S> {
    Isometry3::from_parts(
        pose.translation.vector.map(S::from).into(),
        UnitQuaternion::new_unchecked(pose.rotation.coords.map(S::from).into()),
    )
}

/// A pose without its derivatives.
fn values_of<S: Scalar>(pose: &Isometry3<S>) -> Isometry3<f64> {
    Isometry3::from_parts(
        pose.translation.vector.map(Scalar::value).into(),
        UnitQuaternion::new_unchecked(pose.rotation.coords.map(Scalar::value).into()),
    )
}

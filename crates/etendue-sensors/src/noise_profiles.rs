//! Noise profiles of the materials of a scene.

use etendue_physics::profile::{Profile, ProfileSampler};
use etendue_scene::MaterialId;
use std::sync::Arc;

/// Noise profiles of materials: bias, spread and drop-out of ranges, calibrated from recordings of one
/// sensor.
///
/// Ranges of beams whose light returns from one material with a profile are drawn from the profile
/// instead of the noise of the receiver.
///
/// ```
/// use etendue_scene::MaterialId;
/// use etendue_sensors::NoiseProfiles;
///
/// let profiles = NoiseProfiles::default();
/// assert!(profiles.is_empty());
/// assert!(profiles.profile(MaterialId(3)).is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct NoiseProfiles {
    of_material: Vec<Option<Arc<ProfileSampler>>>,
}

impl NoiseProfiles {
    /// No profiles.
    pub(crate) const NONE: &'static Self = &Self {
        of_material: Vec::new(),
    };

    /// Sets the profile of a material.
    pub fn set(&mut self, material: MaterialId, profile: Arc<Profile>) {
        let number = material.0 as usize;
        if self.of_material.len() <= number {
            self.of_material.resize(number + 1, None);
        }
        self.of_material[number] = Some(Arc::new(ProfileSampler::new(profile)));
    }

    /// Whether no material has a profile.
    pub fn is_empty(&self) -> bool {
        self.of_material.is_empty()
    }

    /// The profile of a material, if it has one.
    pub fn profile(&self, material: MaterialId) -> Option<&Arc<Profile>> {
        Some(self.sampler(material)?.profile())
    }

    /// The sampler of a material's profile, if it has one.
    pub fn sampler(&self, material: MaterialId) -> Option<&ProfileSampler> {
        self.of_material.get(material.0 as usize)?.as_deref()
    }
}

impl PartialEq for NoiseProfiles {
    fn eq(&self, other: &Self) -> bool {
        let profiles = |all: &Self| -> Vec<Option<Arc<Profile>>> {
            let profile = |sampler: &Option<Arc<ProfileSampler>>| {
                sampler.as_ref().map(|sampler| sampler.profile().clone())
            };
            all.of_material.iter().map(profile).collect()
        };
        profiles(self) == profiles(other)
    }
}

//! How a user writes a material.

use super::Spectral;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A material as a user writes it: a ready one from the library (`base`), lobes, or a ready one
/// with some of its lobes replaced.
///
/// ```
/// use etendue_config::material::MaterialFile;
/// use etendue_physics::surface::Side;
///
/// let file: MaterialFile = toml::from_str(
///     "source = 'measured on our wall'
///      diffuse = { reflectance = 0.8, slope_sd_deg = 20 }
///      gloss = { ior = 1.5, roughness = 0.4 }",
/// )?;
/// let paint = file.to_material()?.at(905e-9)?;
/// assert!(paint.backscatter(1.0, Side::Front) > 0.2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MaterialFile {
    /// Name of a ready material; `etendue materials` lists them. The lobes given with it replace
    /// its own of the same kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// What it is, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where the numbers come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Diffuse reflection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diffuse: Option<DiffuseFile>,
    /// A clear coat: on `diffuse` where that is given, else on black.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gloss: Option<GlossFile>,
    /// An ideal mirror.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirror: Option<MirrorFile>,
    /// A metal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conductor: Option<ConductorFile>,
    /// A clear medium: a sheet where `thickness_mm` is given, else the surface of a solid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glass: Option<GlassFile>,
    /// Retro-reflective sheeting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retro: Option<RetroFile>,
    /// A calibrated table over incidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<MeasuredFile>,
    /// Calibrated noise: the name of a ready profile, or a profile file from the folder of the scene
    /// file. Beams that see this material alone are drawn from it. Without lobes, the profile's own
    /// fitted reflectance is the material, at a reflectance of 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

/// Diffuse reflection: Lambert, or Oren and Nayar where `slope_sd_deg` is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffuseFile {
    /// Reflectance in [0, 1].
    pub reflectance: Spectral,
    /// Standard deviation of the facets' slope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope_sd_deg: Option<f64>,
    /// Which of Oren and Nayar's models.
    #[serde(default)]
    pub model: DiffuseModel,
    /// Share of the area, 1 where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// Which of Oren and Nayar's models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DiffuseModel {
    /// The qualitative model.
    #[default]
    Qualitative,
    /// The full model without light between facets.
    Full,
    /// The full model with it.
    FullInterReflection,
}

/// A clear coat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlossFile {
    /// Refractive index.
    pub ior: Spectral,
    /// Roughness in [0.01, 1]; without it the coat is smooth and reflects as a mirror does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roughness: Option<Spectral>,
    /// How facets hide each other.
    #[serde(default)]
    pub shadowing: ShadowingFile,
    /// How a facet's reflectance is computed; `schlick` needs `coupled = false`.
    #[serde(default)]
    pub fresnel: FresnelFile,
    /// Whether the base receives only the light that the coat lets pass. Without it the two are
    /// added, which may create light.
    #[serde(default = "yes")]
    pub coupled: bool,
}

fn yes() -> bool {
    true
}

/// How a facet's reflectance is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FresnelFile {
    /// Fresnel's equations.
    #[default]
    Exact,
    /// Schlick's approximation.
    Schlick,
}

/// How facets hide each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShadowingFile {
    /// Smith's, with correlated heights.
    #[default]
    SmithCorrelated,
    /// Smith's, as a product.
    SmithSeparable,
    /// Schlick's in Karis' form.
    SchlickKaris,
}

/// An ideal mirror.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MirrorFile {
    /// Reflectance in [0, 1].
    pub reflectance: Spectral,
    /// Share of the area, 1 where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// A metal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConductorFile {
    /// Refractive index.
    pub n: Spectral,
    /// Extinction coefficient.
    pub k: Spectral,
    /// Roughness in [0.01, 1]; without it the metal is a mirror.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roughness: Option<Spectral>,
    /// How facets hide each other.
    #[serde(default)]
    pub shadowing: ShadowingFile,
    /// Share of the area, 1 where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// A clear medium.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlassFile {
    /// Refractive (phase) index.
    pub ior: Spectral,
    /// Group index; without it that of `ior`'s dispersion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_ior: Option<Spectral>,
    /// Power absorption coefficient, 1/m; none where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absorption_per_m: Option<Spectral>,
    /// Thickness of a sheet that is one surface in the scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thickness_mm: Option<f64>,
    /// Roughness in [0.01, 1] of a frosted solid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roughness: Option<Spectral>,
    /// How facets hide each other.
    #[serde(default)]
    pub shadowing: ShadowingFile,
    /// Share of the area, 1 where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// Retro-reflective sheeting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetroFile {
    /// Share of the power that returns into the lobe at normal incidence, in [0, 1].
    pub reflectance: Spectral,
    /// Width of the lobe: standard deviation of the observation angle.
    pub width_deg: f64,
    /// Entrance angle at which half is left.
    pub half_entrance_deg: f64,
    /// Share of the area, 1 where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// A calibrated table over incidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasuredFile {
    /// Angles of incidence, ascending.
    pub incidence_deg: Vec<f64>,
    /// Reflectance of the Lambertian surface that would return as much, one per angle.
    pub reflectance: Vec<Spectral>,
    /// Share of the area, 1 where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

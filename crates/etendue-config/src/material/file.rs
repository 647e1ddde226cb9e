//! Schema of materials.

use super::Spectral;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A material: a material of the library (`base`), lobes, or a material of the library with
/// replaced lobes.
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
    /// Name of a library material; `etendue materials` lists them. Lobes of the file replace those
    /// of the same kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Description in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// References of the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Diffuse reflection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diffuse: Option<DiffuseFile>,
    /// A clear coat on `diffuse`, or on a black base without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gloss: Option<GlossFile>,
    /// An ideal mirror.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirror: Option<MirrorFile>,
    /// A metal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conductor: Option<ConductorFile>,
    /// A clear medium: a sheet with `thickness_mm`, otherwise the surface of a solid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glass: Option<GlassFile>,
    /// Retro-reflective sheeting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retro: Option<RetroFile>,
    /// A calibrated table over incidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<MeasuredFile>,
    /// Calibrated noise: the name of an embedded profile, or a profile file relative to the folder
    /// of the scene file. It applies to beams that hit only this material. Without lobes, the
    /// material is the fitted reflectance of the profile, scaled to a reflectance of 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

/// Diffuse reflection: Lambert, or Oren and Nayar with `slope_sd_deg`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffuseFile {
    /// Reflectance in [0, 1].
    pub reflectance: Spectral,
    /// Standard deviation of the facet slopes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope_sd_deg: Option<f64>,
    /// Version of the Oren-Nayar model.
    #[serde(default)]
    pub model: DiffuseModel,
    /// Fraction of the area. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// Version of the Oren-Nayar model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DiffuseModel {
    /// The qualitative model.
    #[default]
    Qualitative,
    /// The full model without interreflection.
    Full,
    /// The full model with interreflection.
    FullInterReflection,
}

/// A clear coat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlossFile {
    /// Refractive index.
    pub ior: Spectral,
    /// Roughness in [0.01, 1]. Default: a smooth coat with mirror reflection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roughness: Option<Spectral>,
    /// Shadowing and masking of facets. Light between facets is added with "smith-correlated" only.
    #[serde(default)]
    pub shadowing: ShadowingFile,
    /// Fresnel reflectance of a facet; `schlick` needs `coupled = false`.
    #[serde(default)]
    pub fresnel: FresnelFile,
    /// Whether the base receives only the light that the coat transmits. Without coupling, the two
    /// are added, which may violate the conservation of energy.
    #[serde(default = "yes")]
    pub coupled: bool,
}

fn yes() -> bool {
    true
}

/// Fresnel reflectance of a facet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FresnelFile {
    /// Fresnel's equations.
    #[default]
    Exact,
    /// Schlick's approximation.
    Schlick,
}

/// Shadowing and masking of facets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShadowingFile {
    /// Smith, height-correlated.
    #[default]
    SmithCorrelated,
    /// Smith, separable.
    SmithSeparable,
    /// Schlick, in the form of Karis.
    SchlickKaris,
}

/// An ideal mirror.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MirrorFile {
    /// Reflectance in [0, 1].
    pub reflectance: Spectral,
    /// Fraction of the area. Default: 1.
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
    /// Roughness in [0.01, 1]. Default: a mirror.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roughness: Option<Spectral>,
    /// Shadowing and masking of facets. Light between facets is added with "smith-correlated" only.
    #[serde(default)]
    pub shadowing: ShadowingFile,
    /// Fraction of the area. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// A clear medium.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlassFile {
    /// Refractive (phase) index.
    pub ior: Spectral,
    /// Group index. Default: from the dispersion of `ior`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_ior: Option<Spectral>,
    /// Power absorption coefficient, 1/m. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absorption_per_m: Option<Spectral>,
    /// Thickness of a sheet, which is one surface in the scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-9))]
    pub thickness_mm: Option<f64>,
    /// Roughness of a frosted solid, in [0.01, 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roughness: Option<Spectral>,
    /// Shadowing and masking of facets. Light between facets is added with "smith-correlated" only.
    #[serde(default)]
    pub shadowing: ShadowingFile,
    /// Fraction of the area. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// Retro-reflective sheeting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetroFile {
    /// Fraction of the power that is retro-reflected at normal incidence, in [0, 1].
    pub reflectance: Spectral,
    /// Width of the lobe: standard deviation of the observation angle.
    #[schemars(range(min = 1e-6, max = 90.0))]
    pub width_deg: f64,
    /// Entrance angle of half the reflectance.
    #[schemars(range(min = 1e-3, max = 90.0))]
    pub half_entrance_deg: f64,
    /// Fraction of the area. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// A calibrated table over incidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasuredFile {
    /// Angles of incidence, ascending.
    pub incidence_deg: Vec<f64>,
    /// Reflectance of a Lambertian surface with the same backscatter, one per angle.
    pub reflectance: Vec<Spectral>,
    /// Fraction of the area. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

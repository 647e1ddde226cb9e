//! Conversion of material files to materials.

use super::file::{
    ConductorFile, DiffuseFile, DiffuseModel, FresnelFile, GlassFile, GlossFile, MaterialFile,
    MeasuredFile, RetroFile, ShadowingFile,
};
use super::{LIBRARY_WAVELENGTHS, Spectral, find};
use crate::toml_file::UnknownName;
use etendue_physics::Spectrum;
use etendue_physics::surface::{
    Coated, Dielectric, Fresnel, Lobe, Material, MaterialError, Measured, Microfacet, OrenNayar,
    OrenNayarForm, Retroreflector, RoughDielectric, Shadowing, ThinDielectric, fresnel,
};
use thiserror::Error;

/// Error of a material in a file.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MaterialFileError {
    /// The base is not in the library.
    #[error("base: {}; {}", .0, .0.remedy())]
    UnknownBase(#[from] UnknownName),
    /// A spectral value is invalid.
    #[error("{key}: {problem}")]
    Spectral {
        /// Key, for example `glass.ior`.
        key: &'static str,
        /// Problem and remedy.
        problem: String,
    },
    /// The two lists of a table differ in length.
    #[error(
        "measured: incidence_deg has {incidences} entries, reflectance has {reflectances}; give lists of equal length"
    )]
    MeasuredPairs {
        /// Number of angles.
        incidences: usize,
        /// Number of values.
        reflectances: usize,
    },
    /// The material has no lobes.
    #[error(
        "the material is empty; give a base such as \"white-paint\", or a lobe such as diffuse = {{ reflectance = 0.8 }}"
    )]
    Empty,
    /// A rough sheet.
    #[error("glass: a sheet with rough faces is not modelled; remove roughness or thickness_mm")]
    RoughSheet,
    /// Schlick's approximation with a coupled coat.
    #[error(
        "gloss: fresnel = \"schlick\" needs an added coat; set coupled = false, or remove fresnel"
    )]
    CoupledSchlick,
    /// An added coat without roughness.
    #[error("gloss: with coupled = false the coat needs a roughness")]
    SmoothAdded,
    /// Schlick's approximation with a spectral index.
    #[error("gloss: fresnel = \"schlick\" needs ior as one number")]
    SchlickSpectrum,
    /// The material violates the conservation of energy or the domain of a parameter.
    #[error("at {wavelength_nm} nm: {source}{}", key_of(source))]
    Impossible {
        /// Wavelength.
        wavelength_nm: f64,
        /// Violation.
        source: MaterialError,
    },
}

/// The key of a parameter that has another name in files, in parentheses.
fn key_of(error: &MaterialError) -> &'static str {
    match error {
        MaterialError::OutOfRange { parameter, .. } if parameter.name == "index" => " (key ior)",
        _ => "",
    }
}

impl MaterialFileError {
    /// The value outside its domain; NaN for other errors.
    pub(crate) fn value(&self) -> f64 {
        match self {
            Self::Impossible {
                source: MaterialError::OutOfRange { value, .. },
                ..
            } => *value,
            _ => f64::NAN,
        }
    }
}

impl MaterialFile {
    /// Converts the file to a material. It is checked at every wavelength of the library within its
    /// data, and at the ends of the data.
    ///
    /// # Errors
    /// If a name, a table or a value is invalid, or the material violates the conservation of
    /// energy.
    pub fn to_material(&self) -> Result<Material<Spectrum>, MaterialFileError> {
        let material = self.resolved()?.unchecked()?;
        check(&material)?;
        Ok(material)
    }

    /// The material of a file without a base, before the physical checks.
    pub(super) fn unchecked(&self) -> Result<Material<Spectrum>, MaterialFileError> {
        let lobes = self.lobes()?;
        if lobes.is_empty() {
            return Err(MaterialFileError::Empty);
        }
        Ok(Material { lobes })
    }

    /// The file with the content of its base included.
    ///
    /// # Errors
    /// If the library has no such material.
    pub fn resolved(&self) -> Result<Self, MaterialFileError> {
        let Some(base) = &self.base else {
            return Ok(self.clone());
        };
        let base = find(base)?.file.clone();
        let own = self.clone();
        Ok(Self {
            base: None,
            description: own.description.or(base.description),
            source: own.source.or(base.source),
            diffuse: own.diffuse.or(base.diffuse),
            gloss: own.gloss.or(base.gloss),
            mirror: own.mirror.or(base.mirror),
            conductor: own.conductor.or(base.conductor),
            glass: own.glass.or(base.glass),
            retro: own.retro.or(base.retro),
            measured: own.measured.or(base.measured),
            profile: own.profile.or(base.profile),
        })
    }

    fn lobes(&self) -> Result<Vec<Lobe<Spectrum>>, MaterialFileError> {
        let mut lobes = diffuse_and_gloss(self.diffuse.as_ref(), self.gloss.as_ref())?;
        if let Some(mirror) = &self.mirror {
            let reflectance = spectrum("mirror.reflectance", &mirror.reflectance)?;
            lobes.push(weighted(mirror.weight, Lobe::mirror(reflectance)));
        }
        if let Some(file) = &self.conductor {
            lobes.push(weighted(file.weight, conductor(file)?));
        }
        if let Some(file) = &self.glass {
            lobes.push(weighted(file.weight, glass(file)?));
        }
        if let Some(file) = &self.retro {
            lobes.push(weighted(file.weight, retro(file)?));
        }
        if let Some(file) = &self.measured {
            lobes.push(weighted(file.weight, measured(file)?));
        }
        Ok(lobes)
    }
}

fn check(material: &Material<Spectrum>) -> Result<(), MaterialFileError> {
    let mut checked = None;
    for wavelength in LIBRARY_WAVELENGTHS.into_iter().chain(ends(material)) {
        let Ok(here) = material.at(wavelength) else {
            continue;
        };
        if checked.as_ref() == Some(&here) {
            continue;
        }
        here.validate()
            .map_err(|source| MaterialFileError::Impossible {
                wavelength_nm: (wavelength * 1e9).round(),
                source,
            })?;
        checked = Some(here);
    }
    Ok(())
}

/// First and last wavelength of the data of all parameters.
fn ends(material: &Material<Spectrum>) -> Vec<f64> {
    let mut ends = Vec::new();
    let _ = material.map(|spectrum| {
        let (first, last) = spectrum.range();
        if last.is_finite() {
            ends.extend([first, last]);
        }
    });
    ends.sort_by(f64::total_cmp);
    ends.dedup();
    ends
}

fn spectrum(key: &'static str, value: &Spectral) -> Result<Spectrum, MaterialFileError> {
    value
        .spectrum()
        .map_err(|problem| MaterialFileError::Spectral { key, problem })
}

fn optional(
    key: &'static str,
    value: Option<&Spectral>,
) -> Result<Option<Spectrum>, MaterialFileError> {
    value.map(|value| spectrum(key, value)).transpose()
}

fn weighted(weight: Option<f64>, lobe: Lobe<Spectrum>) -> Lobe<Spectrum> {
    match weight {
        None => lobe,
        Some(weight) => Lobe::blend(weight.into(), lobe),
    }
}

fn diffuse_and_gloss(
    diffuse: Option<&DiffuseFile>,
    gloss: Option<&GlossFile>,
) -> Result<Vec<Lobe<Spectrum>>, MaterialFileError> {
    let weight = diffuse.and_then(|file| file.weight);
    let base = diffuse.map(oren_nayar).transpose()?;
    let Some(gloss) = gloss else {
        return Ok(base
            .map(|base| weighted(weight, uncoated(base)))
            .into_iter()
            .collect());
    };
    if gloss.coupled {
        return Ok(vec![weighted(weight, coated(base, gloss)?)]);
    }
    let base = base.map(|base| weighted(weight, uncoated(base)));
    Ok(base.into_iter().chain([added(gloss)?]).collect())
}

fn uncoated(base: OrenNayar<Spectrum>) -> Lobe<Spectrum> {
    if base.slope_sd == Spectrum::Constant(0.0) {
        Lobe::lambert(base.reflectance)
    } else {
        Lobe::OrenNayar(base)
    }
}

fn oren_nayar(file: &DiffuseFile) -> Result<OrenNayar<Spectrum>, MaterialFileError> {
    Ok(OrenNayar {
        reflectance: spectrum("diffuse.reflectance", &file.reflectance)?,
        slope_sd: file.slope_sd_deg.unwrap_or(0.0).to_radians().into(),
        form: match file.model {
            DiffuseModel::Qualitative => OrenNayarForm::Qualitative,
            DiffuseModel::Full => OrenNayarForm::Full {
                inter_reflection: false,
            },
            DiffuseModel::FullInterReflection => OrenNayarForm::Full {
                inter_reflection: true,
            },
        },
    })
}

fn coated(
    base: Option<OrenNayar<Spectrum>>,
    gloss: &GlossFile,
) -> Result<Lobe<Spectrum>, MaterialFileError> {
    if gloss.fresnel == FresnelFile::Schlick {
        return Err(MaterialFileError::CoupledSchlick);
    }
    let black = OrenNayar {
        reflectance: 0.0.into(),
        slope_sd: 0.0.into(),
        form: OrenNayarForm::Qualitative,
    };
    Ok(Lobe::Coated(Coated {
        base: base.unwrap_or(black),
        index: spectrum("gloss.ior", &gloss.ior)?,
        roughness: optional("gloss.roughness", gloss.roughness.as_ref())?,
        shadowing: gloss.shadowing.into(),
    }))
}

/// A coat added to the base instead of covering it.
fn added(gloss: &GlossFile) -> Result<Lobe<Spectrum>, MaterialFileError> {
    let index = spectrum("gloss.ior", &gloss.ior)?;
    let roughness = optional("gloss.roughness", gloss.roughness.as_ref())?
        .ok_or(MaterialFileError::SmoothAdded)?;
    let fresnel = match (gloss.fresnel, index) {
        (FresnelFile::Exact, index) => Fresnel::Dielectric { index },
        (FresnelFile::Schlick, Spectrum::Constant(index)) => Fresnel::Schlick {
            at_normal: fresnel::normal_reflectance(index).into(),
        },
        (FresnelFile::Schlick, _) => return Err(MaterialFileError::SchlickSpectrum),
    };
    Ok(Lobe::Microfacet(Microfacet {
        roughness,
        fresnel,
        shadowing: gloss.shadowing.into(),
    }))
}

fn conductor(file: &ConductorFile) -> Result<Lobe<Spectrum>, MaterialFileError> {
    let n = spectrum("conductor.n", &file.n)?;
    let k = spectrum("conductor.k", &file.k)?;
    let roughness = optional("conductor.roughness", file.roughness.as_ref())?;
    Ok(match roughness {
        None => Lobe::conductor(n, k),
        Some(roughness) => Lobe::Microfacet(Microfacet {
            roughness,
            fresnel: Fresnel::Conductor { n, k },
            shadowing: file.shadowing.into(),
        }),
    })
}

fn glass(file: &GlassFile) -> Result<Lobe<Spectrum>, MaterialFileError> {
    let index = spectrum("glass.ior", &file.ior)?;
    let medium = Dielectric {
        group_index: optional("glass.group_ior", file.group_ior.as_ref())?
            .unwrap_or_else(|| index.clone().group_index()),
        index,
        absorption: optional("glass.absorption_per_m", file.absorption_per_m.as_ref())?
            .unwrap_or(Spectrum::Constant(0.0)),
    };
    let roughness = optional("glass.roughness", file.roughness.as_ref())?;
    match (file.thickness_mm, roughness) {
        (Some(_), Some(_)) => Err(MaterialFileError::RoughSheet),
        (Some(thickness_mm), None) => Ok(Lobe::ThinDielectric(ThinDielectric {
            medium,
            thickness: (thickness_mm * 1e-3).into(),
        })),
        (None, Some(roughness)) => Ok(Lobe::RoughDielectric(RoughDielectric {
            medium,
            roughness,
            shadowing: file.shadowing.into(),
        })),
        (None, None) => Ok(Lobe::Dielectric(medium)),
    }
}

fn retro(file: &RetroFile) -> Result<Lobe<Spectrum>, MaterialFileError> {
    Ok(Lobe::Retroreflector(Retroreflector {
        reflectance: spectrum("retro.reflectance", &file.reflectance)?,
        width: file.width_deg.to_radians().into(),
        half_entrance: file.half_entrance_deg.to_radians().into(),
    }))
}

fn measured(file: &MeasuredFile) -> Result<Lobe<Spectrum>, MaterialFileError> {
    if file.incidence_deg.len() != file.reflectance.len() {
        return Err(MaterialFileError::MeasuredPairs {
            incidences: file.incidence_deg.len(),
            reflectances: file.reflectance.len(),
        });
    }
    let reflectances = file
        .reflectance
        .iter()
        .map(|value| spectrum("measured.reflectance", value))
        .collect::<Result<Vec<_>, _>>()?;
    let incidences = file.incidence_deg.iter().map(|deg| deg.to_radians());
    Ok(Lobe::Measured(Measured::new(incidences.zip(reflectances))))
}

impl From<ShadowingFile> for Shadowing {
    fn from(file: ShadowingFile) -> Self {
        match file {
            ShadowingFile::SmithCorrelated => Self::SmithCorrelated,
            ShadowingFile::SmithSeparable => Self::SmithSeparable,
            ShadowingFile::SchlickKaris => Self::SchlickKaris,
        }
    }
}

//! The closed set of lobes, and what can be done with every parameter of one.

use super::{
    Coated, Dielectric, Fresnel, Material, Measured, Microfacet, OrenNayar, Pane, Retroreflector,
    RoughDielectric,
};
use crate::{OutsideTable, Spectrum};
use std::convert::Infallible;
use thiserror::Error;

/// One way in which a surface scatters light.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Lobe<T> {
    /// Ideal diffuse reflection, $f = \rho/\pi$.
    Lambert {
        /// Diffuse reflectance in [0, 1].
        reflectance: T,
    },
    /// Diffuse reflection of a rough surface.
    OrenNayar(OrenNayar<T>),
    /// Reflection by tiny mirrors.
    Microfacet(Microfacet<T>),
    /// A diffuse base under a clear coat.
    Coated(Coated<T>),
    /// Ideal mirror with the given power reflectance at every incidence.
    Mirror {
        /// Reflectance in [0, 1].
        reflectance: T,
    },
    /// A smooth metal: a mirror with the exact reflectance of its complex index.
    Conductor {
        /// Refractive index.
        n: T,
        /// Extinction coefficient.
        k: T,
    },
    /// The smooth surface of a clear solid or liquid.
    Dielectric(Dielectric<T>),
    /// The rough surface of a clear solid.
    RoughDielectric(RoughDielectric<T>),
    /// A sheet of a clear medium.
    Pane(Pane<T>),
    /// Retro-reflective sheeting.
    Retroreflector(Retroreflector<T>),
    /// A table over incidence.
    Measured(Measured<T>),
    /// A share of the area that another lobe covers: dust on a window, a worn mirror.
    Part {
        /// Share in [0, 1].
        weight: T,
        /// What covers it.
        lobe: Box<Lobe<T>>,
    },
}

/// The name of one parameter of a material.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// Number of the lobe in [`Material::lobes`].
    pub lobe: usize,
    /// Kind of the lobe, as in `retroreflector`.
    pub kind: &'static str,
    /// Name of the parameter, as in `half_entrance`.
    pub name: &'static str,
}

impl std::fmt::Display for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "lobe {} ({}), {}", self.lobe, self.kind, self.name)
    }
}

/// A material has no value at a wavelength.
#[derive(Debug, Error, PartialEq)]
#[error("{parameter}: {outside}; extend its table or choose another material")]
pub struct OutsideMaterial {
    /// Which parameter.
    pub parameter: Parameter,
    /// What it covers.
    pub outside: OutsideTable,
}

impl<T> Material<T> {
    /// Applies `f` to every parameter: from a table to its value at a wavelength, from numbers
    /// to dual numbers.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> Material<U> {
        match self.try_map(|_, value| Ok::<U, Infallible>(f(value))) {
            Ok(material) => material,
            Err(never) => match never {},
        }
    }

    /// Applies `f` to every parameter and its name.
    ///
    /// # Errors
    /// The first error of `f`.
    pub fn try_map<U, E>(
        &self,
        mut f: impl FnMut(Parameter, &T) -> Result<U, E>,
    ) -> Result<Material<U>, E> {
        let lobes = self.lobes.iter().enumerate().map(|(number, lobe)| {
            lobe.try_map(&mut |kind, name, value| {
                let parameter = Parameter {
                    lobe: number,
                    kind,
                    name,
                };
                f(parameter, value)
            })
        });
        Ok(Material {
            lobes: lobes.collect::<Result<_, E>>()?,
        })
    }

    /// Whether light that meets it goes nowhere on a straight path: no lobe is a mirror or a window,
    /// so that [`Material::specular`] is nothing at every incidence.
    pub fn ends_paths(&self) -> bool {
        self.lobes.iter().all(Lobe::ends_paths)
    }

    /// Whether nothing is scattered: all lobes are mirror-like.
    pub fn is_delta_only(&self) -> bool {
        !self.lobes.iter().any(Lobe::scatters)
    }
}

impl Material<Spectrum> {
    /// The material at one wavelength, m.
    ///
    /// # Errors
    /// Where a parameter's data do not cover the wavelength.
    pub fn at(&self, wavelength: f64) -> Result<Material<f64>, OutsideMaterial> {
        self.try_map(|parameter, spectrum| {
            spectrum
                .at(wavelength)
                .map_err(|outside| OutsideMaterial { parameter, outside })
        })
    }
}

impl<T> Lobe<T> {
    /// What kind of lobe this is, in one lower-case word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Lambert { .. } => "lambert",
            Self::OrenNayar(_) => "oren-nayar",
            Self::Microfacet(_) => "microfacet",
            Self::Coated(_) => "coated",
            Self::Mirror { .. } => "mirror",
            Self::Conductor { .. } => "conductor",
            Self::Dielectric(_) => "dielectric",
            Self::RoughDielectric(_) => "rough-dielectric",
            Self::Pane(_) => "pane",
            Self::Retroreflector(_) => "retroreflector",
            Self::Measured(_) => "measured",
            Self::Part { lobe, .. } => lobe.kind(),
        }
    }

    /// Whether it scatters light other than as a mirror or a window does.
    pub fn scatters(&self) -> bool {
        match self {
            Self::Mirror { .. } | Self::Conductor { .. } | Self::Dielectric(_) | Self::Pane(_) => {
                false
            }
            Self::Part { lobe, .. } => lobe.scatters(),
            _ => true,
        }
    }

    fn ends_paths(&self) -> bool {
        match self {
            Self::Mirror { .. }
            | Self::Conductor { .. }
            | Self::Dielectric(_)
            | Self::Pane(_)
            | Self::Coated(_) => false,
            Self::Part { lobe, .. } => lobe.ends_paths(),
            Self::Lambert { .. }
            | Self::OrenNayar(_)
            | Self::Microfacet(_)
            | Self::RoughDielectric(_)
            | Self::Retroreflector(_)
            | Self::Measured(_) => true,
        }
    }

    /// Whether it lets light pass.
    pub fn transmits(&self) -> bool {
        match self {
            Self::Dielectric(_) | Self::RoughDielectric(_) | Self::Pane(_) => true,
            Self::Part { lobe, .. } => lobe.transmits(),
            _ => false,
        }
    }

    /// Applies `f` to (kind, name, value) of every parameter.
    fn try_map<U, E>(
        &self,
        f: &mut impl FnMut(&'static str, &'static str, &T) -> Result<U, E>,
    ) -> Result<Lobe<U>, E> {
        let kind = self.kind();
        let mut named = |name, value: &T| f(kind, name, value);
        Ok(match self {
            Self::Lambert { reflectance } => Lobe::Lambert {
                reflectance: named("reflectance", reflectance)?,
            },
            Self::Mirror { reflectance } => Lobe::Mirror {
                reflectance: named("reflectance", reflectance)?,
            },
            Self::Conductor { n, k } => Lobe::Conductor {
                n: named("n", n)?,
                k: named("k", k)?,
            },
            Self::OrenNayar(lobe) => Lobe::OrenNayar(lobe.try_map(&mut named)?),
            Self::Microfacet(lobe) => Lobe::Microfacet(lobe.try_map(&mut named)?),
            Self::Coated(lobe) => Lobe::Coated(lobe.try_map(&mut named)?),
            Self::Dielectric(lobe) => Lobe::Dielectric(lobe.try_map(&mut named)?),
            Self::RoughDielectric(lobe) => Lobe::RoughDielectric(lobe.try_map(&mut named)?),
            Self::Pane(lobe) => Lobe::Pane(lobe.try_map(&mut named)?),
            Self::Retroreflector(lobe) => Lobe::Retroreflector(lobe.try_map(&mut named)?),
            Self::Measured(lobe) => {
                Lobe::Measured(lobe.try_map(|value| named("reflectance", value))?)
            }
            Self::Part { weight, lobe } => Lobe::Part {
                weight: named("weight", weight)?,
                lobe: Box::new(lobe.map_boxed(f)?),
            },
        })
    }

    /// The recursion of [`Lobe::try_map`] behind a dynamic call: a generic one has no end.
    fn map_boxed<U, E>(&self, f: &mut Mapping<'_, T, U, E>) -> Result<Lobe<U>, E> {
        self.try_map(&mut |kind, name, value| f(kind, name, value))
    }
}

type Mapping<'a, T, U, E> = dyn FnMut(&'static str, &'static str, &T) -> Result<U, E> + 'a;

impl<T> OrenNayar<T> {
    fn try_map<U, E>(
        &self,
        f: &mut impl FnMut(&'static str, &T) -> Result<U, E>,
    ) -> Result<OrenNayar<U>, E> {
        Ok(OrenNayar {
            reflectance: f("reflectance", &self.reflectance)?,
            slope_sd: f("slope_sd", &self.slope_sd)?,
            form: self.form,
        })
    }
}

impl<T> Microfacet<T> {
    fn try_map<U, E>(
        &self,
        f: &mut impl FnMut(&'static str, &T) -> Result<U, E>,
    ) -> Result<Microfacet<U>, E> {
        let fresnel = match &self.fresnel {
            Fresnel::Dielectric { index } => Fresnel::Dielectric {
                index: f("index", index)?,
            },
            Fresnel::Conductor { n, k } => Fresnel::Conductor {
                n: f("n", n)?,
                k: f("k", k)?,
            },
            Fresnel::Schlick { at_normal } => Fresnel::Schlick {
                at_normal: f("at_normal", at_normal)?,
            },
        };
        Ok(Microfacet {
            roughness: f("roughness", &self.roughness)?,
            fresnel,
            shadowing: self.shadowing,
        })
    }
}

impl<T> Coated<T> {
    fn try_map<U, E>(
        &self,
        f: &mut impl FnMut(&'static str, &T) -> Result<U, E>,
    ) -> Result<Coated<U>, E> {
        Ok(Coated {
            base: self.base.try_map(f)?,
            index: f("index", &self.index)?,
            roughness: self
                .roughness
                .as_ref()
                .map(|roughness| f("roughness", roughness))
                .transpose()?,
            shadowing: self.shadowing,
        })
    }
}

impl<T> Dielectric<T> {
    fn try_map<U, E>(
        &self,
        f: &mut impl FnMut(&'static str, &T) -> Result<U, E>,
    ) -> Result<Dielectric<U>, E> {
        Ok(Dielectric {
            index: f("index", &self.index)?,
            group_index: f("group_index", &self.group_index)?,
            absorption: f("absorption", &self.absorption)?,
        })
    }
}

impl<T> RoughDielectric<T> {
    fn try_map<U, E>(
        &self,
        f: &mut impl FnMut(&'static str, &T) -> Result<U, E>,
    ) -> Result<RoughDielectric<U>, E> {
        Ok(RoughDielectric {
            medium: self.medium.try_map(f)?,
            roughness: f("roughness", &self.roughness)?,
            shadowing: self.shadowing,
        })
    }
}

impl<T> Pane<T> {
    fn try_map<U, E>(
        &self,
        f: &mut impl FnMut(&'static str, &T) -> Result<U, E>,
    ) -> Result<Pane<U>, E> {
        Ok(Pane {
            medium: self.medium.try_map(f)?,
            thickness: f("thickness", &self.thickness)?,
        })
    }
}

impl<T> Retroreflector<T> {
    fn try_map<U, E>(
        &self,
        f: &mut impl FnMut(&'static str, &T) -> Result<U, E>,
    ) -> Result<Retroreflector<U>, E> {
        Ok(Retroreflector {
            reflectance: f("reflectance", &self.reflectance)?,
            width: f("width", &self.width)?,
            half_entrance: f("half_entrance", &self.half_entrance)?,
        })
    }
}

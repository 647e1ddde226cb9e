//! Conversion of the appearance of surfaces in mesh files to physical materials.

use etendue_physics::Spectrum;
use etendue_physics::light::colour_spectrum;
use etendue_physics::surface::{
    Coated, Dielectric, Fresnel, Lobe, Material, Microfacet, OrenNayar, OrenNayarForm, Shadowing,
    ThinDielectric,
};

/// Minimum roughness of a microfacet lobe; smoother surfaces are mirrors.
const MIN_ROUGHNESS: f64 = 0.03;
/// Default refractive index: glass and most plastics.
const DEFAULT_INDEX: f64 = 1.5;
/// Thickness of a clear sheet, m: negligible, so that light is not displaced.
const SHEET: f64 = 1e-6;

/// Appearance of a surface in a mesh file: the parameters of the glTF metallic-roughness model. MTL
/// materials are converted to it.
///
/// Mesh files describe visible colours; lidars use infrared light. **Assumption**: the reflectance
/// is the linear colour in the visible and its luminance (ITU-R BT.709) beyond 740 nm. Dyes and
/// leaves are often much brighter in the near infrared; assign a measured material to such parts in
/// the scene file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshAppearance {
    /// Colour of the surface, linear red, green and blue in [0, 1].
    pub base_color: [f64; 3],
    /// Mean colour of the texture, which multiplies the base colour; ones without a texture.
    pub picture: [f64; 3],
    /// Metallic fraction: 0 clear or painted, 1 metal.
    pub metallic: f64,
    /// Roughness of the specular component in [0, 1]; a non-metal of roughness 1 is matt, without
    /// specular component.
    pub roughness: f64,
    /// Refractive index of the clear coat or of the glass.
    pub index: f64,
    /// Strength of the specular component in [0, 1]; 0 is matt.
    pub specular: f64,
    /// Fraction of the light not reflected that is transmitted, in [0, 1].
    pub transmission: f64,
}

impl Default for MeshAppearance {
    fn default() -> Self {
        Self {
            base_color: [1.0; 3],
            picture: [1.0; 3],
            metallic: 0.0,
            roughness: 1.0,
            index: DEFAULT_INDEX,
            specular: 1.0,
            transmission: 0.0,
        }
    }
}

impl MeshAppearance {
    /// Luminance of the base colour (ITU-R BT.709) times that of the mean of its texture: the
    /// assumed reflectance in the infrared.
    ///
    /// ```
    /// use etendue_io::mesh::MeshAppearance;
    /// let grey = MeshAppearance { base_color: [0.5; 3], ..MeshAppearance::default() };
    /// assert!((grey.reflectance() - 0.5).abs() < 1e-12);
    /// ```
    pub fn reflectance(&self) -> f64 {
        luminance([0, 1, 2].map(|band| self.base_color[band] * self.picture[band]))
    }

    /// The material with this appearance.
    ///
    /// It is a mixture by area of metal, a thin clear sheet (1 µm thick, so that light is not
    /// displaced), and paint: a diffuse base, with a rough coat if there is a specular component.
    pub fn material(&self) -> Material<Spectrum> {
        let metallic = unit(self.metallic);
        let clear = (1.0 - metallic) * unit(self.transmission);
        let paint = (1.0 - metallic) - clear;
        let shares = [
            (metallic, self.metal()),
            (clear, self.sheet()),
            (paint, self.paint()),
        ];
        let lobes = shares.into_iter().filter(|(share, _)| *share > 0.0);
        Material {
            lobes: lobes.map(|(share, lobe)| part(share, lobe)).collect(),
        }
    }

    fn spectrum(&self) -> Spectrum {
        colour_spectrum(self.base_color.map(unit), self.reflectance())
    }

    fn metal(&self) -> Lobe<Spectrum> {
        let reflectance = self.spectrum();
        if self.roughness < MIN_ROUGHNESS {
            return Lobe::mirror(reflectance);
        }
        Lobe::Microfacet(Microfacet {
            roughness: unit(self.roughness).into(),
            fresnel: Fresnel::Schlick {
                at_normal: reflectance,
            },
            shadowing: Shadowing::default(),
        })
    }

    fn sheet(&self) -> Lobe<Spectrum> {
        let index = self.index.max(1.0);
        Lobe::ThinDielectric(ThinDielectric {
            medium: Dielectric {
                index: index.into(),
                group_index: index.into(),
                absorption: 0.0.into(),
            },
            thickness: SHEET.into(),
        })
    }

    fn paint(&self) -> Lobe<Spectrum> {
        let reflectance = self.spectrum();
        let index = self.coat_index();
        if self.roughness >= 1.0 || index <= 1.0 {
            return Lobe::lambert(reflectance);
        }
        Lobe::Coated(Coated {
            base: OrenNayar {
                reflectance,
                slope_sd: 0.0.into(),
                form: OrenNayarForm::Qualitative,
            },
            index: index.into(),
            roughness: (self.roughness >= MIN_ROUGHNESS).then(|| self.roughness.into()),
            shadowing: Shadowing::default(),
        })
    }

    /// The refractive index whose reflectance at normal incidence is that of `index` times the
    /// strength of the specular component.
    fn coat_index(&self) -> f64 {
        let index = self.index.max(1.0);
        let amplitude = (index - 1.0) / (index + 1.0) * unit(self.specular).sqrt();
        (1.0 + amplitude) / (1.0 - amplitude)
    }
}

/// Luminance of a linear colour, clamped to [0, 1].
pub(super) fn luminance([red, green, blue]: [f64; 3]) -> f64 {
    unit(0.2126 * red + 0.7152 * green + 0.0722 * blue)
}

fn unit(value: f64) -> f64 {
    value.clamp(0.0, 1.0)
}

fn part(share: f64, lobe: Lobe<Spectrum>) -> Lobe<Spectrum> {
    if share >= 1.0 {
        return lobe;
    }
    Lobe::blend(share.into(), lobe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_look_is_a_material_that_conserves_energy() {
        let steps = [0.0, 0.02, 0.5, 1.0];
        let mut looks = 0;
        for metallic in steps {
            for roughness in steps {
                for transmission in steps {
                    for specular in steps {
                        let look = MeshAppearance {
                            base_color: [1.0; 3],
                            metallic,
                            roughness,
                            transmission,
                            specular,
                            ..MeshAppearance::default()
                        };
                        let material = look.material().at(905e-9).expect("no table");
                        material.validate().expect("conserves energy");
                        looks += 1;
                    }
                }
            }
        }
        assert_eq!(looks, 256);
    }

    #[test]
    fn a_matt_look_is_lambert() {
        let look = MeshAppearance {
            base_color: [0.25; 3],
            ..MeshAppearance::default()
        };
        let expected = Lobe::lambert(0.25.into());
        assert_eq!(look.material().lobes, [expected]);
    }

    #[test]
    fn no_gloss_is_matt_however_smooth() {
        let look = MeshAppearance {
            specular: 0.0,
            roughness: 0.2,
            ..MeshAppearance::default()
        };
        assert!(matches!(look.material().lobes[..], [Lobe::Lambert(_)]));
    }
}

//! The appearance of a surface in a mesh file, as physical materials.

use etendue_physics::Spectrum;
use etendue_physics::light::colour_spectrum;
use etendue_physics::surface::{
    Coated, Dielectric, Fresnel, Lobe, Material, Microfacet, OrenNayar, OrenNayarForm, Shadowing,
    ThinDielectric,
};

/// Least roughness of a microfacet lobe; anything smoother is a mirror.
const LEAST_ROUGHNESS: f64 = 0.03;
/// Where no index is given: glass and most plastics.
const USUAL_INDEX: f64 = 1.5;
/// Thickness of a clear sheet, m: as good as none, so that light goes straight on.
const SHEET: f64 = 1e-6;

/// The appearance of a surface in a mesh file: the parameters of glTF's metallic-roughness model,
/// into which MTL is translated.
///
/// Looks are made for eyes, lidars see infrared light. The **assumption** made here: in the visible
/// the reflectance is the linear colour's, beyond 740 nm it is its luminance (ITU-R BT.709). Dyes and
/// leaves are often much brighter in the near infrared; give such parts a measured material in
/// the scene file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Colour of the surface, linear red, green and blue in [0, 1].
    pub base_color: [f64; 3],
    /// Mean colour of the picture that the base colour is multiplied with; ones without a picture.
    pub picture: [f64; 3],
    /// 0 clear or painted, 1 metal.
    pub metallic: f64,
    /// Roughness of the gloss in [0, 1]; 1 and no metal is taken as matt, without gloss.
    pub roughness: f64,
    /// Refractive index of the clear coat or of the glass.
    pub index: f64,
    /// Strength of the gloss in [0, 1]; 0 is matt.
    pub specular: f64,
    /// Share of the light that is not reflected and passes through, in [0, 1].
    pub transmission: f64,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            base_color: [1.0; 3],
            picture: [1.0; 3],
            metallic: 0.0,
            roughness: 1.0,
            index: USUAL_INDEX,
            specular: 1.0,
            transmission: 0.0,
        }
    }
}

impl Look {
    /// Luminance of the base colour (ITU-R BT.709), with its picture's mean, which is taken as the
    /// reflectance in the infrared.
    ///
    /// ```
    /// use etendue_io::mesh::Look;
    /// let grey = Look { base_color: [0.5; 3], ..Look::default() };
    /// assert!((grey.reflectance() - 0.5).abs() < 1e-12);
    /// ```
    pub fn reflectance(&self) -> f64 {
        luminance([0, 1, 2].map(|band| self.base_color[band] * self.picture[band]))
    }

    /// The material that looks like this.
    ///
    /// Shares of the area are metal, thin clear sheet (a pane 1 µm thick, so that light goes
    /// straight on), and paint: a diffuse base, under a rough coat where there is gloss.
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
        if self.roughness < LEAST_ROUGHNESS {
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
            roughness: (self.roughness >= LEAST_ROUGHNESS).then(|| self.roughness.into()),
            shadowing: Shadowing::default(),
        })
    }

    /// The index whose reflectance at normal incidence is that of the look's own, times the
    /// strength of its gloss.
    fn coat_index(&self) -> f64 {
        let index = self.index.max(1.0);
        let amplitude = (index - 1.0) / (index + 1.0) * unit(self.specular).sqrt();
        (1.0 + amplitude) / (1.0 - amplitude)
    }
}

/// Luminance of a linear colour, held in [0, 1].
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
                        let look = Look {
                            base_color: [1.0; 3],
                            metallic,
                            roughness,
                            transmission,
                            specular,
                            ..Look::default()
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
        let look = Look {
            base_color: [0.25; 3],
            ..Look::default()
        };
        let expected = Lobe::lambert(0.25.into());
        assert_eq!(look.material().lobes, [expected]);
    }

    #[test]
    fn no_gloss_is_matt_however_smooth() {
        let look = Look {
            specular: 0.0,
            roughness: 0.2,
            ..Look::default()
        };
        assert!(matches!(look.material().lobes[..], [Lobe::Lambert(_)]));
    }
}

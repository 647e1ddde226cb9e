//! Surfaces: reference values, sampling, derivatives and validation.

mod derivatives;
mod golden;
mod prepared;
mod sampling;
mod validation;

use etendue_physics::Stream;
use etendue_physics::surface::{
    Coated, Dielectric, Fresnel, Lobe, Material, Measured, Microfacet, OrenNayar, OrenNayarForm,
    Retroreflector, RoughDielectric, Shadowing, ThinDielectric,
};
use nalgebra::Vector3;

/// One material of every kind of lobe and of every form of one.
pub fn every_kind() -> Vec<(&'static str, Material<f64>)> {
    let glass = Dielectric {
        index: 1.5,
        group_index: 1.52,
        absorption: 5.0,
    };
    let lobes = [
        ("lambert", Lobe::lambert(0.8)),
        ("oren-nayar", oren_nayar(OrenNayarForm::Qualitative)),
        ("oren-nayar full", full(false)),
        ("oren-nayar full, between facets", full(true)),
        (
            "microfacet dielectric",
            facets(
                0.5,
                Fresnel::Dielectric { index: 1.5 },
                Shadowing::SmithCorrelated,
            ),
        ),
        (
            "microfacet metal",
            facets(
                0.7,
                Fresnel::Conductor { n: 0.15, k: 5.3 },
                Shadowing::SmithSeparable,
            ),
        ),
        (
            "microfacet schlick",
            facets(
                0.3,
                Fresnel::Schlick { at_normal: 0.3 },
                Shadowing::SchlickKaris,
            ),
        ),
        ("coated", coated(Some(0.4))),
        ("smoothly coated", coated(None)),
        ("mirror", Lobe::mirror(0.9)),
        ("conductor", Lobe::conductor(0.1, 6.0)),
        ("dielectric", Lobe::Dielectric(glass)),
        (
            "rough dielectric",
            Lobe::RoughDielectric(RoughDielectric {
                medium: glass,
                roughness: 0.5,
                shadowing: Shadowing::SmithCorrelated,
            }),
        ),
        (
            "pane",
            Lobe::ThinDielectric(ThinDielectric {
                medium: glass,
                thickness: 0.004,
            }),
        ),
        (
            "retroreflector",
            Lobe::Retroreflector(Retroreflector {
                reflectance: 0.5,
                width: 0.1,
                half_entrance: 0.7,
            }),
        ),
        (
            "measured",
            Lobe::Measured(Measured::new([(0.0, 0.9), (0.5, 0.7), (1.3, 0.4)])),
        ),
    ];
    let mut all: Vec<_> = lobes
        .into_iter()
        .map(|(name, lobe)| (name, Material { lobes: vec![lobe] }))
        .collect();
    all.push(("dusty pane", dusty_pane()));
    all
}

fn oren_nayar(form: OrenNayarForm) -> Lobe<f64> {
    Lobe::OrenNayar(OrenNayar {
        reflectance: 0.9,
        slope_sd: 0.5,
        form,
    })
}

fn full(inter_reflection: bool) -> Lobe<f64> {
    oren_nayar(OrenNayarForm::Full { inter_reflection })
}

fn facets(roughness: f64, fresnel: Fresnel<f64>, shadowing: Shadowing) -> Lobe<f64> {
    Lobe::Microfacet(Microfacet {
        roughness,
        fresnel,
        shadowing,
    })
}

fn coated(roughness: Option<f64>) -> Lobe<f64> {
    Lobe::Coated(Coated {
        base: OrenNayar {
            reflectance: 0.9,
            slope_sd: 0.2,
            form: OrenNayarForm::Qualitative,
        },
        index: 1.5,
        roughness,
        shadowing: Shadowing::SmithCorrelated,
    })
}

fn dusty_pane() -> Material<f64> {
    let pane = Lobe::ThinDielectric(ThinDielectric {
        medium: Dielectric {
            index: 1.5,
            group_index: 1.5,
            absorption: 0.0,
        },
        thickness: 0.004,
    });
    Material {
        lobes: vec![Lobe::blend(0.9, pane), Lobe::blend(0.1, Lobe::lambert(0.5))],
    }
}

/// Unit direction at an angle to the normal and an azimuth, degrees.
pub fn direction(angle_deg: f64, azimuth_deg: f64) -> Vector3<f64> {
    let (sin, cos) = angle_deg.to_radians().sin_cos();
    let (across, along) = azimuth_deg.to_radians().sin_cos();
    Vector3::new(sin * along, sin * across, cos)
}

/// A direction uniform over all of them.
pub fn any_direction(stream: &mut Stream) -> Vector3<f64> {
    let cos = 2.0 * stream.uniform() - 1.0;
    let sin = (1.0 - cos * cos).sqrt();
    let azimuth = std::f64::consts::TAU * stream.uniform();
    Vector3::new(sin * azimuth.cos(), sin * azimuth.sin(), cos)
}

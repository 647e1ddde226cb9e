//! Validation of materials.

use super::every_kind;
use etendue_physics::surface::{
    Coated, Dielectric, Lobe, Material, MaterialError, Measured, OrenNayar, OrenNayarForm,
    Retroreflector, RoughDielectric, Shadowing, ThinDielectric,
};

#[test]
fn valid_materials_are_accepted() {
    for (name, material) in every_kind() {
        assert_eq!(material.validate(), Ok(()), "{name}");
    }
}

#[test]
fn invalid_parameters_are_refused_with_their_name() {
    let glass = |index, absorption| Dielectric {
        index,
        group_index: 1.5,
        absorption,
    };
    let lambert = Lobe::lambert;
    let cases = [
        (lambert(1.2), "lobe 0 (lambert), reflectance is 1.2"),
        (lambert(f64::NAN), "lobe 0 (lambert), reflectance is NaN"),
        (
            Lobe::Dielectric(glass(-1.5, 0.0)),
            "lobe 0 (dielectric), index is -1.5",
        ),
        (
            Lobe::Dielectric(glass(1.5, -2.0)),
            "lobe 0 (dielectric), absorption is -2",
        ),
        (
            Lobe::Coated(Coated {
                base: OrenNayar {
                    reflectance: 0.5,
                    slope_sd: 0.0,
                    form: OrenNayarForm::Qualitative,
                },
                index: 1.0,
                roughness: None,
                shadowing: Shadowing::default(),
            }),
            "lobe 0 (coated), index is 1,",
        ),
        (Lobe::conductor(0.1, 0.0), "lobe 0 (conductor), k is 0"),
        (
            Lobe::RoughDielectric(RoughDielectric {
                medium: glass(1.5, 0.0),
                roughness: 0.0,
                shadowing: Shadowing::default(),
            }),
            "lobe 0 (rough-dielectric), roughness is 0",
        ),
        (
            Lobe::OrenNayar(OrenNayar {
                reflectance: 0.5,
                slope_sd: 20.0,
                form: OrenNayarForm::Qualitative,
            }),
            "lobe 0 (oren-nayar), slope_sd is 20",
        ),
        (
            Lobe::Retroreflector(Retroreflector {
                reflectance: 0.5,
                width: 0.0,
                half_entrance: 0.5,
            }),
            "lobe 0 (retroreflector), width is 0",
        ),
        (
            Lobe::Measured(Measured::new([(0.5, 0.5), (0.2, 0.4)])),
            "lobe 0 (measured): incidences must increase",
        ),
    ];
    for (lobe, beginning) in cases {
        let error = Material { lobes: vec![lobe] }.validate().unwrap_err();
        assert!(error.to_string().starts_with(beginning), "{error}");
    }
}

#[test]
fn materials_with_an_albedo_above_one_or_two_transmitting_lobes_are_refused() {
    let pair = Material {
        lobes: vec![Lobe::lambert(0.4), Lobe::mirror(0.8)],
    };
    let error = pair.validate().unwrap_err();
    assert!(matches!(error, MaterialError::CreatesLight { lobe: 1, .. }));
    assert!(error.to_string().contains("the albedo is 1.200"));
    let two_sheets = Material {
        lobes: [0.001, 0.002]
            .map(|thickness| {
                let medium = Dielectric {
                    index: 1.5,
                    group_index: 1.5,
                    absorption: 0.0,
                };
                Lobe::blend(
                    0.5,
                    Lobe::ThinDielectric(ThinDielectric { medium, thickness }),
                )
            })
            .to_vec(),
    };
    assert!(matches!(
        two_sheets.validate(),
        Err(MaterialError::TwoPassages {
            first: 0,
            second: 1,
            ..
        })
    ));
}

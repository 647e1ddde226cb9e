//! Materials: the library and material files.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use etendue_config::material::{
    LIBRARY_WAVELENGTHS, MaterialFile, MaterialFileError, find, library,
};
use etendue_physics::surface::{Lambert, Lobe, Material, Passage, Side};
use etendue_physics::{Purpose, Stream};
use nalgebra::Vector3;

const INCIDENCES_DEG: [f64; 8] = [0.0, 20.0, 40.0, 60.0, 75.0, 85.0, 89.0, 89.9];

fn material(text: &str) -> Material<f64> {
    let file: MaterialFile = toml::from_str(text).unwrap();
    file.to_material().unwrap().at(905e-9).unwrap()
}

fn refused(text: &str) -> String {
    let file: MaterialFile = toml::from_str(text).unwrap();
    file.to_material().unwrap_err().to_string()
}

fn ready(name: &str, wavelength: f64) -> Material<f64> {
    find(name).unwrap().material.at(wavelength).unwrap()
}

/// Energy conservation: the mean weight of sampled directions equals the albedo within 4.5 standard
/// errors of 2,000 samples plus the albedo's own tolerance of 0.002, and the absorption is not
/// negative. With 38 materials x 5 wavelengths x 8 angles x both sides, one set of seeds in fifty
/// fails by chance.
#[test]
fn every_ready_material_passes_the_furnace_at_every_wavelength() {
    let mut tested = 0;
    for (number, ready) in (0..).zip(library()) {
        for wavelength in LIBRARY_WAVELENGTHS {
            let material = ready.material.at(wavelength).unwrap();
            for degrees in INCIDENCES_DEG {
                for side in [Side::Front, Side::Back] {
                    let mut stream = Stream::new(1, number, 0, tested, Purpose::LightPath);
                    let what = format!("{} at {wavelength} m, {degrees} degrees", ready.name);
                    furnace(&material, degrees, side, &mut stream, &what);
                    tested += 1;
                }
            }
        }
    }
    assert!(tested >= 30 * 5 * 8 * 2, "{tested}");
}

fn furnace(material: &Material<f64>, degrees: f64, side: Side, stream: &mut Stream, what: &str) {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let expected = material.albedo(cos, side).total();
    assert!((0.0..=1.0 + 1e-3).contains(&expected), "{what}: {expected}");
    let mut sum = 0.0;
    let mut squares = 0.0;
    let count = 2000;
    for _ in 0..count {
        let uniform = [stream.uniform(), stream.uniform(), stream.uniform()];
        let sample = material.sample(&Vector3::new(sin, 0.0, cos), side, uniform);
        let weight = sample.map_or(0.0, |sample| sample.weight);
        sum += weight;
        squares += weight * weight;
    }
    let n = f64::from(count);
    let mean = sum / n;
    let error = ((squares / n - mean * mean).max(0.0) / n).sqrt();
    assert!(
        (mean - expected).abs() < 4.5 * error + 2e-3,
        "{what}: {mean} +- {error}, albedo {expected}"
    );
}

#[test]
fn every_ready_material_is_possible_described_and_sourced() {
    assert!(library().len() >= 30);
    for ready in library() {
        ready
            .file
            .to_material()
            .unwrap_or_else(|error| panic!("{}: {error}", ready.name));
        assert!(!ready.description.is_empty(), "{}", ready.name);
        assert!(
            ready.source.contains("doi:")
                || ready.source.contains("Typical value")
                || ready.source.contains("SCHOTT")
                || ready.source.contains("ASTM"),
            "{}: {}",
            ready.name,
            ready.source
        );
    }
}

#[test]
fn the_library_holds_what_rooms_and_roads_are_made_of() {
    for name in [
        "white-paint",
        "black-paint",
        "white-paper",
        "black-paper",
        "wood",
        "concrete",
        "brick",
        "asphalt",
        "grass",
        "leaf",
        "drywall",
        "plaster",
        "aluminium",
        "gold-mirror",
        "silver-mirror",
        "bk7",
        "bk7-pane",
        "window-glass",
        "window-glass-solid",
        "pmma",
        "pmma-solid",
        "retroreflective-sheeting",
    ] {
        assert!(find(name).is_ok(), "{name}");
    }
}

#[test]
fn ready_materials_have_their_sources_values() {
    // ECOSTRESS pine wood at 905 nm; SLUM C001 at 1550 nm.
    let Lobe::Lambert(Lambert { reflectance }) = ready("wood", 905e-9).lobes[0] else {
        panic!("wood is diffuse");
    };
    assert!((reflectance - 0.9183).abs() < 1e-9);
    let Lobe::Lambert(Lambert { reflectance }) = ready("concrete", 1550e-9).lobes[0] else {
        panic!("concrete is diffuse");
    };
    assert!((reflectance - 0.345648).abs() < 1e-9);
    // Reflectance at normal incidence computed from n and k by another program, four digits.
    for (name, wavelength, expected) in [
        ("gold-mirror", 785e-9, 0.9865),
        ("silver-mirror", 905e-9, 0.9903),
        ("aluminium-mirror", 865e-9, 0.8744),
    ] {
        let reflected = ready(name, wavelength).specular(1.0, Side::Front).reflected;
        assert!((reflected - expected).abs() < 1e-4, "{name}: {reflected}");
    }
}

#[test]
fn bk7_carries_its_group_index_into_the_glass() {
    let specular = ready("bk7", 785e-9).specular(1.0, Side::Front);
    let passed = specular.transmitted.unwrap();
    let Passage::Interface {
        index_ratio,
        medium,
    } = passed.passage
    else {
        panic!("a solid has an interface");
    };
    assert!((1.0 / index_ratio - 1.5110795649082276).abs() < 1e-12);
    assert!((medium.group_index - 1.527261611655074).abs() < 1e-12);
    assert!((medium.absorption - 0.1475).abs() < 1e-3);
}

#[test]
fn sheeting_meets_the_traffic_sign_standard() {
    let sheeting = ready("retroreflective-sheeting", 905e-9);
    // Coefficient of retroreflection, cd/(lx m2) = radiance factor times both cosines.
    let coefficient = |entrance_deg: f64, observation_deg: f64| {
        let [light, eye] = [entrance_deg, entrance_deg + observation_deg].map(|degrees| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            Vector3::new(sin, 0.0, cos)
        });
        sheeting.evaluate(&light, &eye, Side::Front) * light.z * eye.z
    };
    for (entrance, observation, asked) in [(4.0, 0.2, 250.0), (4.0, 0.5, 95.0), (30.0, 0.2, 150.0)]
    {
        // Measured: 1.004 to 1.007.
        let ratio = coefficient(entrance, observation) / asked;
        assert!(
            (ratio - 1.0).abs() < 0.01,
            "{entrance} {observation}: {ratio}"
        );
    }
    let white = Material {
        lobes: vec![Lobe::lambert(1.0)],
    };
    let gain = sheeting.backscatter(1.0, Side::Front) / white.backscatter(1.0, Side::Front);
    assert!(gain > 500.0, "{gain}");
}

#[test]
fn a_name_of_the_library_is_a_material_and_own_lobes_replace_its() {
    let ready = find("white-paint-gloss")
        .unwrap()
        .material
        .at(905e-9)
        .unwrap();
    assert_eq!(material("base = 'white-paint-gloss'"), ready);
    let darker = material("base = 'white-paint-gloss'\ndiffuse = { reflectance = 0.1 }");
    let (Lobe::Coated(dark), Lobe::Coated(white)) = (&darker.lobes[0], &ready.lobes[0]) else {
        panic!("glossy paint is coated");
    };
    assert_eq!((dark.base.reflectance, dark.index), (0.1, white.index));
}

#[test]
fn a_slip_in_a_name_is_answered_with_the_nearest() {
    assert_eq!(
        refused("base = 'white_pain'"),
        "base: unknown material \"white_pain\"; did you mean \"white-paint\"?"
    );
    assert!(refused("base = 'xyzzy'").contains("known here: aluminium, "));
}

#[test]
fn every_lobe_can_be_written() {
    let text = "
        diffuse = { reflectance = { wavelength_nm = [800, 1000], value = [0.2, 0.3] }, slope_sd_deg = 20, model = 'full', weight = 0.5 }
        mirror = { reflectance = 0.9, weight = 0.1 }
        conductor = { n = 0.2, k = 5.6, roughness = 0.4, shadowing = 'smith-separable', weight = 0.1 }
        glass = { ior = 1.5, thickness_mm = 3, absorption_per_m = 10, weight = 0.1 }
        retro = { reflectance = 0.3, width_deg = 1, half_entrance_deg = 40, weight = 0.1 }
        measured = { incidence_deg = [0, 60], reflectance = [0.5, { wavelength_nm = [905], value = [0.4] }], weight = 0.1 }
    ";
    let kinds: Vec<_> = material(text).lobes.iter().map(Lobe::kind).collect();
    assert_eq!(
        kinds,
        [
            "oren-nayar",
            "mirror",
            "microfacet",
            "thin-dielectric",
            "retroreflector",
            "measured"
        ]
    );
    let added = "diffuse = { reflectance = 0.5 }
        gloss = { ior = 1.5, roughness = 0.3, fresnel = 'schlick', coupled = false }";
    assert_eq!(material(added).lobes.len(), 2);
    let frosted = material("glass = { ior = 1.49, roughness = 0.5 }");
    assert_eq!(frosted.lobes[0].kind(), "rough-dielectric");
}

#[test]
fn what_is_wrong_is_named_with_its_remedy() {
    for (text, part) in [
        ("", "give a base"),
        (
            "diffuse = { reflectance = 1.3 }",
            "lobe 0 (lambert), reflectance is 1.3",
        ),
        (
            "diffuse = { reflectance = 0.7 }\nmirror = { reflectance = 0.7 }",
            "give each lobe a weight",
        ),
        ("glass = { ior = -1.5 }", "index is -1.5"),
        (
            "glass = { ior = 1.5, thickness_mm = 3, roughness = 0.5 }",
            "remove roughness or thickness_mm",
        ),
        (
            "gloss = { ior = 1.5, fresnel = 'schlick' }",
            "set coupled = false",
        ),
        (
            "mirror = { reflectance = { wavelength_nm = [905, 785], value = [0.9, 0.9] } }",
            "mirror.reflectance: wavelength_nm goes from 905 to 785; sort the table",
        ),
        (
            "mirror = { reflectance = { wavelength_nm = [785, 905], value = [0.9] } }",
            "wavelength_nm has 2 entries, value has 1",
        ),
        (
            "measured = { incidence_deg = [0, 30], reflectance = [0.5] }",
            "lists of equal length",
        ),
        (
            "measured = { incidence_deg = [30, 0], reflectance = [0.5, 0.5] }",
            "incidences must increase",
        ),
    ] {
        let message = refused(text);
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn nan_is_refused_wherever_it_is_written() {
    for text in [
        "diffuse = { reflectance = nan }",
        "glass = { ior = nan }",
        "conductor = { n = 0.2, k = nan }",
        "retro = { reflectance = 0.5, width_deg = nan, half_entrance_deg = 30 }",
        "mirror = { reflectance = 0.5, weight = nan }",
        "measured = { incidence_deg = [nan], reflectance = [0.5] }",
        "mirror = { reflectance = { wavelength_nm = [nan], value = [0.5] } }",
        "mirror = { reflectance = { wavelength_nm = [905], value = [nan] } }",
    ] {
        let file: MaterialFile = toml::from_str(text).unwrap();
        assert!(file.to_material().is_err(), "{text}");
    }
}

#[test]
fn an_unknown_key_is_refused_at_every_depth() {
    for text in [
        "difuse = { reflectance = 0.5 }",
        "diffuse = { reflectence = 0.5 }",
        "mirror = { reflectance = { wavelengths = [1], value = [1] } }",
        "mirror = { reflectance = 'high' }",
    ] {
        assert!(toml::from_str::<MaterialFile>(text).is_err(), "{text}");
    }
}

#[test]
fn a_wavelength_without_data_is_refused_by_parameter() {
    let file: MaterialFile = toml::from_str(
        "diffuse = { reflectance = { wavelength_nm = [785, 905], value = [0.5, 0.6] } }",
    )
    .unwrap();
    let error = file.to_material().unwrap().at(1550e-9).unwrap_err();
    assert_eq!(
        error.to_string(),
        "lobe 0 (lambert), reflectance: no value at 1550.0 nm: the data cover 785.0 to 905.0 nm; \
         extend its table or choose another material"
    );
}

#[test]
fn a_file_written_and_read_again_is_the_same() {
    for ready in library() {
        let text = toml::to_string(&ready.file).unwrap();
        let again: MaterialFile = toml::from_str(&text).unwrap();
        assert_eq!(again, ready.file, "{}", ready.name);
    }
}

#[test]
fn the_schema_allows_a_number_or_a_table() {
    let schema = serde_json::to_value(schemars::schema_for!(MaterialFile)).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    let spectral = &schema["$defs"]["Spectral"]["anyOf"];
    assert_eq!(spectral.as_array().unwrap().len(), 2, "{schema:#}");
}

#[test]
fn an_error_gives_the_wavelength_at_which_a_material_creates_light() {
    let text = "diffuse = { reflectance = { wavelength_nm = [785, 1550], value = [0.5, 1.4] } }";
    let file: MaterialFile = toml::from_str(text).unwrap();
    assert!(matches!(
        file.to_material(),
        Err(MaterialFileError::Impossible { wavelength_nm, .. }) if wavelength_nm == 1550.0
    ));
}

//! Sensor files: content and errors.

use etendue_config::sensor::{SensorFile, parse, preset, presets};
use etendue_config::toml_file::{Document, DocumentError};
use etendue_sensors::lidar::{BeamProfile, Lidar, PhaseReceiver, Receiver};

fn lidar() -> Lidar {
    preset("hokuyo-urg-04lx").expect("the preset").lidar
}

fn phase(lidar: &Lidar) -> &PhaseReceiver {
    let Receiver::Phase(receiver) = &lidar.receiver else {
        panic!("{} measures no phases", lidar.name);
    };
    receiver
}

/// Errors of version 1 files refer to their table and list the new name of each key.
#[test]
fn files_of_version_1_get_the_new_names_of_their_keys() {
    for (text, at, names) in [
        (
            "version = 1\nname = \"mine\"\n[continuous_wave]\nrange_min_m = 0.1\nturn_time_ms = 100.0\n\
             [continuous_wave.beams]\ncount = 3\n",
            3,
            ["range.near_m", "pattern.encoder.columns"],
        ),
        (
            "version = 1\nname = \"mine\"\n\n[scanner]\nwavelength_nm = 905\n[scanner.beam]\n",
            4,
            [
                "scanner.wavelength_nm is wavelength_nm",
                "scanner.beam is beam.elliptical",
            ],
        ),
    ] {
        let error = parse(&Document::new("mine.toml", text)).expect_err("version 1");
        assert!(
            error.to_string().starts_with(&format!("mine.toml:{at}:")),
            "{error}"
        );
        for name in names {
            assert!(error.remedy().contains(name), "{}", error.remedy());
        }
        assert!(!error.remedy().contains("receiver"), "{}", error.remedy());
    }
    let error = changed("version = 2", "version = 1");
    assert!(error.to_string().contains("version 1 is not known"));
}

/// Steps 44 to 725 of 1024, step 384 forward; 66.6 ms of the 100 ms rotation.
#[test]
fn the_urg_has_its_682_beams() {
    let lidar = lidar();
    let shots = lidar.shots(0);
    assert_eq!(shots.len(), 682);
    for (beam, step) in shots.iter().zip(44..=725) {
        let azimuth = f64::from(step - 384) * 360.0 / 1024.0;
        assert!((beam.azimuth.to_degrees() - azimuth).abs() < 1e-9);
        assert!((beam.time - f64::from(step - 44) / 1024.0 * 0.1).abs() < 1e-12);
    }
    let BeamProfile::Cone { half_tangent, .. } = lidar.beam.profile else {
        panic!("the URG-04LX has a conical beam");
    };
    assert!((half_tangent * 4.0 * 2.0 - 0.04).abs() < 1e-12);
    let [first, second] = phase(&lidar).modulation.frequencies();
    assert!((first - 46.55e6).abs() < 1.0 && (second - 53.2e6).abs() < 1.0);
}

/// The sensor file of the preset.
fn urg_text() -> &'static str {
    let urg = presets()
        .iter()
        .find(|preset| preset.name == "hokuyo-urg-04lx");
    urg.expect("the preset").text
}

/// The text of the preset with one change.
fn changed(from: &str, to: &str) -> DocumentError {
    let text = urg_text();
    assert!(text.contains(from), "{from}");
    let document = Document::new("mine.toml", text.replacen(from, to, 1));
    parse(&document).expect_err(to)
}

#[test]
fn invalid_sensors_are_refused_with_the_reason() {
    for (from, to, reason) in [
        ("columns = 682", "columns = 0", "columns is 0,"),
        ("far_m = 5.6", "far_m = 0.01", "are they exchanged?"),
        ("far_m = 5.6", "far_m = 1e300", "far_m is 1e300 m"),
        ("slack_m = 0.1", "slack_m = 1e300", "slack_m is 1e300 m"),
        (
            "converter = 0.0029",
            "converter = -1.0",
            "converter is -1.0,",
        ),
        (
            "wavelength_nm = 785.0",
            "wavelength_nm = 0.0",
            "wavelength_nm is 0.0 nm",
        ),
        ("rate_hz = 10.0", "rate_hz = nan", "rate_hz is nan Hz"),
        ("multiples = [7, 8]", "multiples = [6, 8]", "coprime"),
        (
            "converter_bits = 10",
            "converter_bits = 0",
            "converter_bits is 0,",
        ),
        (
            "divergence_mrad = 10.0",
            "divergence_mrad = -1.0",
            "divergence_mrad is -1.0 mrad",
        ),
    ] {
        let error = changed(from, to);
        assert!(error.to_string().contains(reason), "{error}");
        assert!(error.to_string().starts_with("mine.toml:"), "{error}");
    }
}

/// The error refers to the line of the invalid number, or of its table.
#[test]
fn invalid_scanners_are_refused_at_the_place_of_their_numbers() {
    let preset = { presets().iter() }.find(|preset| preset.name == "velodyne-vlp-16");
    let text = preset.expect("the preset").text;
    for (from, to, at, reason) in [
        (
            "nm = 903",
            "nm = 0",
            "wavelength_nm = 0",
            "wavelength_nm is 0 nm",
        ),
        ("hz = 10", "hz = -10", "rate_hz = -10", "rate_hz is -10 Hz"),
        (
            "    -15,",
            "    -95,",
            "    -95,",
            "elevation_deg is -95 deg",
        ),
        (
            " 32.256, 34.56,",
            " 32.256, 100,",
            "    18.432, 20.736, 23.04, 25.344, 27.648, 29.952, 32.256, 100,",
            "channel 15: the time, us, is 100, it must be",
        ),
        (
            " 32.256, 34.56,",
            " 32.256,",
            "time_us = [",
            "time_us has 15 numbers, but elevation_deg has 16",
        ),
        (
            "reflectance = 0.1",
            "reflectance = 1.7",
            "reflectance = 1.7",
            "reflectance is 1.7,",
        ),
        (
            "jitter_mm = 5.9",
            "jitter_mm = 6000",
            "jitter_mm = 6000",
            "jitter_mm is 6000 mm",
        ),
        (
            "channel_mm = 5.7",
            "channel_mm = 5700",
            "channel_mm = 5700",
            "channel_mm is 5700 mm",
        ),
        (
            "mrad = [3,",
            "mrad = [-3,",
            "divergence_mrad = [-3,",
            "divergence_mrad is -3 mrad",
        ),
        (
            "near_m = 0.4",
            "near_m = -0.4",
            "near_m = -0.4",
            "near_m is -0.4 m",
        ),
        (
            "pulse_fwhm_ns = 6",
            "full_overlap_m = -1\npulse_fwhm_ns = 6",
            "full_overlap_m = -1",
            "full_overlap_m is -1 m",
        ),
        (
            "retro = 1e5",
            "retro = 10",
            "response = { reflectivity",
            "above 100",
        ),
        (
            "far_m = 131",
            "far_m = 0.2",
            "far_m = 0.2",
            "the farthest range",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let changed = text.replacen(from, to, 1);
        let line = { changed.lines() }
            .position(|line| line.starts_with(at))
            .expect(at)
            + 1;
        let error = parse(&Document::new("mine.toml", changed.clone())).expect_err(to);
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("mine.toml:{line}:")),
            "{at} {message}"
        );
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn unusable_sampling_schemes_are_refused_by_name_at_their_place() {
    for (scheme, reason) in [
        ("uniform", "degenerate"),
        ("linspace", "biased"),
        ("pear", "unknown sampling scheme"),
    ] {
        let error = changed("sampling = \"pair\"", &format!("sampling = \"{scheme}\""));
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(&error.text()[error.span()], format!("\"{scheme}\""));
    }
}

#[test]
fn misspelt_keys_are_refused_with_the_nearest() {
    let error = changed("wavelength_nm", "wavelenght_nm");
    assert_eq!(error.remedy(), "did you mean \"wavelength_nm\"?");
    let error = changed("rays.three", "rays.tree");
    assert_eq!(error.remedy(), "did you mean \"three\"?");
    let error = changed("version = 2", "version = 3");
    assert!(error.to_string().contains("version 3 is not known"));
}

#[test]
fn options_are_read() {
    let read = |from: &str, to: &str| {
        let text = urg_text().replacen(from, to, 1);
        let sensor = parse(&Document::new("mine.toml", text)).expect(to);
        sensor.lidar
    };
    for (pattern, rays) in [
        ("rays = \"centre\"", 1),
        ("rays.three = { radius = 1.0 }", 3),
        ("rays.rings = { count = 2 }", 19),
        ("rays.gaussian = { count = 1 }", 7),
    ] {
        let lidar = read("rays.three = {}", pattern);
        assert_eq!(lidar.beam.ray_count(), rays);
    }
    for bias in ["range_m", "phase_rad"] {
        let table =
            format!("sufficient_power_per_m2_sr = 0.0043\nbias.{bias} = [0.01, 0.002, 0.0]");
        let lidar = read("sufficient_power_per_m2_sr = 0.0043", &table);
        let receiver = phase(&lidar);
        let offsets = receiver.bias.ranges(&receiver.modulation, 1.0);
        assert!(offsets[0] > 0.005, "{bias}");
    }
}

#[test]
fn the_schema_contains_the_tables() {
    let schema = serde_json::to_string(&schemars::schema_for!(SensorFile)).expect("JSON");
    for key in ["wavelength_nm", "azimuth_first_deg", "amplifier_per_m2_sr"] {
        assert!(schema.contains(key), "{key}");
    }
}

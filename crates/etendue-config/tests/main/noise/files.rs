//! Profile and calibration setup files.

use etendue_config::profile::{self, ProfileFile, load_calibration_setup, parse};
use etendue_config::toml_file::Document;
use etendue_physics::profile::Profile;
use std::sync::Arc;

/// A profile measured with an RPLIDAR A1.
fn wood() -> Arc<Profile> {
    let wood = profile::find("rplidar-a1-wood").unwrap();
    wood.profile.clone()
}

#[test]
fn a_profile_survives_its_file() {
    let wood = wood();
    let text = ProfileFile::of(&wood).to_toml();
    let read = parse(&Document::new("wood.toml", text.as_str())).unwrap();
    assert_eq!(ProfileFile::of(&read.profile().unwrap()), read);
    let profile = read.profile().unwrap();
    for degrees in [0.0_f64, 20.0, 45.0, 55.0, 70.0] {
        let at = degrees.to_radians();
        let a = profile.at(at, 0.4);
        let b = wood.at(at, 0.4);
        assert!((a.bias - b.bias).abs() < 1e-6 && (a.drop_out - b.drop_out).abs() < 1e-4);
    }
}

#[test]
fn columns_of_different_lengths_and_other_versions_are_refused() {
    let file = ProfileFile::of(&wood());
    let mut short = file.clone();
    short.knots.drop_out.pop();
    let error = parse(&Document::new("a.toml", short.to_toml())).unwrap_err();
    assert!(error.to_string().contains("knots.drop_out has"), "{error}");
    let later = ProfileFile { version: 2, ..file };
    let error = parse(&Document::new("a.toml", later.to_toml())).unwrap_err();
    assert!(error.to_string().contains("version 2"), "{error}");
}

#[test]
fn apollosims_configuration_is_read_with_four_to_seven_columns() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wood_data.txt"), "").unwrap();
    let path = folder.path().join("data.config");
    let config = |line: &str| {
        std::fs::write(&path, line).unwrap();
        load_calibration_setup(&path)
    };
    for columns in ["", ",ON", ",ON,0.5", ",ON,0.5,0.0"] {
        let line = format!("wood,./data/wood_data.txt,0.389,1.25{columns}\n");
        let setup = config(&line).unwrap();
        assert_eq!(setup.panels[0].distance, Some(0.389));
        assert_eq!(setup.panels[0].width, Some(1.25));
    }
    let error = config("wood,wood_data.txt,0.389\n").unwrap_err();
    assert!(
        error.to_string().contains("3 columns; 4 to 7 are allowed"),
        "{error}"
    );
    let error = config("wood,wood_data.txt,0,389,1.25,ON,0.5,0.0\n").unwrap_err();
    assert!(
        error.to_string().contains("8 columns"),
        "decimal comma: {error}"
    );
}

#[test]
fn errors_of_a_calibration_setup_file_name_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("setup.toml");
    let error = |text: &str| {
        std::fs::write(&path, text).unwrap();
        load_calibration_setup(&path).unwrap_err().to_string()
    };
    let head = "version = 1\nsensor = \"A1\"\n";
    let unknown = error(&format!(
        "{head}[[panels]]\nmaterial = \"wood\"\nrecordin = \"a.txt\"\n"
    ));
    assert!(unknown.contains("recordin"), "{unknown}");
    let missing = error(&format!(
        "{head}[[panels]]\nmaterial = \"wood\"\nrecording = \"a.txt\"\n"
    ));
    assert!(missing.contains("a.txt does not exist"), "{missing}");
    assert!(error(&format!("{head}panels = []\n")).contains("no panel"));
}

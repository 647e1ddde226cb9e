//! `etendue experiment`.

use crate::{folder, names, stdout, succeed};

#[test]
fn the_checkerboard_writes_tables_and_undetermined_directions() {
    let folder = folder();
    let output = succeed(folder.path(), &["experiment", "checkerboard", "-o", "out"]);
    let text = stdout(&output);
    for part in [
        "| quantity",
        "materials.black.reflectance",
        "not determined",
        "false minimum",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let written = names(&folder.path().join("out"));
    for name in ["experiment.md", "experiment.json", "table-1.csv"] {
        assert!(written.contains(&name.to_owned()), "{written:?}");
    }
}

mod long_tests {
    use super::*;

    #[test]
    #[ignore = "10 s on two cores: just long"]
    fn localisation_draws_its_iterations() {
        let folder = folder();
        let arguments = [
            "experiment",
            "localise",
            "--starts",
            "2",
            "--seeds",
            "2",
            "--json",
            "-o",
            "out",
        ];
        let output = succeed(folder.path(), &arguments);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let rows = report["tables"][0]["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 11);
        // The paper's experiment: from every yaw error up to 80 degrees.
        assert!(
            rows.iter()
                .all(|row| row["error"].as_f64().is_some_and(|e| e < 1e-6))
        );
        let written = names(&folder.path().join("out"));
        assert!(
            written.contains(&"iterations.svg".to_owned()),
            "{written:?}"
        );
    }
}

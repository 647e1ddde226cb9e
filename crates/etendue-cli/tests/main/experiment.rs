//! `etendue experiment`.

use crate::{etendue, folder, names, stderr, stdout};

#[test]
fn the_checkerboard_writes_tables_and_names_what_cannot_be_known() {
    let folder = folder();
    let output = etendue(folder.path(), &["experiment", "checkerboard", "-o", "out"]);
    assert!(output.status.success(), "{}", stderr(&output));
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

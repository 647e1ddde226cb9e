//! What `convert`, `compare` and `inspect` say of points that are not as they seem.

use crate::{etendue, folder, recording, stderr, stdout};
use std::path::Path;
use std::process::Output;

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("writes");
}

/// What is told of a failure; the output must be one.
fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{}", stderr(output));
    stderr(output)
}

fn accepted(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output)
}

#[test]
fn compare_wants_tolerances_and_cells_above_zero() {
    let folder = folder();
    write(folder.path(), "a.csv", "x,y,z\n1,2,3\n");
    for option in ["--tolerance", "--cell"] {
        for number in ["nan", "0", "-1", "inf"] {
            let option = format!("{option}={number}");
            let output = etendue(folder.path(), &["compare", "a.csv", "a.csv", &option]);
            assert_eq!(output.status.code(), Some(2), "{option}");
            let told = stderr(&output);
            let name = option.split('=').next().expect("a name");
            assert!(told.contains(name) && told.contains("above zero"), "{told}");
        }
    }
}

/// A capture is compared with the metadata of its sensor.
#[test]
fn compare_takes_the_metadata_of_a_capture() {
    let data = "ouster_sdk_samples/OS-1-128_v2.3.0_1024x10";
    let Some(capture) = recording(&format!("{data}_lb_n3.pcap")) else {
        return;
    };
    let metadata = recording(&format!("{data}.json")).expect("metadata");
    let [capture, metadata] = [&capture, &metadata].map(|path| path.to_str().expect("a name"));
    let folder = folder();
    let with = ["--metadata", metadata];
    let convert = [&["convert", capture, "a.pcd"][..], &with].concat();
    accepted(&etendue(folder.path(), &convert));
    let compare = ["compare", capture, "a.pcd"];
    let told = refused(&etendue(folder.path(), &compare));
    assert!(told.contains("--metadata"), "{told}");
    let told = accepted(&etendue(folder.path(), &[&compare[..], &with].concat()));
    assert!(told.contains("F-score: 100.00 %"), "{told}");
}

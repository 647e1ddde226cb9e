//! Scanning lidars on the command line.

use crate::{etendue, folder, names, stderr, stdout};

#[test]
fn a_scanner_leaves_every_format_behind_and_compares_with_itself() {
    let folder = folder();
    let arguments = [
        "simulate",
        "--sensor",
        "velodyne-vlp-16",
        "--waveform",
        "8,100",
        "-o",
        "out",
    ];
    let output = etendue(folder.path(), &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("Velodyne VLP-16"));
    let written = names(&folder.path().join("out"));
    assert_eq!(
        written,
        [
            "grid.pcd",
            "intensity.png",
            "range.png",
            "run.json",
            "scan.bin",
            "scan.csv",
            "scan.e57",
            "scan.las",
            "scan.mcap",
            "scan.npz",
            "scan.pcd",
            "scan.ply",
            "scan.png",
            "scan.svg",
            "waveform.svg",
        ]
    );
    let arguments = [
        "compare",
        "out/scan.pcd",
        "out/scan.ply",
        "--html",
        "page.html",
    ];
    let output = etendue(folder.path(), &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("F-score: 100.00 %"),
        "{}",
        stdout(&output)
    );
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(page.contains("<svg") && page.ends_with("</html>\n"));
}

#[test]
fn a_recording_of_many_sweeps_is_written_as_it_goes() {
    let folder = folder();
    let arguments = [
        "simulate",
        "--sensor",
        "hokuyo-ust-10lx",
        "--sweeps",
        "5",
        "-o",
        "run.mcap",
    ];
    let output = etendue(folder.path(), &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let recording = etendue::formats::ros2::read_clouds(&folder.path().join("run.mcap"));
    assert_eq!(recording.expect("a recording").clouds.len(), 5);
}

#[test]
fn a_trajectory_shorter_than_the_run_is_refused_and_nothing_is_written() {
    let folder = folder();
    let text = "0 0 0 0 0 0 0 1\n0.15 0.1 0 0 0 0 0 1\n";
    std::fs::write(folder.path().join("drive.txt"), text).expect("writes");
    let run = |sweeps| {
        let arguments = [
            "simulate",
            "--sensor",
            "velodyne-vlp-16",
            "--trajectory",
            "drive.txt",
            "--sweeps",
            sweeps,
        ];
        etendue(folder.path(), &arguments)
    };
    let output = run("2");
    assert!(!output.status.success());
    assert!(
        stderr(&output).contains("the run needs poses from 0 to 0.2 s"),
        "{}",
        stderr(&output)
    );
    assert_eq!(names(folder.path()), ["drive.txt"]);
    assert!(run("1").status.success());
}

#[test]
fn mistyped_presets_and_missing_beams_are_told() {
    let folder = folder();
    let output = etendue(folder.path(), &["simulate", "--sensor", "velodyne-vlp16"]);
    assert!(
        stderr(&output).contains("did you mean \"velodyne-vlp-16\"?"),
        "{}",
        stderr(&output)
    );
    let arguments = [
        "simulate",
        "--sensor",
        "velodyne-vlp-16",
        "--waveform",
        "16,0",
    ];
    let output = etendue(folder.path(), &arguments);
    assert!(stderr(&output).contains("16 rings"), "{}", stderr(&output));
    assert!(
        names(folder.path()).is_empty(),
        "{:?}",
        names(folder.path())
    );
}

//! `etendue render`.

use crate::{etendue, fail, folder, names, refuse, stderr, stdout, succeed, write};
use serde_json::Value;
use std::path::Path;

/// Small camera for fast tests.
const CAMERA: &str = "version = 1\nname = \"small\"\nresolution_px = [48, 36]\n\
    lens.pinhole = { horizontal_fov_deg = 70 }\n\
    bands = [{ wavelength_nm = 540, width_nm = 100, quantum_efficiency = 0.5 }]\n\
    [optics]\nf_number = 2\npixel_um = [5, 5]\n\
    [shutter]\nexposure.auto = { mean = 0.2, shortest_ms = 0.01, longest_ms = 30 }\n\
    [detector.linear]\nfull_scale_e = 8000\nshot = 0.01\nbits = 10\n";

#[test]
fn all_pictures_are_written_and_independent_of_the_number_of_threads() {
    let folder = folder();
    write(folder.path(), "small.toml", CAMERA);
    for threads in ["1", "2"] {
        let arguments = [
            "render",
            "--camera",
            "small.toml",
            "--frames",
            "2",
            "--light",
            "paths",
            "--samples",
            "4",
            "--threads",
            threads,
            "-o",
            threads,
        ];
        let output = succeed(folder.path(), &arguments);
        assert!(
            stdout(&output).contains("small, 48 x 36"),
            "{}",
            stdout(&output)
        );
    }
    let written = names(&folder.path().join("1"));
    // Two frames of nine pictures, and EXR files where the build supports them; a recording with its metadata, run.json
    let per_frame = if cfg!(feature = "exr") { 10 } else { 9 };
    assert_eq!(written.len(), 2 * per_frame + 3);
    assert!(
        written.contains(&"picture_0001.png".to_owned()),
        "{written:?}"
    );
    for name in &written {
        let [one, two] =
            ["1", "2"].map(|threads| std::fs::read(folder.path().join(threads).join(name)));
        assert_eq!(one.expect("reads"), two.expect("reads"), "{name}");
    }
    let run = std::fs::read_to_string(folder.path().join("1/run.json")).expect("reads");
    assert!(run.contains("\"mirror\"") && run.contains("\"exposure_s\""));
}

/// A cart that drives to the left, and a sensor that drives forward.
const STREET: &str = "version = 1\n\
    [sensor]\npreset = \"velodyne-vlp-16\"\nposition_m = [0, 0, 1]\n\
    motion.twist = { velocity_m_s = [2, 0, 0] }\n\
    [[objects]]\nname = \"wall\"\nshape.plane = { size_m = [60, 60] }\nposition_m = [6, 0, 0]\n\
    rotation_deg = { pitch = -90 }\nmaterial = \"white-paint\"\n\
    [[objects]]\nname = \"cart\"\nshape.box = { size_m = [1, 1, 1] }\nposition_m = [4, 0, 1]\n\
    motion.twist = { velocity_m_s = [0, 1.5, 0] }\nmaterial = \"wood\"\n";

/// Renders the street into a folder with one ray per pixel; the report of the run.
fn render_street(path: &Path, output: &str, options: &[&str]) -> Value {
    let street = ["render", "street.toml", "--camera", "small.toml"];
    let arguments = [&street[..], &["--samples", "1", "-o", output], options];
    succeed(path, &arguments.concat());
    let run = std::fs::read_to_string(path.join(output).join("run.json")).expect("reads");
    serde_json::from_str(&run).expect("JSON")
}

/// The time of the first pose does not displace the objects: the run begins there, as that of a lidar.
#[test]
fn a_run_begins_at_the_first_pose_of_a_trajectory() {
    let folder = folder();
    let path = folder.path();
    write(path, "small.toml", CAMERA);
    write(path, "street.toml", STREET);
    let pictures = ["0", "100"].map(|begins| {
        let ends = if begins == "0" { "2" } else { "102" };
        let file = format!("{begins} 0 0 1 0 0 0 1\n{ends} 1 0 1 0 0 0 1\n");
        write(path, "poses.tum", file);
        let run = render_street(
            path,
            begins,
            &["--trajectory", "poses.tum", "--frames", "2"],
        );
        assert_eq!(run["frames"][0]["start_s"], 0.0, "{run}");
        ["depth_mm_0000.png", "depth_mm_0001.png", "flow_0001.png"]
            .map(|name| std::fs::read(path.join(begins).join(name)).expect("reads"))
    });
    assert!(pictures[0] == pictures[1], "pictures differ");
}

/// The three frames of 0.1 s need poses for that time, as sweeps do: in the file or in the scene.
#[test]
fn a_trajectory_shorter_than_the_frames_is_rejected_and_nothing_is_written() {
    let folder = folder();
    let path = folder.path();
    write(path, "small.toml", CAMERA);
    write(path, "street.toml", STREET);
    let moving = "motion.twist = { velocity_m_s = [2, 0, 0] }\n[[objects]]";
    assert!(STREET.contains(moving));
    let frames = |ends: &str| {
        let file = format!("motion.file = {{ path = \"{ends}.tum\" }}\n[[objects]]");
        let begins = 1_700_000_000.1;
        for (name, begins) in [
            (format!("{ends}.tum"), 0.0),
            (format!("file-{ends}.tum"), begins),
        ] {
            let ends = begins + ends.parse::<f64>().expect("a number");
            let poses = format!("{begins} 0 0 1 0 0 0 1\n{ends} 1 0 1 0 0 0 1\n");
            write(path, &name, poses);
        }
        write(path, &format!("{ends}.toml"), STREET.replace(moving, &file));
        let render = |scene: &str, more: &[&str]| {
            let words = [
                "render",
                scene,
                "--camera",
                "small.toml",
                "--samples",
                "1",
                "--frames",
                "3",
                "-o",
                "a.mcap",
            ];
            etendue(path, &[&words[..], more].concat())
        };
        [
            render(&format!("{ends}.toml"), &[]),
            render(
                "street.toml",
                &["--trajectory", &format!("file-{ends}.tum")],
            ),
        ]
    };
    for output in frames("0.09") {
        let message = stderr(&output);
        assert!(!output.status.success());
        assert!(message.contains("the run needs poses from"), "{message}");
        assert!(!path.join("a.mcap").exists());
    }
    for output in frames("0.1") {
        assert!(output.status.success(), "{}", stderr(&output));
    }
}

#[test]
fn a_camera_has_the_motion_of_the_sensor_of_the_scene() {
    let folder = folder();
    let path = folder.path();
    write(path, "small.toml", CAMERA);
    write(path, "street.toml", STREET);
    let run = render_street(path, "out", &["--frames", "31"]);
    // A second later, plus half of the exposure, the camera is 2 m ahead.
    let [x, start, exposure] = ["position_m", "start_s", "exposure_s"].map(|key| {
        let value = &run["frames"][30][key];
        value
            .as_f64()
            .or_else(|| value[0].as_f64())
            .expect("a number")
    });
    assert!((start - 1.0).abs() < 1e-12, "{start}");
    assert!((x - 2.0 * (start + 0.5 * exposure)).abs() < 1e-9, "{x}");
}

#[test]
fn invalid_renderings_are_errors_with_a_remedy() {
    let folder = folder();
    let path = folder.path();
    write(path, "small.toml", CAMERA);
    let error_of = |arguments: &[&str]| fail(path, &[&["render"], arguments].concat());
    let message = refuse(path, &["render", "-o", "out", "--camera", "fish-eye"]);
    assert!(message.contains("did you mean \"fisheye\"?"), "{message}");
    let bmp = ["render", "-o", "a.bmp", "--camera", "small.toml"];
    let message = refuse(path, &bmp);
    assert!(message.contains("not one of png, exr, mcap"), "{message}");
    let folding = CAMERA.replace(
        "pinhole = { horizontal_fov_deg = 70 }",
        "brown_conrady = { focal_px = [30, 30], distortion = [-0.9, 0, 0, 0] }",
    );
    write(path, "folding.toml", folding);
    let message = error_of(&["-o", "out", "--camera", "folding.toml"]);
    assert!(message.contains("cannot be inverted at pixel"), "{message}");
    let dark = "version = 1\n[[objects]]\nname = \"box\"\nshape.box = { size_m = [2, 2, 2] }\n\
        flip_normals = true\nmaterial = \"white-paint\"\n\
        [lights]\nspots = [{ position_m = [5, 0, 0], target_m = [6, 0, 0], half_angle_deg = 10, flux_lm = 5 }]\n";
    write(path, "dark.toml", dark);
    let message = error_of(&[
        "dark.toml",
        "-o",
        "out",
        "--camera",
        "small.toml",
        "--pose",
        "0,0,0,0",
    ]);
    assert!(message.contains("all black"), "{message}");
}

#[test]
fn a_scene_without_lights_is_lit_with_a_warning() {
    let folder = folder();
    write(folder.path(), "small.toml", CAMERA);
    let scene = "version = 1\n[[objects]]\nname = \"floor\"\nshape.plane = { size_m = [20, 20] }\n\
        material = \"concrete\"\n";
    write(folder.path(), "open.toml", scene);
    let arguments = [
        "render",
        "open.toml",
        "--camera",
        "small.toml",
        "--samples",
        "1",
        "--pose",
        "0,0,1,0",
        "-o",
        "open.png",
    ];
    let output = succeed(folder.path(), &arguments);
    assert!(
        stderr(&output).contains("lit by the sun"),
        "{}",
        stderr(&output)
    );
    assert_eq!(
        names(folder.path()),
        ["open.png", "open.toml", "small.toml"]
    );
}

#[test]
fn a_picture_without_a_surface_has_a_warning() {
    let folder = folder();
    write(
        folder.path(),
        "sky.toml",
        "version = 1\nname = \"sky\"\n[lights]\ndaylight = { sun_azimuth_deg = 160, sun_elevation_deg = 50 }\n[[objects]]\nname = \"floor\"\n\
         shape.plane = { size_m = [1.0, 1.0] }\nmaterial = \"wood\"\n",
    );
    write(folder.path(), "small.toml", CAMERA);
    let words = "render sky.toml --camera small.toml --samples 1 -o picture.png --pose";
    let words: Vec<&str> = words.split(' ').collect();
    let empty = succeed(folder.path(), &[&words[..], &["10,0,1,0"]].concat());
    assert!(stderr(&empty).contains("no pixel shows a surface"));
    let down = succeed(folder.path(), &[&words[..], &["0,0,1,0,90,0"]].concat());
    assert!(!stderr(&down).contains("no pixel shows a surface"));
}

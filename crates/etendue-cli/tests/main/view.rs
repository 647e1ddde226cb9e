//! `etendue view`.

use crate::{fail, folder, names, refuse, results, succeed, write};
use std::path::Path;

/// Size of a PNG file in pixels.
fn size(path: &Path) -> [u32; 2] {
    let bytes = std::fs::read(path).expect("a picture");
    assert!(bytes.starts_with(b"\x89PNG"), "{}", path.display());
    [16, 20].map(|at| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes")))
}

#[test]
fn scenes_sensors_profiles_points_and_sweeps_have_a_picture() {
    let folder = folder();
    let path = folder.path();
    let scene = "version = 1\n[[objects]]\nname = \"ball\"\nshape.sphere = { radius_m = 0.3 }\n\
                 material = \"wood\"\n";
    write(path, "ball.toml", scene);
    let sensor = results(path, &["sensors", "velodyne-vlp-16"]);
    write(path, "mine.toml", sensor);
    let lidar = ["--sensor", "mine.toml", "--sweeps", "2"];
    succeed(
        path,
        &[&["simulate", "glass-door", "-o", "scan.pcd"][..], &lidar].concat(),
    );
    succeed(
        path,
        &[&["simulate", "glass-door", "-o", "run.mcap"][..], &lidar].concat(),
    );
    succeed(path, &["simulate", "-o", "beams.csv"]);
    let wedge = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    write(path, "wedge.obj", wedge);
    // A name with a character that strings of Rust and of TOML escape in different ways
    write(path, "zero\u{200b}width.obj", wedge);
    for (file, picture) in [
        ("glass-door", "glass-door.png"),
        ("ball.toml", "ball.png"),
        ("velodyne-vlp-16", "velodyne-vlp-16.png"),
        ("hokuyo-urg-04lx", "hokuyo-urg-04lx.png"),
        ("mine.toml", "mine.png"),
        ("rplidar-a1-wood", "rplidar-a1-wood.png"),
        ("scan.pcd", "scan.png"),
        ("run.mcap#1", "run-0001.png"),
        ("beams.csv", "beams.png"),
        ("wedge.obj", "wedge.png"),
        ("zero\u{200b}width.obj", "zero\u{200b}width.png"),
    ] {
        let text = results(path, &["view", file, "--no-open"]);
        assert_eq!(text, format!("out/view/{picture}\n"), "{file}");
        let [width, height] = size(&path.join("out/view").join(picture));
        assert!(width > 700 && height > 300, "{file}: {width} x {height}");
    }
    // Points from above and from the side have axes of their own
    results(path, &["view", "scan.pcd", "-o", "scan.svg", "--no-open"]);
    let svg = std::fs::read_to_string(path.join("scan.svg")).expect("a picture");
    assert!(svg.contains(">y, m<") && svg.contains(">z, m<"), "{svg}");
    // Another file, and a picture, which is not drawn again
    assert_eq!(
        results(path, &["view", "arena", "-o", "a.svg", "--no-open"]),
        "a.svg\n"
    );
    assert_eq!(results(path, &["view", "a.svg", "--no-open"]), "a.svg\n");
    // The picture of a folder of results, and a folder for the picture
    succeed(path, &["simulate", "-o", "arena"]);
    assert_eq!(
        results(path, &["view", "./arena", "--no-open"]),
        "./arena/scan.png\n"
    );
    assert_eq!(
        results(path, &["view", "ball.toml", "-o", "drawn", "--no-open"]),
        "drawn/ball.png\n"
    );
}

#[test]
fn files_without_a_picture_are_refused_with_their_use() {
    let folder = folder();
    let camera = results(folder.path(), &["cameras", "raspberry-pi-v2"]);
    write(folder.path(), "camera.toml", camera);
    let message = fail(folder.path(), &["view", "camera.toml"]);
    assert!(
        message.contains("a camera file, which has no picture"),
        "{message}"
    );
    assert!(message.contains("give it with --camera"), "{message}");
    let message = refuse(folder.path(), &["view", "arena", "-o", "a.pdf"]);
    assert!(message.contains("ends in .png or .svg"), "{message}");
    for name in ["arenna.pcd", "arenna.png"] {
        let message = fail(folder.path(), &["view", name]);
        assert!(
            message.contains(&format!("{name} does not exist")),
            "{message}"
        );
    }
}

/// Names of pictures contain all that precedes the ending of the file, with its dots, and the number of a sweep.
#[test]
fn pictures_of_files_with_similar_names_differ() {
    let folder = folder();
    let table = "x,y,z,sweep\n1,2,3,0\n4,5,6,1\n";
    for name in ["a.1.csv", "a.2.csv"] {
        write(folder.path(), name, table);
        succeed(folder.path(), &["view", name, "--no-open", "-o", "out"]);
    }
    for name in ["a.1.csv#0", "a.1.csv#1"] {
        succeed(folder.path(), &["view", name, "--no-open", "-o", "out"]);
    }
    let pictures = ["a.1-0000.png", "a.1-0001.png", "a.1.png", "a.2.png"];
    assert_eq!(names(&folder.path().join("out")), pictures);
}

//! Warnings about sensors where no sensor can be.

use crate::{folder, stderr, succeed, write};

const ROOM: &str = r#"version = 1
[sensor]
preset = "hokuyo-urg-04lx"
position_m = [0.3, 0.0, 0.0]
[[objects]]
name = "room"
shape.box = { size_m = [4.0, 3.0, 2.0] }
flip_normals = true
material = "white-paint"
[[objects]]
name = "box"
shape.box = { size_m = [0.2, 0.2, 0.2] }
position_m = [0.3, 0.0, 0.0]
material = "wood"
[[objects]]
name = "pane"
shape.plane = { size_m = [1.0, 1.0] }
rotation_deg = { pitch = 90 }
position_m = [-1.0, 0.0, 0.0]
material = "window-glass"
"#;

#[test]
fn a_sensor_inside_an_object_at_a_surface_or_outside_the_room_gets_a_warning() {
    let folder = folder();
    write(folder.path(), "room.toml", ROOM);
    for (pose, warning) in [
        (
            None,
            Some("(room.toml:4) is inside the object \"box\" (room.toml:11)"),
        ),
        (
            Some("-1.005,0.1,0,0"),
            Some("(--pose) is within 10 mm of the surface of \"pane\" (room.toml:16)"),
        ),
        (
            Some("2.5,0,0,180"),
            Some("(--pose) is outside the room \"room\" (room.toml:6)"),
        ),
        (Some("1,0,0,0"), None),
    ] {
        for output in ["scan.csv", "scan.mcap"] {
            let mut arguments = vec!["simulate", "room.toml", "-o", output];
            arguments.extend(pose.iter().flat_map(|pose| ["--pose", pose]));
            let text = stderr(&succeed(folder.path(), &arguments));
            match warning {
                Some(warning) => assert!(text.contains(warning), "{text}"),
                None => assert!(!text.contains("warning"), "{text}"),
            }
        }
    }
}

#[test]
fn a_trajectory_through_an_object_gets_a_warning_with_the_time() {
    let folder = folder();
    write(folder.path(), "room.toml", ROOM);
    let poses = "0 -0.5 0 0 0 0 0 1\n1 0.9 0 0 0 0 0 1\n";
    write(folder.path(), "drive.tum", poses);
    let arguments = [
        "simulate",
        "room.toml",
        "--trajectory",
        "drive.tum",
        "--sweeps",
        "9",
        "-o",
        "scan.csv",
    ];
    let text = stderr(&succeed(folder.path(), &arguments));
    // At 1.4 m/s the box begins after 0.5 s
    assert!(
        text.contains("at (0.2, 0, 0) m after 0.50 s (drive.tum) is"),
        "{text}"
    );
}

#[test]
fn a_lidar_of_a_robot_inside_an_object_gets_a_warning_with_the_line_of_its_name() {
    let folder = folder();
    write(folder.path(), "room.toml", ROOM);
    let robot = "version = 1\nscene = \"room.toml\"\nduration_s = 0.2\n\
                 motion.still = { position_m = [0.0, 0.0, 0.0] }\n[[sensors]]\nname = \"front\"\n\
                 position_m = [0.3, 0.0, 0.0]\ndevice.lidar = { preset = \"hokuyo-urg-04lx\" }\n";
    write(folder.path(), "robot.toml", robot);
    let text = stderr(&succeed(folder.path(), &["run", "robot.toml"]));
    let warning = "front at (0.3, 0, 0) m (robot.toml:6) is inside the object \"box\"";
    assert!(text.contains(warning), "{text}");
    let elsewhere = robot.replace("position_m = [0.3", "position_m = [1.0");
    write(folder.path(), "robot.toml", elsewhere);
    let text = stderr(&succeed(folder.path(), &["run", "robot.toml"]));
    assert!(!text.contains("is inside"), "{text}");
}

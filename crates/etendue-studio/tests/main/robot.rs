//! Robots with several sensors.

use crate::page::{Page, Server, header};
use serde_json::json;

const CART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cart.toml");

#[test]
fn the_run_of_a_robot_has_the_data_of_each_sensor() {
    let server = Server::start(CART);
    let page = Page::open(&server);
    let robot = page.state["robot"].clone();
    assert_eq!(robot["name"], "cart", "{robot}");
    assert_eq!(page.state["scene_name"], "arena");
    let outputs = robot["outputs"].as_array().unwrap();
    let number = |name: &str| outputs.iter().position(|one| one["name"] == name).unwrap();
    let is_done = || header(&server.get("robot/at/0").1)["is_done"] == true;
    while !is_done() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }

    // Counts of a run of 10 s: 100 Hz, 5 Hz
    for (name, columns, rows) in [("imu", 6, 1000), ("gnss", 3, 50), ("left_wheel", 1, 500)] {
        let (status, series) = server.get(&format!("robot/series/{}", number(name)));
        let header = header(&series);
        assert_eq!(
            (status, header["rows"].as_u64()),
            (200, Some(rows)),
            "{header}"
        );
        assert_eq!(header["names"].as_array().unwrap().len(), columns);
    }
    // At 5 s, sweeps of 0.1 s have arrived with a lag of 20 ms
    let (_, arrived) = server.get("robot/at/5000000000");
    let arrived = header(&arrived);
    let clouds = arrived["clouds"].as_array().unwrap();
    assert_eq!(clouds.len(), 2, "{arrived}");
    for cloud in clouds {
        let arrival = cloud["arrival"].as_f64().unwrap();
        assert!((4.8..=5.0).contains(&arrival), "{cloud}");
        assert!(cloud["points"].as_u64().unwrap() > 100, "{cloud}");
    }
    // The cart is on its circle about (0, 0) of radius 0.2 m
    let base = &arrived["poses"][0];
    let at = [0, 1].map(|axis| base[axis].as_f64().unwrap());
    assert!((at[0].hypot(at[1]) - 0.2).abs() < 1e-6, "{base}");
    // Nothing has arrived at the start, and there is no such output
    let (_, start) = server.get("robot/at/0");
    assert_eq!(header(&start)["clouds"], json!([]));
    assert_eq!(server.get("robot/series/99").0, 404);
    assert_eq!(server.get("robot/picture/0/0").0, 404);
}

#[test]
fn a_broken_robot_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cart.toml");
    let text = std::fs::read_to_string(CART).unwrap();
    std::fs::write(&path, text.replace("rate_hz = 100.0", "rate_hz = 0.0")).unwrap();
    let refusal = Server::try_start(&path.display().to_string())
        .err()
        .unwrap();
    assert!(
        refusal.message.contains("cart.toml:") && refusal.message.contains("rate_hz is 0.0 Hz"),
        "{}",
        refusal.message
    );
}

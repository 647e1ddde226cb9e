//! Pages and the session.

use crate::page::{Page, Server, header};
use serde_json::{Value as Json, json};

fn set(path: &Json, value: &Json) -> Json {
    json!([{ "set": { "document": "scene", "path": path, "value": value } }])
}

fn reflectance(page: &Page) -> f64 {
    page.state["scene"]["toml"]["materials"]["wall"]["diffuse"]["reflectance"]
        .as_f64()
        .unwrap()
}

#[test]
fn two_pages_see_the_same_state_and_the_same_sweep() {
    let server = Server::start("arena");
    let (mut first, mut second) = (Page::open(&server), Page::open(&server));
    assert_eq!(first.sweep, second.sweep);
    let before = first.sweep.clone();
    let revision = first.edit(
        1,
        &set(
            &json!(["materials", "wall", "diffuse", "reflectance"]),
            &json!(0.25),
        ),
    );
    second.until_revision(revision);
    assert_eq!(reflectance(&second), 0.25);
    assert_eq!(first.sweep, second.sweep);
    assert_ne!(first.sweep, before);
    // Each page can undo the other's change
    second.request(&json!("undo"));
    first.until_revision(revision + 1);
    assert_eq!(reflectance(&first), 0.8);
}

#[test]
fn edits_of_a_gesture_are_one_step_and_the_last_one_holds() {
    let server = Server::start("arena");
    let mut page = Page::open(&server);
    let path = json!(["materials", "wall", "diffuse", "reflectance"]);
    let ids: Vec<u64> = (0..200)
        .map(|step| {
            let edits = set(&path, &json!(0.1 + 0.001 * f64::from(step)));
            page.send(&json!({ "edit": { "gesture": 5, "edits": edits } }))
        })
        .collect();
    // Every edit is answered, and few of them are simulated
    let mut answered = 0;
    while answered < ids.len() {
        let answer = page.receive().unwrap();
        answered += usize::from(answer["ok"]["revision"].is_u64());
        assert!(answer["refusal"].is_null(), "{answer}");
    }
    page.until(|page| (reflectance(page) - 0.299).abs() < 1e-9);
    assert_eq!(page.state["steps"], json!([1, 0]));
    page.request(&json!("undo"));
    page.until(|page| page.state["steps"] == json!([0, 1]));
    assert_eq!(reflectance(&page), 0.8);
    page.request(&json!("redo"));
    page.until(|page| page.state["steps"] == json!([1, 0]));
    assert!((reflectance(&page) - 0.299).abs() < 1e-9);
}

#[test]
fn an_impossible_edit_names_the_place_and_changes_nothing() {
    let server = Server::start("arena");
    let mut page = Page::open(&server);
    let edits = set(
        &json!(["materials", "wall", "diffuse", "reflectance"]),
        &json!(1.5),
    );
    let answer = page.request(&json!({ "edit": { "gesture": 1, "edits": edits } }));
    let message = answer["refusal"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("arena.toml:") && message.contains("wall"),
        "{message}"
    );
    assert_eq!(page.state["steps"], json!([0, 0]));
    assert_eq!(reflectance(&page), 0.8);
}

#[test]
fn a_beam_has_its_truth_its_signal_and_its_rays() {
    let server = Server::start("arena");
    let mut page = Page::open(&server);
    // The beam ahead hits the mirror, 0.4 m away, and measures the wall behind the sensor by way of it
    let beam = page.request(&json!({ "beam": 340 }))["ok"].take();
    assert_eq!(beam["truth"]["object"], "mirror");
    assert!(
        (beam["truth"]["range"].as_f64().unwrap() - 0.4).abs() < 1e-3,
        "{beam}"
    );
    assert_eq!(beam["returns"][0]["object"], "room");
    assert!(
        (beam["returns"][0]["range"].as_f64().unwrap() - 1.725).abs() < 0.02,
        "{beam}"
    );
    assert_eq!(beam["signal"]["kind"], "phasors");
    // The ray goes to the mirror, back through the pane and to the wall
    let path = beam["paths"][0]["points"].as_array().unwrap();
    let x: Vec<f64> = path.iter().filter_map(|point| point[0].as_f64()).collect();
    assert_eq!(x.len(), 4, "{beam}");
    assert!(
        (x[1] - 0.4).abs() < 1e-9 && (x[3] + 0.925).abs() < 1e-6,
        "{beam}"
    );
    assert!(x[2] < -0.4 && x[2] > -0.6, "{beam}");
    // A pulsed lidar has a waveform
    page.edit(1, &json!([{ "sensor": "velodyne-vlp-16" }]));
    let [rows, columns] = [0, 1].map(|at| header(&page.sweep)["image"][at].as_u64().unwrap());
    let beam = page.request(&json!({ "beam": (rows / 2) * columns }))["ok"].take();
    assert_eq!(beam["signal"]["kind"], "waveform", "{beam}");
    let samples = beam["signal"]["samples"].as_array().unwrap();
    let highest = samples.iter().filter_map(Json::as_f64).fold(0.0, f64::max);
    assert!(
        highest > beam["signal"]["threshold"].as_f64().unwrap(),
        "{beam}"
    );
}

#[test]
fn a_fit_to_a_kept_sweep_finds_the_pose_back() {
    let server = Server::start("arena");
    let mut page = Page::open(&server);
    page.request(&json!("keep"));
    page.until(|page| page.state["recording"]["has_beams"] == true);
    page.edit(1, &json!([{ "pose": [0.05, 0.03, 0.0, 4.0, 0.0, 0.0] }]));
    let started =
        page.request(&json!({ "fit": { "unknowns": [{ "path": "sensor.pose" }], "scan": 0 } }));
    assert!(started["refusal"].is_null(), "{started}");
    page.until(|page| {
        page.events
            .last()
            .is_some_and(|event| event["event"] != "iteration")
    });
    assert!(page.events.len() > 2, "{:?}", page.events);
    let done = page.events.last().unwrap();
    assert_eq!(done["event"], "done", "{done}");
    assert_eq!(done["verdict"], "good", "{done}");
    // The truth is the origin; measured: 0.2 mm and 0.01 degrees off
    let pose: Vec<f64> = done["estimate"][0]["pose"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Json::as_f64)
        .collect();
    assert!(
        pose[0].abs() < 2e-3 && pose[1].abs() < 2e-3 && pose[3].abs() < 0.15,
        "{done}"
    );
    assert!(
        done["ellipse"]["semi_axes"][0].as_f64().unwrap() > 0.0,
        "{done}"
    );
}

#[test]
fn a_comparison_with_the_kept_sweep_has_no_differences() {
    let server = Server::start("arena");
    let mut page = Page::open(&server);
    page.request(&json!("keep"));
    let path = format!("/{}/comparison/0/sensor/numbers", server.token);
    let answer = server.raw(&format!(
        "GET {path} HTTP/1.0\r\n{}\r\n",
        server.own_headers()
    ));
    assert!(
        answer.contains("[\"Chamfer distance\",\"0.0000 m\"]"),
        "{}",
        &answer[..600.min(answer.len())]
    );
    assert_eq!(
        server.status(
            &format!("/{}/comparison/1/sensor/points", server.token),
            &server.own_headers()
        ),
        204
    );
}

#[test]
fn a_profile_has_its_curves_over_incidence() {
    let server = Server::start("arena");
    let mut page = Page::open(&server);
    let profile = page.request(&json!({ "profile": "rplidar-a1-wood" }))["ok"].take();
    let bias = &profile["quantities"][0];
    assert_eq!(
        (bias["name"].as_str(), bias["unit"].as_str()),
        (Some("bias"), Some("mm"))
    );
    // The first knot of the file: 1.131 mm, with a standard error of 0.038 mm
    assert!(
        (bias["values"][0].as_f64().unwrap() - 1.131).abs() < 0.01,
        "{bias}"
    );
    assert!(
        (bias["high"][0].as_f64().unwrap() - 1.131 - 1.96 * 0.038).abs() < 0.01,
        "{bias}"
    );
    assert!(page.request(&json!({ "profile": "/etc/passwd" }))["refusal"].is_object());
}

/// Edits the pose of the sensor; the header of the first sweep that shows it.
fn move_sensor(page: &mut Page, gesture: u64, step: u32) -> Json {
    let edits = json!([{ "pose": [0.01 * f64::from(step), 0, 1, 0, 0, 0] }]);
    let answer = page.request(&json!({ "edit": { "gesture": gesture, "edits": edits } }));
    let revision = answer["ok"]["revision"].as_u64().unwrap();
    page.until(|page| header(&page.sweep)["revision"].as_u64().unwrap() >= revision);
    header(&page.sweep)
}

#[test]
fn edits_go_on_while_a_slow_sweep_is_simulated_and_the_whole_one_follows() {
    let server = Server::start("glass-door");
    let mut page = Page::open(&server);
    page.edit(1, &json!([{ "sensor": "ouster-os1-128" }]));
    // Edits are shown by coarse sweeps
    for step in 1..6 {
        let shown = move_sensor(&mut page, 2, step);
        assert!(shown["every"].as_u64().unwrap() > 1, "{shown}");
        assert!(shown["beams"].as_u64().unwrap() < 131_072 / 2);
    }
    // A question waits for the whole sweep, and edits go on meanwhile
    let asked = header(&page.sweep)["revision"].as_u64().unwrap();
    let question = page.send(&json!({ "beam": 5000 }));
    let mut answered = None;
    let mut last = 0;
    for step in 6..400 {
        let edits = json!([{ "pose": [0.01 * f64::from(step), 0, 1, 0, 0, 0] }]);
        let edit = page.send(&json!({ "edit": { "gesture": 3, "edits": edits } }));
        loop {
            let answer = page.receive().unwrap();
            if answer["id"] == question {
                answered = answer["ok"]["revision"].as_u64();
            }
            if answer["id"] == edit {
                last = answer["ok"]["revision"].as_u64().unwrap();
                break;
            }
        }
        if answered.is_some() {
            break;
        }
    }
    let answered = answered.expect("the beam, before the edits rest");
    assert!(
        (asked..last).contains(&answered),
        "{asked} {answered} {last}"
    );
    // At rest the whole sweep follows, with the state
    page.until_revision(last);
    let shown = header(&page.sweep);
    assert_eq!(shown["beams"], 131_072);
    assert_eq!(shown["revision"], last);
    assert_eq!(page.state["revision"], last);
}

#[test]
fn a_kept_sweep_is_not_simulated_again() {
    let server = Server::start("glass-door");
    let mut page = Page::open(&server);
    let revision = page.edit(1, &json!([{ "sensor": "velodyne-vlp-16" }]));
    let before = header(&page.sweep)["timing"].clone();
    assert!(page.request(&json!("keep"))["refusal"].is_null());
    page.until_revision(revision + 1);
    assert!(page.state["recording"].is_object());
    assert_eq!(header(&page.sweep)["timing"], before);
}

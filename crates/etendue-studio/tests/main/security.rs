//! Who may use the server, and what it reads.

use crate::page::{Page, Server};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

#[test]
fn requests_without_the_token_are_refused() {
    let server = Server::start("arena");
    let own = server.own_headers();
    let token = &server.token;
    let wrong = "0".repeat(token.len());
    for path in [
        "/",
        "/index.html",
        "/socket",
        &format!("/{wrong}/"),
        &format!("/{wrong}/sweep.pcd"),
        &format!("/{}/sweep.pcd", &token[1..]),
    ] {
        assert_eq!(server.status(path, &own), 403, "{path}");
    }
    assert_eq!(server.status(&format!("/{token}/sweep.pcd"), &own), 200);
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    let server = Server::start("arena");
    let path = format!("/{}/sweep.pcd", server.token);
    let host = &server.host;
    let port = host.rsplit(':').next().unwrap();
    for headers in [
        // DNS rebinding: another name that leads to this computer
        "Host: evil.example\r\n".to_owned(),
        format!("Host: evil.example:{port}\r\n"),
        format!("Host: {host}.evil.example\r\n"),
        // A page of another server
        format!("Host: {host}\r\nOrigin: http://evil.example\r\n"),
        format!("Host: {host}\r\nOrigin: http://127.0.0.1:1\r\n"),
        format!("Host: {host}\r\nOrigin: null\r\n"),
        format!("Host: {host}\r\nOrigin: https://{host}\r\n"),
    ] {
        assert_eq!(server.status(&path, &headers), 403, "{headers}");
        let socket = format!("/{}/socket", server.token);
        assert_eq!(server.status(&socket, &headers), 403, "{headers}");
    }
    for own in [host.clone(), format!("localhost:{port}")] {
        assert_eq!(
            server.status(&path, &format!("Host: {own}\r\n")),
            200,
            "{own}"
        );
        let headers = format!("Host: {own}\r\nOrigin: http://{own}\r\n");
        assert_eq!(server.status(&path, &headers), 200, "{own}");
    }
}

#[test]
fn answers_forbid_frames_and_other_sources() {
    let server = Server::start("arena");
    let answer = server.raw(&format!(
        "GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        server.host
    ));
    let answer = answer.to_lowercase();
    for header in [
        "default-src 'self'",
        "frame-ancestors 'none'",
        "x-frame-options: deny",
        "referrer-policy: no-referrer",
        "nosniff",
    ] {
        assert!(answer.contains(header), "{header}: {answer}");
    }
}

#[test]
fn no_path_leads_out_of_the_page() {
    let server = Server::start("arena");
    let own = server.own_headers();
    for path in [
        "../Cargo.toml",
        "..%2f..%2fCargo.toml",
        "%2e%2e/Cargo.toml",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "mesh/../../x",
        "mesh/99999",
    ] {
        let status = server.status(&format!("/{}/{path}", server.token), &own);
        assert!([400, 403, 404].contains(&status), "{path}: {status}");
    }
}

#[test]
fn edits_do_not_read_files_outside_the_opened_folders() {
    let server = Server::start("arena");
    let mut page = Page::open(&server);
    let before = page.state["revision"].clone();
    let outside = std::env::temp_dir().join("etendue-studio-outside.ply");
    std::fs::write(&outside, "ply").unwrap();
    let outside = outside.display().to_string();
    for file in [
        outside.as_str(),
        "/etc/passwd",
        "../../../../../../etc/passwd",
        "${HOME}/x.ply",
    ] {
        let object =
            json!({ "name": "x", "material": "wood", "shape": { "mesh": { "file": file } } });
        for edit in [
            json!({ "set": { "document": "scene", "path": ["objects", 3], "value": object } }),
            json!({ "text": { "document": "scene", "text": format!("version = 1\n[[objects]]\nname = 'x'\nmaterial = 'wood'\nshape.mesh = {{ file = '{file}' }}\n") } }),
        ] {
            let answer = page.request(&json!({ "edit": { "gesture": 1, "edits": [edit] } }));
            let message = answer["refusal"]["message"].as_str().unwrap_or_default();
            assert!(
                message.contains("outside the opened folders"),
                "{file}: {answer}"
            );
        }
    }
    // Scenes are opened by their built-in name only
    let answer = page.request(&json!({ "open": { "scene": "/etc/passwd" } }));
    assert!(answer["refusal"].is_object(), "{answer}");
    assert_eq!(
        page.request(&json!({ "text": "scene" }))["ok"]["text"]
            .as_str()
            .map(|text| text.contains("mirror")),
        Some(true)
    );
    assert_eq!(page.state["revision"], before);
}

#[test]
fn uploads_are_bounded_and_have_plain_names() {
    let server = Server::start("arena");
    let post = |name: &str, length: usize, body: &str| {
        let head = format!(
            "POST /{}/upload/{name} HTTP/1.1\r\n{}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}",
            server.token,
            server.own_headers()
        );
        server.raw(&head)
    };
    let too_large = post("x.pcd", 300 << 20, "");
    assert!(too_large.starts_with("HTTP/1.1 413"), "{too_large}");
    let damaged = post("x.pcd", 5, "hello");
    assert!(
        damaged.starts_with("HTTP/1.1 422") && damaged.contains("remedy"),
        "{damaged}"
    );
    let hidden = post("..%2f.bashrc", 5, "hello");
    assert!(
        hidden.contains("the name of the file cannot be used"),
        "{hidden}"
    );
    // A message has the place of the mistake
    let scene = "version = 1\n[[objects]]\nname = \"x\"\nshape.sphere = { radios_m = 1 }\n";
    let mistaken = post("mine.toml", scene.len(), scene);
    assert!(
        mistaken.contains("mine.toml:4:18: unknown key") && mistaken.contains("did you mean"),
        "{mistaken}"
    );
    // Points become the recording
    let points = "x,y,z\n1,0,0\n0,1,0\n";
    let recording = post("points.csv", points.len(), points);
    assert!(
        recording.starts_with("HTTP/1.1 200") && recording.contains("\"scans\":1"),
        "{recording}"
    );
    let mut page = Page::open(&server);
    page.until(|page| page.state["recording"]["name"] == "points.csv");
}

#[test]
fn malformed_messages_never_end_the_server() {
    let server = Server::start("arena");
    let mut page = Page::open(&server);
    let words = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"id\"",
        "\"request\"",
        "\"edit\"",
        "\"edits\"",
        "\"set\"",
        "\"path\"",
        "\"document\"",
        "\"scene\"",
        "\"value\"",
        "\"beam\"",
        "\"reflectance\"",
        "\"gesture\"",
        "\"pose\"",
        "\"fit\"",
        "\"unknowns\"",
        "\"undo\"",
        "1",
        "-1",
        "1e999",
        "4294967296",
        "null",
        "\"objects\"",
        "\u{0}",
        "true",
    ]);
    let text = prop::collection::vec(words, 0..24).prop_map(|words| words.concat());
    let steps = prop::collection::vec(
        prop_oneof![
            any::<u16>().prop_map(|n| json!(n)),
            "[a-z_]{0,8}".prop_map(|key| json!(key)),
            Just(json!("objects")),
            Just(json!("materials"))
        ],
        0..6,
    );
    let number = prop_oneof![
        Just(json!(null)),
        any::<f64>().prop_map(|n| json!(n)),
        "\\PC{0,8}".prop_map(|s| json!(s)),
        Just(json!([])),
        Just(json!({}))
    ];
    let edit = (steps, number).prop_map(|(path, value)| {
        json!({ "id": 7, "request": { "edit": { "gesture": 1, "edits": [{ "set": { "document": "scene", "path": path, "value": value } }] } } }).to_string()
    });
    let mut runner = TestRunner::new(Config {
        cases: 300,
        failure_persistence: None,
        ..Config::default()
    });
    let mut sent = 0;
    let page_cell = std::cell::RefCell::new((&mut page, &mut sent));
    runner
        .run(
            &prop_oneof![text, edit, "\\PC{0,64}".prop_map(|text| text)],
            |text| {
                let mut cell = page_cell.borrow_mut();
                cell.0.send_text(&text);
                *cell.1 += 1;
                Ok(())
            },
        )
        .unwrap();
    assert_eq!(sent, 300);
    // Binary messages and unknown numbers are answered too
    for request in [
        json!({ "beam": u32::MAX }),
        json!({ "reflectance": u32::MAX }),
        json!({ "fit": { "unknowns": [], "scan": 0 } }),
    ] {
        let answer = page.request(&request);
        assert!(answer["refusal"].is_object(), "{request}: {answer}");
    }
    let answer = page.request(&json!({ "text": "scene" }));
    assert!(answer["ok"]["text"].is_string(), "{answer}");
}

#[test]
fn a_message_that_is_too_long_ends_its_connection_only() {
    let server = Server::start("arena");
    let mut page = Page::open(&server);
    page.send_text(&"x".repeat(2 << 20));
    while page.receive().is_some() {}
    let mut other = Page::open(&server);
    assert!(other.request(&json!({ "text": "scene" }))["ok"].is_object());
}

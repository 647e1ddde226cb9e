//! The files of the page, embedded in the program.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

/// The built page.
#[derive(RustEmbed)]
#[folder = "page/dist"]
#[allow_missing = true]
struct Page;

/// Answer of a program that was built without the page.
const MISSING: &str = "This etendue was built without the page of the studio: build it with `just studio`, which needs Node.";

/// Whether the program contains the page.
pub fn is_embedded() -> bool {
    Page::get("index.html").is_some()
}

/// The page.
pub async fn index() -> Response {
    match Page::get("index.html") {
        Some(_) => embedded("index.html"),
        None => (StatusCode::NOT_FOUND, MISSING).into_response(),
    }
}

/// A file of the page.
pub async fn file(Path((_, name)): Path<(String, String)>) -> Response {
    embedded(&name)
}

fn embedded(name: &str) -> Response {
    let Some(file) = Page::get(name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    ([(header::CONTENT_TYPE, kind)], file.data.into_owned()).into_response()
}

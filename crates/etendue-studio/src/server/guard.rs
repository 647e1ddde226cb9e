//! Requests that are accepted: those with the token of the session, from pages of this server.

use crate::refusal::Refusal;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::SocketAddr;
use std::sync::Arc;

/// Headers of every answer. The page loads nothing from elsewhere, is not framed, and does not give its address away.
const HEADERS: [(header::HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws: wss:; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
];

/// Token and addresses of the server.
#[derive(Debug)]
pub struct Guard {
    token: String,
    /// Values of `Host` that name this server.
    hosts: Vec<String>,
    /// Port of a server that listens on all addresses: any address with it names the server. Names do not, because
    /// a foreign name may lead here.
    port_of_any: Option<u16>,
}

impl Guard {
    /// A guard with a new random token.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub fn new(address: SocketAddr) -> Result<Self, Refusal> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)
            .map_err(|error| Refusal::new(format!("no random token: {error}"), "try again"))?;
        let token: Vec<String> = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let port = address.port();
        let mut hosts = vec![address.to_string()];
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}")));
        }
        Ok(Self {
            token: token.concat(),
            hosts,
            port_of_any: address.ip().is_unspecified().then_some(port),
        })
    }

    /// The token.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Why a request is refused, if it is.
    fn refusal(&self, path: &str, headers: &HeaderMap) -> Option<&'static str> {
        let text = |value: &HeaderValue| value.to_str().map(str::to_ascii_lowercase).ok();
        let host = headers.get(header::HOST).and_then(text);
        let is_known = |host: &str| {
            let address = host.parse::<SocketAddr>();
            let is_own = |port| address.is_ok_and(|address| address.port() == port);
            self.hosts.iter().any(|known| known == host) || self.port_of_any.is_some_and(is_own)
        };
        if !host.as_deref().is_some_and(is_known) {
            return Some("this name does not belong to the server");
        }
        // A page of another server may not use this one; programs without an origin need the token, and so does
        // Foxglove, which is a page of another server
        // A path begins with a slash: its first step is empty
        let mut steps = path.split('/').skip(1);
        let token = steps.next().unwrap_or_default();
        let is_foxglove = steps.eq(["foxglove"]);
        if let Some(origin) = headers.get(header::ORIGIN).filter(|_| !is_foxglove) {
            let origin = text(origin);
            let own = origin
                .as_deref()
                .and_then(|origin| origin.strip_prefix("http://"));
            if !own.is_some_and(is_known) {
                return Some("pages of other servers may not use this one");
            }
        }
        let is_same = same(token.as_bytes(), self.token.as_bytes());
        (!is_same).then_some("the token is missing: use the address that etendue studio printed")
    }
}

/// Whether two texts are the same, in a time that does not depend on where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .fold(0, |differences, (a, b)| differences | (a ^ b))
            == 0
}

/// Refuses requests of others, and adds the headers to the answers.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let refusal = guard.refusal(request.uri().path(), request.headers());
    let mut response = match refusal {
        Some(reason) => (StatusCode::FORBIDDEN, reason).into_response(),
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_all_addresses_is_named_by_addresses_only() {
        let guard = Guard::new("0.0.0.0:8000".parse().unwrap()).unwrap();
        let path = format!("/{}/", guard.token());
        let is_refused = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            guard.refusal(&path, &headers).is_some()
        };
        for own in ["192.168.1.5:8000", "[fd00::1]:8000", "localhost:8000"] {
            assert!(!is_refused(own), "{own}");
        }
        for foreign in ["evil.example:8000", "192.168.1.5:8001", "192.168.1.5"] {
            assert!(is_refused(foreign), "{foreign}");
        }
    }
}

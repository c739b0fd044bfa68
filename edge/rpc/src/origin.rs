//! Which pages a browser may ask for: a page of a stranger must not steer a developer's node.
//!
//! The server sends no CORS headers, so that no page of another origin reads an answer. That does not keep such a page from sending a
//! request, from opening a WebSocket, or from having a name of its own lead here (DNS rebinding). Whoever is no browser sends no `Origin`.

use crate::refusal::Refusal;
use axum::http::{
    HeaderMap, HeaderValue, Method, Uri, header,
    uri::{Authority, PathAndQuery},
};
use cowboy_api::{
    Endpoint,
    error::{FOREIGN_ORIGIN, WRONG_CONTENT_TYPE},
};
use cowboy_host::loopback;
use serde_json::json;

/// Refuses what a page of another origin asks: of dev methods and the faucet anything, of others the WebSocket.
pub(crate) fn check(endpoint: Endpoint, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    let is_dev = endpoint.method().path.starts_with("/dev/");
    if !is_dev && !matches!(endpoint, Endpoint::Faucet | Endpoint::Socket) {
        return Ok(());
    }
    let host = host(uri, headers);
    let is_here = host.as_ref().is_some_and(is_loopback);
    if is_dev && !is_here {
        let host = host.map(|host| host.to_string());
        return Err(Refusal::new(FOREIGN_ORIGIN, json!({ "host": host, "reason": "dev methods are asked for by a name of the loopback" })));
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let from = origin.to_str().ok().and_then(authority_of);
        let is_same = from.is_some() && from == host;
        // A page that is served from this machine may listen, as it could by any other program.
        let may_listen = endpoint == Endpoint::Socket && is_here && from.as_ref().is_some_and(is_loopback);
        if !is_same && !may_listen {
            let origin = String::from_utf8_lossy(origin.as_bytes()).into_owned();
            return Err(Refusal::new(FOREIGN_ORIGIN, json!({ "origin": origin, "host": host.map(|host| host.to_string()) })));
        }
    }
    if endpoint != Endpoint::Socket && !is_json(headers) { Err(WRONG_CONTENT_TYPE.into()) } else { Ok(()) }
}

/// Refuses what a page asks of the operator's endpoint, which has no pages of its own: of whatever origin, and by whatever name.
pub(crate) fn check_admin(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    let host = host(uri, headers);
    if !host.as_ref().is_some_and(is_loopback) {
        let host = host.map(|host| host.to_string());
        let reason = "the operator's endpoint is asked for by a name of the loopback";
        return Err(Refusal::new(FOREIGN_ORIGIN, json!({ "host": host, "reason": reason })));
    }
    // Who types the address into a browser is no page.
    let is_of_page = |site: &HeaderValue| site.as_bytes() != b"none";
    if headers.contains_key(header::ORIGIN) || headers.get(SITE).is_some_and(is_of_page) {
        return Err(Refusal::new(FOREIGN_ORIGIN, json!({ "reason": "no page may ask the operator's endpoint" })));
    }
    if method.is_safe() || is_json(headers) { Ok(()) } else { Err(WRONG_CONTENT_TYPE.into()) }
}

/// The header in which a browser says whose page a request is for.
const SITE: &str = "sec-fetch-site";

/// Whether the body is declared as JSON. A browser asks the server before it sends that to another origin, and this server does not agree.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// The name and port by which the server is asked.
fn host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    match headers.get(header::HOST) {
        Some(host) => host.to_str().ok()?.to_ascii_lowercase().parse().ok(),
        None => uri.authority().cloned(),
    }
}

/// The name and port of an origin; none of `null`.
fn authority_of(origin: &str) -> Option<Authority> {
    let uri: Uri = origin.to_ascii_lowercase().parse().ok()?;
    let is_bare = uri.path_and_query().is_none_or(|path| *path == PathAndQuery::from_static("/"));
    uri.scheme().filter(|_| is_bare)?;
    uri.authority().cloned()
}

fn is_loopback(authority: &Authority) -> bool {
    loopback::is_host(authority.host())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_pages_are_refused() {
        const JSON: &str = "application/json";
        let (here, evil) = ("localhost:4000", "http://evil.example.com");
        let rows: &[(Endpoint, &str, &str, &str, Result<(), u16>)] = &[
            (Endpoint::DevMine, here, "", JSON, Ok(())),
            (Endpoint::DevMine, "127.0.0.1:4000", "", "application/json; charset=utf-8", Ok(())),
            (Endpoint::DevMine, "[::1]:4000", "http://[::1]:4000", JSON, Ok(())),
            (Endpoint::DevMine, "LocalHost:4000", "http://localhost:4000", JSON, Ok(())),
            (Endpoint::DevMine, "evil.example.com", "", JSON, Err(403)),
            (Endpoint::DevMine, "127.0.0.1.evil.example.com", "", JSON, Err(403)),
            (Endpoint::DevMine, "localhost@evil.example.com", "", JSON, Err(403)),
            (Endpoint::DevMine, "", "", JSON, Err(403)),
            (Endpoint::DevMine, here, evil, JSON, Err(403)),
            (Endpoint::DevMine, here, "null", JSON, Err(403)),
            (Endpoint::DevMine, here, "http://localhost:5173", JSON, Err(403)),
            (Endpoint::DevMine, here, "", "text/plain", Err(415)),
            (Endpoint::DevSnapshot, here, "", "", Err(415)),
            (Endpoint::Faucet, "devnet.example.com", "", JSON, Ok(())),
            (Endpoint::Faucet, "devnet.example.com", evil, JSON, Err(403)),
            (Endpoint::Faucet, here, "", "text/plain", Err(415)),
            (Endpoint::Socket, here, "", "", Ok(())),
            (Endpoint::Socket, here, "http://localhost:5173", "", Ok(())),
            (Endpoint::Socket, "node.example.com", "https://node.example.com", "", Ok(())),
            (Endpoint::Socket, here, evil, "", Err(403)),
            (Endpoint::Socket, here, "file:///tmp/localhost", "", Err(403)),
            (Endpoint::Socket, "node.example.com", "http://localhost:5173", "", Err(403)),
            // What only reads, or is signed, anybody may send.
            (Endpoint::Submit, "node.example.com", evil, "text/plain", Ok(())),
            (Endpoint::Height, "evil.example.com", evil, "", Ok(())),
        ];
        for (endpoint, host, origin, kind, expected) in rows {
            let mut headers = HeaderMap::new();
            for (name, value) in [(header::HOST, host), (header::ORIGIN, origin), (header::CONTENT_TYPE, kind)] {
                if !value.is_empty() {
                    headers.insert(name, HeaderValue::from_static(value));
                }
            }
            let found = check(*endpoint, &Uri::from_static("/"), &headers).map_err(|refusal| refusal.0.status());
            assert_eq!(found, *expected, "{endpoint:?} {host} {origin} {kind}");
        }
        let by_uri = check(Endpoint::DevMine, &Uri::from_static("http://evil.example.com/dev/mine"), &HeaderMap::new());
        assert_eq!(by_uri.map_err(|refusal| refusal.0.status()), Err(403), "HTTP/2 has no Host header");
    }
    /// No page asks the operator's endpoint, whatever its origin and whatever name it found for the loopback.
    #[test]
    fn pages_are_refused_by_the_operators_endpoint() {
        const JSON: &str = "application/json";
        let here = "localhost:4001";
        let rows: &[(Method, &str, &str, &str, &str, Result<(), u16>)] = &[
            (Method::GET, here, "", "", "", Ok(())),
            (Method::GET, "127.0.0.1:4001", "", "", "", Ok(())),
            (Method::GET, "[::1]:4001", "", "none", "", Ok(())),
            (Method::PUT, here, "", "", JSON, Ok(())),
            (Method::POST, here, "", "none", JSON, Ok(())),
            (Method::GET, "evil.example.com", "", "", "", Err(403)),
            (Method::GET, "evil.example.com:4001", "", "none", "", Err(403)),
            (Method::GET, "127.0.0.1.evil.example.com", "", "", "", Err(403)),
            (Method::GET, "192.0.2.1:4001", "", "", "", Err(403)),
            (Method::GET, "", "", "", "", Err(403)),
            (Method::GET, here, "http://localhost:4001", "", "", Err(403)),
            (Method::GET, here, "null", "", "", Err(403)),
            (Method::GET, here, "", "cross-site", "", Err(403)),
            (Method::GET, here, "", "same-origin", "", Err(403)),
            (Method::PUT, here, "http://evil.example.com", "", JSON, Err(403)),
            (Method::PUT, here, "", "", "text/plain", Err(415)),
            (Method::POST, here, "", "", "", Err(415)),
        ];
        for (method, host, origin, site, kind, expected) in rows {
            let mut headers = HeaderMap::new();
            let site_name = header::HeaderName::from_static(SITE);
            for (name, value) in [(header::HOST, host), (header::ORIGIN, origin), (site_name, site), (header::CONTENT_TYPE, kind)] {
                if !value.is_empty() {
                    headers.insert(name, HeaderValue::from_static(value));
                }
            }
            let found = check_admin(method, &Uri::from_static("/peers"), &headers).map_err(|refusal| refusal.0.status());
            assert_eq!(found, *expected, "{method} {host} {origin} {site} {kind}");
        }
        let by_uri = check_admin(&Method::GET, &Uri::from_static("http://evil.example.com/peers"), &HeaderMap::new());
        assert_eq!(by_uri.map_err(|refusal| refusal.0.status()), Err(403), "HTTP/2 has no Host header");
    }
}

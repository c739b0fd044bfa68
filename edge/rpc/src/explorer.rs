//! The explorer: files of `/web/explorer/site`, part of the program.

use axum::{
    extract::Path,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use include_dir::{Dir, include_dir};

static SITE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../web/explorer/site");

/// Where the explorer begins.
pub const PATH: &str = "/explorer/";

/// Nothing from elsewhere: no script, style, font or picture.
const POLICY: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, "default-src 'self'; base-uri 'none'; frame-ancestors 'none'"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-cache"),
];

/// The page that checks gateways' answers runs WebAssembly of ours, and asks gateways wherever they are.
const VERIFY_POLICY: &str =
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' http: https:; base-uri 'none'; frame-ancestors 'none'";

/// From `/` to the explorer.
pub(crate) async fn home() -> Redirect {
    Redirect::temporary(PATH)
}

/// The page itself.
pub(crate) async fn index() -> Response {
    file("index.html")
}

/// One of its files.
pub(crate) async fn asset(Path(path): Path<String>) -> Response {
    file(&path)
}

fn file(path: &str) -> Response {
    match SITE.get_file(path) {
        Some(file) => {
            let mut response = (POLICY, [(header::CONTENT_TYPE, content_type(path))], file.contents()).into_response();
            if path.starts_with("verify/") {
                response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(VERIFY_POLICY));
            }
            response
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("wasm") => "application/wasm",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

//! The explorer: files of `/web/explorer/site`, part of the program. But for the verifier, which is a program of its own and may
//! stand beside this one.

use axum::{
    extract::Path,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use include_dir::{Dir, include_dir};
use std::{env::current_exe, path::PathBuf};

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

/// The verifier's place among the explorer's files.
const VERIFIER: &str = "verify/verifier.wasm";

/// What `web/verifier/build.sh` puts beside the program.
const VERIFIER_FILE: &str = "verifier.wasm.gz";

const NO_VERIFIER: &str = "This node has no verifier. Run web/verifier/build.sh, which puts it beside cowboyd, and load the page again.";

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
    if path == VERIFIER { verifier(current_exe().ok().map(|program| program.with_file_name(VERIFIER_FILE))).await } else { file(&path) }
}

/// The verifier, compressed as it was built; read each time, so that a node need not stop for a newer one.
async fn verifier(built: Option<PathBuf>) -> Response {
    let bytes = match built {
        Some(path) => tokio::fs::read(path).await.ok(),
        None => None,
    };
    match bytes {
        Some(bytes) => {
            (POLICY, [(header::CONTENT_TYPE, content_type(VERIFIER)), (header::CONTENT_ENCODING, "gzip")], bytes).into_response()
        }
        None => (StatusCode::NOT_FOUND, NO_VERIFIER).into_response(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    async fn found(built: Option<PathBuf>) -> (StatusCode, Option<HeaderValue>, Vec<u8>) {
        let response = verifier(built).await;
        let (status, encoding) = (response.status(), response.headers().get(header::CONTENT_ENCODING).cloned());
        (status, encoding, axum::body::to_bytes(response.into_body(), 1_000).await.expect("a body").to_vec())
    }

    /// The verifier is there as soon as it is built, and until then the node says how to.
    #[tokio::test]
    async fn the_verifier_is_what_stands_beside_the_program() {
        let folder = tempfile::tempdir().expect("a folder");
        let built = folder.path().join(VERIFIER_FILE);
        for missing in [None, Some(built.clone())] {
            let (status, _, said) = found(missing).await;
            assert_eq!((status, said), (StatusCode::NOT_FOUND, NO_VERIFIER.as_bytes().to_vec()));
        }
        std::fs::write(&built, b"compressed").expect("a file");
        assert_eq!(found(Some(built)).await, (StatusCode::OK, Some(HeaderValue::from_static("gzip")), b"compressed".to_vec()));
    }
}

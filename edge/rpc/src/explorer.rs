//! The explorer: files of `/web/explorer/site`, part of the program, and the verifier for browsers, which a release embeds. One that
//! stands beside the program is served in its place.

use crate::App;
use axum::{
    body::Bytes,
    extract::{Path, State},
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use include_dir::{Dir, include_dir};
use std::{env::current_exe, path::PathBuf, time::SystemTime};
use tokio::sync::Mutex;

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

/// What the build script made; empty where the build was not asked to embed it.
static EMBEDDED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/verifier.wasm.gz"));

const NO_VERIFIER: &str =
    "This node was built without the verifier. Run web/verifier/build.sh, which builds it beside cowboyd, and reload the page.";

/// From `/` to the explorer.
pub(crate) async fn home() -> Redirect {
    Redirect::temporary(PATH)
}

/// The page itself.
pub(crate) async fn index() -> Response {
    file("index.html")
}

/// One of its files.
pub(crate) async fn asset(State(app): State<App>, Path(path): Path<String>) -> Response {
    let beside = || current_exe().ok().map(|program| program.with_file_name(VERIFIER_FILE));
    if path == VERIFIER { verifier(&app.verifier, beside(), EMBEDDED).await } else { file(&path) }
}

/// The verifier beside the program, as it was read last: once for all requests, and again where the file has changed, so that a node
/// need not stop for a newer one.
#[derive(Debug, Default)]
pub(crate) struct Verifier(Mutex<Option<(SystemTime, u64, Bytes)>>);

impl Verifier {
    async fn read(&self, path: PathBuf) -> Option<Bytes> {
        let mut read = self.0.lock().await;
        let found = tokio::fs::metadata(&path).await.ok()?;
        let (modified, length) = (found.modified().ok()?, found.len());
        if let Some((.., bytes)) = read.as_ref().filter(|(at, long, _)| (*at, *long) == (modified, length)) {
            return Some(bytes.clone());
        }
        let bytes = Bytes::from(tokio::fs::read(path).await.ok()?);
        *read = Some((modified, length, bytes.clone()));
        Some(bytes)
    }
}

/// The verifier, compressed as it was built.
async fn verifier(known: &Verifier, beside: Option<PathBuf>, embedded: &'static [u8]) -> Response {
    let read = match beside {
        Some(path) => known.read(path).await,
        None => None,
    };
    match read.or_else(|| (!embedded.is_empty()).then(|| Bytes::from_static(embedded))) {
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

pub(crate) fn content_type(path: &str) -> &'static str {
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

    async fn found(beside: Option<PathBuf>, embedded: &'static [u8]) -> (StatusCode, Option<HeaderValue>, Vec<u8>) {
        let response = verifier(&Verifier::default(), beside, embedded).await;
        let (status, encoding) = (response.status(), response.headers().get(header::CONTENT_ENCODING).cloned());
        (status, encoding, axum::body::to_bytes(response.into_body(), 1_000).await.expect("a body").to_vec())
    }

    /// What stands beside the program is served before what is embedded; a node that has neither says how to build it.
    #[tokio::test]
    async fn the_verifier_is_beside_the_program_or_part_of_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let built = folder.path().join(VERIFIER_FILE);
        let served = |bytes: &[u8]| (StatusCode::OK, Some(HeaderValue::from_static("gzip")), bytes.to_vec());
        for missing in [None, Some(built.clone())] {
            let (status, _, said) = found(missing.clone(), b"").await;
            assert_eq!((status, said), (StatusCode::NOT_FOUND, NO_VERIFIER.as_bytes().to_vec()));
            assert_eq!(found(missing, b"embedded").await, served(b"embedded"));
        }
        std::fs::write(&built, b"newer").expect("a file");
        assert_eq!(found(Some(built.clone()), b"embedded").await, served(b"newer"));
        // Read once for all requests, until it changes.
        let known = Verifier::default();
        let (one, other) = (known.read(built.clone()).await.expect("a file"), known.read(built.clone()).await.expect("a file"));
        assert_eq!(one.as_ptr(), other.as_ptr(), "the same bytes, and no copy");
        std::fs::write(&built, b"newest of all").expect("a file");
        assert_eq!(known.read(built).await.as_deref(), Some(b"newest of all".as_slice()));
    }
}

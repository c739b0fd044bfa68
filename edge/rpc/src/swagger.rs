//! The documentation of the API: the OpenAPI document, and Swagger UI, which shows it in a browser. Its files are part of the program,
//! compressed.

use crate::{App, explorer::content_type};
use axum::{
    Router,
    body::Bytes,
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use std::sync::LazyLock;

const DOCUMENT_PATH: &str = "/api-docs/openapi.json";

/// Where the page is.
const PATH: &str = "/swagger-ui/";

/// Encoded once: no rate of requests counts it, and clients that do not read their answers share these bytes.
static DOCUMENT: LazyLock<Bytes> =
    LazyLock::new(|| serde_json::to_vec(&cowboy_api::openapi::document()).expect("the document is JSON").into());

/// The name under which the page loads its settings.
const SETTINGS_FILE: &str = "swagger-initializer.js";

const SETTINGS: &str = r##"window.onload = () => {
  window.ui = SwaggerUIBundle({
    url: "/api-docs/openapi.json",
    dom_id: "#swagger-ui",
    deepLinking: true,
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    plugins: [SwaggerUIBundle.plugins.DownloadUrl],
    layout: "StandaloneLayout",
  });
};
"##;

/// What the page loads beside its settings: files by name, as the build script has chosen and compressed them.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/swagger-ui.rs"));

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route(DOCUMENT_PATH, get(document))
        .route("/swagger-ui", get(async || Redirect::temporary(PATH)))
        .route(PATH, get(async || file("index.html")))
        .route("/swagger-ui/{*path}", get(asset))
}

async fn document() -> Response {
    ([(header::CONTENT_TYPE, content_type(DOCUMENT_PATH))], DOCUMENT.clone()).into_response()
}

async fn asset(Path(path): Path<String>) -> Response {
    file(&path)
}

fn file(name: &str) -> Response {
    let kind = (header::CONTENT_TYPE, content_type(name));
    if name == SETTINGS_FILE {
        return ([kind], SETTINGS).into_response();
    }
    match FILES.iter().find(|(known, _)| *known == name) {
        Some((_, bytes)) => ([kind, (header::CONTENT_ENCODING, "gzip")], *bytes).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    /// The page loads nothing that is not served, and shows the document of this API.
    #[test]
    fn the_page_has_its_files() {
        let (_, bytes) = FILES.iter().find(|(name, _)| *name == "index.html").expect("a page");
        let mut page = String::new();
        flate2::read::GzDecoder::new(*bytes).read_to_string(&mut page).expect("it is compressed");
        let is_file = |part: &&str| [".css", ".js", ".png"].iter().any(|ending| part.ends_with(ending));
        let loaded: Vec<&str> = page.split('"').filter(is_file).map(|path| path.trim_start_matches("./")).collect();
        assert_eq!(loaded.len(), FILES.len(), "the settings in place of the page: {loaded:?}");
        for name in loaded {
            assert_eq!(file(name).status(), StatusCode::OK, "{name}");
        }
        assert_eq!(file("swagger-ui-es-bundle.js").status(), StatusCode::NOT_FOUND);
        assert!(SETTINGS.contains(&format!("\"{DOCUMENT_PATH}\"")));
    }

    /// Whoever asks for the document often has it encoded once, as JSON.
    #[tokio::test]
    async fn the_document_is_encoded_once() {
        let mut bodies = Vec::new();
        for _ in 0..2 {
            let response = document().await;
            assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
            bodies.push(axum::body::to_bytes(response.into_body(), 10_000_000).await.expect("it is whole"));
        }
        assert_eq!(bodies[0].as_ptr(), bodies[1].as_ptr(), "the same bytes, and no copy");
        assert!(serde_json::from_slice::<serde_json::Value>(&bodies[0]).is_ok());
    }
}

//! Bodies made shorter for clients that read gzip (RFC 9110 §8.4, §12.5.3).
//!
//! Only text, only whole answers, and nothing that an actor encoded itself. A witnessed answer stays as it is proven.

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use hyper::{
    HeaderMap, Response, StatusCode,
    header::{self, HeaderValue},
};
use std::io::Write as _;

/// A body shorter than this gains nothing.
const MIN_BYTES: usize = 1_024;

/// A longer body would hold the thread up.
const MAX_BYTES: usize = 2 * 1_024 * 1_024;

/// The answer in as few bytes as the client reads.
pub(crate) fn answer(request: &HeaderMap, mut response: Response<Bytes>) -> Response<Bytes> {
    let is_whole = response.status() == StatusCode::OK && (MIN_BYTES..=MAX_BYTES).contains(&response.body().len());
    let headers = response.headers();
    let is_plain = !headers.contains_key(header::CONTENT_ENCODING) && headers.get(header::CONTENT_TYPE).is_some_and(is_text);
    if !is_whole || !is_plain {
        return response;
    }
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    if !takes_gzip(request) {
        return response;
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(response.body().len() / 2), Compression::fast());
    let Ok(shorter) = encoder.write_all(response.body()).and_then(|()| encoder.finish()) else { return response };
    if shorter.len() >= response.body().len() {
        return response;
    }
    *response.body_mut() = shorter.into();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.remove(header::CONTENT_LENGTH);
    // Ranges are those of the plain body.
    headers.remove(header::ACCEPT_RANGES);
    if let Some(tag) = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()).filter(|tag| !tag.starts_with("W/")) {
        let weak = HeaderValue::try_from(format!("W/{tag}")).expect("a tag with two more letters is a header");
        headers.insert(header::ETAG, weak);
    }
    response
}

/// Whether a type of content is text, by its name.
fn is_text(kind: &HeaderValue) -> bool {
    let kind = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind.starts_with("text/")
        || kind.ends_with("+json")
        || kind.ends_with("+xml")
        || ["application/json", "application/javascript", "application/xml"].contains(&kind.as_str())
}

/// Whether `Accept-Encoding` names gzip with a weight above zero, or any where it does not name gzip.
fn takes_gzip(request: &HeaderMap) -> bool {
    let is_taken = |wanted: &str| {
        let lists = request.get_all(header::ACCEPT_ENCODING).iter().filter_map(|list| list.to_str().ok());
        let mut items = lists.flat_map(|list| list.split(',')).map(|item| item.split_once(';').unwrap_or((item, "")));
        let (_, weight) = items.find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted))?;
        let weight = weight.trim().strip_prefix("q=").map_or(Some(1.0), |weight| weight.parse::<f32>().ok());
        Some(weight.is_some_and(|weight| weight > 0.0))
    };
    is_taken("gzip").or_else(|| is_taken("*")).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    fn page(kind: &'static str, bytes: usize) -> Response<Bytes> {
        let mut page = Response::new(Bytes::from("abcdefgh".repeat(bytes / 8)));
        page.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        page.headers_mut().insert(header::ETAG, HeaderValue::from_static("\"1\""));
        page
    }

    fn get(accept: &'static str, page: Response<Bytes>) -> Response<Bytes> {
        let mut request = HeaderMap::new();
        request.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(accept));
        answer(&request, page)
    }

    fn is_gzip(response: &Response<Bytes>) -> bool {
        response.headers().contains_key(header::CONTENT_ENCODING)
    }

    /// What is compressed is the same when it is read, has a weak tag, and says that it depends on what the client takes.
    #[test]
    fn text_is_compressed_for_who_reads_it() {
        let plain = page("text/html; charset=utf-8", 8_192);
        let found = get("br;q=1.0, gzip;q=0.8", plain.clone());
        let mut read = Vec::new();
        flate2::read::GzDecoder::new(&found.body()[..]).read_to_end(&mut read).expect("gzip");
        assert_eq!((&read[..], found.body().len() < 1_000), (&plain.body()[..], true));
        let header = |name| found.headers()[name].to_str().expect("text");
        assert_eq!((header(header::ETAG), header(header::VARY)), ("W/\"1\"", "accept-encoding"));
        for accept in ["", "br", "gzip;q=0", "gzip;q=x", "gzip;q=0, *", "*;q=0"] {
            let found = get(accept, plain.clone());
            assert!(!is_gzip(&found) && found.headers().contains_key(header::VARY), "{accept}");
        }
        for accept in ["*", "*;q=0, GZIP"] {
            assert!(is_gzip(&get(accept, page("application/vnd.x+json", 8_192))), "{accept}");
        }
    }

    /// Short bodies, images, parts and what the actor encoded stay as they are.
    #[test]
    fn the_rest_stays() {
        let part = |mut page: Response<Bytes>| {
            *page.status_mut() = StatusCode::PARTIAL_CONTENT;
            page
        };
        let encoded = |mut page: Response<Bytes>| {
            page.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("br"));
            page
        };
        let rows = [page("text/html", 512), page("image/png", 8_192), part(page("text/html", 8_192)), page("text/html", 3 << 20)];
        for row in rows {
            assert!(!is_gzip(&get("gzip", row)));
        }
        assert_eq!(get("gzip", encoded(page("text/html", 8_192))).headers()[header::CONTENT_ENCODING], "br");
    }
}

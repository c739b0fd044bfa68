//! Answers to GET that a client has already, or wants a part of (RFC 9110 §13, §14): the gateway does both, so that no actor has to.
//!
//! A witnessed answer stays as it is proven.

use bytes::Bytes;
use cowboy_types::blake3;
use hyper::{
    HeaderMap, Method, Response, StatusCode,
    header::{self, HeaderName, HeaderValue},
};
use std::ops::Range;

/// Headers that say what the body was, which a 304 leaves out.
const OF_THE_BODY: [HeaderName; 4] = [header::CONTENT_TYPE, header::CONTENT_LENGTH, header::CONTENT_ENCODING, header::CONTENT_RANGE];

/// The answer as the request's conditions want it. Of answers other than 200 nothing changes.
pub(crate) fn answer(method: &Method, request: &HeaderMap, mut response: Response<Bytes>) -> Response<Bytes> {
    if response.status() != StatusCode::OK {
        return response;
    }
    let tag = tag_of(&mut response);
    if names(request.get(header::IF_NONE_MATCH), &tag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Bytes::new();
        OF_THE_BODY.iter().for_each(|name| drop(response.headers_mut().remove(name)));
        return response;
    }
    response.headers_mut().insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let is_current = request.get(header::IF_RANGE).is_none_or(|given| *given == tag && !is_weak(&tag));
    match request.get(header::RANGE).filter(|_| *method == Method::GET && is_current) {
        Some(range) => part(range, response),
        None => response,
    }
}

/// The actor's own tag, or one that its body gives.
fn tag_of(response: &mut Response<Bytes>) -> HeaderValue {
    if let Some(own) = response.headers().get(header::ETAG) {
        return own.clone();
    }
    let digest = blake3(&[response.body()]);
    let tag = HeaderValue::try_from(format!("\"{}\"", hex::encode(&digest.0[..16]))).expect("hex in quotes is a header");
    response.headers_mut().insert(header::ETAG, tag.clone());
    tag
}

fn is_weak(tag: &HeaderValue) -> bool {
    tag.as_bytes().starts_with(b"W/")
}

/// Whether a list of tags has this one, by the weak comparison, or is `*`.
fn names(list: Option<&HeaderValue>, tag: &HeaderValue) -> bool {
    let (Some(list), Ok(tag)) = (list.and_then(|list| list.to_str().ok()), tag.to_str()) else { return false };
    // A list may have as many tags as a head has bytes: none is copied.
    let (own, mut tags) = (plain(tag), list.split(','));
    list.trim() == "*" || tags.any(|one| plain(one) == own)
}

/// A tag without what makes it weak.
fn plain(tag: &str) -> &str {
    tag.trim().trim_start_matches("W/")
}

/// A part of the body, where one is named that there is; the whole where several are, or none that can be read.
fn part(range: &HeaderValue, mut response: Response<Bytes>) -> Response<Bytes> {
    let whole = response.body().len();
    let (status, shown) = match range.to_str().ok().and_then(|range| wanted(range, whole)) {
        None => return response,
        Some(wanted) if wanted.is_empty() => {
            *response.body_mut() = Bytes::new();
            (StatusCode::RANGE_NOT_SATISFIABLE, format!("bytes */{whole}"))
        }
        Some(wanted) => {
            let shown = format!("bytes {}-{}/{whole}", wanted.start, wanted.end.saturating_sub(1));
            *response.body_mut() = response.body().slice(wanted);
            (StatusCode::PARTIAL_CONTENT, shown)
        }
    };
    *response.status_mut() = status;
    // The whole's length, where the actor said it, is not the part's.
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.headers_mut().insert(header::CONTENT_RANGE, HeaderValue::try_from(shown).expect("numbers are a header"));
    response
}

/// The bytes that `bytes=first-last`, `bytes=first-` or `bytes=-last` names; empty where there are none of them.
fn wanted(range: &str, whole: usize) -> Option<Range<usize>> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    match (first.trim(), last.trim()) {
        ("", last) => Some(whole.saturating_sub(last.parse().ok()?)..whole),
        (first, "") => Some(first.parse::<usize>().ok()?.min(whole)..whole),
        (first, last) => {
            let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
            (first <= last).then(|| first.min(whole)..last.saturating_add(1).min(whole))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of a GET with this header: status, `Content-Range`, body.
    fn get(name: HeaderName, value: &str) -> (u16, String, String) {
        let mut request = HeaderMap::new();
        request.insert(name, HeaderValue::from_str(value).expect("a header"));
        shown(&answer(&Method::GET, &request, page()))
    }

    fn page() -> Response<Bytes> {
        Response::new(Bytes::from_static(b"0123456789"))
    }

    fn shown(response: &Response<Bytes>) -> (u16, String, String) {
        let range = response.headers().get(header::CONTENT_RANGE).and_then(|range| range.to_str().ok()).unwrap_or_default();
        (response.status().as_u16(), range.to_owned(), String::from_utf8_lossy(response.body()).into_owned())
    }

    /// Parts of a body, by each form of a range; what cannot be read or names several parts gets the whole.
    #[test]
    fn a_part_of_an_answer() {
        let rows = [
            ("bytes=2-4", 206, "bytes 2-4/10", "234"),
            ("bytes=7-", 206, "bytes 7-9/10", "789"),
            ("bytes=-3", 206, "bytes 7-9/10", "789"),
            ("bytes=-30", 206, "bytes 0-9/10", "0123456789"),
            ("bytes=8-30", 206, "bytes 8-9/10", "89"),
            ("bytes=10-", 416, "bytes */10", ""),
            ("bytes=-0", 416, "bytes */10", ""),
            ("bytes=4-2", 200, "", "0123456789"),
            ("bytes=0-1,3-4", 200, "", "0123456789"),
            ("lines=0-1", 200, "", "0123456789"),
            ("bytes=99999999999999999999999-", 200, "", "0123456789"),
        ];
        for (range, status, shown, body) in rows {
            assert_eq!(get(header::RANGE, range), (status, shown.to_owned(), body.to_owned()), "{range}");
        }
        let mut request = HeaderMap::new();
        request.insert(header::RANGE, HeaderValue::from_static("bytes=2-4"));
        assert_eq!(answer(&Method::HEAD, &request, page()).status(), 200, "HEAD has no parts");
        request.insert(header::IF_RANGE, HeaderValue::from_static("\"older\""));
        assert_eq!(answer(&Method::GET, &request, page()).status(), 200, "the whole, because it changed");
    }

    /// Every answer has a tag, its own or the gateway's, and whoever has the answer gets 304.
    #[test]
    fn an_answer_that_the_client_has() {
        let first = answer(&Method::GET, &HeaderMap::new(), page());
        let tag = first.headers()[header::ETAG].to_str().expect("text").to_owned();
        for list in [tag.clone(), format!("\"other\", W/{tag}"), "*".to_owned()] {
            assert_eq!(get(header::IF_NONE_MATCH, &list), (304, String::new(), String::new()), "{list}");
        }
        assert_eq!(get(header::IF_NONE_MATCH, "\"other\"").0, 200);
        let mut own = page();
        own.headers_mut().insert(header::ETAG, HeaderValue::from_static("W/\"7\""));
        let mut request = HeaderMap::new();
        request.insert(header::IF_NONE_MATCH, HeaderValue::from_static("\"7\""));
        assert_eq!(answer(&Method::GET, &request, own).status(), 304);
        assert_eq!(get(header::IF_NONE_MATCH, &format!(",,W/{tag},")).0, 304);
        let mut missing = page();
        *missing.status_mut() = StatusCode::NOT_FOUND;
        assert!(answer(&Method::GET, &HeaderMap::new(), missing).headers().is_empty(), "only what is there has a tag");
    }
}

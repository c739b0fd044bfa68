//! A request as the actor sees it (004 §8.1).

use crate::failure::Failure;
use cowboy_system::names::domains::OWN_ZONE;
use cowboy_types::cbor::Value;
use http::{
    HeaderMap, Uri,
    header::{CONNECTION, HeaderName},
};
use percent_encoding::percent_decode_str;
use std::collections::{BTreeMap, BTreeSet};

/// Headers that belong to one connection, and go no further (RFC 9110 §7.6.1).
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Zones below which every client and gateway takes a host for a name: the protocol's own, and this machine's.
pub const ZONES: [&str; 2] = [OWN_ZONE, "localhost"];

/// The header that names a request: in answers, and in a GET that is to be answered as one with this id.
pub const REQUEST_ID_HEADER: &str = "x-cowboy-request-id";

/// The header that asks for a witness. Not the handler's to see: the answer is the same without.
pub const VERIFY_HEADER: &str = "cowboy-verify";

/// The key of the query that asks for a witness, where headers cannot be set.
pub const VERIFY_QUERY: &str = "_cowboy_proof";

/// Whether a request asks for a witness.
pub fn asks_for_witness(uri: &Uri, headers: &HeaderMap) -> bool {
    let mut keys = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    headers.get(VERIFY_HEADER).is_some_and(|value| value == "1") || keys.any(|(key, _)| key == VERIFY_QUERY)
}

/// Paths of the gateway itself (004 §8.6).
pub const RESERVED: &str = "/_cowboy";

/// Whether a header of this name always belongs to one connection.
pub fn is_hop_by_hop(name: &HeaderName) -> bool {
    HOP_BY_HOP.contains(&name.as_str())
}

/// The headers of a request that its `Connection` lists, in lower case: they belong to one connection, too. A list may be as long as a head,
/// so it is read once, and what names no header of the request is left out.
fn listed(headers: &HeaderMap) -> BTreeSet<String> {
    let lists = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let items = lists.flat_map(|list| list.split(',')).map(str::trim);
    items.filter(|item| headers.contains_key(*item)).map(str::to_ascii_lowercase).collect()
}

/// A path as it came, where it does not hide one of the gateway's own.
pub fn path(uri: &Uri) -> Result<&str, Failure> {
    let path = uri.path();
    if !path.starts_with('/') {
        return Err(Failure::bad_request("The path does not begin with a slash."));
    }
    let decoded = percent_decode_str(path).decode_utf8().map_err(|_| Failure::bad_request("The path is not text."))?;
    if decoded.contains('\0') {
        return Err(Failure::bad_request("The path has a zero byte."));
    }
    // `//_cowboy`, `/x/../_cowboy` and `/%5Fcowboy` are the gateway's own in disguise.
    let mut plain: Vec<&str> = Vec::new();
    for segment in decoded.split(['/', '\\']) {
        match segment {
            "" | "." => {}
            ".." => {
                plain.pop();
            }
            name => plain.push(name),
        }
    }
    let is_reserved = plain.first().is_some_and(|first| *first == &RESERVED[1..]);
    if is_reserved && path != RESERVED && !path.starts_with("/_cowboy/") {
        return Err(Failure::bad_request("The path means one of the gateway's own, and is not written like one."));
    }
    Ok(path)
}

/// What an envelope is made of, beside its body.
pub struct Parts<'a> {
    /// Upper case.
    pub method: &'a str,
    /// The target: path and query.
    pub uri: &'a Uri,
    /// As they came.
    pub headers: &'a HeaderMap,
    /// The whole host.
    pub host: &'a str,
    /// A UUID of version 4.
    pub request_id: &'a str,
}

/// The envelope of a request.
pub fn envelope(parts: &Parts<'_>, body: Option<&[u8]>) -> Value {
    let mut query: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (key, value) in form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()) {
        if key != VERIFY_QUERY {
            query.entry(key.into_owned()).or_default().push(Value::text(value));
        }
    }
    let listed = listed(parts.headers);
    let mut headers: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (name, value) in parts.headers {
        if !is_hop_by_hop(name) && !listed.contains(name.as_str()) && name != VERIFY_HEADER {
            headers.entry(name.as_str().to_owned()).or_default().push(Value::text(text(value.as_bytes())));
        }
    }
    let lists = |map: BTreeMap<String, Vec<Value>>| {
        Value::dict(map.iter().map(|(name, values)| (name.as_str(), Value::Array(values.clone()))).collect::<Vec<_>>())
    };
    Value::map([
        ("body", body.map_or(Value::Null, |body| Value::Bytes(body.to_vec()))),
        ("headers", lists(headers)),
        ("host", Value::text(parts.host)),
        ("method", Value::text(parts.method)),
        ("path", Value::text(parts.uri.path())),
        ("query", lists(query)),
        ("request_id", Value::text(parts.request_id)),
    ])
}

/// A header's value: UTF-8, or else each byte a letter, as HTTP once meant it.
fn text(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).map_or_else(|_| bytes.iter().map(|byte| char::from(*byte)).collect(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_system::gateways::envelope::Envelope;

    const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

    fn made(target: &str, headers: &[(&'static str, &str)], body: Option<&[u8]>) -> Value {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, http::header::HeaderValue::from_bytes(value.as_bytes()).expect("a header"));
        }
        let uri: Uri = target.parse().expect("a target");
        envelope(&Parts { method: "POST", uri: &uri, headers: &map, host: "a.localhost", request_id: ID }, body)
    }

    fn strings(value: &Value, field: &str, name: &str) -> Vec<String> {
        let Some(Value::Array(items)) = value.get(field).and_then(|map| map.get(name)) else { return Vec::new() };
        items.iter().map(|item| item.as_text().expect("a text").to_owned()).collect()
    }

    /// repeated headers and query keys are arrays, names lower case, hop-by-hop headers removed; the protocol accepts it.
    #[test]
    fn an_envelope_is_what_the_law_takes() {
        let headers =
            [("Accept", "a"), ("accept", "b"), ("connection", "close, x-mine"), ("x-mine", "1"), ("te", "trailers"), ("x-other", "\u{fc}")];
        let value = made("/a%2Fb/c?x=1&y=%20+z&x=2&empty", &headers, Some(&[0, 255]));
        assert!(Envelope::read(&value).is_ok());
        assert_eq!(value.get("path").and_then(Value::as_text), Some("/a%2Fb/c"), "as it came");
        assert_eq!(strings(&value, "query", "x"), ["1", "2"]);
        assert_eq!(strings(&value, "query", "y"), ["  z"]);
        assert_eq!(strings(&value, "query", "empty"), [""]);
        assert_eq!(strings(&value, "headers", "accept"), ["a", "b"]);
        assert_eq!(strings(&value, "headers", "x-other"), ["\u{fc}"]);
        for gone in ["connection", "x-mine", "te"] {
            assert_eq!(strings(&value, "headers", gone), Vec::<String>::new(), "{gone}");
        }
        assert_eq!(value.get("body"), Some(&Value::Bytes(vec![0, 255])));
        assert_eq!(made("/", &[], None).get("body"), Some(&Value::Null));
        let asking = made("/a?_cowboy_proof&x=1", &[("cowboy-verify", "1")], None);
        assert_eq!(asking, made("/a?x=1", &[], None), "who asks for a proof gets the answer that others get");
    }

    /// What `Connection` lists is removed, however it is written and however often; the rest of the list is nothing.
    #[test]
    fn what_connection_lists_is_removed() {
        let headers =
            [("connection", "X-Mine,, \t,no such, X-MINE"), ("connection", "x-Other"), ("x-mine", "1"), ("x-other", "2"), ("x-third", "3")];
        let value = made("/", &headers, None);
        assert_eq!(["x-mine", "x-other", "x-third"].map(|name| strings(&value, "headers", name).len()), [0, 0, 1]);
    }

    /// a path of the gateway's own is seen in every disguise.
    #[test]
    fn reserved_paths_cannot_be_disguised() {
        let rows = [
            ("/", true),
            ("/a/../b", true),
            ("/a%2Fb", true),
            ("/_cowboy/health", true),
            ("/_cowboyish", true),
            ("/%5Fcowboy/health", false),
            ("//_cowboy/health", false),
            ("/./_cowboy/health", false),
            ("/x/../_cowboy/health", false),
            ("/x/%2e%2e/_cowboy", false),
            ("/%2F_cowboy", false),
            ("/a%00b", false),
            ("/a%ffb", false),
        ];
        for (target, expected) in rows {
            assert_eq!(path(&target.parse().expect("a target")).is_ok(), expected, "{target}");
        }
    }
}

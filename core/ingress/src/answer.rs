//! An actor's answer as HTTP (004 §8.2): missing headers are none, a text body is UTF-8, a single header value is a list of one
//! (decision 104); anything else is no response. Headers have a bound, and cookies are those of one host (decisions 575 and 704).

use crate::{
    failure::{ERROR_HEADER, Failure},
    request::is_hop_by_hop,
};
use bytes::Bytes;
use cowboy_types::cbor::{self, Value};
use http::{
    HeaderMap, Response, StatusCode,
    header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, SET_COOKIE},
};

/// The most header lines of an answer, those included that an actor may not set.
pub const MAX_HEADER_LINES: usize = 128;

/// The most bytes of all its header lines, names and values.
pub const MAX_HEADER_BYTES: usize = 64 * 1024;

/// The header that has a browser forget what a site left with it.
const CLEAR_SITE_DATA: &str = "clear-site-data";

/// What it may name.
const ONE_ORIGIN: [&[u8]; 3] = [b"\"cache\"", b"\"storage\"", b"\"executionContexts\""];

/// An actor's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Between 200 and 599.
    pub status: StatusCode,
    /// Those that an actor may set.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    /// Reads what a handler returned or stored: CBOR, or JSON text (decision 105).
    pub fn read(bytes: &[u8], most: u64) -> Result<Self, Failure> {
        let value = match cbor::decode(bytes) {
            Ok(value @ Value::Map(_)) => value,
            _ => from_json(bytes).ok_or_else(|| Failure::invalid_response("it is not a map"))?,
        };
        Self::of(&value, most)
    }

    fn of(value: &Value, most: u64) -> Result<Self, Failure> {
        let Value::Map(pairs) = value else { return Err(Failure::invalid_response("it is not a map")) };
        if let Some((name, _)) = pairs.iter().find(|(name, _)| !matches!(name.as_text(), Some("status" | "headers" | "body"))) {
            return Err(Failure::invalid_response(&format!("it has a field {:?}", name.as_text().unwrap_or_default())));
        }
        let status = value.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
        // Answers below 200 are not final, and no answer to anybody.
        let status = status.filter(|status| (200..=599).contains(status)).and_then(|status| StatusCode::from_u16(status).ok());
        let status = status.ok_or_else(|| Failure::invalid_response("its status is not between 200 and 599"))?;
        let body = match value.get("body") {
            None | Some(Value::Null) => Bytes::new(),
            Some(Value::Bytes(body)) => Bytes::from(body.clone()),
            Some(Value::Text(text)) => Bytes::from(text.clone()),
            Some(_) => return Err(Failure::invalid_response("its body is neither bytes nor text")),
        };
        if u64::try_from(body.len()).unwrap_or(u64::MAX) > most {
            return Err(Failure::invalid_response("its body is longer than the manifest allows"));
        }
        Ok(Self { status, headers: headers(value.get("headers"))?, body })
    }

    /// The body on the wire. What has no body has none, whatever the actor says.
    pub fn shown_body(&self) -> Bytes {
        let is_bodiless = matches!(self.status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED);
        if is_bodiless { Bytes::new() } else { self.body.clone() }
    }

    /// The answer on the wire.
    pub fn response(self) -> Response<Bytes> {
        let mut response = Response::new(self.shown_body());
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

impl Failure {
    /// The failure as the answer that a proof is of.
    pub fn answer(&self) -> Answer {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ERROR_HEADER, HeaderValue::from_static(self.code));
        Answer { status: self.status, headers, body: self.json().into() }
    }
}

/// Headers of an answer. Those of a connection, and the gateway's own, an actor does not set.
fn headers(value: Option<&Value>) -> Result<HeaderMap, Failure> {
    let wrong = |what: &str| Failure::invalid_response(&format!("a header's {what}"));
    let pairs = match value {
        None | Some(Value::Null) => return Ok(HeaderMap::new()),
        Some(Value::Map(pairs)) => pairs,
        Some(_) => return Err(Failure::invalid_response("its headers are not a map")),
    };
    let mut headers = HeaderMap::new();
    let (mut lines, mut bytes) = (0_usize, 0_usize);
    for (name, values) in pairs {
        let name = name.as_text().ok_or_else(|| wrong("name is not text"))?;
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("name is none"))?;
        let values = match values {
            Value::Text(_) => std::slice::from_ref(values),
            Value::Array(items) => items.as_slice(),
            _ => return Err(wrong("value is neither a text nor a list")),
        };
        for value in values {
            let value = value.as_text().ok_or_else(|| wrong("value is not text"))?;
            let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| wrong("value has a line's end in it"))?;
            lines = lines.saturating_add(1);
            bytes = bytes.saturating_add(name.as_str().len()).saturating_add(value.len());
            if lines > MAX_HEADER_LINES || bytes > MAX_HEADER_BYTES {
                let why = format!("its headers have more than {MAX_HEADER_LINES} lines or {MAX_HEADER_BYTES} bytes");
                return Err(Failure::invalid_response(&why));
            }
            if is_the_actors(&name, &value) {
                headers.append(&name, value);
            }
        }
    }
    Ok(headers)
}

/// Whether a header line is one that an actor may set: not the connection's, not the gateway's own, and nothing about cookies of other hosts than the
/// one that was asked. All names of a zone are below one domain, so such a line would reach every other site there.
fn is_the_actors(name: &HeaderName, value: &HeaderValue) -> bool {
    let is_own = name.as_str().starts_with("x-cowboy-") || name == CONTENT_LENGTH;
    let is_of_others = name == SET_COOKIE && has_domain(value) || name == CLEAR_SITE_DATA && !clears_one_origin(value);
    !(is_own || is_hop_by_hop(name) || is_of_others)
}

/// Whether `Clear-Site-Data` only clears what belongs to one origin. `"cookies"`, and `"*"` with them, clears those of the whole domain; what later browsers add is left out, too.
fn clears_one_origin(kinds: &HeaderValue) -> bool {
    kinds.as_bytes().split(|byte| *byte == b',').all(|kind| ONE_ORIGIN.contains(&kind.trim_ascii()))
}

/// Whether a cookie has the attribute `Domain`, as RFC 6265 §5.2 reads attributes.
fn has_domain(cookie: &HeaderValue) -> bool {
    let attributes = cookie.as_bytes().split(|byte| *byte == b';').skip(1);
    attributes
        .filter_map(|attribute| attribute.split(|byte| *byte == b'=').next())
        .any(|name| name.trim_ascii().eq_ignore_ascii_case(b"domain"))
}

/// JSON as the values that CBOR has.
fn from_json(bytes: &[u8]) -> Option<Value> {
    fn value(json: &serde_json::Value) -> Option<Value> {
        Some(match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(value) => Value::Bool(*value),
            serde_json::Value::Number(number) => Value::uint(number.as_u64()?),
            serde_json::Value::String(text) => Value::text(text.clone()),
            serde_json::Value::Array(items) => Value::Array(items.iter().map(value).collect::<Option<_>>()?),
            serde_json::Value::Object(pairs) => {
                let pairs = pairs.iter().map(|(name, item)| Some((name.as_str(), value(item)?))).collect::<Option<Vec<_>>>()?;
                Value::dict(pairs)
            }
        })
    }
    value(&serde_json::from_slice(bytes).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &Value) -> Result<Answer, &'static str> {
        Answer::read(&value.encode(), 10).map_err(|failure| failure.code)
    }

    fn list(items: &[&str]) -> Value {
        Value::Array(items.iter().map(|item| Value::text(*item)).collect())
    }

    /// A-318, A-324: what is an answer, as strict as decision 104; anything else is a 502.
    #[test]
    fn answers_are_normalised() {
        let status = || ("status", Value::uint(200));
        let headers = |name: &str, value: Value| Value::map([status(), ("headers", Value::dict([(name, value)]))]);
        let right = [
            Value::map([status()]),
            Value::map([status(), ("body", Value::Null), ("headers", Value::Null)]),
            Value::map([status(), ("body", Value::text("caf\u{e9}"))]),
            Value::map([status(), ("body", Value::Bytes(vec![0, 255]))]),
            headers("content-type", Value::text("a/b")),
            headers("Set-Cookie", list(&["a=1", "b=2"])),
            headers("x-none", list(&[])),
        ];
        for value in right {
            assert_eq!(read(&value).map(|answer| answer.status), Ok(StatusCode::OK), "{value:?}");
        }
        let cookies = read(&headers("Set-Cookie", list(&["a=1", "b=2"]))).expect("an answer");
        assert_eq!(cookies.headers.get_all("set-cookie").iter().count(), 2);
        let wrong = [
            Value::Null,
            Value::text("page"),
            Value::uint(200),
            Value::Map(vec![]),
            Value::map([("status", Value::text("200"))]),
            Value::map([("status", Value::uint(99))]),
            Value::map([("status", Value::uint(101))]),
            Value::map([("status", Value::uint(600))]),
            Value::map([("status", Value::uint(65_736))]),
            Value::map([status(), ("more", Value::Null)]),
            Value::map([status(), ("body", Value::uint(1))]),
            Value::map([status(), ("body", Value::text("eleven byte"))]),
            Value::map([status(), ("headers", list(&["a"]))]),
            headers("a b", Value::text("c")),
            headers("", Value::text("c")),
            headers("a", Value::uint(1)),
            headers("a", Value::Array(vec![Value::uint(1)])),
            headers("a", Value::text("b\r\nset-cookie: x=1")),
            headers("a", Value::text("b\nc")),
            headers("a", Value::text("b\0c")),
        ];
        for value in wrong {
            assert_eq!(read(&value), Err("INVALID_RESPONSE"), "{value:?}");
        }
        for own in ["x-cowboy-block", "content-length", "transfer-encoding", "connection"] {
            assert!(read(&headers(own, Value::text("1"))).expect("an answer").headers.is_empty(), "{own} is not the actor's");
        }
    }

    /// Decision 575: headers have a bound of lines and of bytes, which holds for those that are left out as well.
    #[test]
    fn headers_have_a_bound() {
        let with = |headers: Value| Answer::read(&Value::map([("status", Value::uint(200)), ("headers", headers)]).encode(), 10);
        let lines = |name: &str, lines: usize| with(Value::dict([(name, Value::Array(vec![Value::text("b"); lines]))]));
        let bytes = |bytes: usize| with(Value::dict([("a", Value::text("b".repeat(bytes)))]));
        let names = |names: usize| {
            let names: Vec<String> = (0..names).map(|number| format!("x-{number:05}")).collect();
            with(Value::dict(names.iter().map(|name| (name.as_str(), Value::text("1"))).collect::<Vec<_>>()))
        };
        for allowed in
            [lines("a", MAX_HEADER_LINES), bytes(MAX_HEADER_BYTES - 1), names(MAX_HEADER_LINES), lines("connection", MAX_HEADER_LINES)]
        {
            assert!(allowed.is_ok(), "{:?}", allowed.err());
        }
        let refused = [
            lines("a", MAX_HEADER_LINES + 1),
            bytes(MAX_HEADER_BYTES),
            names(30_000),
            lines("connection", MAX_HEADER_LINES + 1),
            bytes(1 << 20),
        ];
        for refused in refused {
            assert_eq!(refused.map_err(|failure| failure.code), Err("INVALID_RESPONSE"));
        }
    }

    /// Decision 575: a cookie is for the host that was asked.
    #[test]
    fn cookies_are_for_one_host() {
        let rows = [
            ("a=1", true),
            ("a=1; Path=/; Secure; HttpOnly; SameSite=Lax", true),
            ("domain=1; Path=/", true),
            ("a=domain; Path=/domain", true),
            ("a=1; Domain=cowboy.network; Path=/", false),
            ("a=1;domain=.cowboy.network", false),
            ("a=1; Path=/;\t DOMAIN \t= x", false),
            ("a=1; domain", false),
            ("; domain=x", false),
        ];
        for (cookie, stays) in rows {
            let headers = Value::dict([("Set-Cookie", list(&["first=1", cookie]))]);
            let answer = read(&Value::map([("status", Value::uint(200)), ("headers", headers)])).expect("an answer");
            assert_eq!(answer.headers.get_all(SET_COOKIE).iter().count(), if stays { 2 } else { 1 }, "{cookie}");
        }
    }

    /// Decision 704: a site has browsers forget what is its own, and no cookies, which would be those of every site of the zone.
    #[test]
    fn a_site_clears_what_is_its_own() {
        let rows = [
            ("\"cache\"", true),
            ("\"storage\", \"executionContexts\",\"cache\"", true),
            ("\"cookies\"", false),
            ("\"storage\", \"cookies\"", false),
            ("\"*\"", false),
            ("\"clientHints\"", false),
            ("cookies", false),
            ("", false),
        ];
        for (kinds, stays) in rows {
            let headers = Value::dict([("Clear-Site-Data", list(&["\"cache\"", kinds]))]);
            let answer = read(&Value::map([("status", Value::uint(200)), ("headers", headers)])).expect("an answer");
            assert_eq!(answer.headers.get_all("clear-site-data").iter().count(), if stays { 2 } else { 1 }, "{kinds}");
        }
    }

    /// Decision 105: JSON text does as well.
    #[test]
    fn json_is_an_answer() {
        let answer = Answer::read(br#"{"status": 201, "headers": {"a": ["b"]}, "body": "x"}"#, 10).expect("an answer");
        assert_eq!((answer.status.as_u16(), answer.body.as_ref(), answer.headers["a"].as_bytes()), (201, &b"x"[..], &b"b"[..]));
        for wrong in ["", "null", "[1]", "{\"status\": -1}", "{\"status\": 200.5}", "{"] {
            assert!(Answer::read(wrong.as_bytes(), 10).is_err(), "{wrong}");
        }
    }
}

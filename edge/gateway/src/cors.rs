//! Pages of other origins that may read an actor's answers: `cors_origins` of its manifest (decision 182).

use bytes::Bytes;
use cowboy_system::gateways::ingress::Ingress;
use hyper::{
    HeaderMap, Method, Response, StatusCode,
    header::{self, HeaderValue},
};

/// Seconds for which a browser may remember what a preflight said.
const MAX_AGE: &str = "600";

/// Headers of answers that a page may read, beside those that it always may.
const EXPOSED: &str = "etag, location, retry-after, x-cowboy-block, x-cowboy-error, x-cowboy-request-id, x-cowboy-signature";

/// What an answer says to browsers of other origins: nothing where the manifest names none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cors {
    /// Whether answers differ by the origin that asks.
    varies: bool,
    /// The origin that may read the answer.
    allowed: Option<HeaderValue>,
}

impl Cors {
    /// Who may read the answer to this request.
    pub(crate) fn of(ingress: &Ingress, request: &HeaderMap) -> Self {
        let is_listed = |origin: &str| ingress.cors_origins.iter().any(|listed| listed == origin);
        if is_listed("*") {
            return Self { varies: false, allowed: Some(HeaderValue::from_static("*")) };
        }
        let origin = request.get(header::ORIGIN).filter(|origin| origin.to_str().is_ok_and(is_listed));
        Self { varies: !ingress.cors_origins.is_empty(), allowed: origin.cloned() }
    }

    /// Tells the browser. What the actor said about it does not stand beside it.
    pub(crate) fn tell(&self, answer: &mut HeaderMap) {
        if self.varies {
            answer.append(header::VARY, HeaderValue::from_static("origin"));
        }
        if let Some(origin) = &self.allowed {
            answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            answer.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        }
    }
}

/// The answer to a preflight, where the request is one and the manifest names origins. No `OPTIONS` reaches an actor.
pub(crate) fn preflight(ingress: &Ingress, method: &Method, request: &HeaderMap) -> Option<Response<Bytes>> {
    let is_preflight = method == Method::OPTIONS && request.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    if !is_preflight || ingress.cors_origins.is_empty() {
        return None;
    }
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    if Cors::of(ingress, request).allowed.is_some() {
        let headers = response.headers_mut();
        let methods = HeaderValue::try_from(ingress.methods.join(", ")).expect("methods are a header");
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        if let Some(asked) = request.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
        }
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
    }
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderName;

    fn ingress(origins: &[&str]) -> Ingress {
        Ingress {
            methods: vec!["GET", "POST"],
            request_bytes: 1,
            response_bytes: 1,
            query_cycles: 1,
            cors_origins: origins.iter().map(|origin| (*origin).to_owned()).collect(),
            max_fees: None,
        }
    }

    fn headers(rows: &[(HeaderName, &'static str)]) -> HeaderMap {
        rows.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    /// Whom an answer allows to read it, and whether it says that others differ.
    fn allowed_by(origins: &[&str], origin: &'static str) -> (Option<String>, bool) {
        let mut answer = HeaderMap::new();
        Cors::of(&ingress(origins), &headers(&[(header::ORIGIN, origin)])).tell(&mut answer);
        let allowed = answer.get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
        (allowed.map(|value| value.to_str().expect("text").to_owned()), answer.contains_key(header::VARY))
    }

    /// Decision 182: the origins of the manifest, all of them by `*`, none where it names none.
    #[test]
    fn origins_are_those_of_the_manifest() {
        let (mine, yours) = ("https://app.example.com", "https://other.example.com");
        assert_eq!(allowed_by(&[], mine), (None, false));
        assert_eq!(allowed_by(&[mine], mine), (Some(mine.into()), true));
        assert_eq!(allowed_by(&[mine], yours), (None, true));
        assert_eq!(allowed_by(&[mine, yours], yours), (Some(yours.into()), true));
        assert_eq!(allowed_by(&[mine, "*"], yours), (Some("*".into()), false));
    }

    /// Decision 182: the gateway answers a preflight itself; without origins, and without being one, OPTIONS stays refused.
    #[test]
    fn preflights_are_answered() {
        let asked = headers(&[
            (header::ORIGIN, "https://a.example"),
            (header::ACCESS_CONTROL_REQUEST_METHOD, "POST"),
            (header::ACCESS_CONTROL_REQUEST_HEADERS, "content-type"),
        ]);
        let allows = |origins: &[&str]| {
            let answer = preflight(&ingress(origins), &Method::OPTIONS, &asked)?;
            let of = |name| answer.headers().get(name).map(|value| value.to_str().expect("text").to_owned());
            Some((answer.status().as_u16(), of(header::ACCESS_CONTROL_ALLOW_METHODS), of(header::ACCESS_CONTROL_ALLOW_HEADERS)))
        };
        assert_eq!(allows(&["https://a.example"]), Some((204, Some("GET, POST".into()), Some("content-type".into()))));
        assert_eq!(allows(&["https://b.example"]), Some((204, None, None)), "another's origin gets no permission");
        assert_eq!(allows(&[]), None);
        assert!(preflight(&ingress(&["*"]), &Method::OPTIONS, &headers(&[])).is_none());
        assert!(preflight(&ingress(&["*"]), &Method::GET, &asked).is_none());
    }
}

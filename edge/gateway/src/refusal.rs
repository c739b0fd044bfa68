//! Why a gateway has no answer of the actor's: a status, a code for programs, and words.

use bytes::Bytes;
pub use cowboy_ingress::failure::ERROR_HEADER;
use cowboy_ingress::{Failure, request::REQUEST_ID_HEADER};
use hyper::{HeaderMap, Response, StatusCode, header};

/// A failure: what it is, why, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// For programs, in `X-Cowboy-Error`.
    pub(crate) code: &'static str,
    pub(crate) what: String,
    pub(crate) fix: String,
    /// Seconds after which asking again makes sense.
    pub(crate) retry_after: Option<u64>,
    /// Methods that would do.
    pub(crate) allow: Option<Box<str>>,
    /// The id of a command that others may have, and that may run for all that is said here.
    pub(crate) request: Option<Box<str>>,
    /// Whether it follows from request and state, so that every gateway refuses alike.
    pub(crate) is_of_chain: bool,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, code: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { status, code, what: what.into(), fix: fix.into(), retry_after: None, allow: None, request: None, is_of_chain: false }
    }

    pub(crate) fn retry(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// Of a command that nobody has: it does not run. See [`crate::attempts`].
    pub(crate) fn not_sent(self) -> Self {
        Self { what: format!("{} The command was not sent.", self.what), ..self }
    }

    /// Of a command with this id that others may have. Whatever they say of it, they may still include it, once.
    pub(crate) fn may_run(self, id: &str) -> Self {
        let what = format!("{} The command may still run, once: it was signed and sent, or another request sends it.", self.what);
        let fix = format!(
            "{} If it runs, its result is at /_cowboy/requests/{id}; with the same Idempotency-Key it is the same command.",
            self.fix
        );
        Self { what, fix, request: Some(id.into()), ..self }
    }

    pub(crate) fn bad_host(why: &str) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "BAD_HOST",
            format!("The host cannot be read: {why}."),
            "Ask for one name, like mysite.cowboy.network.",
        )
    }

    pub(crate) fn bad_request(what: impl Into<String>) -> Self {
        Failure::bad_request(what).into()
    }

    pub(crate) fn misdirected(host: &str) -> Self {
        let what = format!("This gateway does not serve {host}.");
        Self::new(StatusCode::MISDIRECTED_REQUEST, "UNKNOWN_ZONE", what, "Ask for a name below one of its domains.")
    }

    pub(crate) fn too_large(most: u64) -> Self {
        let what = format!("The request is too large: at most {most} bytes of body are taken.");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "REQUEST_TOO_LARGE", what, "Send less, or in parts.")
    }

    pub(crate) fn unavailable(why: impl std::fmt::Display) -> Self {
        let what = format!("The gateway's node cannot answer now: {why}.");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", what, "Ask again in a moment.").retry(1)
    }

    pub(crate) fn busy(code: &'static str, what: &str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, what, "Ask again in a moment.").retry(1)
    }

    /// The failure as an answer: a page for people, JSON for programs.
    pub(crate) fn response(&self, asked: &HeaderMap) -> Response<Bytes> {
        let wants_page = asked.get(header::ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|accept| accept.contains("text/html"));
        let (kind, body) = if wants_page { ("text/html; charset=utf-8", self.page()) } else { ("application/json", self.failure().json()) };
        let mut response = Response::new(Bytes::from(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
        headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
        headers.insert(ERROR_HEADER, header::HeaderValue::from_static(self.code));
        if wants_page {
            let policy = "default-src 'none'; style-src 'unsafe-inline'";
            headers.insert(header::CONTENT_SECURITY_POLICY, header::HeaderValue::from_static(policy));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if let Some(allow) = self.allow.as_deref().and_then(|allow| header::HeaderValue::from_str(allow).ok()) {
            headers.insert(header::ALLOW, allow);
        }
        if let Some(id) = self.request.as_deref().and_then(|id| header::HeaderValue::from_str(id).ok()) {
            headers.insert(REQUEST_ID_HEADER, id);
        }
        response
    }

    fn failure(&self) -> Failure {
        Failure {
            allow: self.allow.as_deref().map(str::to_owned),
            ..Failure::new(self.status, self.code, self.what.clone(), self.fix.clone())
        }
    }

    fn page(&self) -> String {
        let (status, reason) = (self.status.as_u16(), self.status.canonical_reason().unwrap_or_default());
        let (what, fix) = (escape(&self.what), escape(&self.fix));
        format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>{status} {reason}</title>\
             <style>body{{font:1rem/1.5 system-ui,sans-serif;max-width:38rem;margin:15vh auto;padding:0 1rem;color:#222;background:#fff}}\
             h1{{font-size:1.4rem}}code{{background:#eee;padding:.1em .3em;border-radius:.2em}}\
             @media(prefers-color-scheme:dark){{body{{color:#ddd;background:#181818}}code{{background:#333}}}}</style>\
             <h1>{status} {reason}</h1><p>{what}</p><p>{fix}</p><p><code>{}</code></p></html>",
            self.code
        )
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let Failure { status, code, what, fix, allow } = failure;
        Self { status, code, what, fix, retry_after: None, allow: allow.map(Into::into), request: None, is_of_chain: true }
    }
}

/// Text inside a page.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

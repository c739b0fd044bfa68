//! Web jobs: one request, a bounded answer.
//!
//! Fields: `url`, and maybe `method`, `headers`, `body` (text), `json` (any value, sent as JSON), `extract` or `selector` (what is taken out
//! of the page) and `envelope` (answer status and body instead of failing on a status that is none of success).

use super::{
    Executor, Fault, NotReady, Task, Usage,
    extract::Rules,
    guard::{Guard, Lookup, MANIFEST, Refusal, outside},
};
use crate::{
    config::Http,
    request::{Malformed, Request},
};
use cowboy_api::client::BodyError;
use cowboy_system::offchain::address;
use cowboy_types::job::JobKind;
use futures::future::BoxFuture;
use reqwest::{
    Method, Response, StatusCode,
    header::{self, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::json;
use std::{
    error::Error as _,
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::sync::Semaphore;
use url::Url;

/// What a runner calls itself where it asks for the sake of a job.
pub(super) const USER_AGENT: &str = concat!("cowboy-runner/", env!("CARGO_PKG_VERSION"));

/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The most headers that a job may set.
const MAX_HEADERS: usize = 32;

/// Extractions at once.
const EXTRACTIONS: usize = 2;

/// Headers that are the runner's own.
const OWN_HEADERS: [HeaderName; 7] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::CONNECTION,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::ACCEPT_ENCODING,
    header::PROXY_AUTHORIZATION,
];

/// Headers that do not go to another host than the job named.
const SECRET_HEADERS: [HeaderName; 2] = [header::AUTHORIZATION, header::COOKIE];

/// Does web jobs.
pub struct HttpExecutor {
    client: GuardedClient,
    settings: Http,
    extracting: Arc<Semaphore>,
}

/// A client that asks what its guard admits. It is made when it is first used: an idle runner has no certificates in its memory.
#[derive(Clone)]
pub(crate) struct GuardedClient {
    pub(crate) guard: Guard,
    settings: Http,
    client: Arc<OnceLock<Result<reqwest::Client, String>>>,
}

impl GuardedClient {
    /// One with these rules. A file of certificates is read now, so that its faults are seen now.
    pub(crate) fn new(guard: Guard, settings: &Http) -> Result<Self, NotReady> {
        let made = Self { guard, settings: settings.clone(), client: Arc::default() };
        if settings.extra_ca.is_some() {
            made.get().map_err(|reason| NotReady { kind: "http", reason })?;
        }
        Ok(made)
    }

    /// The client.
    pub(crate) fn get(&self) -> Result<&reqwest::Client, String> {
        let make = || client(&self.guard, &self.settings).map_err(|error| error.reason);
        self.client.get_or_init(make).as_ref().map_err(Clone::clone)
    }
}

/// A client that follows no redirection by itself, uses no proxy, and resolves names through a guard.
fn client(guard: &Guard, settings: &Http) -> Result<reqwest::Client, NotReady> {
    let wrong = |reason: String| NotReady { kind: "http", reason };
    let mut builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .dns_resolver(Arc::new(guard.clone()))
        .connect_timeout(CONNECT_TIMEOUT)
        // What is no answer yet, as any number of status 103, is silence.
        .read_timeout(Duration::from_millis(settings.max_silence_ms))
        .pool_max_idle_per_host(4)
        .pool_idle_timeout(Duration::from_secs(30))
        .user_agent(USER_AGENT);
    if let Some(path) = &settings.extra_ca {
        builder = builder.tls_certs_merge(certificates(path).map_err(wrong)?);
    }
    builder.build().map_err(|error| wrong(error.to_string()))
}

/// The certificates of a file.
pub(super) fn certificates(path: &Path) -> Result<Vec<reqwest::Certificate>, String> {
    let pem = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    reqwest::Certificate::from_pem_bundle(&pem).map_err(|error| format!("{}: {error}", path.display()))
}

impl HttpExecutor {
    /// One with these rules.
    pub fn new(settings: &Http, lookup: Arc<dyn Lookup>) -> Result<Self, NotReady> {
        let client = GuardedClient::new(Guard::new(settings, lookup), settings)?;
        Ok(Self { client, settings: settings.clone(), extracting: Arc::new(Semaphore::new(EXTRACTIONS)) })
    }

    /// Sends a request, and follows where it leads. Every hop is checked.
    async fn send(&self, mut wanted: Wanted, task: &Task, usage: &mut Usage) -> Result<Response, Fault> {
        for _ in 0..=self.settings.max_redirects {
            within(task.hosts.as_deref(), &wanted.url)?;
            self.client.guard.check(&wanted.url).map_err(refused)?;
            usage.requests += 1;
            let client = self.client.get().map_err(Fault::External)?;
            let response = wanted.request(client).send().await.map_err(|error| unanswered(&error))?;
            let Some(next) = redirection(&wanted.url, &response)? else { return Ok(response) };
            if task.request.names_secrets() && next.origin() != wanted.url.origin() {
                // Values are for the host that the job names, which the policy was asked for.
                return Err(Fault::External(format!(
                    "it leads to {}, and the job's secrets do not follow",
                    next.host_str().unwrap_or("nowhere")
                )));
            }
            wanted = wanted.led_to(next, response.status());
        }
        Err(Fault::External(format!("it leads on more than {} times", self.settings.max_redirects)))
    }

    /// Takes out of a page what the rules name, on a thread of its own: pages are long, and few at once.
    async fn extract(&self, rules: Rules, page: Vec<u8>) -> Result<Vec<u8>, Fault> {
        let place = self.extracting.clone().acquire_owned().await.map_err(|error| Fault::External(error.to_string()))?;
        // It is dropped with this future, when the job's time is over.
        let waiting = Arc::new(());
        let waits = Arc::downgrade(&waiting);
        let extracted = tokio::task::spawn_blocking(move || {
            let extracted = rules.apply(&page, &|| waits.strong_count() > 0);
            drop(place);
            extracted
        });
        let extracted = extracted.await;
        drop(waiting);
        extracted.map_err(|error| Fault::External(format!("the extraction broke off: {error}")))?
    }
}

impl Executor for HttpExecutor {
    fn kind(&self) -> JobKind {
        JobKind::Http
    }

    fn check(&self) -> BoxFuture<'_, Result<String, String>> {
        let hosts = if self.settings.allow.is_empty() { "every host".to_owned() } else { self.settings.allow.join(", ") };
        let private = if self.settings.allow_private { ", private addresses too" } else { "" };
        Box::pin(async move { Ok(format!("asks {hosts}{private}")) })
    }

    fn execute<'a>(&'a self, task: &'a Task, usage: &'a mut Usage) -> BoxFuture<'a, Result<Vec<u8>, Fault>> {
        Box::pin(async move {
            let wanted = Wanted::read(&task.request)?;
            let is_enveloped = task.request.flag("envelope")?;
            // Wrong rules are found before anybody is asked anything.
            let rules = match (task.request.get("extract"), task.request.text_or_none("selector")?) {
                (Some(rules), _) => Some(Rules::read(rules)?),
                (None, Some(selector)) => Some(Rules::selector(selector)?),
                (None, None) => None,
            };
            let response = self.send(wanted, task, usage).await?;
            let status = response.status();
            if !status.is_success() && !is_enveloped {
                return Err(Fault::External(format!("the answer's status is {status}")));
            }
            if let Some(rules) = rules {
                let page = body(response, self.settings.max_download_bytes).await?;
                return self.extract(rules, page).await;
            }
            let body = body(response, task.limits.result_bytes).await?;
            if is_enveloped {
                let text = String::from_utf8_lossy(&body);
                return Ok(json!({ "body": text, "status": status.as_u16() }).to_string().into_bytes());
            }
            Ok(body)
        })
    }
}

/// A request that a job wants.
struct Wanted {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

impl Wanted {
    fn read(request: &Request) -> Result<Self, Malformed> {
        let url = address_of(request)?;
        let name = request.text_or_none("method")?.unwrap_or("GET").to_ascii_uppercase();
        let method = match name.as_str() {
            "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" => Method::from_bytes(name.as_bytes()).expect("a known method"),
            _ => return Err(Malformed(format!("{name:?} is not a method"))),
        };
        let mut headers = headers(request)?;
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let body = match (request.text_or_none("body")?, request.get("json")) {
            (Some(_), Some(_)) => return Err(Malformed("give body or json, not both".into())),
            (Some(text), None) => Some(text.as_bytes().to_vec()),
            (None, Some(value)) => {
                headers.entry(header::CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
                Some(value.to_string().into_bytes())
            }
            (None, None) => None,
        };
        Ok(Self { method, url, headers, body })
    }

    fn request(&self, client: &reqwest::Client) -> reqwest::RequestBuilder {
        let request = client.request(self.method.clone(), self.url.clone()).headers(self.headers.clone());
        match &self.body {
            Some(body) => request.body(body.clone()),
            None => request,
        }
    }

    /// The request after a redirection (RFC 9110 §15.4).
    fn led_to(mut self, next: Url, status: StatusCode) -> Self {
        if self.url.origin() != next.origin() {
            for secret in SECRET_HEADERS {
                self.headers.remove(secret);
            }
        }
        let is_kept = matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        if !is_kept && self.method != Method::HEAD {
            self.method = Method::GET;
            self.body = None;
            self.headers.remove(header::CONTENT_TYPE);
        }
        self.url = next;
        self
    }
}

/// The address that a job names, where it is one that the chain takes, too (decision 736).
pub(super) fn address_of(request: &Request) -> Result<Url, Malformed> {
    let text = request.text("url")?;
    address::require(Some(text)).map_err(|mistake| Malformed(mistake.to_string()))?;
    Url::parse(text).map_err(|error| Malformed(format!("{text:?} is not a web address: {error}")))
}

/// The host that a task asks first, where it would ask one.
#[cfg(test)]
pub(super) fn first_host(task: &Task) -> Option<String> {
    let wanted = Wanted::read(&task.request).ok()?;
    within(task.hosts.as_deref(), &wanted.url).ok()?;
    wanted.url.host_str().map(str::to_owned)
}

fn headers(request: &Request) -> Result<HeaderMap, Malformed> {
    let mut headers = HeaderMap::new();
    let Some(named) = request.get("headers") else { return Ok(headers) };
    let named = named.as_object().ok_or_else(|| Malformed("headers is not an object".into()))?;
    if named.len() > MAX_HEADERS {
        return Err(Malformed(format!("there are {} headers, and may be {MAX_HEADERS}", named.len())));
    }
    for (name, value) in named {
        let wrong = || Malformed(format!("the header {name:?} cannot be sent"));
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let value = value.as_str().and_then(|value| HeaderValue::from_str(value).ok()).ok_or_else(wrong)?;
        if OWN_HEADERS.contains(&key) {
            return Err(wrong());
        }
        headers.insert(key, value);
    }
    Ok(headers)
}

/// Holds each address, and each that one leads to, to the hosts of the asking actor's manifest (000 §9.3).
fn within(hosts: Option<&[String]>, url: &Url) -> Result<(), Fault> {
    let Some(patterns) = hosts else { return Ok(()) };
    granted(patterns, url.host_str().unwrap_or_default())
}

/// Holds a host to those of the asking actor's manifest.
pub(super) fn granted(patterns: &[String], host: &str) -> Result<(), Fault> {
    outside("it", host, (MANIFEST, patterns)).map_or(Ok(()), |reason| Err(Fault::Actor(reason)))
}

/// Where an answer leads, where it leads on.
fn redirection(from: &Url, response: &Response) -> Result<Option<Url>, Fault> {
    let leads_on = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = response.headers().get(header::LOCATION).filter(|_| leads_on) else { return Ok(None) };
    let next = location.to_str().ok().and_then(|text| from.join(text).ok());
    let next = next.ok_or_else(|| Fault::External("it redirects to something that is not a web address".into()))?;
    if from.scheme() == "https" && next.scheme() == "http" {
        return Err(Fault::External(format!("it leads from https to {next}")));
    }
    Ok(Some(next))
}

/// A response's body, up to a maximum of bytes.
pub(crate) async fn body(response: Response, most: usize) -> Result<Vec<u8>, Fault> {
    cowboy_api::client::body(response, most).await.map_err(|error| match error {
        BodyError::TooLong(_) => Fault::Impossible(error.to_string()),
        BodyError::Broken(error) => unanswered(&error),
    })
}

fn refused(refusal: Refusal) -> Fault {
    match refusal {
        // Another runner may have another list, and is on another computer.
        Refusal::NotAllowed(_) | Refusal::Own(_) => Fault::External(refusal.to_string()),
        Refusal::NoAddress(_) | Refusal::Private(_) => Fault::Actor(refusal.to_string()),
    }
}

/// Why nobody answered, in the words of the deepest cause.
pub(crate) fn unanswered(error: &reqwest::Error) -> Fault {
    let mut reason = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        if let Some(refusal) = deeper.downcast_ref::<Refusal>() {
            return refused(refusal.clone());
        }
        reason = deeper.to_string();
        cause = deeper.source();
    }
    Fault::External(reason)
}

//! From a request to its answer.

use crate::{
    Shared,
    acme::CHALLENGE_PATH,
    arriving::{Arriving, accepted},
    bodies::{crowded, json_response},
    cors::{self, Cors},
    host::{self, Host},
    ids,
    metrics::method_label,
    pages::Page,
    refusal::Refusal,
    requests::Fate,
    signed::{Reading, envelope_of},
    state::BlockState,
    witness::witness,
};
use bytes::Bytes;
use cowboy_ingress::{
    Failure, Route,
    request::{self as envelope, RESERVED},
    signed::Said,
    visit::question,
};
use cowboy_serve::{Client, Held, Keeping};
use cowboy_system::gateways::{
    NUMBER,
    envelope::is_request_id,
    ingress::{COMMANDS, QUERIES},
};
use cowboy_system::names::label;
use cowboy_types::Address;
use http_body_util::Full;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, body::Incoming, header, http::request};
use serde_json::json;
use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Instant,
};

/// The header that says after which block an answer was made (004 §8.3).
const BLOCK_HEADER: &str = "x-cowboy-block";

/// The header that says how new the state must be.
const MIN_BLOCK_HEADER: &str = "x-cowboy-min-block";

/// The handler of the SDK that describes an actor's routes.
const OPENAPI_HANDLER: &str = "http.openapi";

/// What was found out about a request on the way to its answer, good or bad.
#[derive(Default)]
struct Seen {
    /// The registered name that answers.
    name: String,
    /// The height of the state.
    height: Option<u64>,
    /// Who may read the answer.
    cors: Cors,
    /// The request, where it only reads what the chain has.
    reading: Option<Reading>,
}

/// A body that counts in the gateway's memory until it is sent.
pub(crate) type Counted = Keeping<Full<Bytes>, Held>;

/// Answers a request, whatever it is.
pub(crate) async fn handle(shared: Arc<Shared>, peer: SocketAddr, request: Request<Incoming>) -> Response<Counted> {
    let started = Instant::now();
    let (parts, body) = request.into_parts();
    let mut seen = Seen::default();
    let mut response = match answer(&shared, peer.ip(), &parts, body, &mut seen).await {
        Ok(response) => response,
        Err(refusal) => {
            let mut response = refusal.response(&parts.headers);
            if let Some(reading) = seen.reading.take().filter(|_| refusal.is_of_chain) {
                let said = Said::of(refusal.status.as_u16(), response.headers(), &[]);
                reading.sign(&shared, &said, response.headers_mut());
            }
            response
        }
    };
    if let Some(height) = seen.height {
        response.headers_mut().insert(BLOCK_HEADER, height.into());
    }
    let mut held = shared.bodies.hold(peer.ip().into());
    if !held.add_answer(response.body().len()) {
        response = crowded().response(&parts.headers);
    }
    seen.cors.tell(response.headers_mut());
    if parts.method == Method::HEAD {
        // A status that has no body has no length either (RFC 9110 §8.6).
        if !matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
            let length = response.body().len();
            response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
        }
        *response.body_mut() = Bytes::new();
    }
    let (status, took) = (response.status().as_u16(), started.elapsed());
    shared.metrics.count(&seen.name, method_label(&parts.method), status, took);
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    tracing::info!(
        target: "cowboy_gateway::access",
        host,
        name = seen.name,
        method = %parts.method,
        path = parts.uri.path(),
        status,
        bytes = response.body().len(),
        microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        "request"
    );
    response.map(|body| held.with(Full::new(body)))
}

async fn answer(
    shared: &Shared,
    address: IpAddr,
    parts: &request::Parts,
    body: Incoming,
    seen: &mut Seen,
) -> Result<Response<Bytes>, Refusal> {
    if parts.headers.contains_key(header::TRANSFER_ENCODING) && parts.headers.contains_key(header::CONTENT_LENGTH) {
        return Err(Refusal::bad_request("A request has a length or comes in chunks, not both."));
    }
    let host = host::read(&parts.uri, &parts.headers, &shared.config.zones)?;
    let path = envelope::path(&parts.uri)?;
    if let Some(proof) = path.strip_prefix(CHALLENGE_PATH).and_then(|token| shared.challenges.of_token(token)) {
        return Ok(Response::new(proof.into()));
    }
    if host == Host::Gateway {
        return of_gateway(shared, parts, path);
    }
    if path == "/_cowboy/health" {
        return health(shared, &parts.method);
    }
    let state = shared.newest.state().await?;
    let (name, text) = shared.named(&state, host).await?;
    label::check(&state.params, &name).map_err(|_| Refusal::bad_host("that is not a name"))?;
    seen.height = Some(state.head.height.0);
    require_min_block(&parts.headers, state.head.height.0)?;
    let is_own = path == RESERVED || path.starts_with("/_cowboy/");
    let is_witnessed = !is_own && parts.method == Method::GET && envelope::asks_for_witness(&parts.uri, &parts.headers);
    let route = state.route(&name).await;
    if let Some(ingress) = route.as_ref().ok().and_then(|route| route.ingress.as_ref()) {
        seen.cors = Cors::of(ingress, &parts.headers);
        if let Some(preflight) = cors::preflight(ingress, &parts.method, &parts.headers) {
            return Ok(preflight);
        }
    }
    // That a name leads nowhere is proven or signed too, which takes work.
    let (client, actor) = (Client::from(address), route.as_ref().map_or(Address::ZERO, |route| route.actor));
    if let Ok(route) = &route {
        seen.name.clone_from(&route.name);
    }
    shared.limits.take(&state.params, actor, address)?;
    if is_witnessed {
        let _held = shared.limits.enter(&state.params, actor, address)?;
        let id = ids::of_query(&parts.headers)?;
        let request = envelope_of(parts, &text, &id, None).encode();
        let (response, height) = witness(shared, address, (&name, parts.method.as_str()), (id, request.into())).await?;
        seen.height = Some(height);
        return Ok(response);
    }
    let is_reading = !is_own && QUERIES.contains(&parts.method.as_str());
    if is_reading && route.as_ref().err().is_none_or(|refusal| refusal.is_of_chain) {
        seen.reading = Some(Reading::of(parts, &text, state.block(), &name, actor)?);
    }
    let route = route?;
    // A command takes its place when its body is there.
    let is_command = !is_own && seen.reading.is_none();
    let _held = (!is_command).then(|| shared.limits.enter(&state.params, actor, address)).transpose()?;
    if is_own {
        return reserved(shared, client, parts, path, &state, &route).await;
    }
    match &seen.reading {
        Some(reading) => read(shared, client, parts, state, route, reading).await,
        None => {
            let most = route.admits(parts.method.as_str())?.request_bytes;
            // Whoever sends slowly keeps no old state in memory, and has its command tried on the newest one.
            drop((state, route));
            Arriving { shared, address, parts, host: &text, name: &name }.send(body, most, &mut seen.height).await
        }
    }
}

/// Answers a request that only reads. What it results in is the business of [`cowboy_ingress::Visit`].
async fn read(
    shared: &Shared,
    client: Client,
    parts: &request::Parts,
    state: Arc<BlockState>,
    route: Arc<Route>,
    reading: &Reading,
) -> Result<Response<Bytes>, Refusal> {
    let answered = shared.runner.visit(client, state.clone(), route.clone(), parts, reading.envelope.clone()).await?;
    if let Err(failure) = &answered {
        let page = Page { runner: &shared.runner, client, state, route: &route, asked: parts, envelope: reading.envelope.clone() };
        page.log(failure).await;
    }
    let (mut response, said) = answered?;
    reading.sign(shared, &said, response.headers_mut());
    Ok(response)
}

/// `/_cowboy/*` of a name (004 §8.6).
async fn reserved(
    shared: &Shared,
    client: Client,
    parts: &request::Parts,
    path: &str,
    state: &Arc<BlockState>,
    route: &Route,
) -> Result<Response<Bytes>, Refusal> {
    require_reading(&parts.method)?;
    if let Some(id) = path.strip_prefix("/_cowboy/requests/") {
        let most = route.ingress.as_ref().map_or(0, |ingress| ingress.response_bytes);
        let asker = (&shared.runner, client);
        let fate = match is_request_id(id) {
            true => shared.requests.fate(&shared.node, asker, state, route.actor, id, most).await?,
            false => Fate::Unknown,
        };
        let is_pending = fate == Fate::Pending;
        if is_pending {
            let mut response = accepted(id, None);
            response.headers_mut().insert(header::RETRY_AFTER, 1.into());
            return Ok(response);
        }
        return Ok(fate.into_answer()?.response());
    }
    match path {
        "/_cowboy/info" => Ok(json_response(StatusCode::OK, &info(shared, state, route))),
        "/_cowboy/openapi.json" => {
            let cycles = route.ingress.as_ref().ok_or_else(Failure::no_ingress)?.query_cycles;
            let question = question(route.actor, OPENAPI_HANDLER, route.name.clone().into_bytes(), cycles);
            let document = shared.runner.ask(client, state.clone(), question).await?;
            let mut response = Response::new(document);
            response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
            Ok(response)
        }
        _ => Err(no_such_path(path)),
    }
}

fn no_such_path(path: &str) -> Refusal {
    let fix = "There are /_cowboy/health, /_cowboy/info, /_cowboy/openapi.json and /_cowboy/requests/{id}.";
    Refusal::new(StatusCode::NOT_FOUND, "UNKNOWN_PATH", format!("The gateway has no {path}."), fix)
}

fn info(shared: &Shared, state: &BlockState, route: &Route) -> serde_json::Value {
    let ingress = route.ingress.as_ref().map(|ingress| {
        json!({
            "allowlist_methods": ingress.methods,
            "max_request_bytes": ingress.request_bytes,
            "max_response_bytes": ingress.response_bytes,
            "max_query_cycles": ingress.query_cycles,
        })
    });
    json!({
        "name": route.name,
        "address": route.actor.to_string(),
        "owner": route.owner.to_string(),
        "expires_at": route.expires_at.0,
        "ingress": ingress,
        "block_height": state.head.height.0,
        "block_hash": state.head.digest.to_string(),
        "requests_served": shared.metrics.served(&route.name),
    })
}

/// Requests to the gateway itself: by a bare address, or by its zone.
fn of_gateway(shared: &Shared, parts: &request::Parts, path: &str) -> Result<Response<Bytes>, Refusal> {
    require_reading(&parts.method)?;
    match path {
        "/_cowboy/health" => health(shared, &parts.method),
        "/_cowboy/metrics" => {
            let mut response = Response::new(shared.metrics.page(&shared.slots));
            let kind = header::HeaderValue::from_static(cowboy_serve::metrics::CONTENT_TYPE);
            response.headers_mut().insert(header::CONTENT_TYPE, kind);
            Ok(response)
        }
        "/" | "/_cowboy/info" => {
            let head = shared.node.head();
            let own = shared.commander.as_ref().map(|commander| commander.address().to_string());
            let body = json!({
                "gateway": own,
                "registry": Address::system(NUMBER).to_string(),
                "zones": shared.config.zones,
                "block_height": head.height.0,
                "version": env!("CARGO_PKG_VERSION"),
            });
            Ok(json_response(StatusCode::OK, &body))
        }
        _ => Err(Refusal::new(
            StatusCode::NOT_FOUND,
            "UNKNOWN_PATH",
            "This is a gateway, and no name was asked for.",
            "Ask for a name, like http://mysite.localhost:8080.",
        )),
    }
}

fn health(shared: &Shared, method: &Method) -> Result<Response<Bytes>, Refusal> {
    require_reading(method)?;
    let head = shared.node.head();
    let (status, words) = if head.number == 0 || shared.node.chain().is_err() {
        (StatusCode::SERVICE_UNAVAILABLE, "waiting")
    } else if shared.source.is_away() {
        // It serves what it has; who chooses among gateways takes one whose state goes on.
        (StatusCode::SERVICE_UNAVAILABLE, "source_away")
    } else {
        (StatusCode::OK, "ok")
    };
    Ok(json_response(status, &json!({ "status": words, "block_height": head.height.0, "timestamp_ms": head.timestamp_ms.0 })))
}

fn require_reading(method: &Method) -> Result<(), Refusal> {
    if QUERIES.contains(&method.as_str()) { Ok(()) } else { Err(Failure::method(method.as_str(), &QUERIES).into()) }
}

/// Fails where the state is older than the client accepts (004 §8.3).
fn require_min_block(headers: &HeaderMap, height: u64) -> Result<(), Refusal> {
    let Some(asked) = headers.get(MIN_BLOCK_HEADER) else { return Ok(()) };
    let asked = asked.to_str().ok().and_then(|text| text.parse::<u64>().ok());
    let asked = asked.ok_or_else(|| Refusal::bad_request("X-Cowboy-Min-Block is a height."))?;
    if asked <= height {
        return Ok(());
    }
    Err(Refusal::busy("MIN_BLOCK_NOT_REACHED", &format!("The state is that of block {height}, and block {asked} was asked for.")))
}

impl Shared {
    /// The name that a host asks for, and the host as the client wrote it.
    async fn named(&self, state: &BlockState, host: Host) -> Result<(String, String), Refusal> {
        match (host, &self.domains) {
            (Host::Name { name, text }, _) => Ok((name, text)),
            (Host::Domain { domain, text }, Some(domains)) => Ok((domains.name_of(state, &domain).await?, text)),
            (Host::Domain { domain, .. }, None) => Err(Refusal::misdirected(&domain)),
            (Host::Gateway, _) => Err(Refusal::bad_host("it asks for no name")),
        }
    }
}

/// Methods that this module knows what to do with are all there are.
const _: () = assert!(QUERIES.len() + COMMANDS.len() == 6);

//! Where recipients ask a proxy: `POST /v1/release` over TLS 1.3.

use crate::answers::{Asked, Refusal, answer_release};
use crate::behaviour::Behaviour;
use crate::given::Given;
use crate::keys::Keys;
use crate::store::Store;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use cowboy_serve::{Settings, Slots};
use cowboy_service::Chain;
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tower::Service as _;

/// The most bytes of a request.
const MAX_REQUEST_BYTES: usize = 1_024;

/// Connections at once.
const CONNECTIONS: usize = 256;

/// The time of a request: three proofs from the node.
const REQUEST_TIME: Duration = Duration::from_secs(20);

/// Requests that look at the chain at once. The others wait.
const LOOKS: usize = 8;

/// What one connection may take.
const SETTINGS: Settings = Settings::of_service(32);

/// What answers.
pub(crate) struct App {
    pub(crate) chain: Arc<Chain>,
    pub(crate) store: Arc<Store>,
    pub(crate) keys: Keys,
    pub(crate) behaviour: Arc<dyn Behaviour>,
    pub(crate) given: Given,
    /// What looks at the chain for others at once, so that the proxy's own work does not wait.
    pub(crate) looks: Semaphore,
}

impl App {
    pub(crate) fn new(chain: Arc<Chain>, store: Arc<Store>, keys: Keys, behaviour: Arc<dyn Behaviour>) -> Self {
        Self { chain, store, keys, behaviour, given: Given::default(), looks: Semaphore::new(LOOKS) }
    }
}

/// The server of a proxy. Dropping it ends it.
pub(crate) struct Server {
    task: JoinHandle<()>,
    _stop: watch::Sender<bool>,
}

impl Server {
    pub(crate) fn start(listener: TcpListener, tls: TlsAcceptor, app: Arc<App>) -> Self {
        let router = Router::new()
            .route("/v1/release", post(release).layer(DefaultBodyLimit::max(MAX_REQUEST_BYTES)))
            .route("/health", get(health))
            .with_state(app);
        let (stop, server) = (watch::Sender::new(false), cowboy_serve::Server::new("proxy", Slots::new(CONNECTIONS), SETTINGS));
        let task = tokio::spawn(server.accept(listener, Some(tls), stop.subscribe(), Duration::ZERO, move |_: SocketAddr, request| {
            let mut router = router.clone();
            async move {
                match tokio::time::timeout(REQUEST_TIME, router.call(request.map(Body::new))).await {
                    Ok(Ok(response)) => response,
                    Ok(Err(never)) => match never {},
                    Err(_) => StatusCode::REQUEST_TIMEOUT.into_response(),
                }
            }
        }));
        Self { task, _stop: stop }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Whether the proxy can answer with what it keeps.
async fn health(State(app): State<Arc<App>>) -> Response {
    match app.store.unreadable() {
        files if files.is_empty() => Json(json!({ "status": "ok" })).into_response(),
        files => (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "status": "degraded", "unreadable": files }))).into_response(),
    }
}

async fn release(State(app): State<Arc<App>>, Json(asked): Json<Asked>) -> Response {
    let id = asked.release_id.0;
    if let Some(answered) = app.given.get(Instant::now(), &id) {
        return Json(answered).into_response();
    }
    let Ok(_look) = app.looks.acquire().await else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    match answer_release(&app.chain, &app.store, (&app.keys, &*app.behaviour), &id).await {
        Ok(answered) => {
            app.given.keep(Instant::now(), id, answered.clone());
            Json(answered).into_response()
        }
        Err(refusal) => {
            let status = match refusal {
                Refusal::Closed(_) => StatusCode::NOT_FOUND,
                Refusal::NoSeat => StatusCode::CONFLICT,
                Refusal::Silent | Refusal::Chain(_) | Refusal::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            };
            (status, Json(json!({ "error": refusal.to_string() }))).into_response()
        }
    }
}

//! Where recipients ask a proxy: `POST /v1/release` over TLS 1.3.

use crate::answers::{Answered, Asked, Refusal, answer_release};
use crate::behaviour::Behaviour;
use crate::given::Given;
use crate::keys::Keys;
use crate::store::Store;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use cowboy_serve::{Client, ClientTurns, Settings, Slots};
use cowboy_service::Chain;
use cowboy_types::Hash;
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tower::Service as _;

/// The most bytes of a request.
const MAX_REQUEST_BYTES: usize = 1_024;

/// Connections at once.
const CONNECTIONS: usize = 256;

/// The time of a request: three proofs from the node.
const REQUEST_TIME: Duration = Duration::from_secs(20);

/// Requests that look at the chain at once, of all clients and of one. The others wait.
const LOOKS: usize = 8;
const LOOKS_OF_CLIENT: usize = 2;

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
    pub(crate) looks: ClientTurns,
}

impl App {
    pub(crate) fn new(chain: Arc<Chain>, store: Arc<Store>, keys: Keys, behaviour: Arc<dyn Behaviour>) -> Self {
        Self { chain, store, keys, behaviour, given: Given::default(), looks: ClientTurns::new(LOOKS, LOOKS_OF_CLIENT) }
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
        let task = tokio::spawn(server.accept(listener, Some(tls), stop.subscribe(), Duration::ZERO, move |peer: SocketAddr, request| {
            let (mut router, mut request) = (router.clone(), request.map(Body::new));
            request.extensions_mut().insert(Client::from(peer.ip()));
            async move {
                match tokio::time::timeout(REQUEST_TIME, router.call(request)).await {
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

/// The answer to a release: one that was given a moment ago, or what `look` gives, for which the client waits for its turn. Where several wait for the same
/// release, the first ones look, and the others get what was found.
async fn answered(
    (given, looks): (&Given, &ClientTurns),
    client: Client,
    id: Hash,
    look: impl Future<Output = Result<Answered, Refusal>>,
) -> Result<Answered, Refusal> {
    if let Some(answered) = given.get(Instant::now(), &id) {
        return Ok(answered);
    }
    let _turn = looks.turn(client).await;
    if let Some(answered) = given.get(Instant::now(), &id) {
        return Ok(answered);
    }
    let found = look.await?;
    given.keep(Instant::now(), id, found.clone());
    Ok(found)
}

/// What a client is told. What its node says, and where that is, is for the proxy's operator (decision 778).
fn said(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Chain(_) => "this proxy cannot read the chain now: ask the other members, or ask again in some seconds".to_owned(),
        Refusal::Closed(_) | Refusal::NoSeat | Refusal::Silent | Refusal::Store(_) => refusal.to_string(),
    }
}

async fn release(State(app): State<Arc<App>>, Extension(client): Extension<Client>, Json(asked): Json<Asked>) -> Response {
    let id = asked.release_id.0;
    let look = answer_release(&app.chain, &app.store, (&app.keys, &*app.behaviour), &id);
    match answered((&app.given, &app.looks), client, id, look).await {
        Ok(answered) => Json(answered).into_response(),
        Err(refusal) => {
            let status = match refusal {
                Refusal::Closed(_) => StatusCode::NOT_FOUND,
                Refusal::NoSeat => StatusCode::CONFLICT,
                Refusal::Silent | Refusal::Chain(_) | Refusal::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            };
            tracing::debug!(release = %id, %refusal, "a release is not answered");
            (status, Json(json!({ "error": said(&refusal) }))).into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_api::error::UNREACHABLE;
    use cowboy_api::{ApiError, Hex};
    use cowboy_service::ChainError;
    use futures::future::join_all;
    use std::cell::Cell;
    use std::net::{IpAddr, Ipv4Addr};

    /// Decision 778: a stranger learns nothing of the proxy's node and disk, whatever of them fails.
    #[test]
    fn a_refusal_says_nothing_of_the_operators_computers() {
        let unreachable = ApiError::of_fault(UNREACHABLE).with(json!({ "url": "http://10.0.0.7:4000", "reason": "connection refused" }));
        let disk = std::io::Error::other("/srv/proxy/share-1-2 is damaged");
        for refusal in [Refusal::Chain(ChainError::Api(unreachable)), Refusal::Store(disk)] {
            let said = said(&refusal);
            assert!(said.contains("ask the other members") && !said.contains("10.0.0.7") && !said.contains("/srv"), "{said}");
        }
        assert_eq!(said(&Refusal::NoSeat), Refusal::NoSeat.to_string());
    }

    /// Decision 748: however many ask for the same release at once, the chain is looked at by as many as one client may have look, and not once for each.
    #[tokio::test]
    async fn who_waits_for_the_same_release_gets_the_first_answer() {
        let (given, looks, found) = (Given::default(), ClientTurns::new(8, 2), Cell::new(0));
        let client = Client::from(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let answer = Answered { epoch: 1, index: 2, answer: Hex(vec![3; 192]), signature: Hex(vec![4; 64]) };
        let look = || async {
            // Others come meanwhile.
            tokio::task::yield_now().await;
            found.set(found.get() + 1);
            Ok(answer.clone())
        };
        let asked = join_all((0..100).map(|_| answered((&given, &looks), client, Hash([1; 32]), look()))).await;
        assert!(asked.into_iter().all(|answered| answered.is_ok_and(|answered| answered == answer)));
        assert_eq!(found.get(), 2);
        let refused = answered((&given, &looks), client, Hash([2; 32]), async { Err(Refusal::NoSeat) }).await;
        assert!(matches!(refused, Err(Refusal::NoSeat)) && given.get(Instant::now(), &Hash([2; 32])).is_none());
    }
}

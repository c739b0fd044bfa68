//! Where other runners, Prometheus and people reach a runner: `/share`, `/metrics`, `/status`.

use crate::{metrics::Board, share::Share};
use axum::{
    Json, Router,
    body::Body,
    extract::{DefaultBodyLimit, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use cowboy_serve::{Settings, Slots, metrics};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
    task::JoinHandle,
};
use tower::Service as _;

/// The most bytes of a share: a result in hex, and what goes with it.
const MAX_SHARE_BYTES: usize = 256 * 1024;

/// Shares that wait for the loop. More are refused: their senders reveal themselves.
pub(crate) const SHARES_WAITING: usize = 64;

/// Connections at once: other runners, one for a share, and whoever looks at its status.
const CONNECTIONS: usize = 64;

/// The time of a request, its body included.
const REQUEST_TIME: Duration = Duration::from_secs(15);

/// What one connection may take.
const SETTINGS: Settings = Settings::of_service(16);

#[derive(Clone)]
struct App {
    board: Arc<Board>,
    shares: mpsc::Sender<Share>,
}

/// The server of a runner. Dropping it ends it.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
    /// The server runs for as long as this is there.
    _stop: watch::Sender<bool>,
}

impl Server {
    /// Begins to serve.
    pub(crate) async fn start(listen: SocketAddr, board: Arc<Board>, shares: mpsc::Sender<Share>) -> std::io::Result<Self> {
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let router = Router::new()
            .route("/share", post(share).layer(DefaultBodyLimit::max(MAX_SHARE_BYTES)))
            .route("/status", get(async |State(app): State<App>| Json(app.board.status())))
            .route(metrics::PATH, get(numbers))
            .with_state(App { board, shares });
        let (stop, server) = (watch::Sender::new(false), cowboy_serve::Server::new("runner", Slots::new(CONNECTIONS), SETTINGS));
        let task = tokio::spawn(server.accept(listener, None, stop.subscribe(), Duration::ZERO, move |_, request| {
            let mut router = router.clone();
            async move {
                match tokio::time::timeout(REQUEST_TIME, router.call(request.map(Body::new))).await {
                    Ok(Ok(response)) => response,
                    Ok(Err(never)) => match never {},
                    Err(_) => late(),
                }
            }
        }));
        Ok(Self { address, task, _stop: stop })
    }
}

async fn numbers(State(app): State<App>) -> Response {
    ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], app.board.metrics.page()).into_response()
}

fn late() -> Response {
    StatusCode::REQUEST_TIMEOUT.into_response()
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn share(State(app): State<App>, Json(share): Json<Share>) -> StatusCode {
    match app.shares.try_send(share) {
        Ok(()) => StatusCode::ACCEPTED,
        Err(_) => StatusCode::TOO_MANY_REQUESTS,
    }
}

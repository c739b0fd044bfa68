//! Where other runners, Prometheus and people reach a runner: `/share`, `/metrics`, `/status`.

use crate::{metrics::Board, share::Share};
use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, State},
    http::StatusCode,
    routing::{get, post},
};
use std::{net::SocketAddr, sync::Arc};
use tokio::{net::TcpListener, sync::mpsc, task::JoinHandle};

/// The most bytes of a share: a result in hex, and what goes with it.
const MAX_SHARE_BYTES: usize = 256 * 1024;

/// Shares that wait for the loop. More are refused: their senders reveal themselves.
pub(crate) const SHARES_WAITING: usize = 64;

#[derive(Clone)]
struct App {
    board: Arc<Board>,
    shares: mpsc::Sender<Share>,
}

/// The server of a runner. Dropping it ends it.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl Server {
    /// Begins to serve.
    pub(crate) async fn start(listen: SocketAddr, board: Arc<Board>, shares: mpsc::Sender<Share>) -> std::io::Result<Self> {
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let router = Router::new()
            .route("/share", post(share).layer(DefaultBodyLimit::max(MAX_SHARE_BYTES)))
            .route("/status", get(async |State(app): State<App>| Json(app.board.status())))
            .route("/metrics", get(async |State(app): State<App>| app.board.metrics.page()))
            .with_state(App { board, shares });
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "the runner's server ended");
            }
        });
        Ok(Self { address, task })
    }
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

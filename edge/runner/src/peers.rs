//! Other runners, as far as results are given to them.

use crate::{
    config::Http,
    execute::{NotReady, guard::Guard, http::GuardedClient},
    share::Share,
};
use std::time::Duration;
use url::Url;

/// How long an aggregator may take to accept a share.
const SHARE_TIMEOUT: Duration = Duration::from_secs(5);

/// How other runners are reached. Where they listen is what they say: it is no way into a private network.
#[derive(Clone)]
pub(crate) struct Peers(GuardedClient);

impl Peers {
    /// Peers at private addresses, or at none.
    pub(crate) fn new(allow_private: bool) -> Result<Self, NotReady> {
        GuardedClient::new(Guard::open(allow_private), &Http::default()).map(Self)
    }

    /// Gives a revelation to the runner at this endpoint. Says why it does not take it.
    pub(crate) async fn give(&self, endpoint: &str, share: &Share) -> Result<(), String> {
        let url = Url::parse(&format!("{}/share", endpoint.trim_end_matches('/'))).map_err(|error| error.to_string())?;
        self.0.guard.check(&url).map_err(|refusal| refusal.to_string())?;
        let sent = self.0.get()?.post(url).json(share).timeout(SHARE_TIMEOUT).send().await;
        sent.and_then(reqwest::Response::error_for_status).map(drop).map_err(|error| error.to_string())
    }
}

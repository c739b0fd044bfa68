//! What happens on the chain, as it happens: pushed by the node, or asked for where it pushes nothing.
//!
//! All runners of one process share a feed. It promises nothing but that a tick comes after every change: a runner that misses one, or
//! gets one that is not whole, asks the node what it has to do.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use cowboy_api::{ApiError, Client, model::Notice};
use cowboy_service::Failures;
use cowboy_types::{
    Address, Hash,
    cbor::{self, Value},
};
use futures::{SinkExt as _, StreamExt as _};
use reqwest::{StatusCode, header};
use std::{sync::Arc, time::Duration};
use tokio::{sync::broadcast, task::JoinHandle, time::sleep};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Message, protocol::Role},
};

/// Ticks that a runner may be behind.
const LAG: usize = 1_024;

/// How long the node may be silent before the connection is taken for dead. Blocks may be as slow as a minute.
const SILENCE: Duration = Duration::from_secs(120);

/// How long until a broken connection is tried again.
const RETRY: Duration = Duration::from_secs(2);

/// The names of events that change what a runner has to do.
const MATTERS: [&str; 6] = ["CommitteeDrawn", "ResultCommitted", "ResultRevealed", "JobVerified", "JobSettled", "JobFailed"];

/// The name of the event with which a job begins.
const BEGINS: &str = "JobSubmitted";

/// Something that happened to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobEvent {
    /// Its name on the chain.
    pub name: String,
    /// The job's id.
    pub job: Hash,
    /// The runners it names.
    pub runners: Vec<Address>,
}

/// The chain went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tick {
    /// The height.
    pub height: u64,
    /// What happened to jobs.
    pub events: Arc<Vec<JobEvent>>,
    /// Whether that is everything since the tick before.
    pub is_whole: bool,
}

/// Called with each job that the chain takes, before a tick brings anything else about it.
pub type Observer = Arc<dyn Fn(Hash) + Send + Sync>;

/// A feed. Dropping it ends it.
pub struct Feed {
    ticks: broadcast::Sender<Tick>,
    task: JoinHandle<()>,
}

impl Feed {
    /// Begins to listen to a node.
    pub fn start(client: Client, poll: Duration) -> Self {
        Self::begin(client, poll, None)
    }

    /// The same with an observer of new jobs.
    pub fn observed(client: Client, poll: Duration, observer: Observer) -> Self {
        Self::begin(client, poll, Some(observer))
    }

    fn begin(client: Client, poll: Duration, observer: Option<Observer>) -> Self {
        let (ticks, _) = broadcast::channel(LAG);
        let task = tokio::spawn(run(client, poll, ticks.clone(), observer));
        Self { ticks, task }
    }

    /// The ticks from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Tick> {
        self.ticks.subscribe()
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Whether the node answers, as the log says it: while it is away, rarely.
#[derive(Debug, Default)]
pub(crate) struct Answers(Failures);

impl Answers {
    /// Notes what came of a question to the node.
    pub(crate) fn note<T>(&mut self, answer: &Result<T, ApiError>) {
        match answer {
            Err(error) if self.0.is_logged(error) => tracing::warn!(%error, "the node does not answer"),
            Err(_) => {}
            Ok(_) if self.0.is_over() => tracing::info!("the node answers again"),
            Ok(_) => {}
        }
    }
}

async fn run(client: Client, poll: Duration, ticks: broadcast::Sender<Tick>, observer: Option<Observer>) {
    let (mut answers, mut pushes) = (Answers::default(), Failures::default());
    loop {
        let ended = listen(&client, &ticks, observer.as_ref(), &mut pushes).await;
        let reason = ended.err().unwrap_or_else(|| "it ended the push".to_owned());
        if pushes.is_logged(&reason) {
            tracing::info!(node = client.url(), reason, "the node pushes nothing; asking instead");
        }
        let mut last = 0;
        let asking = async {
            loop {
                let answer = client.height().await;
                answers.note(&answer);
                if let Ok(height) = answer
                    && height != last
                {
                    last = height;
                    // Nobody listening is no failure: runners come and go.
                    let _ = ticks.send(Tick { height, events: Arc::default(), is_whole: false });
                }
                sleep(poll).await;
            }
        };
        // Pushing is tried again all the time: it is worth it as soon as the node has it.
        let _ = tokio::time::timeout(RETRY.max(poll), asking).await;
    }
}

/// Listens to the node's WebSocket until it ends. With the first block it is over that the node pushed nothing.
async fn listen(
    client: &Client,
    ticks: &broadcast::Sender<Tick>,
    observer: Option<&Observer>,
    pushes: &mut Failures,
) -> Result<(), String> {
    let mut socket = open(client.url()).await?;
    let wish = serde_json::json!({ "subscribe": ["block", "event"] }).to_string();
    socket.send(Message::text(wish)).await.map_err(|error| error.to_string())?;
    // What happened before is asked for once.
    let height = client.height().await.map_err(|error| error.to_string())?;
    let _ = ticks.send(Tick { height, events: Arc::default(), is_whole: false });
    let mut gathered = Gathered::default();
    loop {
        // A block's events come after it, in the same write: what is there already belongs to the tick.
        let message = if gathered.height > 0 {
            match futures::FutureExt::now_or_never(socket.next()) {
                Some(message) => message,
                None => {
                    if pushes.is_over() {
                        tracing::info!(node = client.url(), "the node pushes again");
                    }
                    if let Some(tick) = gathered.take() {
                        let _ = ticks.send(tick);
                    }
                    continue;
                }
            }
        } else {
            tokio::time::timeout(SILENCE, socket.next()).await.map_err(|_| "it is silent".to_owned())?
        };
        match message {
            Some(Ok(Message::Text(text))) => gathered.add(&text, height, observer),
            Some(Ok(Message::Close(_))) | None => return Ok(()),
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(error.to_string()),
        }
    }
}

/// What came since the last tick.
#[derive(Default)]
struct Gathered {
    height: u64,
    events: Vec<JobEvent>,
    is_broken: bool,
}

impl Gathered {
    fn add(&mut self, text: &str, begun_at: u64, observer: Option<&Observer>) {
        match serde_json::from_str(text) {
            Ok(Notice::Block { block }) => self.height = self.height.max(block.height),
            Ok(Notice::Event { event }) => {
                self.height = self.height.max(event.block_height);
                if let (Some(observer), BEGINS) = (observer, event.event.name.as_str())
                    && let Some(found) = job_event(BEGINS, &event.event.data.0)
                {
                    observer(found.job);
                }
                if MATTERS.contains(&event.event.name.as_str())
                    && let Some(found) = job_event(&event.event.name, &event.event.data.0)
                {
                    self.events.push(found);
                }
            }
            Ok(Notice::Lagged { .. }) => {
                self.is_broken = true;
                self.height = self.height.max(begun_at);
            }
            Ok(Notice::Receipt { .. }) => {}
            Err(error) => {
                tracing::debug!(%error, "the node says something strange");
                self.is_broken = true;
            }
        }
    }

    fn take(&mut self) -> Option<Tick> {
        let taken = std::mem::take(self);
        (taken.height > 0).then(|| Tick { height: taken.height, events: Arc::new(taken.events), is_whole: !taken.is_broken })
    }
}

fn job_event(name: &str, data: &[u8]) -> Option<JobEvent> {
    let value = cbor::decode(data).ok()?;
    let address = |value: &Value| value.as_bytes().and_then(|bytes| bytes.try_into().ok()).map(Address);
    let job = Hash(value.get("job_id")?.as_bytes()?.try_into().ok()?);
    let mut runners: Vec<Address> = value.get("runner").and_then(address).into_iter().collect();
    if let Some(Value::Array(members)) = value.get("members") {
        runners.extend(members.iter().filter_map(address));
    }
    Some(JobEvent { name: name.to_owned(), job, runners })
}

/// Opens `/ws`: the handshake of RFC 6455 by the HTTP client, so that whatever reaches the API reaches this.
async fn open(url: &str) -> Result<WebSocketStream<reqwest::Upgraded>, String> {
    let said = |error: reqwest::Error| error.to_string();
    let http = cowboy_api::client::builder(url).http1_only().build().map_err(said)?;
    // The key proves nothing here: it keeps caches from answering, and the node is asked for by its address.
    let request = http
        .get(format!("{}/ws", url.trim_end_matches('/')))
        .header(header::CONNECTION, "Upgrade")
        .header(header::UPGRADE, "websocket")
        .header(header::SEC_WEBSOCKET_VERSION, "13")
        .header(header::SEC_WEBSOCKET_KEY, BASE64_STANDARD.encode([7; 16]));
    let response = request.send().await.map_err(said)?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        return Err(format!("it answers {} to /ws", response.status()));
    }
    let upgraded = response.upgrade().await.map_err(said)?;
    Ok(WebSocketStream::from_raw_socket(upgraded, Role::Client, None).await)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_api::error::UNREACHABLE;
    use cowboy_service::testing::Lines;

    /// A node that is away for an hour makes six lines, not one a second, and one when it is back.
    #[test]
    fn a_node_that_is_away_makes_few_lines() {
        let lines = Lines::default();
        lines.during(|| {
            let (mut answers, away) = (Answers::default(), Err::<(), _>(ApiError::of_fault(UNREACHABLE)));
            answers.note(&Ok(()));
            assert_eq!(lines.count(), 0, "it was never away");
            (0..3_600).for_each(|_| answers.note(&away));
            assert_eq!(lines.count(), 6);
            answers.note(&Ok(()));
            answers.note(&Ok(()));
            assert_eq!(lines.count(), 7);
        });
    }
}
